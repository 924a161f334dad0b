"""JSON with one flat record per line, or one list of records. Letters: n rows.

It uses the standard library's parser, since Arrow's refuses a column of 1 and "1", reads words that resemble dates as
dates, and rounds whole numbers of more than 64 bits. Values are packed every few thousand records, so that memory stays
that of the columns.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from picsc.datasets.columns.exact import is_rounded
from picsc.datasets.columns.missing_words import missing_words
from picsc.datasets.columns.names import unique_names
from picsc.datasets.files.parquet import to_series
from picsc.datasets.files.sources import Source
from picsc.datasets.files.table import FileTable
from picsc.datasets.files.text_lines import numbered_lines, whole_text
from picsc.errors import DataError
from picsc.phrases import counted
from picsc.reports.common import Reading
from picsc.settings import ReadSettings

_BLOCK = 4096
"""Number of records that are packed at once."""
_MOST_VALUES = 1 << 28
"""Most values of a table that is read."""
_NESTED = (dict, list)


def read_json_lines(source: Source, settings: ReadSettings) -> FileTable:
    """Read records; a key that a record lacks is a missing value, as null and NaN are.

    A column of whole numbers is exact; a column of numbers and words, or with numbers of more digits than these types
    hold, becomes words, unless all of these words are missing among numbers.

    Args:
        source: the file.
        settings: its encoding, the missing words, and columns that are dropped.

    Raises:
        DataError: a line is no flat record, or repeats a key; the message names line and column, and gives advice.
    """
    text = whole_text(source, settings)
    columns: dict[str, _Column] = {}
    missing = missing_words(settings).in_numbers
    n = 0
    for place, record in _records(text.content, source.where):
        for name, value in record.items():
            column = columns.get(name)
            if column is None:
                column = columns[name] = _Column(missing)
            if isinstance(value, _NESTED):
                if _spelled(name).strip() not in settings.drop:
                    held = "an object" if isinstance(value, dict) else "a list"
                    raise DataError(f"{place}: {name!r} holds {held}; flatten it, or leave it out with --drop")
                value = None
            column.add(n, value)
        n += 1
    if n == 0 or not columns:
        raise DataError(f"{source.where} has {counted(n, 'record')} and {len(columns)} columns; nothing can be read")
    if n * len(columns) > _MOST_VALUES:
        raise DataError(
            f"{source.where}: {n} records of {len(columns)} keys are too large for a table; keep fewer of them"
        )
    names = unique_names(
        [_spelled(name).strip() for name in columns], rename=settings.rename_duplicates, where=source.where
    )
    frame = {name: column.finish(n, name, source.where) for name, column in zip(names, columns.values(), strict=True)}
    return FileTable(pd.DataFrame(frame), text.sha256, Reading("jsonl", source.compression, (text.encoding,)))


def _records(text: str, where: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every record, with its place for messages."""
    if text.lstrip().startswith("["):
        for number, record in enumerate(_parsed(text, where), 1):
            place = f"{where}, record {number}"
            yield place, _flat(record, place)
        return
    for number, marked in numbered_lines(text):
        line = marked.lstrip("\ufeff")  # several files were concatenated, each with its byte order mark
        if line:
            place = f"{where}, line {number}"
            yield place, _flat(_parsed(line, place), place)


def _parsed(text: str, place: str) -> Any:
    try:
        return json.loads(text, object_pairs_hook=_unrepeated, parse_float=_number, parse_constant=_CONSTANTS.get)
    except _RepeatedKeyError as error:
        raise DataError(f"{place}: the key {error.args[0]!r} occurs twice in a record; rename one") from None
    except RecursionError:
        raise DataError(f"{place}: the values are nested too deeply; give flat records") from None
    except json.JSONDecodeError as error:
        at = f"character {error.colno}" if "\n" not in text else f"line {error.lineno}, character {error.colno}"
        why = error.msg[0].lower() + error.msg[1:].removesuffix(" at")
        raise DataError(f"{place} is no JSON: {why} at {at}; write one record per line, or a list of records") from None
    except ValueError:  # Python parses no longer numbers
        raise DataError(f"{place} has a number of more than 4300 digits; write it as a word") from None


def _number(text: str) -> float | Decimal:
    """A fraction as float64, or as it stands if float64 rounds a whole part of 16 digits or more."""
    return Decimal(text) if _LONG.match(text) and is_rounded(text) else float(text)


_LONG = re.compile(r"-?[0-9]{16}")
_CONSTANTS = {"NaN": None, "Infinity": float("inf"), "-Infinity": float("-inf")}


class _RepeatedKeyError(ValueError):
    """A record has the same key twice."""


