"""A summary of a model's training rows, with which new rows are compared: some counts for each column, and no row.

Letters: n rows, b bins.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from picsc.datasets.table import Column, Dataset
from picsc.errors import DataError

BINS = 20
"""Bins of a column of many different numbers, each with about as many training rows."""
MOST_VALUES = 50
"""Most different numbers of a column that are counted one by one."""
MOST_LEVELS = 1000
"""Most levels of a column that are counted; the rows of further ones are one count, which is not compared."""


@dataclass(frozen=True, slots=True)
class ColumnCounts:
    """One column of the training rows."""

    name: str
    present: int
    """Rows with a value."""
    missing: int
    mean: float | None
    """Mean of the values; None for levels and for a column without values."""
    deviation: float | None
    """Population standard deviation; as `mean`."""
    edges: tuple[float, ...]
    """Upper ends of the bins but the last, (b - 1,), increasing, each included; or the values that are counted one by
    one, (b,). () for levels."""
    levels: tuple[str, ...]
    """Levels that are counted, pooled ones too; () for numbers."""
    counts: tuple[int, ...]
    """Rows of each bin, value or level, (b,)."""
    one_by_one: bool
    """True where `edges` are the values themselves."""


@dataclass(frozen=True, slots=True)
class TrainingRows:
    """All columns of the training rows that take part."""

    rows: int
    columns: tuple[ColumnCounts, ...]


def summarised(dataset: Dataset) -> TrainingRows:
    """The summary of a table.

    Args:
        dataset: n training rows.
    """
    return TrainingRows(dataset.n, tuple(map(_counted, dataset.columns)))


def _counted(column: Column) -> ColumnCounts:
    missing = int(column.missing.sum())
    present = len(column.values) - missing
    if column.coded:
        levels, counts = _levels(column)
        return ColumnCounts(column.name, present, missing, None, None, (), levels, counts, False)
    values: NDArray[np.float64] = np.sort(column.values[~column.missing].astype(np.float64))
    if not present:
        return ColumnCounts(column.name, 0, missing, None, None, (), (), (), False)
    mean, deviation = float(values.mean()), float(values.std())
    different, each = np.unique(values, return_counts=True)
    if len(different) <= MOST_VALUES:
        edges, counts = tuple(map(float, different)), tuple(map(int, each))
        return ColumnCounts(column.name, present, missing, mean, deviation, edges, (), counts, True)
    inner = np.unique(values[np.arange(1, BINS) * present // BINS - 1])
    inner = inner[inner < values[-1]]
    bins = np.bincount(np.searchsorted(inner, values, side="left"), minlength=len(inner) + 1)
    edges = tuple(map(float, inner))
    return ColumnCounts(column.name, present, missing, mean, deviation, edges, (), tuple(map(int, bins)), False)


def _levels(column: Column) -> tuple[tuple[str, ...], tuple[int, ...]]:
    """Levels with their rows, the frequent ones first where there are too many."""
    names, codes = column.levels, column.values
    if column.raw is not None:  # with the names of those that are pooled
        words = column.raw.as_words()
        names, codes = words.levels, words.data
    count = np.bincount(codes[codes >= 0].astype(np.int64), minlength=len(names))
    kept = np.sort(np.argsort(-count, kind="stable")[:MOST_LEVELS])
    kept = kept[count[kept] > 0]
    return tuple(names[i] for i in kept), tuple(int(count[i]) for i in kept)


def summary_text(rows: TrainingRows) -> str:
    """The summary as JSON."""
    return json.dumps(asdict(rows), indent=1, allow_nan=False) + "\n"


def summary_of_text(text: str, where: str) -> TrainingRows:
    """The inverse of `summary_text`.

    Raises:
        DataError: it is no summary.
    """
    try:
        found: dict[str, Any] = json.loads(text)
        columns = tuple(_column_of(column) for column in found["columns"])
        return TrainingRows(int(found["rows"]), columns)
    except (ValueError, KeyError, TypeError) as error:
        raise DataError(f"{where} is no summary of training rows ({error}); save the model again") from None


def _column_of(held: dict[str, Any]) -> ColumnCounts:
    values: dict[str, Any] = {key: tuple(each) if isinstance(each, list) else each for key, each in held.items()}
    return ColumnCounts(**values)
