"""Blur by a lens out of focus, by frosted glass, by motion and by zooming. Letters: n images, s pixels a side."""

from __future__ import annotations

from math import ceil

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import convolve, gaussian_filter

from picsc.datasets.corruptions.noise import Images
from picsc.datasets.corruptions.sampling import shifted


def defocus_blur(x: Images, strength: tuple[float, float], rng: np.random.Generator) -> Images:  # noqa: ARG001
    """Spread every pixel over a disc.

    Args:
        x: images.
        strength: radius of the disc, and standard deviation of the normal blur of its rim, in pixels.
        rng: not used.
    """
    radius, rim = strength
    reach = max(3, ceil(radius)) + 1
    rows, columns = np.mgrid[-reach : reach + 1, -reach : reach + 1]
    disc = (rows**2 + columns**2 <= radius**2).astype(np.float64)
    kernel = gaussian_filter(disc, rim, mode="constant")
    return _convolved(x, kernel / kernel.sum())


def glass_blur(x: Images, strength: tuple[float, int, int], rng: np.random.Generator) -> Images:
    """Swap every pixel with one nearby, between two normal blurs.

    Args:
        x: images.
        strength: standard deviation of the blur, largest distance of a swap along each axis, and number of passes.
        rng: generator of the swaps.
    """
    deviation, reach, passes = strength
    blurred = smoothed(x, deviation)
    n, _, s, _ = x.shape
    which = np.arange(n)
    for _ in range(passes):
        for row in range(s - reach - 1, reach - 1, -1):
            for column in range(s - reach - 1, reach - 1, -1):
                down, right = rng.integers(-reach, reach + 1, (2, n))
                other = blurred[which, :, row + down, column + right]
                blurred[which, :, row + down, column + right] = blurred[:, :, row, column]
                blurred[:, :, row, column] = other
    return smoothed(blurred, deviation)


def motion_blur(x: Images, strength: tuple[int, float], rng: np.random.Generator) -> Images:
    """Trail every pixel along a line, whose angle is drawn between -45 and 45 degrees.

    Args:
        x: images.
        strength: radius, which gives a trail of 2 radius + 1 pixels, and standard deviation of its normal decay.
        rng: generator of the angles.
    """
    return trailed(x, strength, rng.uniform(-45, 45, len(x)))


def trailed(x: Images, strength: tuple[int, float], degrees: NDArray[np.float64]) -> Images:
    """Trail the pixels of each image along a line of its own.

    Args:
        x: images.
        strength: as for `motion_blur`.
        degrees: (n,) angles of the lines.
    """
    radius, deviation = strength
    steps = np.arange(2 * radius + 1)
    weights = np.exp(-(steps**2) / (2 * deviation**2))
    weights /= weights.sum()
    down, right = np.sin(np.deg2rad(degrees)), np.cos(np.deg2rad(degrees))
    found = np.zeros_like(x)
    for step, weight in zip(steps.tolist(), weights.tolist(), strict=True):
        moved = shifted(x, np.rint(step * down).astype(np.int64), np.rint(step * right).astype(np.int64))
        found += np.float32(weight) * moved
    return found


def zoom_blur(x: Images, largest: float, rng: np.random.Generator) -> Images:  # noqa: ARG001
    """Average the image with itself enlarged about its middle, in steps of one percent.

    Args:
        x: images.
        largest: the largest factor.
        rng: not used.
    """
    factors = np.arange(1, largest, 0.01)
    return (x + sum(zoomed(x, factor) for factor in factors.tolist())) / np.float32(len(factors) + 1)


def zoomed(x: Images, factor: float) -> Images:
    """The middle of the images, enlarged by a factor of at least 1, by bilinear interpolation."""
    s = x.shape[2]
    places = (s - 1) / 2 + (np.arange(s) - (s - 1) / 2) / factor
    weights = (1 - np.abs(places[:, None] - np.arange(s))).clip(0).astype(np.float32)
    result: Images = weights @ x @ weights.T
    return result


def smoothed(x: Images, deviation: float) -> Images:
    """Normal blur of every channel.

    Args:
        x: images.
        deviation: standard deviation in pixels.
    """
    found: Images = gaussian_filter(x, (0, 0, deviation, deviation), mode="nearest")
    return found


def _convolved(x: Images, kernel: NDArray[np.float64]) -> Images:
    found: Images = convolve(x, kernel[None, None].astype(np.float32), mode="mirror")
    return found
