"""Coincidences: how many pairs of rows are equal because the columns' own values make them so.

Rows of few or rounded values coincide without being copies. If they do, many more pairs agree in all columns but one or
two; copies agree in all. Letters: n rows, f columns.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from picsc.datasets.row_hashes import row_hashes

Hashes = NDArray[np.uint64]

SAMPLE, CELLS = 50_000, 20_000_000
"""Most rows, and most values, that are counted; of more rows, a sample, in which copies and coincidences become rarer
alike."""
COLUMNS = 8
"""Number of columns, those that tell most rows apart, whose pairs are tried."""
ROWS_EACH = 10
"""Where there are so many rows for each combination of the columns' values, all equal rows are coincidences."""
BEYOND = 2.0
"""Pairs are copies where there are more than this many times the coincidences, and three standard deviations more."""


@dataclass(frozen=True, slots=True)
class EqualPairs:
    """Pairs of rows that agree in every column, in a sample of a table."""

    pairs: float
    """Number of such pairs."""
    explained: float
    """Number that coincidence explains."""

    @property
    def copies(self) -> bool:
        """True where there are clearly more equal pairs than coincidence explains."""
        return self.pairs > BEYOND * self.explained + 3 * math.sqrt(self.explained)

    @property
    def share_explained(self) -> float:
        """Share of the equal pairs that coincidence explains, at most 1; 1 where no pair is equal."""
        return min(1.0, self.explained / self.pairs) if self.pairs else 1.0


def equal_pairs(columns: Sequence[NDArray[np.generic]]) -> EqualPairs:
    """Count equal pairs of rows, and those that coincidence explains.

    Among pairs that agree in all columns but j and k, let N_j differ in j alone, N_k in k alone, and N_jk in both. If
    agreeing in j has nothing to do with agreeing in k, N_j N_k / N_jk pairs agree in both, that is, in every column;
    copies are not among N_j, N_k and N_jk. The pair of columns with the largest N_jk is the best determined one. The
    estimate from one column, N_j s / (1 - s) with s the share of pairs that agree in it, counts where it is larger.

    Args:
        columns: f arrays of shape (n,), n > 1.
    """
    n = len(columns[0])
    most = min(SAMPLE, max(2, CELLS // len(columns)))
    if n > most:
        rows = np.random.default_rng(0).choice(n, most, replace=False)
        columns, n = [values[rows] for values in columns], most
    hashes = [row_hashes([np.full(n, j), values], n) for j, values in enumerate(columns)]
    whole = np.zeros(n, np.uint64)
    for one in hashes:
        whole += one  # modulo 2^64, so that a column can be taken out again
    equal = _pairs(whole)
    if _few_combinations(hashes):
        return EqualPairs(equal, equal)
    apart = np.array([_pairs(whole - one) - equal for one in hashes])
    agreeing = np.array([_agreeing(one, equal) for one in hashes])
    explained = float(np.max(apart * agreeing / np.maximum(1 - agreeing, 1e-12)))
    largest, by_two = 0.0, 0.0
    for j, k in combinations(np.argsort(-apart)[:COLUMNS].tolist(), 2):
        both = _pairs(whole - hashes[j] - hashes[k]) - equal - apart[j] - apart[k]
        if both > largest:
            largest, by_two = both, float(apart[j] * apart[k] / both)
    return EqualPairs(equal, max(explained, by_two))


def _agreeing(column: Hashes, equal: float) -> float:
    """Share of the pairs that agree in one column, among those that differ somewhere."""
    n = len(column)
    return (_pairs(column) - equal) / max(n * (n - 1) / 2 - equal, 1.0)


def _few_combinations(columns: Sequence[Hashes]) -> bool:
    """True where the columns' values have so few combinations that each must occur many times."""
    values = sum(math.log(max(len(np.unique(column)), 1)) for column in columns)
    return values <= math.log(len(columns[0]) / ROWS_EACH)


def _pairs(hashes: Hashes) -> float:
    size = np.unique(hashes, return_counts=True)[1].astype(np.float64)
    return float((size * (size - 1)).sum() / 2)
