"""Text that a stream can show and a file can hold."""

from __future__ import annotations

import codecs
import re

COMMAND = re.compile(r"##(?=\w*\[)")
"""A command of a pipeline, `##[error]` or `##vso[...]`, which GitHub, Azure and TeamCity obey anywhere in a line."""


def is_unicode(encoding: str | None) -> bool:
    """True if text in this encoding can hold every character; an unknown encoding cannot."""
    try:
        return codecs.lookup(encoding or "ascii").name.startswith("utf")
    except LookupError:
        return False


def storable(text: str) -> str:
    r"""Text that UTF-8 can hold: a lone surrogate, as in the name of a file that is not UTF-8, shown as `\udcff`."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def printable(text: str) -> str:
    r"""The text on one line: what is not printable (a line break, an escape sequence) shown as `\n` or `\x1b`.

    Of `##[`, which begins a command of a pipeline, the second character is shown escaped.
    """
    if not text.isprintable():
        text = "".join(char if char.isprintable() else char.encode("unicode_escape").decode("ascii") for char in text)
    return COMMAND.sub(r"#\\x23", text) if "##" in text else text
