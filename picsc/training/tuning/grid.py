"""The search of a number on a logarithmic grid, which is widened wherever the best candidate is at one of its ends.

A best candidate at an end says that the grid is too small, and not where the best value is. Letters: l choices that are
made side by side, a candidates of each.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Losses = Callable[[NDArray[np.intp], tuple[float, ...]], Floats]
"""From the numbers of some choices, (m,), and a candidates to their losses, (m, a); infinite where one failed."""
WIDENED = 1e-9
"""Relative distance below which two candidates are the same."""


@dataclass(frozen=True, slots=True)
class Axis:
    """Candidates of one number, and how far they may be widened."""

    values: tuple[float, ...]
    """Candidates that are always tried, increasing."""
    most: float
    """Largest candidate that is ever tried."""
    least: float = 0.0
    """Smallest candidate that is ever tried; 0 adds none below the first."""
    digits: tuple[int, ...] = (1, 3)
    """First digits of the candidates that are added: 1 and 3 are two in each power of ten."""

    def above(self, value: float) -> float | None:
        """The candidate that follows the largest one; None where that is large enough."""
        found = min(each for each in self._ladder(value) if each > value * (1 + WIDENED))
        return found if found <= self.most * (1 + WIDENED) else None

    def below(self, value: float) -> float | None:
        """The candidate before the smallest one; None where that is small enough."""
        if value <= 0 or self.least <= 0:
            return None
        found = max(each for each in self._ladder(value) if each < value * (1 - WIDENED))
        return found if found >= self.least * (1 - WIDENED) else None

    def _ladder(self, value: float) -> list[float]:
        exponent = math.floor(math.log10(value)) if value > 0 else -4
        return [float(f"{digit}e{exponent + more}") for more in (-1, 0, 1) for digit in self.digits]


def search(axis: Axis, count: int, losses: Losses) -> Floats:
    """The candidate with the smallest loss of each choice; the smaller one of equal ones.

    Args:
        axis: candidates. Where the best one is the largest (or the smallest), the next one beyond is tried as well, for
            those choices alone, until the best one has a neighbour on both sides or the axis ends.
        count: choices, l.
        losses: of some choices with some candidates.

    Returns:
        (l,).
    """
    values = list(axis.values)
    table = losses(np.arange(count), axis.values)
    while True:
        best = np.where(np.isnan(table), np.inf, table).argmin(1)
        tried = ~np.isnan(table)
        rows, places = np.arange(count), np.arange(len(values))
        last = np.where(tried, places, -1).max(1)
        first = np.where(tried, places, len(values)).min(1)
        found = np.isfinite(table[rows, best])
        for ends, beyond in ((last, axis.above), (first, axis.below)):
            at_end = found & (best == ends)
            place = next((int(i) for i in np.unique(ends[at_end]) if beyond(values[i]) is not None), None)
            if place is not None:
                break
        else:
            chosen: Floats = np.array(values)[best]
            return chosen
        value, which = beyond(values[place]), np.flatnonzero(at_end & (ends == place))
        assert value is not None  # noqa: S101 - asked above
        if value not in values:
            at = int(np.searchsorted(values, value))
            values.insert(at, value)
            table = np.insert(table, at, np.nan, axis=1)
        table[which, values.index(value)] = losses(which, (value,))[:, 0]
