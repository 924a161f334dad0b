"""Random clouds from diamond-square subdivision. Letters: n images, m the side of the clouds, a power of two."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def plasma(n: int, side: int, decay: float, rng: np.random.Generator) -> NDArray[np.float32]:
    """Clouds of one size, each from 0 to 1.

    Source: Fournier, Fussell and Carpenter (1982): corners get random heights; the middle of a square and then the
    middles of its edges get the mean of their four neighbours and noise, which decays from one scale to the next. The
    map goes on at the opposite border.

    Args:
        n: number of clouds.
        side: pixels a side.
        decay: factor by which the noise shrinks from one scale to the next, above 1.
        rng: generator of the noise.

    Returns:
        (n, side, side).
    """
    m = 1 << max(side - 1, 1).bit_length()
    heights = np.zeros((n, m, m))
    step, noise = m, 1.0
    while step > 1:
        half = step // 2
        corners = heights[:, ::step, ::step]
        square = corners + np.roll(corners, -1, 1)
        heights[:, half::step, half::step] = _mean(square + np.roll(square, -1, 2), noise, rng)
        middles = heights[:, half::step, half::step]
        above = middles + np.roll(middles, 1, 1) + corners + np.roll(corners, -1, 2)
        heights[:, ::step, half::step] = _mean(above, noise, rng)
        beside = middles + np.roll(middles, 1, 2) + corners + np.roll(corners, -1, 1)
        heights[:, half::step, ::step] = _mean(beside, noise, rng)
        step, noise = half, noise / decay
    heights -= heights.min((1, 2), keepdims=True)
    heights /= np.maximum(heights.max((1, 2), keepdims=True), np.finfo(float).tiny)
    return heights[:, :side, :side].astype(np.float32)


def _mean(total: NDArray[np.float64], noise: float, rng: np.random.Generator) -> NDArray[np.float64]:
    """Mean of four neighbours, with noise."""
    return total / 4 + noise * rng.uniform(-1, 1, total.shape)
