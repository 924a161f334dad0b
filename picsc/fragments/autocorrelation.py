"""A check that neighbouring rows are independent: if not, p-values that assume exchangeable rows are too small.

Letters: n rows, f numeric columns.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from picsc.datasets.table import Column
from picsc.fragments.block_length import block_length
from picsc.fragments.dependence import autocovariances, integrated_time, lags
from picsc.reports.common import Finding

LEVEL = 1e-4
"""Two-sided rate of false alarms over all columns."""
EXCHANGEABLE = "p-values take rows as exchangeable"
AUDIT_LEVEL = 0.05
"""Level of the tests for which a block length is suggested."""
CARRIERS = 4
"""The square of the effective number of rows behind a column's variance must be at least this many times the number
of pairs."""


def neighbours_alike(
    columns: Sequence[Column],
    order: NDArray[np.int64],
    piece: NDArray[np.int64],
    strata: NDArray[np.int64] | None,
    *,
    alone: bool = False,
) -> list[Finding]:
    """Report the numeric column whose lag-1 autocorrelation is the most significant.

    Rows are compared within pieces, about the mean of the piece: a shift between pieces is what an audit looks for, and
    makes rows of one piece alike without any dependence. With strata, they are also compared within these, as the null
    permutes within them: each row with the next row of its own class, after the class mean is subtracted. So a table
    that is sorted by class and cut into stratified folds shows no autocorrelation for that reason.

    Args:
        columns: the covariates; only numeric ones are used.
        order: row numbers in the order of the rows or of time.
        piece: (n,) number of the piece of each row.
        strata: (n,) strata within which the null permutes; None for the whole table.
        alone: the one piece is compared with another table, of about as many rows.
    """
    numeric = [column for column in columns if column.kind == "numeric"]
    if not numeric or len(order) < 3:
        return []
    stratum = piece[order]
    rows = order
    if strata is not None:
        stratum = stratum * (int(strata[order].max()) + 1) + strata[order]
    stratum = np.unique(stratum, return_inverse=True)[1].reshape(-1)
    by_stratum = np.argsort(stratum, kind="stable")
    order, stratum = order[by_stratum], stratum[by_stratum]
    beyond = NormalDist().inv_cdf(1 - LEVEL / (2 * len(numeric)))
    found: list[tuple[float, float, Column]] = []
    for column in numeric:
        r, deviations = _lag_one(*_centred(column.values[order], stratum), stratum)
        if abs(deviations) > beyond:
            found.append((abs(deviations), r, column))
    if not found:
        return []
    _, r, column = max(found, key=lambda entry: entry[0])
    within = " within classes" if strata is not None else ""
    message = (
        f"neighbouring rows are alike{within} in {len(found)} of {len(numeric)} numeric columns; strongest in "
        f"{column.name!r}, lag-1 autocorrelation {r:.2f}"
    )
    advice = _advice(_centred(column.values[order], stratum)[0][np.argsort(by_stratum)], piece[rows], alone=alone)
    return [Finding("lag1-autocorrelation", "warning", message, advice)]


def _advice(x: NDArray[np.float64], piece: NDArray[np.int64], *, alone: bool) -> str:
    """The block length that the dependence of a column asks for, if pieces have room for it.

    Args:
        x: (n,) deviations from the mean of the stratum, in row order.
        piece: (n,) number of the piece of each.
        alone: the one piece is compared with another table, of about as many rows.
    """
    by_piece = np.argsort(piece, kind="stable")
    sizes = np.unique(piece, return_counts=True)[1]
    most = lags(sizes)
    if most < 1:
        return f"{EXCHANGEABLE}; there are too few rows for blocks, so cut fewer pieces"
    time = integrated_time(autocovariances(x[by_piece], sizes, most), sizes)
    chosen = block_length(time, sizes.tolist() * (2 if alone else 1), level=AUDIT_LEVEL, previous=False)
    if chosen.enough and chosen.rows > 1:
        return f"{EXCHANGEABLE}; give --block {chosen.rows}"
    do = "compare more rows" if alone else "cut fewer pieces"
    return f"{EXCHANGEABLE}; there are too few rows for blocks of {chosen.wanted}, which would be needed, so {do}"


def _centred(
    values: NDArray[np.float64] | NDArray[np.int32], stratum: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Deviations from the mean of the stratum, 0 where missing, and a mask of those present; `stratum` increases."""
    x = values.astype(np.float64)
    present = np.isfinite(x)
    known = np.flatnonzero(present)
    if len(known) == 0:
        return np.zeros_like(x), present
    every = len(known) == len(x)
    starts = np.searchsorted(stratum, np.arange(int(stratum[-1]) + 1))
    sizes = np.diff(np.append(starts, len(x)))
    # Subtracting a value of the stratum first makes a constant exactly 0 and avoids cancellation for a large offset.
    first = starts if every else known[np.minimum(np.searchsorted(known, starts), len(known) - 1)]
    x -= np.repeat(x[first], sizes)
    if not every:
        x[~present] = 0.0
    there = sizes if every else np.add.reduceat(present, starts, dtype=np.int64)
    x -= np.repeat(np.add.reduceat(x, starts) / np.maximum(there, 1), sizes)
    if not every:
        x[~present] = 0.0
    return x, present


def _lag_one(x: NDArray[np.float64], present: NDArray[np.bool_], stratum: NDArray[np.int64]) -> tuple[float, float]:
    """Correlation of each row with the next of its stratum, and the same in standard deviations under independence.

    Deviations from the mean of m values have a correlation of -1 / (m - 1) in whatever order they come, which is taken
    out. The standard deviation is that of the products themselves, so that pieces of unequal variance are no evidence.
    Both are 0 if the variance comes from fewer rows than the normal approximation needs: two outliers that happen to be
    neighbours are no evidence.
    """
    both = stratum[1:] == stratum[:-1]
    every = bool(present.all())
    if not every:
        both &= present[1:] & present[:-1]
    pairs = int(np.count_nonzero(both))
    squares = x * x
    square = float(squares.sum())
    if pairs == 0 or square == 0.0:
        return 0.0, 0.0
    weights = squares / square
    carriers = 1.0 / float((weights * weights).sum())
    if carriers * carriers < CARRIERS * pairs:
        return 0.0, 0.0
    starts = np.searchsorted(stratum, np.arange(int(stratum[-1]) + 1))
    sizes = np.diff(np.append(starts, len(x)))
    m = (sizes if every else np.add.reduceat(present, starts, dtype=np.int64)).astype(np.float64)
    by_chance = -np.add.reduceat(squares, starts) / np.maximum(m * (m - 1), 1.0)
    products = x[1:] * x[:-1]
    products -= np.repeat(by_chance, sizes)[1:]
    products[~both] = 0.0
    total, spread = float(products.sum()), math.sqrt(float(products @ products))
    r = (total / pairs) / (square / np.count_nonzero(present))
    return r, total / spread if spread else 0.0
