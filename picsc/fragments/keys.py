"""The values of a column that cuts a table: their codes, order and spelling.

Letters: n rows.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from picsc.datasets.natural_order import natural_order
from picsc.datasets.table import Dataset
from picsc.errors import DataError
from picsc.settings import GroupMissing


def key(dataset: Dataset, column: str) -> NDArray[Any]:
    """Raw values of a column that cuts the table, (n,).

    Raises:
        DataError: the table was read without this column.
    """
    if column not in dataset.keys:
        known = ", ".join(sorted(dataset.keys)) or "none"
        raise DataError(f"{dataset.name}: no column {column!r} to cut by (columns kept for cutting: {known})")
    return dataset.keys[column]


def times_of(dataset: Dataset, column: str) -> NDArray[Any]:
    """Values of a column that orders rows by time, (n,): its dates, or else its raw values.

    Raises:
        DataError: the table was read without this column.
    """
    return dataset.times[column] if column in dataset.times else key(dataset, column)


def group_codes(dataset: Dataset, column: str, missing: GroupMissing = "refuse") -> NDArray[np.int64]:
    """Number of each row's group, int64 (n,), in sorted order of the groups as scikit-learn counts them.

    Args:
        dataset: the table.
        column: column of the groups.
        missing: the treatment of rows without a value: `refuse` gives -1, `own` makes each of them a group after all
            others, `together` makes them one group.
    """
    codes, values = distinct(key(dataset, column))
    rank = _by_size(values)
    if rank is None:  # scikit-learn sorts words by their characters
        rank = _ranks(np.argsort(np.asarray([spelled(value) for value in values], dtype=object), kind="stable"))
    groups = np.append(rank, -1)[codes]  # code -1 indexes the last entry
    if missing == "refuse":
        return groups
    gone = groups < 0
    groups[gone] = len(values) + (np.arange(gone.sum()) if missing == "own" else 0)
    return groups


def distinct(values: NDArray[Any]) -> tuple[NDArray[np.int64], list[object]]:
    """Code of each row, -1 where missing, and the values in order of first appearance; equal spellings are merged."""
    codes, found = pd.factorize(values)
    uniques: list[object] = list(pd.Index(found))
    same, _ = pd.factorize(np.asarray([spelled(value) for value in uniques], dtype=object))
    first = np.unique(same, return_index=True)[1]
    merged = np.append(same, -1)[codes]  # code -1 indexes the last entry
    return merged.astype(np.int64), [uniques[i] for i in first]


def sorted_ranks(values: list[object]) -> NDArray[np.int64]:
    """Rank of each value: dates and numbers (or words that are numbers) by size, words by spelling.

    Numbers inside words count as numbers: week 2 comes before week 10.
    """
    rank = _by_size(values)
    if rank is not None:
        return rank
    words = [spelled(value) for value in values]
    order = sorted(range(len(words)), key=lambda i: natural_order(words[i]))
    return _ranks(np.asarray(order, dtype=np.int64))


def _by_size(values: list[object]) -> NDArray[np.int64] | None:
    """Rank of each value if all are numbers (or words that are numbers) or all are dates, else None."""
    if values and all(isinstance(value, pd.Timestamp) for value in values):
        return _ranks(pd.DatetimeIndex(values).argsort())
    numbers = np.asarray(pd.to_numeric(pd.Series(values, dtype=object), errors="coerce"), dtype=np.float64)
    return None if np.isnan(numbers).any() else _ranks(np.argsort(numbers, kind="stable"))


def _ranks(order: NDArray[np.int64]) -> NDArray[np.int64]:
    """The inverse of an order."""
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    return rank


def spelled(value: object) -> str:
    """A value as a person would write it: `3` for 3.0, a date without the time at midnight."""
    if isinstance(value, (float, np.floating)) and float(value).is_integer():
        return str(int(value))
    if isinstance(value, pd.Timestamp) and value == value.normalize():
        return value.strftime("%Y-%m-%d")
    return str(value)
