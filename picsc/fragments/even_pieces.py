"""Pieces of nearly the wanted sizes, made of units that must stay whole: equal times, or the rows of one group.

Letters: m units in a fixed order, k pieces.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def ends_near(count: NDArray[np.int64], goals: NDArray[np.float64]) -> NDArray[np.int64]:
    """Ends of k consecutive pieces, each with a unit at least, whose numbers of rows are near the wanted ones.

    Args:
        count: (m,) rows of each unit; m is at least k.
        goals: (k,) rows wanted in the first 1, 2, .. k pieces together.

    Returns:
        (k,) number of units in the first 1, 2, .. k pieces together; the last is m.
    """
    m, k = len(count), len(goals)
    upto = np.cumsum(count)
    ends = np.empty(k, dtype=np.int64)
    ends[-1] = m
    done = 0
    for i in range(1, k):
        low, high = done + 1, m - (k - i)  # every piece, this one and those to come, needs a unit of its own
        goal = goals[i - 1]
        near = int(np.searchsorted(upto, goal)) + 1
        done = min(max(near, low), high)
        if done > low and goal - upto[done - 2] <= upto[done - 1] - goal:
            done -= 1
        ends[i - 1] = done
    return ends


def piece_of_unit(ends: NDArray[np.int64]) -> NDArray[np.int64]:
    """Number of the piece of each unit, (m,), from the pieces' ends."""
    return np.repeat(np.arange(len(ends)), np.diff(ends, prepend=0))
