"""Gaussian, shot and impulse noise. Letters: n images, c channels, s pixels a side."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Images = NDArray[np.float32]
"""(n, c, s, s), from 0 (black) to 1."""


def gaussian_noise(x: Images, scale: float, rng: np.random.Generator) -> Images:
    """Add normal noise to every value.

    Args:
        x: images.
        scale: standard deviation.
        rng: generator of the noise.
    """
    return x + np.float32(scale) * rng.standard_normal(x.shape, dtype=np.float32)


def shot_noise(x: Images, photons: float, rng: np.random.Generator) -> Images:
    """Replace every value by a Poisson count of photons, relative to that of white.

    Args:
        x: images.
        photons: expected count of a white pixel.
        rng: generator of the counts.
    """
    return (rng.poisson(x * photons) / photons).astype(np.float32)


def impulse_noise(x: Images, share: float, rng: np.random.Generator) -> Images:
    """Set some values to black or to white, each with the same probability.

    Args:
        x: images.
        share: share of the values that are set.
        rng: generator that chooses them.
    """
    drawn = rng.random(x.shape, dtype=np.float32)
    return np.where(drawn < share / 2, np.float32(0), np.where(drawn < share, np.float32(1), x))
