"""The rows of a cut in the order that counts for it, the piece of each row, and rows of equal time.

Letters: n rows.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from picsc.datasets.table import Dataset
from picsc.fragments.keys import times_of
from picsc.fragments.pieces import Cut

Ints = NDArray[np.int64]


def piece_of_row(n: int, cut: Cut) -> Ints:
    """Number of the piece of each row, (n,); -1 for rows in no piece."""
    piece = np.full(n, -1, dtype=np.int64)
    for i, fragment in enumerate(cut.fragments):
        piece[fragment.rows] = i
    return piece


def in_order(dataset: Dataset, cut: Cut, piece: Ints) -> Ints:
    """The rows in pieces, in order of time for pieces of time, else in row order."""
    rows = np.flatnonzero(piece >= 0)
    if cut.settings.time is None:
        return rows
    return rows[np.argsort(times_of(dataset, cut.settings.time)[rows], kind="stable")]


def time_ranks(dataset: Dataset, column: str) -> Ints:
    """Rank of each row's time among the different times, (n,); those without a time have the last one."""
    return np.unique(times_of(dataset, column), return_inverse=True)[1].reshape(-1).astype(np.int64)
