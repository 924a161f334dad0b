r"""Text from outside as XML, SVG and HTML show it: no markup, no character that cannot be seen, no pipeline's command.

Names of columns, classes, pieces and files are anybody's. What is not printable, such as a mark that writes from right
to left or an escape sequence, is shown as `\u202e` or `\x1b`.
"""

from __future__ import annotations

import re
from html import escape

from picsc.phrases import COMMAND, printable

BEGINS_COMMAND = re.compile(r"^((?:\s|\x1b\[[0-9;]*m)*):(?=:)", re.MULTILINE)
"""A line that GitHub's runner obeys: it begins with two colons, blanks before them do not count."""


def xml(text: str) -> str:
    """Text without markup or characters that XML cannot hold."""
    return escape(printable(text))


def xml_document(text: str) -> str:
    """A whole document that no pipeline obeys: references to characters take the place of some, the values stay."""
    return BEGINS_COMMAND.sub(r"\1&#58;", COMMAND.sub("#&#35;", text))


def cut(text: str, letters: int) -> str:
    """A name in at most so many letters, all of them visible."""
    shown = printable(text[: letters + 1])
    return shown if len(shown) <= letters else f"{shown[: letters - 1].rstrip()}…"
