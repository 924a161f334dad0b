"""Measure of how far a column orders the rows of a table. Letters: n rows."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

ORDERED = 0.95
"""Agreement with the order of the rows, from 0 to 1, from which on a column of times orders them."""
_DEVIATIONS = 3.0
"""Standard deviations that rows in random order stay below, but for about one column in 1000."""
AFTER, _APART = 0.9, 4.5
"""Share of pairs in which the later table's value is the later one, and standard deviations that this share must lie
above one half, which exchangeable rows do about three times in a million."""
_FEWEST = 10


def orders_rows(values: NDArray[np.float64]) -> int:
    """Say whether values rise or fall with the rows, apart from a few rows or a little noise.

    The measure is the rank correlation of values and row numbers, divided by that of the same values when sorted, so
    that equal values do not lower it.

    Args:
        values: (n,) in row order, NaN where missing.

    Returns:
        1 for values that rise, -1 for values that fall, 0 for all others.
    """
    present = values[~np.isnan(values)]
    n = len(present)
    if n < _FEWEST:
        return 0
    ranks = rankdata(present)
    ranks -= ranks.mean()
    place = np.arange(n) - (n - 1) / 2
    spread = math.sqrt(float(ranks @ ranks) * float(place @ place))
    most = float(np.sort(ranks) @ place)
    if most <= 0:  # one value only
        return 0
    found = float(ranks @ place)
    if abs(found) < ORDERED * most or abs(found) / spread * math.sqrt(n - 1) < _DEVIATIONS - 1e-9:
        return 0
    return 1 if found > 0 else -1


def follows(later: NDArray[np.float64], earlier: NDArray[np.float64]) -> bool:
    """Say whether nearly all values of one table lie after nearly all of another.

    Args:
        later: (n,) values, NaN where missing.
        earlier: (m,) values, NaN where missing.
    """
    after, before = later[~np.isnan(later)], earlier[~np.isnan(earlier)]
    if min(len(after), len(before)) < _FEWEST:
        return False
    ranks = rankdata(np.concatenate([before, after]))[len(before) :]
    n, m = len(after), len(before)
    share = (float(ranks.sum()) - n * (n + 1) / 2) / (n * m)  # Mann and Whitney's U; ties count one half
    return share >= max(AFTER, 0.5 + _APART * math.sqrt((n + m + 1) / (12 * n * m)))
