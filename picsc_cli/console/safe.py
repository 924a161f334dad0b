"""Text from outside made safe for what reads it: terminals, logs of pipelines, spreadsheets, Markdown, XML and JSON.

Names of columns, classes, pieces and files, words among numbers and messages of errors are anybody's. A terminal obeys
escape sequences, a pipeline obeys lines that begin with `::` and parts of lines that look like `##[error]`, a
spreadsheet computes what begins with `=`, and Markdown and HTML have links and pictures. One function for each kind of
output shows such text as it is instead:

- a table, a sentence, a log: `printable` for one text, and `no_commands` for all lines of the output
- comma-separated values: `csv_cell`
- Markdown: `markdown`, and `markdown_code` for values that are shown as code
- GitHub's annotations: `annotation_message` and `annotation_property`
- XML, SVG and HTML: `xml`, and `xml_document` for the whole of it
- JSON: `json_document`; its values stay what they are
"""

from __future__ import annotations

import re

from picsc.reports.pages.markup import BEGINS_COMMAND, xml, xml_document
from picsc_cli.console.printable import COMMAND, printable

__all__ = [
    "annotation_message",
    "annotation_property",
    "csv_cell",
    "json_document",
    "markdown",
    "markdown_code",
    "no_commands",
    "xml",
    "xml_document",
]

_FORMULA = re.compile(r"\s*[=+\-@\uff1d\uff0b\uff0d\uff20]")
"""Begins a formula in a spreadsheet, the wide letters in some countries; blanks before it do not count."""
_NUMBERS = re.compile(r"(?:(?:[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?|-)(?: |$))+")
"""Numbers with blanks between them, where a dash stands for one that is missing."""
_MARKS = re.compile(r"([\\`*_\[\]|~])")
_LINK = re.compile(r":(?=//|:)|(?<=www)\.", re.IGNORECASE)
"""What makes a link of an address without any marks, and the second colon of a command."""
_BEGINS_BLOCK = re.compile(r"^(\s*(?:\d+(?=[.)](?:\s|$))|(?=[#>=]|[+-](?!\d))))")
"""Begins a heading, a quotation or a list where it begins a line."""
_MENTION = re.compile(r"(?<!\w)@(?=\w)")
_UNUSUAL = re.compile(r"[^\x20-\x7e\n]")


def no_commands(text: str) -> str:
    r"""Lines that no pipeline obeys: of two colons at the beginning of a line, the first is shown as `\x3a`."""
    return BEGINS_COMMAND.sub(r"\1\\x3a", text)


def csv_cell(value: object) -> object:
    """A field of comma-separated values: text that begins a formula, or a command of a pipeline, gets an apostrophe.

    Numbers stay numbers, also as text; None stays an empty field.
    """
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple):  # names of columns
        value = ", ".join(map(str, value))
    if not isinstance(value, str):
        return value
    formula = _FORMULA.match(value) and not _NUMBERS.fullmatch(value)
    shown = printable(value)
    return f"'{shown}" if formula or shown.lstrip().startswith("::") else shown


def markdown(text: str) -> str:
    """Text that Markdown and HTML show as it is: no marks, no tags, no links, nobody mentioned."""
    shown = printable(text).replace("&", "&amp;").replace("<", "&lt;")
    shown = _LINK.sub(r"\\\g<0>", _MARKS.sub(r"\\\1", shown))
    return _BEGINS_BLOCK.sub(r"\1\\", _MENTION.sub("@<!-- -->", shown), count=1)


def markdown_code(text: str) -> str:
    """Text as code in Markdown, between more backticks than it has in a row."""
    shown = printable(text)
    fence = "`" * (1 + max(map(len, re.findall("`+", shown)), default=0))
    blank = " " if shown.startswith("`") or shown.endswith("`") else ""
    return f"{fence}{blank}{shown}{blank}{fence}"


def annotation_message(text: str) -> str:
    """Escaped as GitHub asks for messages of annotations; other control characters are shown."""
    escapes = {"%": "%25", "\r": "%0D", "\n": "%0A"}
    return "".join(escapes.get(char) or printable(char) for char in text)


def annotation_property(text: str) -> str:
    """Escaped as GitHub asks for properties of annotations, where a colon and a comma mean something, too."""
    return annotation_message(text).replace(":", "%3A").replace(",", "%2C")


def json_document(text: str) -> str:
    """JSON that neither a terminal nor a pipeline obeys: escapes take the place of characters, the values stay."""
    return COMMAND.sub(r"#\\u0023", _UNUSUAL.sub(_json_escape, text))


def _json_escape(found: re.Match[str]) -> str:
    char = found.group()
    if char.isprintable():
        return char
    units = char.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[i : i + 2].hex()}" for i in range(0, len(units), 2))
