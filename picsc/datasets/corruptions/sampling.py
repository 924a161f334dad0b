"""Values of images between their pixels. Letters: n images, c channels, s pixels a side."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from picsc.datasets.corruptions.noise import Images


def sampled(x: Images, rows: NDArray[np.float64], columns: NDArray[np.float64], *, outside: str = "black") -> Images:
    """The images at other places, by bilinear interpolation.

    Args:
        x: images.
        rows: (n, s, s) or (1, s, s) places, in pixels from the top.
        columns: places in pixels from the left, as `rows`.
        outside: `black`, or `mirror` for the image mirrored at its borders.
    """
    n, _, s, _ = x.shape
    rows, columns = (np.broadcast_to(places, (n, s, s)) for places in (rows, columns))
    if outside == "mirror":
        rows, columns = _mirrored(rows, s), _mirrored(columns, s)
    top, left = np.floor(rows).astype(np.int64), np.floor(columns).astype(np.int64)
    down, right = (rows - top).astype(np.float32), (columns - left).astype(np.float32)
    which = np.arange(n)[:, None, None]
    found = np.zeros((n, s, s, x.shape[1]), np.float32)
    for i, j, weight in (
        (0, 0, (1 - down) * (1 - right)),
        (0, 1, (1 - down) * right),
        (1, 0, down * (1 - right)),
        (1, 1, down * right),
    ):
        row, column = top + i, left + j
        inside = (row >= 0) & (row < s) & (column >= 0) & (column < s)
        values = x[which, :, row.clip(0, s - 1), column.clip(0, s - 1)]
        found += (weight * inside)[..., None] * values
    return np.moveaxis(found, 3, 1)


def grid(s: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Rows and columns of all pixels, (1, s, s) each."""
    rows, columns = np.mgrid[:s, :s].astype(np.float64)
    return rows[None], columns[None]


def shifted(x: Images, rows: NDArray[np.int64], columns: NDArray[np.int64]) -> Images:
    """Each image moved by a whole number of pixels; pixels at the border are repeated.

    Args:
        x: images.
        rows: (n,) pixels down.
        columns: (n,) pixels to the right.
    """
    n, _, s, _ = x.shape
    places = np.arange(s)
    row = (places[None] - rows[:, None]).clip(0, s - 1)
    column = (places[None] - columns[:, None]).clip(0, s - 1)
    moved: Images = np.moveaxis(x[np.arange(n)[:, None, None], :, row[:, :, None], column[:, None, :]], 3, 1)
    return moved


def _mirrored(places: NDArray[np.float64], s: int) -> NDArray[np.float64]:
    period = 2 * max(s - 1, 1)
    folded = np.mod(places, period)
    result: NDArray[np.float64] = np.minimum(folded, period - folded)
    return result
