"""Rows that are no data: a header that is repeated, a row of units, a row of totals. Letters: n rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from picsc.datasets.columns.numbers import NumbersRead
from picsc.datasets.columns.raw import Raw
from picsc.phrases import counted, listed
from picsc.reports.common import Finding

_MOST = 3
"""If more rows than this have words in many columns of numbers, these rows are no accident."""


@dataclass(frozen=True, slots=True)
class StrayRow:
    """A row with words in several columns of numbers."""

    row: int
    """Row number, from 0."""
    columns: tuple[str, ...]
    """The columns of numbers that hold a word there."""
    words: tuple[str, ...]
    """These words."""


def repeated_headers(raws: Mapping[str, Raw]) -> NDArray[np.int64]:
    """Rows in which most columns, and two at least, hold their own names.

    Args:
        raws: every column by name.
    """
    found = []
    for name, column in raws.items():
        if column.form == "words" and name in column.levels:
            found.append(np.flatnonzero(column.data == column.levels.index(name)))
    rows, count = np.unique(np.concatenate(found), return_counts=True) if found else (np.empty(0, np.int64),) * 2
    return rows[(count * 2 > len(raws)) & ((count > 1) | (len(raws) == 1))].astype(np.int64)


def without_names(name: str, column: Raw, rows: NDArray[np.int64]) -> Raw:
    """The column with the repetitions of its name as missing values.

    Args:
        name: its name.
        column: n rows.
        rows: rows that repeat the header.
    """
    if column.form != "words" or name not in column.levels or not len(rows):
        return column
    code = column.levels.index(name)
    data = column.data.copy()
    data[rows[data[rows] == code]] = -1
    if (data == code).any():
        return replace(column, data=data)
    levels = tuple(level for level in column.levels if level != name)
    return replace(column, data=np.where(data > code, data - 1, data), levels=levels)


def stray_rows(read: Mapping[str, NumbersRead]) -> tuple[StrayRow, ...]:
    """The few rows in which at least half of the columns of numbers, and two at least, hold words.

    Args:
        read: the columns of words that are numbers, by name.
    """
    if len(read) < 2:
        return ()
    rows, count = np.unique(np.concatenate([found.rows for found in read.values()]), return_counts=True)
    rows = rows[(count > 1) & (count * 2 >= sum(len(found.rows) > 0 for found in read.values()))]
    if len(rows) > _MOST:
        return ()
    stray = []
    for row in rows.tolist():
        there = {name: found.words[code] for name, found in read.items() if (code := int(found.codes[row])) >= 0}
        stray.append(StrayRow(row, tuple(there), tuple(dict.fromkeys(there.values()))))
    return tuple(stray)


def stray_findings(headers: NDArray[np.int64], stray: tuple[StrayRow, ...], n: int) -> list[Finding]:
    """One warning on each kind of row that is no data.

    Args:
        headers: rows that repeat the header.
        stray: rows with words in several columns of numbers.
        n: number of rows.
    """
    found = []
    if len(headers):
        where = listed([str(row + 1) for row in headers.tolist()])
        rows = "data row" if len(headers) == 1 else "data rows"
        message = (
            f"{rows} {where} repeat{'s' if len(headers) == 1 else ''} the header; its names count as missing values"
        )
        found.append(Finding("header-repeated", "warning", message, f"delete {rows} {where}"))
    for each in stray:
        kind = {0: ", perhaps their units", n - 1: ", perhaps a row of totals"}.get(each.row, "")
        words = listed([repr(word) for word in each.words], 3)
        message = (
            f"data row {each.row + 1} holds words in {counted(len(each.columns), 'column')} of numbers{kind}: {words}; "
            "they count as missing values"
        )
        found.append(Finding("row-of-words", "warning", message, f"delete data row {each.row + 1} if it is no data"))
    return found
