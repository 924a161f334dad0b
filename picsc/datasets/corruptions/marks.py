"""A stripe of inverted pixels, and dotted and zigzag lines. Letters: n images, s pixels a side."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from picsc.datasets.corruptions.noise import Images

_POINTS = 4
"""Points of a line per pixel of the side, so that no pixel on its way is left out."""
_TURNS = 8
"""Turns of a zigzag line, which leave room for its teeth in 28 pixels."""


def stripe(x: Images, share: float, rng: np.random.Generator) -> Images:  # noqa: ARG001
    """Invert the pixels of an upright stripe in the middle.

    Args:
        x: images.
        share: width of the stripe, as a share of the side.
        rng: not used.
    """
    s = x.shape[2]
    width = max(round(share * s), 1)
    start = (s - width) // 2
    found = x.copy()
    found[..., start : start + width] = 1 - found[..., start : start + width]
    return found


def dotted_line(x: Images, strength: tuple[int, float], rng: np.random.Generator) -> Images:
    """Draw straight dotted lines in white, each from a random place at the left border to one at the right.

    Args:
        x: images.
        strength: number of lines, and the share of the line that is drawn.
        rng: generator of the lines.
    """
    lines, drawn = strength
    found = x.copy()
    along = np.linspace(0, 1, _POINTS * x.shape[2])
    dots = (along * x.shape[2] / 4) % 1 < drawn
    for _ in range(lines):
        _drawn(found, _heights(len(x), along, rng), along, dots)
    return found


def zigzag(x: Images, strength: tuple[int, float], rng: np.random.Generator) -> Images:
    """Draw zigzag lines in white, each about a straight line from a random place at the left border to the right.

    Args:
        x: images.
        strength: number of lines, and height of their teeth as a share of the side.
        rng: generator of the lines.
    """
    lines, height = strength
    found = x.copy()
    along = np.linspace(0, 1, _POINTS * x.shape[2])
    teeth = 2 * np.abs(2 * ((along * _TURNS / 2) % 1) - 1) - 1
    for _ in range(lines):
        _drawn(found, _heights(len(x), along, rng) + height * teeth, along, np.ones(len(along), bool))
    return found


def _heights(n: int, along: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.float64]:
    """Heights of n straight lines at these places, as shares of the side."""
    first, last = rng.uniform(0.1, 0.9, (2, n, 1))
    heights: NDArray[np.float64] = first + (last - first) * along
    return heights


def _drawn(x: Images, heights: NDArray[np.float64], along: NDArray[np.float64], seen: NDArray[np.bool_]) -> None:
    """Set the pixels of a line in each image to white, in place; heights are (n, points)."""
    last = x.shape[2] - 1
    rows = np.rint(heights[:, seen] * last).clip(0, last).astype(np.int64)
    columns = np.rint(along[seen] * last).astype(np.int64)
    x[np.arange(len(x))[:, None], :, rows, columns[None]] = 1
