"""New rows of a trained model: read and encoded as its training rows were, whatever these rows alone look like.

Kinds, levels and indicators of missing values are those of the training rows. Letters: n rows.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from picsc.datasets.columns.date_columns import with_dates
from picsc.datasets.columns.missing_words import MissingWords, as_numbers, missing_words, without_missing_words
from picsc.datasets.columns.missing_words import without_words as without
from picsc.datasets.columns.names import names_as_text
from picsc.datasets.columns.numbers import NumbersRead, read_numbers
from picsc.datasets.columns.raw import Raw, raw, with_truth
from picsc.datasets.encoding import has_indicator
from picsc.datasets.table import POOLED, Column, Dataset
from picsc.errors import DataError
from picsc.phrases import counted, listed
from picsc.reports.common import Finding
from picsc.settings import ReadSettings

_TRUTH = {"true": 1, "false": 0, "1": 1, "0": 0}


@dataclass(frozen=True, slots=True)
class KnownColumns:
    """The columns that a model has learned from, and how their values were written."""

    columns: tuple[Column, ...]
    """Without values; `indicator` is settled."""
    read: ReadSettings
    """The settings that the training rows were read with."""
    date_formats: tuple[tuple[str, str], ...] = ()
    """Column and format of the dates whose order of day and month their words leave open."""
    absent: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """Column and the words that stood among its numbers, and count as missing."""
    decimal: str = "."
    """Decimal mark of the training rows, point or comma."""

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns."""
        return tuple(column.name for column in self.columns)


def known_columns(dataset: Dataset, read: ReadSettings) -> KnownColumns:
    """The columns of a table of training rows, without its rows.

    Args:
        dataset: the training rows.
        read: how they were read.
    """
    choices = () if dataset.reading is None else dataset.reading.choices
    comma = read.decimal == "comma" or any(each.name == "decimal" and each.value == "comma" for each in choices)
    columns = tuple(
        replace(
            column,
            values=column.ordered[:0],
            indicator=has_indicator(column),
            note="",
            pooled=(),
            exact=None,
            absent=None,
            raw=None,
        )
        for column in dataset.columns
    )
    names = {column.name for column in columns}
    return KnownColumns(
        columns,
        read,
        tuple((name, form) for name, (form, _) in dataset.date_orders.items() if name in names),
        tuple((column.name, column.absent.words) for column in dataset.columns if column.absent is not None),
        "," if comma else ".",
    )


def new_rows(
    frame: pd.DataFrame, known: KnownColumns, *, where: str, decimal: str | None = None
) -> tuple[Dataset, list[Finding]]:
    """The rows of a frame as a table with the columns that a model knows, in its order.

    Reading: a level that the training rows did not have is one of the pooled levels where they had any, else a missing
        value; a missing value in a column that had none is the mean of its numbers, and none of its levels.

    Args:
        frame: n rows, with these columns in any order, and any others, which are ignored.
        known: the columns of the model.
        where: the file or table, for messages.
        decimal: decimal mark of the frame's words, point or comma; None is that of the training rows.

    Returns:
        The table; and findings on columns that are ignored, and levels that the model does not know.

    Raises:
        DataError: a column is missing, or holds values of another kind.
    """
    names = names_as_text(frame.columns, rename=known.read.rename_duplicates, where=where)
    place = {name: i for i, name in enumerate(names)}
    lost = [name for name in known.names if name not in place]
    if lost:
        raise DataError(
            f"{where}: no {'column' if len(lost) == 1 else 'columns'} {listed([repr(name) for name in lost])}, which "
            f"the model has learned from; the columns here are {listed([repr(name) for name in names])}"
        )
    words = missing_words(known.read)
    kept = _Words(words, dict(known.absent), known.decimal if decimal is None else decimal, where)
    columns, unknown = [], {}
    for column in known.columns:
        values = raw(without(frame.iloc[:, place[column.name]], words))
        found, new = _column(column, values, kept, known)
        columns.append(found)
        if new:
            unknown[column.name] = new
    extra = [name for name in names if name not in set(known.names)]
    table = Dataset(where, where, len(frame), tuple(columns), (), None)
    return table, [*_ignored(extra), *_unknown_levels(unknown)]


@dataclass(frozen=True, slots=True)
class _Words:
    """The meaning of words in new rows."""

    missing: MissingWords
    absent: Mapping[str, tuple[str, ...]]
    decimal: str
    where: str


def _column(known: Column, values: Raw, words: _Words, of: KnownColumns) -> tuple[Column, dict[str, int]]:
    """The values of one column in the form that the model knows, and levels that it does not know with their rows."""
    if known.coded:
        return _levels(known, with_truth(without_missing_words(values, words.missing)))
    if known.kind == "text":
        values = without_missing_words(values, words.missing).as_words()
        lengths = np.asarray([*map(len, values.levels), np.nan], np.float64)
        return replace(known, values=lengths[values.data]), {}
    if known.kind == "datetime":
        return replace(known, values=_dates(known.name, values, words, of)), {}
    return replace(known, values=_numbers(known.name, values, words)), {}


