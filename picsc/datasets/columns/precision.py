"""One precision for values of one column that were stored in two, so that 0.1 as float32 equals 0.1 as float64.

Letters: n rows, u distinct values.
"""

from __future__ import annotations

from dataclasses import replace
from typing import cast

import numpy as np
from numpy.typing import NDArray

from picsc.datasets.table import Dataset

Floats = NDArray[np.float64]

ROUNDING = 2.0**-48
"""Relative difference that a few operations in float64 leave: 0.1 + 0.2 against 0.3, 1 against 0.9999999999999997."""
SINGLE = 2.0**-22
"""Relative difference beyond which no two numbers are the same in float32."""
APART = 16.0
"""Neighbouring values are this many times farther from a group of merged values than its members from one another; a
column that is dense at the coarser precision, as seconds since 1970 are in float32, stays as it is."""
SAMPLE = 100_000
"""Rows that tell whether a long column has values in two precisions."""


def at_common_precision(dataset: Dataset) -> Dataset:
    """The table with numbers of one column at the coarser of the precisions they were stored in; a target likewise.

    A function of the pooled values alone, so the pieces stay exchangeable. Columns without such values are not copied.

    Args:
        dataset: n rows, possibly from two files.
    """
    columns = tuple(
        column if column.coded or column.exact else replace(column, values=merged(cast("Floats", column.values)))
        for column in dataset.columns
    )
    target = dataset.target
    if target is not None and target.kind == "numbers" and target.exact is None:
        target = replace(target, values=merged(cast("Floats", target.values)))
    return replace(dataset, columns=columns, target=target)


def merged(values: Floats) -> Floats:
    """The values, where those that differ by their precision only are one value.

    Args:
        values: (n,), NaN where missing.

    Returns:
        (n,); the same array where nothing is merged.
    """
    if len(values) > SAMPLE and not _changes(np.unique(values[:: len(values) // SAMPLE])):
        return values
    distinct, place = np.unique(values, return_inverse=True)
    settled = _settled(distinct)
    return values if np.array_equal(settled, distinct, equal_nan=True) else settled[place.reshape(-1)]


def _changes(distinct: Floats) -> bool:
    return not np.array_equal(_settled(distinct), distinct, equal_nan=True)


def _settled(distinct: Floats) -> Floats:
    """The value that each of the sorted distinct values (u,) stands for."""
    settled = distinct.copy()
    finite = np.flatnonzero(np.isfinite(distinct))
    if len(finite) < 2:
        return settled
    kept = distinct[finite]
    kept = kept[_first_members(kept, np.diff(kept) <= ROUNDING * np.abs(kept[1:]), ROUNDING)]
    with np.errstate(over="ignore"):
        single = kept.astype(np.float32).astype(np.float64)
    first = _first_members(kept, single[1:] == single[:-1], SINGLE)
    stored = np.zeros(len(kept), np.bool_)  # of groups with a member that float32 holds exactly
    np.logical_or.at(stored, first, kept == single)
    settled[finite] = np.where(stored[first] & np.isfinite(single), single, kept)
    return settled


def _first_members(distinct: Floats, joined: NDArray[np.bool_], widest: float) -> NDArray[np.int64]:
    """Position of the first value of each value's group, (u,); every value alone if the groups are not apart.

    Args:
        distinct: (u,) increasing.
        joined: (u - 1,) True where two neighbours belong together.
        widest: largest difference within a group, relative to its values.
    """
    alone = np.arange(len(distinct))
    starts = np.flatnonzero(np.concatenate([[True], ~joined]))
    width = np.maximum.reduceat(distinct, starts) - distinct[starts]
    if (width > widest * np.abs(distinct[starts])).any():
        return alone
    gap = np.concatenate([[np.inf], np.diff(distinct)[~joined], [np.inf]])
    if (np.minimum(gap[:-1], gap[1:]) <= APART * width)[width > 0].any():
        return alone
    return np.repeat(starts, np.diff(np.append(starts, len(distinct))))
