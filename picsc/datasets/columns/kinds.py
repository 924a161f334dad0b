"""Kinds of columns, decided on all values of a column.

Letters: n rows. The result is a `Column` that takes part, or a `LeftOut` with the reason.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from picsc.datasets.columns.missing_words import as_numbers
from picsc.datasets.columns.raw import Raw, spelled, spelled_date
from picsc.datasets.table import POOLED, Column, LeftOut
from picsc.errors import DataError
from picsc.phrases import listed

RARE_ROWS = 5
"""A level with fewer rows than this is rare."""
RARE_SHARE = 0.005
"""A level with less than this share of the rows with a value is rare, too."""
MOST_LEVELS = 50
"""Most levels of a column that are kept, not counting the pooled one."""
DISTINCT = 0.9
"""A column of words with a larger share of distinct values than this is an identifier."""
_TEXT_WORDS, _TEXT_DISTINCT = 3.0, 0.5
_COUNTED = 10
"""Fewer whole numbers than this may increase steadily, or be equally spaced, by chance."""
_ID = re.compile(r"(?:^|[\W_])(?:id|ids|idx|index|uuid|guid|row|rowid|row[\W_]?(?:number|no|num))$", re.IGNORECASE)
_CAMEL_ID = re.compile(r"[a-z]I[dD]$")
_BOOLEANS = (frozenset(("true", "false")), frozenset(("yes", "no")), frozenset("tf"), frozenset("yn"))


def infer(
    name: str, column: Raw, *, categorical: bool = False, numeric: bool = False, decimal: str = ".", where: str
) -> Column | LeftOut:
    """Decide the kind of a column.

    Words are never read as numbers. Whole numbers that only count or name the rows, words that are nearly all
    different, and columns with one value or none are left out.

    Args:
        name: name of the column.
        column: its values.
        categorical: the user declares that it holds categories.
        numeric: the user declares that it holds numbers.
        decimal: decimal mark in words that are numbers, point or comma.
        where: the file or table, for messages.

    Raises:
        DataError: `numeric`, and a value does not parse as a number; the message names its row, counted from 1.
    """
    missing = int(np.count_nonzero(column.missing))
    if missing == len(column.data):
        return LeftOut(name, "empty", missing, "no finite values" if column.infinite else "no values")
    if categorical:
        return _single(name, column, missing) or _categorical(name, column.as_words(), "declared with --categorical")
    if numeric:
        column = numbers(name, column, option="--numeric", decimal=decimal, where=where)
    single = _single(name, column, missing)
    if single is not None:
        return single
    if numeric:
        return _numeric(name, column, "declared with --numeric")
    if column.coded:
        return _words(name, column, missing)
    if column.form == "dates":
        return _date(name, column.data, missing, column.note)
    if column.form == "integers":
        return _integers(name, column, missing)
    return _numeric(name, column)


def _numeric(name: str, column: Raw, note: str = "") -> Column:
    values = column.data.astype(np.float64, copy=False)
    return Column(name, "numeric", values, note=_joined(note, column), exact=column.exact, absent=column.absent)


def numbers(name: str, column: Raw, *, option: str, decimal: str = ".", where: str) -> Raw:
    """The column as numbers: words are parsed, dates are seconds since 1970.

    Raises:
        DataError: a value does not parse; the message names its row, counted from 1.
    """
    if column.form == "booleans":
        as_number = np.asarray([float(level == "True") for level in column.levels] + [np.nan])
    elif column.form == "words":
        as_number = np.append(as_numbers(column.levels, decimal), np.nan)
        bad = np.flatnonzero(np.isnan(as_number[:-1]))
        if bad.size:
            row = int(np.argmax(np.isin(column.data, bad)))
            value = column.levels[int(column.data[row])]
            raise DataError(
                f"{where}: {option} column {name!r}, data row {row + 1}: {value!r} is not a number; "
                "correct the value or leave the option out"
            )
        as_number[np.isinf(as_number)] = np.nan
    else:
        return column
    return Raw("numbers", as_number[column.data])


def _single(name: str, column: Raw, missing: int) -> Column | LeftOut | None:
    """The result for a column with one distinct value; None for any other column."""
    ordered = column.ordered
    if np.any(ordered != ordered[0]):
        return None
    exact = column.exact
    value = _spell(column, column.present[0]) if exact is None else spelled(exact.distinct[int(ordered[0])])
    if not missing:
        return LeftOut(name, "constant", 0, f"one value only: {value}")
    codes = np.where(column.missing, -1, 0).astype(np.int32)
    note = _joined("one value only; what is tested is where it is missing", column)
    return Column(name, "categorical", codes, (value,), note, absent=column.absent)


def _spell(column: Raw, value: Any) -> str:
    if column.coded:
        return column.levels[int(value)]
    return spelled_date(float(value)) if column.form == "dates" else spelled(value)


def _joined(note: str, column: Raw) -> str:
    infinite = ""
    if column.infinite:
        values = "infinite value counts" if column.infinite == 1 else "infinite values count"
        infinite = f"{column.infinite} {values} as missing"
    words = ""
    if column.absent is not None:
        counts = "counts" if len(column.absent.words) == 1 else "count"
        words = f"{listed([repr(word) for word in column.absent.words], 3)} {counts} as missing"
    return "; ".join(filter(None, (note, column.note, words, infinite)))


def _integers(name: str, column: Raw, missing: int) -> Column | LeftOut:
    """Zeros and ones are boolean, numbers that count the rows are left out, all others are numeric."""
    present = column.present
    if present.min() == 0 and present.max() == 1:
        words = column.as_words()
        codes = words.data.astype(np.int32)
        return Column(name, "boolean", codes, words.levels, _joined("", column), absent=column.absent)
    reason = _counts_rows(name, column, missing)
    if reason:
        return LeftOut(name, "identifier", missing, reason)
    return _numeric(name, column)


def _counts_rows(name: str, column: Raw, missing: int) -> str:
    """The reason why whole numbers only count or name the rows; empty if they do not."""
    present = column.ordered
    if len(present) >= _COUNTED and _monotone(present):
        return "whole numbers that rise or fall with every row: they count the rows"
    named = bool(_ID.search(name) or _CAMEL_ID.search(name))
    if not named and (missing or len(present) < _COUNTED):
        return ""
    if not named and len(present) > 1000 and len(np.unique(present[:1000])) < 1000:
        return ""  # saves sorting a long column
    if column.exact is None:
        ordered = np.sort(present)
    elif len(present) == len(column.exact.distinct):
        ordered = column.exact.distinct
    else:
        return ""
    steps = np.diff(ordered)
    if len(steps) and steps.min() > 0:
        if named:
            return "whole numbers that are all different, with the name of an identifier"
        if steps.max() == steps.min():
            return "whole numbers that are all different, at equal steps: they count the rows"
    return ""


def _monotone(present: NDArray[Any]) -> bool:
    rises = present[1:] > present[:-1]
    return bool(rises.all() or (present[1:] < present[:-1]).all())


def _date(name: str, seconds: NDArray[np.float64], missing: int, note: str = "") -> Column | LeftOut:
    present = seconds[~np.isnan(seconds)]
    if len(present) >= _COUNTED and _monotone(present):
        return LeftOut(name, "identifier", missing, "times that rise or fall with every row: they count the rows")
    return Column(name, "datetime", seconds, note=note)


def _words(name: str, column: Raw, missing: int) -> Column | LeftOut:
    """The result for words: booleans, free text, identifiers, or categories."""
    spellings = frozenset(level.lower() for level in column.levels)
    if column.form == "booleans" or (len(column.levels) == 2 and spellings in _BOOLEANS):
        return Column(name, "boolean", column.data.astype(np.int32), column.levels)
    if column.declared:
        return _categorical(name, column, "")
    distinct = len(column.levels) / (len(column.data) - missing)
    if distinct > _TEXT_DISTINCT and _mean_words(column.levels) >= _TEXT_WORDS:
        lengths = np.asarray([len(level) for level in column.levels] + [np.nan])
        if np.ptp(lengths[:-1]) > 0:
            return Column(name, "text", lengths[column.data], note="free text; its length in characters is tested")
    if distinct > DISTINCT:
        rows = len(column.data) - missing
        return LeftOut(name, "identifier", missing, f"{len(column.levels)} different words in {rows} rows with a value")
    return _categorical(name, column, "")


def _mean_words(levels: tuple[str, ...]) -> float:
    sample = levels[:: max(1, len(levels) // 1000)]
    return sum(len(level.split()) for level in sample) / len(sample)


def _categorical(name: str, column: Raw, note: str) -> Column | LeftOut:
    """A categorical column with its rare levels pooled."""
    count = np.bincount(column.data[column.data >= 0], minlength=len(column.levels))
    rows = int(count.sum())
    missing = len(column.data) - rows
    frequent = count >= max(RARE_ROWS, RARE_SHARE * rows)
    frequent &= np.asarray(column.levels, dtype=object) != POOLED  # a level of that name is pooled, too
    by_count = np.argsort(-count, kind="stable")
    kept = np.sort(by_count[frequent[by_count]][:MOST_LEVELS])  # back in order of first appearance
    if not kept.size:
        if len(column.levels) > DISTINCT * rows and not note:
            return LeftOut(name, "identifier", missing, f"{len(column.levels)} levels in {rows} rows with a value")
        return LeftOut(name, "categorical", missing, "categorical, no level frequent enough to test")
    pooled = len(column.levels) - len(kept)
    code = np.full(len(column.levels) + 1, len(kept), dtype=np.int32)
    code[kept] = np.arange(len(kept))
    code[-1] = -1  # the entry that the code of a missing value, -1, indexes
    levels = tuple(column.levels[i] for i in kept)
    if pooled:
        share = 100 * (rows - int(count[kept].sum())) / rows
        rare = f"{pooled} of {len(column.levels)} levels ({share:.1f} % of rows) pooled into {POOLED}"
        note = "; ".join(filter(None, (note, rare)))
        levels = (*levels, POOLED)
    rare_levels = tuple(
        level for level, kept_code in zip(column.levels, code[:-1], strict=True) if kept_code == len(kept)
    )
    every = column if pooled else None
    return Column(name, "categorical", code[column.data], levels, note, rare_levels, raw=every)