def _levels(known: Column, values: Raw) -> tuple[Column, dict[str, int]]:
    given = values.as_words()
    place = {level: i for i, level in enumerate(known.levels)}
    truth = all(level.lower() in _TRUTH for level in (*known.levels, *given.levels))
    if truth:  # one of the tables may write 0 and 1, the other one true and false
        by_truth = {_TRUTH[level.lower()]: i for level, i in place.items()}
        codes = [by_truth.get(_TRUTH[level.lower()], -1) for level in given.levels]
    else:
        codes = [place.get(level, -1) for level in given.levels]
    code = np.asarray([*codes, -1], np.int32)
    count = np.bincount(given.data[given.data >= 0], minlength=len(given.levels))
    new = {level: int(count[i]) for i, level in enumerate(given.levels) if code[i] < 0}
    if new and known.levels[-1] == POOLED:
        code[:-1][code[:-1] < 0] = len(known.levels) - 1
        new = {}
    return replace(known, values=code[given.data], raw=None if truth else given), new


def _numbers(name: str, values: Raw, words: _Words) -> NDArray[np.float64]:
    """Values of a numeric column, NaN where missing; words that are no numbers are refused."""
    values = without_missing_words(values, words.missing, numeric=True, decimal=words.decimal)
    if values.form == "booleans":
        return _by_code([float(level == "True") for level in values.levels], values)
    if values.form == "dates":
        raise _refused(name, values.as_words(), [0], "numbers", words.where)
    if values.form != "words":
        return values.data.astype(np.float64)
    gone = words.absent.get(name, ())
    plain = as_numbers(values.levels, words.decimal)
    no_number = np.isnan(plain) & ~np.isin(np.asarray(values.levels, object), gone)
    if no_number.any():
        found = read_numbers(
            replace(values, declared=False), words.missing.in_numbers, decimal="," if words.decimal == "," else None
        )
        if not isinstance(found, NumbersRead) or set(found.words) - set(gone):
            raise _refused(name, values, np.flatnonzero(no_number).tolist(), "numbers", words.where)
        return found.raw.data.astype(np.float64)
    return _by_code(np.where(np.isinf(plain), np.nan, plain), values)


def _by_code(of_levels: Sequence[float] | NDArray[np.float64], values: Raw) -> NDArray[np.float64]:
    """A number for each row, (n,), NaN where its value is missing."""
    found: NDArray[np.float64] = np.append(np.asarray(of_levels, np.float64), np.nan)[values.data]
    return found


def _dates(name: str, values: Raw, words: _Words, of: KnownColumns) -> NDArray[np.float64]:
    """Seconds since 1970, NaN where missing; values that are no dates are refused."""
    values = without_missing_words(values, words.missing)
    if values.missing.all():
        return np.full(len(values.data), np.nan)
    formats: tuple[str, ...] = ()
    if values.form != "dates":
        asked = tuple(f"{name}={form}" for column, form in of.read.date_formats if column in (name, ""))
        formats = asked[:1] or tuple(f"{name}={form}" for column, form in of.date_formats if column == name)
    settings = ReadSettings(date_format=formats, day_first=of.read.day_first)
    try:
        dated = with_dates({name: values}, settings, missing=words.missing.in_numbers, where=words.where).raws[name]
    except DataError:
        dated = values
    if dated.form != "dates":
        given = values.as_words()
        raise _refused(name, given, range(len(given.levels)), "dates", words.where)
    return dated.data.astype(np.float64)


def _refused(name: str, values: Raw, codes: Collection[int], kind: str, where: str) -> DataError:
    """The error for a column with values of another kind than the model knows."""
    row = int(np.argmax(np.isin(values.data, list(codes))))
    held = values.levels[int(values.data[row])] if len(values.levels) else ""
    return DataError(
        f"{where}: column {name!r} holds {held!r} in data row {row + 1}, where the model knows {kind} only; correct "
        "the value, or leave it empty if it is missing"
    )


def _ignored(extra: Sequence[str]) -> list[Finding]:
    if not extra:
        return []
    message = f"{counted(len(extra), 'column')} that the model does not know, and ignores: "
    return [Finding("columns-ignored", "note", message + listed([repr(name) for name in extra]))]


def _unknown_levels(unknown: Mapping[str, Mapping[str, int]]) -> list[Finding]:
    if not unknown:
        return []
    unit = "row"
    each = [
        f"{name!r} ({listed([f'{level!r} in {counted(rows, unit)}' for level, rows in levels.items()], 3)})"
        for name, levels in unknown.items()
    ]
    message = f"levels that the model does not know count as missing values, in {listed(each)}"
    return [Finding("unknown-levels", "warning", message, "train on rows that have them")]
