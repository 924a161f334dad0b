"""95 % intervals of differences of means and of rates: closed forms, for rows that move alone or in units."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from scipy.special import stdtrit

from picsc.reports.common import Interval

if TYPE_CHECKING:
    from picsc.auditing.effects.sums import Estimate

LEVEL = 0.95
"""Confidence of every interval."""
Z = 1.959964
"""Standard normal quantile of a two-sided interval of this confidence."""
FEWEST_UNITS = 5
"""Fewest groups or blocks of either side whose spread says how far their mean may be off."""

NO_SPREAD = 1e-15
"""Variance, of numbers of the order of 1, that is rounding alone."""


@dataclass(frozen=True, slots=True)
class Rate:
    """A share of rows."""

    rows: float
    """Rows that have the property."""
    of: float
    """All rows that count, at least one."""

    @property
    def value(self) -> float:
        """The share, in [0, 1]."""
        return self.rows / self.of


def of_difference(piece: Estimate, reference: Estimate, k: int, *, fewest: int = 2) -> Interval | None:
    """Interval of the difference of two estimates from independent units.

    Source: Welch (1947), with Satterthwaite's degrees of freedom.

    Args:
        piece: estimates of all pieces.
        reference: estimates of their references.
        k: the piece.
        fewest: fewest units of either side.

    Returns:
        None where a side has too few units, or no spread at all.
    """
    sides = [(float(each.value[k]), float(each.variance[k]), float(each.units[k])) for each in (piece, reference)]
    (here, own, units), (there, other, others) = sides
    if min(units, others) < max(fewest, 2) or not math.isfinite(here - there + own + other) or own + other <= NO_SPREAD:
        return None
    freedom = (own + other) ** 2 / (own**2 / (units - 1) + other**2 / (others - 1))
    half = float(stdtrit(freedom, (1 + LEVEL) / 2)) * math.sqrt(own + other)
    return Interval(here - there - half, here - there + half)


def scaled(interval: Interval | None, scale: float) -> Interval | None:
    """The interval in another unit, in which 1 is `scale`, which is positive; None for none."""
    return None if interval is None else Interval(scale * interval.low, scale * interval.high)


def of_rates(piece: Rate, reference: Rate) -> Interval:
    """Interval of the difference of two rates of independent rows.

    Source: Newcombe (1998), method 10: the score intervals of Wilson (1927), combined.
    """
    (low, high), (low_r, high_r) = _wilson(piece), _wilson(reference)
    difference = piece.value - reference.value
    below = math.hypot(piece.value - low, high_r - reference.value)
    above = math.hypot(high - piece.value, reference.value - low_r)
    return Interval(max(difference - below, -1.0), min(difference + above, 1.0))


def _wilson(rate: Rate) -> tuple[float, float]:
    middle = (rate.rows + Z**2 / 2) / (rate.of + Z**2)
    half = Z / (rate.of + Z**2) * math.sqrt(rate.rows * (1 - rate.value) + Z**2 / 4)
    return middle - half, middle + half
