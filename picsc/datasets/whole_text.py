"""The whole text of a file at once, for formats that are read line by line in Python."""

from __future__ import annotations

import io
from collections.abc import Iterator

from picsc.datasets.sources import Source
from picsc.datasets.utf8_text import utf8_text
from picsc.reports import Choice
from picsc.settings import ReadSettings


def whole_text(source: Source, settings: ReadSettings) -> tuple[str, Choice]:
    """The text of a file without its byte order mark, and how its encoding was found.

    Args:
        source: the file.
        settings: encoding; None is what a byte order mark says, else UTF-8, else cp1252.

    Raises:
        DataError: the bytes are not in the encoding.
        SettingsError: there is no such encoding.
    """
    with utf8_text(source, settings.encoding) as text:
        content = text.path.read_bytes().decode("utf-8", "replace")  # lone surrogates of UTF-16 have no UTF-8
        return content.removeprefix("\ufeff"), text.encoding


def numbered_lines(text: str) -> Iterator[tuple[int, str]]:
    """Line numbers from 1, and the lines without surrounding blanks; only line ends end a line."""
    for number, line in enumerate(io.StringIO(text, newline=None), 1):
        yield number, line.strip()