def _unrepeated(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    record = dict(pairs)
    if len(record) < len(pairs):
        names = [name for name, _ in pairs]
        raise _RepeatedKeyError(next(name for name in names if names.count(name) > 1))
    return record


def _flat(record: Any, place: str) -> dict[str, Any]:
    if isinstance(record, dict):
        return record
    held = {list: "a list", str: "a word", type(None): "null", bool: "true or false"}.get(type(record), "a number")
    raise DataError(f'{place} holds {held} where a record must be; write {{"column": value, ...}}')


class _Column:
    """Collects the values of a column in order; rows without a value are missing."""

    def __init__(self, missing: frozenset[str]) -> None:
        """Start without rows.

        Args:
            missing: words that are missing among numbers.
        """
        self._missing = missing
        self._words, self._numbers, self._other = False, False, False  # other values are neither of these
        self._open: list[Any] = []
        self._packed: list[Any] = []
        self._rows = 0

    def add(self, row: int, value: Any) -> None:
        """Add the value of a row, which comes after all rows before."""
        if row > self._rows:
            self._skip(row - self._rows)
        self._open.append(value)
        self._rows += 1
        if isinstance(value, str):
            self._words = True
            self._other = self._other or value.strip() not in self._missing
        elif value is not None:
            self._numbers = True
            self._other = self._other or isinstance(value, bool | Decimal) or (type(value) is int and not _fits(value))
        if len(self._open) >= _BLOCK:
            self._pack()

    def _skip(self, rows: int) -> None:
        if rows < _BLOCK:
            self._open += [None] * rows
        else:
            self._pack()
            self._packed.append(pa.nulls(rows))
        self._rows += rows

    def _pack(self) -> None:
        if self._open:
            self._packed.append(_packed(self._open))
            self._open = []

    def finish(self, n: int, name: str, where: str) -> pd.Series[Any]:
        """All n values in one type."""
        self._skip(n - self._rows)
        self._pack()
        if self._words and self._numbers and not self._other:
            self._packed = [_numbers(block, self._missing) for block in self._packed]
        kinds = {block.type for block in self._packed} - {pa.null()}
        if not kinds:
            return pd.Series([None] * n, dtype=object)
        kind = kinds.pop() if len(kinds) == 1 else pa.float64() if kinds == _NUMBERS and self._exact() else pa.string()
        blocks = [_as(block, kind) for block in self._packed]
        return to_series(pa.chunked_array(blocks, kind), name, where)

    def _exact(self) -> bool:
        """True if float64 holds every whole number exactly."""
        whole = (block for block in self._packed if block.type == pa.int64())
        limits = (pc.min_max(block) for block in whole)
        return all(limit["min"].as_py() >= -(2**53) and limit["max"].as_py() <= 2**53 for limit in limits)


_NUMBERS = {pa.int64(), pa.float64()}


def _fits(value: int) -> bool:
    """True if int64 holds the number."""
    return -(2**63) <= value < 2**63


def _numbers(block: Any, missing: frozenset[str]) -> Any:
    """A block of numbers and missing words as numbers; a block without words as it is."""
    if block.type != pa.string():
        return block
    words = [None if word is None or word.strip() in missing else word for word in block.to_pylist()]
    numbers = pa.array(words, pa.string())
    if numbers.null_count == len(numbers):
        return pa.nulls(len(numbers))
    try:
        return pc.cast(numbers, pa.int64())
    except pa.ArrowInvalid:
        return pc.cast(numbers, pa.float64())


def _packed(values: list[Any]) -> Any:
    """An Arrow array of the one type of these values; words if they have several types."""
    kinds = set(map(type, values)) - {type(None)}
    if not kinds:
        return pa.nulls(len(values))
    if kinds == {int} and all(value is None or _fits(value) for value in values):
        return pa.array(values, pa.int64())
    if kinds == {float}:
        return pa.array(values, pa.float64())
    if kinds == {int, float} and all(type(value) is not int or abs(value) <= 2**53 for value in values):
        return pa.array([None if value is None else float(value) for value in values], pa.float64())
    if kinds == {bool}:
        return pa.array(values, pa.bool_())
    return pa.array([None if value is None else _spelled(value) for value in values], pa.string())


def _as(block: Any, kind: Any) -> Any:
    if block.type == kind:
        return block
    if kind == pa.string() and block.type != pa.null():
        return pa.array([None if value is None else _spelled(value) for value in block.to_pylist()], kind)
    return pc.cast(block, kind)


def _spelled(value: object) -> str:
    """A value as a word: `3` for 3.0; a lone surrogate, which no encoding holds, becomes a question mark."""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value).encode("utf-8", "replace").decode("utf-8")
