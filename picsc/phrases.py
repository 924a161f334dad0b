"""Counts, shares and lists as text for messages and findings, and names from outside on one line."""

from __future__ import annotations

import re
from collections.abc import Sequence

COMMAND = re.compile(r"##(?=\w*\[)")
"""A command of a pipeline, `##[error]` or `##vso[...]`, which GitHub, Azure and TeamCity obey anywhere in a line."""


def counted(count: int, noun: str) -> str:
    """A number with its noun: `1 row`, `2 rows`."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def share(count: int, total: int) -> str:
    """A share as count and percentage: `3 of 100 (3.0 %)`."""
    return f"{count} of {total} ({100 * count / total:.1f} %)"


def listed(names: Sequence[str], limit: int = 5) -> str:
    """The first names, and the number of further ones."""
    more = f" and {len(names) - limit} more" if len(names) > limit else ""
    return ", ".join(names[:limit]) + more


def printable(text: str) -> str:
    r"""The text on one line: what is not printable (a line break, an escape sequence) shown as `\n` or `\x1b`.

    Of `##[`, which begins a command of a pipeline, the second character is shown escaped.
    """
    if not text.isprintable():
        text = "".join(char if char.isprintable() else char.encode("unicode_escape").decode("ascii") for char in text)
    return COMMAND.sub(r"#\\x23", text) if "##" in text else text
