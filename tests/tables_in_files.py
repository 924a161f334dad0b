"""Content put into a file and read, for the tests of readers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pandas as pd
import pytest

from picsc.datasets.columns.missing_words import EMPTY_CELLS, NA
from picsc.datasets.files.read import read_frame
from picsc.datasets.files.table import FileTable
from picsc.errors import DataError
from picsc.settings import ReadSettings

PLAIN = ReadSettings()


def table(path: Path, content: bytes | str, options: ReadSettings = PLAIN) -> FileTable:
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return read_frame(path, options)


def read(path: Path, content: bytes | str, options: ReadSettings = PLAIN) -> pd.DataFrame:
    return table(path, content, options).frame


def refused(path: Path, content: bytes | str, options: ReadSettings = PLAIN) -> str:
    """The one sentence that refuses the file, and names it."""
    with pytest.raises(DataError) as caught:
        table(path, content, options)
    message = str(caught.value)
    assert str(path) in message
    assert "\n" not in message
    return message


def is_word(text: str) -> bool:
    """Whether no column of such texts holds numbers, which `INF` and `-Infinity` are: missing values make neither."""
    try:
        float(text)
    except ValueError:
        return True
    return text.strip() in NA


def as_read(words: Sequence[str]) -> list[str | None]:
    """A column of such words: NA and the like are missing only where there is nothing else, as among numbers."""
    gone = NA if all(word in NA for word in words) else EMPTY_CELLS
    return [None if word in gone else word for word in words]
