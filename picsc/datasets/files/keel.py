"""KEEL's .dat format: attributes with ranges, divided into inputs and outputs, and rows. Letters: n rows."""

from __future__ import annotations

import re

import pandas as pd

from picsc.datasets.columns.missing_words import missing_words
from picsc.datasets.columns.names import unique_names
from picsc.datasets.files.declared_values import (
    NAME,
    Value,
    categories,
    columns_of,
    declared_lines,
    fields,
    levels,
    numbers,
    unquoted,
    without,
)
from picsc.datasets.files.sources import Source
from picsc.datasets.files.table import FileTable
from picsc.datasets.files.text_lines import whole_text
from picsc.errors import DataError
from picsc.phrases import counted
from picsc.reports.common import Reading
from picsc.settings import ReadSettings

_MISSING = frozenset(("", "?", "<null>"))
_ATTRIBUTE = re.compile(rf"@attribute\s+({NAME})\s*(\{{.*|(?:real|integer|numeric)\b.*)", re.IGNORECASE | re.DOTALL)
_KNOWN = ("@relation", "@input", "@inputs", "@output", "@outputs")


def holds_keel(source: Source) -> bool:
    """True if the first line that is neither empty nor a comment begins with @."""
    with source.path.open("rb") as file:
        for line in file:
            text = line.removeprefix(b"\xef\xbb\xbf").strip()
            if text and not text.startswith(b"%"):
                return text.startswith(b"@")
    return False


def read_keel(source: Source, settings: ReadSettings) -> FileTable:
    """Read KEEL's .dat format: @attribute lines with ranges, @inputs, @outputs, @data.

    Args:
        source: the file.
        settings: its encoding, the missing words, and whether repeated names are renamed.

    Returns:
        Numbers as float64, declared levels as categories; `?` and `<null>` are missing. The first output is the
        target that the file declares.

    Raises:
        DataError: the file has no such header, or a line does not match it; the message names the line.
    """
    text = whole_text(source, settings)
    kinds: list[tuple[str, list[str] | None]] = []
    target: str | None = None
    rows: list[list[Value]] = []
    places: list[int] = []
    in_data = False
    for number, line in declared_lines(text.content):
        place = f"{source.where}, line {number}"
        if in_data:
            rows.append(_row(line, len(kinds), place))
            places.append(number)
            continue
        word, *rest = line.split(maxsplit=1)
        if word.lower() == "@attribute":
            kinds.append(_declared(line, place))
        elif word.lower() in ("@output", "@outputs"):
            target = unquoted("".join(rest).split(",")[0].strip()) or None
        elif word.lower() == "@data":
            in_data = True
        elif word.lower() not in _KNOWN:
            raise DataError(f"{place}: {line[:40]!r} belongs to no header of KEEL; say with --format what the file is")
    if not in_data:
        raise DataError(f"{source.where} has no line @data, so it is no KEEL file; say with --format what it is")
    if not kinds or not rows:
        raise DataError(f"{source.where} has no {'rows' if kinds else 'attributes'}; nothing can be read")
    names = unique_names([name for name, _ in kinds], rename=settings.rename_duplicates, where=source.where)
    words = missing_words(settings)
    frame = {
        name: numbers(without(values, words.in_numbers), name, places, source.where)
        if listed is None
        else categories(without(values, words.always), listed, name, places, source.where)
        for name, (_, listed), values in zip(names, kinds, columns_of(rows, len(kinds)), strict=True)
    }
    if target is not None and target not in frame:
        raise DataError(f"{source.where} declares the output {target!r}, which is none of its attributes; correct it")
    return FileTable(pd.DataFrame(frame), text.sha256, Reading("keel", source.compression, (text.encoding,)), target)


def _declared(line: str, where: str) -> tuple[str, list[str] | None]:
    """The name of an attribute, and its levels; None for a number."""
    found = _ATTRIBUTE.fullmatch(line)
    name = "" if found is None else unquoted(found[1]).strip()
    listed = levels(found[2]) if found is not None and found[2].startswith("{") else ([], "")
    if found is None or not name or listed is None:
        raise DataError(
            f"{where}: {line[:40]!r} declares no attribute; write @attribute NAME real, integer or {{LEVELS}}"
        )
    return name, listed[0] if found[2].startswith("{") else None


def _row(line: str, width: int, where: str) -> list[Value]:
    values = fields(line, width, _MISSING, where)
    if len(values) != width:
        raise DataError(
            f"{where}: {counted(len(values), 'field')} where {width} attributes are declared; correct the line"
        )
    return values
