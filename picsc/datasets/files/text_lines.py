"""The whole text of a file, for formats that are parsed line by line in Python."""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import dataclass

from picsc.datasets.files.sources import Source
from picsc.datasets.files.utf8 import utf8_text
from picsc.reports.common import Choice
from picsc.settings import ReadSettings


@dataclass(frozen=True, slots=True)
class WholeText:
    """The whole text of a file."""

    content: str
    """The text, without a byte order mark at its beginning."""
    sha256: str
    """SHA-256 of the bytes that were given."""
    encoding: Choice
    """The encoding, and how it was found."""


def whole_text(source: Source, settings: ReadSettings) -> WholeText:
    """Read the text of a file.

    Args:
        source: the file.
        settings: its encoding; None takes that of a byte order mark, else UTF-8, else cp1252.

    Raises:
        DataError: the bytes are not in the encoding.
        SettingsError: there is no such encoding.
    """
    with utf8_text(source, settings.encoding) as text:
        content = text.path.read_bytes().decode("utf-8")
        return WholeText(content.removeprefix("\ufeff"), text.sha256, text.encoding)


def numbered_lines(text: str) -> Iterator[tuple[int, str]]:
    """The lines without surrounding blanks, each with its number from 1; form feeds and the like end no line."""
    for number, line in enumerate(io.StringIO(text, newline=None), 1):
        yield number, line.strip()
