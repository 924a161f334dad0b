"""Words that stand for a missing value: one rule for every format, for frames and for arrays. Letters: n rows.

An empty cell is missing everywhere. A word such as NA or None is missing where all other values of its column are
numbers or dates, and a value like any other in a column of words; words that the user chooses are missing everywhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from picsc.datasets.columns.dates import read_dates
from picsc.datasets.columns.raw import Raw
from picsc.settings import ReadSettings

NA = (
    "", "?", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN", "<NA>", "N/A",
    "NA", "NULL", "NaN", "None", "n/a", "nan", "null",
)  # fmt: skip
"""Spellings of a missing value among numbers: those of pandas, and the question mark of UCI and ARFF."""
EMPTY_CELLS = ("", "?")
"""Spellings of an empty cell in text and spreadsheets, which have no other sign for one."""


@dataclass(frozen=True, slots=True)
class MissingWords:
    """The words that are missing values in one table; they are compared without surrounding blanks."""

    always: frozenset[str]
    """Missing in every column; the empty word is one of them."""
    in_numbers: frozenset[str]
    """Missing in columns whose other values are numbers or dates; all of `always`, too."""


def missing_words(settings: ReadSettings, *, text: bool = False) -> MissingWords:
    """The words that are missing values.

    Args:
        settings: its missing words, which are missing in every column; None takes the usual ones.
        text: the words are cells of text or of a spreadsheet, where a question mark is an empty cell.
    """
    if settings.missing_words is None:
        return MissingWords(frozenset(EMPTY_CELLS if text else ("",)), frozenset(NA))
    given = frozenset(("", *(word.strip() for word in settings.missing_words)))
    return MissingWords(given, given)


def without_words(series: pd.Series[Any], words: MissingWords) -> pd.Series[Any]:
    """A column of Python objects in which such words stand among numbers or dates, without them; else as it is.

    Args:
        series: (n,) values as a reader or a user gives them.
        words: the words that are missing.
    """
    if series.dtype != object or pd.api.types.infer_dtype(series, skipna=True) in ("string", "boolean", "empty"):
        return series
    values = series.tolist()
    found = {value.strip() for value in values if isinstance(value, str)}
    others = (value for value in values if not isinstance(value, str))
    if not found or found - words.in_numbers or any(isinstance(value, bool | np.bool_) for value in others):
        return series
    return pd.Series([None if isinstance(value, str) else value for value in values], dtype=object).infer_objects()


def without_missing_words(column: Raw, words: MissingWords, *, numeric: bool = False, decimal: str = ".") -> Raw:
    """The column with the words that stand for a missing value as missing ones.

    Args:
        column: its values.
        words: the words that are missing.
        numeric: the user declares that it holds numbers.
        decimal: decimal mark in words that are numbers, point or comma.
    """
    if not column.coded:
        return _without_values(column, words.always)
    gone = words.always.intersection(column.levels)
    doubtful = words.in_numbers.intersection(column.levels) - gone
    if doubtful and not column.declared:
        others = [level for level in column.levels if level not in doubtful and level not in gone]
        if numeric or not np.isnan(as_numbers(others, decimal)).any() or read_dates(others) is not None:
            gone |= doubtful
    if not gone:
        return column
    kept = tuple(level for level in column.levels if level not in gone)
    place = {level: i for i, level in enumerate(kept)}
    codes = np.asarray([*(place.get(level, -1) for level in column.levels), -1], dtype=np.int64)
    return replace(column, data=codes[column.data], levels=kept)


def as_numbers(words: Sequence[str], decimal: str = ".") -> NDArray[np.float64]:
    """The words as numbers, NaN for a word that is none.

    Args:
        words: any words.
        decimal: decimal mark, point or comma; with a comma, a point is no part of a number.
    """
    if decimal == ",":
        words = [word.replace(".", "no").replace(",", ".") for word in words]
    return np.asarray(pd.to_numeric(pd.Series(list(words), dtype=object), errors="coerce"), dtype=np.float64)


def _without_values(column: Raw, words: frozenset[str]) -> Raw:
    """Numbers and dates without the values that such words spell, as -999 does."""
    given = sorted(words - {""})
    if not given:
        return column
    if column.form == "dates":
        found = read_dates(given)
        values = np.empty(0) if found is None else found.seconds
    else:
        values = as_numbers(given)
    gone = np.isin(column.data, values[~np.isnan(values)])
    return replace(column, data=np.where(gone, np.nan, column.data)) if gone.any() else column
