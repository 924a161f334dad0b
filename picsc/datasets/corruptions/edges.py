"""Canny's edges in place of the image. Letters: n images, s pixels a side."""

from __future__ import annotations

import numpy as np
from scipy.ndimage import correlate1d, label

from picsc.datasets.corruptions.blur import smoothed
from picsc.datasets.corruptions.noise import Images

_LOW, _HIGH = 0.1, 0.2
"""Thresholds of weak and of strong edges, as shares of the largest slope that is possible."""
_LARGEST = 4 * 2**0.5
"""Largest slope that Sobel's operator gives for values from 0 to 1."""
_NEIGHBOURS = ((0, 1), (1, 1), (1, 0), (1, -1))
"""The neighbour along slopes of 0, 45, 90 and 135 degrees, in rows and columns."""


def canny_edges(x: Images, blur: float, rng: np.random.Generator) -> Images:  # noqa: ARG001
    """White edges on black.

    Source: Canny (1986): slopes of the blurred image that are largest across the edge; weak ones count only where they
    touch strong ones.

    Args:
        x: images; the edges of coloured ones are those of the mean of their channels.
        blur: standard deviation of the blur, in pixels.
        rng: not used.
    """
    grey = smoothed(x.mean(1, keepdims=True), blur)[:, 0]
    down, right = _sobel(grey, 1, 2), _sobel(grey, 2, 1)
    slope = np.hypot(down, right) / _LARGEST
    direction = np.rint(np.arctan2(down, right) / (np.pi / 4)).astype(np.int64) % 4
    padded = np.pad(slope, ((0, 0), (1, 1), (1, 1)))
    s = slope.shape[1]
    crest = np.zeros(slope.shape, bool)
    for k, (i, j) in enumerate(_NEIGHBOURS):
        ahead = padded[:, 1 + i : 1 + i + s, 1 + j : 1 + j + s]
        behind = padded[:, 1 - i : 1 - i + s, 1 - j : 1 - j + s]
        crest |= (direction == k) & (slope >= ahead) & (slope > behind)
    structure = np.zeros((3, 3, 3), bool)
    structure[1] = True  # edges touch within an image only
    names, found = label(crest & (slope > _LOW), structure)
    strong = np.zeros(found + 1, bool)
    strong[names[crest & (slope > _HIGH)]] = True
    strong[0] = False
    return np.broadcast_to(strong[names][:, None], x.shape).astype(np.float32)


def _sobel(grey: Images, along: int, across: int) -> Images:
    """Slope along one axis by Sobel's operator; scipy's own would mix neighbouring images as well."""
    slope: Images = correlate1d(correlate1d(grey, [-1, 0, 1], axis=along), [1, 2, 1], axis=across)
    return slope
