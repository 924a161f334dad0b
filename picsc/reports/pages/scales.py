"""Axes of pictures: linear and logarithmic maps to pixels, round ticks, and labels that do not overlap."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Scale:
    """A linear map from values to pixels."""

    low: float
    """The value that is drawn at `first`."""
    high: float
    """The value that is drawn at `last`."""
    first: float
    """Pixel of `low`."""
    last: float
    """Pixel of `high`; smaller than `first` where values grow upwards."""

    def __call__(self, value: float) -> float:
        """The pixel of a value."""
        share = (value - self.low) / (self.high - self.low)
        return self.first + share * (self.last - self.first)


def ticks(low: float, high: float, *, most: int) -> list[float]:
    """Round numbers, evenly spaced, from at or below `low` to at or above `high`.

    Args:
        low: smallest value to show.
        high: largest value to show.
        most: ticks at most, about.
    """
    span = max(high - low, 1e-6)
    power = 10 ** math.floor(math.log10(span / (most - 1)))
    step = next(power * factor for factor in (1, 2, 5, 10, 20) if span / (power * factor) <= most - 1)
    start, end = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [round(k * step, 12) for k in range(start, max(end, start + 1) + 1)]


def apart(heights: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """Increasing heights moved apart by least squares and, where there is room, within `low` to `high`.

    Args:
        heights: increasing.
        gap: between two neighbours, at least.
        low: smallest height.
        high: largest height; left behind when there are too many.
    """
    blocks: list[tuple[float, int]] = []  # of neighbours that touch: where their first one wants to be, and how many
    for k, height in enumerate(heights):
        mean, count = height - gap * k, 1
        while blocks and blocks[-1][0] > mean:
            before, many = blocks.pop()
            mean, count = (before * many + mean * count) / (many + count), count + many
        blocks.append((mean, count))
    room = max(low, high - gap * (len(heights) - 1))
    starts = [min(max(mean, low), room) for mean, count in blocks for _ in range(count)]
    return [start + gap * k for k, start in enumerate(starts)]
