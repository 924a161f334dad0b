"""Shear, scale, rotation, translation and elastic deformation. Letters: n images, s pixels a side."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter

from picsc.datasets.corruptions.noise import Images
from picsc.datasets.corruptions.sampling import grid, sampled


def shear(x: Images, slope: float, rng: np.random.Generator) -> Images:
    """Move every row to the side by its distance from the middle, to a side that is drawn.

    Args:
        x: images.
        slope: pixels to the side per pixel down.
        rng: generator of the sides.
    """
    slopes = slope * _signs(len(x), rng)
    matrices = np.tile(np.eye(2), (len(x), 1, 1))
    matrices[:, 1, 0] = slopes
    return _transformed(x, matrices)


def scale(x: Images, factor: float, rng: np.random.Generator) -> Images:  # noqa: ARG001
    """Shrink the image about its middle.

    Args:
        x: images.
        factor: factor of lengths, below 1.
        rng: not used.
    """
    return _transformed(x, np.tile(np.eye(2) / factor, (len(x), 1, 1)))


def rotate(x: Images, degrees: float, rng: np.random.Generator) -> Images:
    """Turn the image about its middle, in a direction that is drawn.

    Args:
        x: images.
        degrees: angle.
        rng: generator of the directions.
    """
    angles = np.deg2rad(degrees) * _signs(len(x), rng)
    cos, sin = np.cos(angles), np.sin(angles)
    return _transformed(x, np.stack([np.stack([cos, -sin], 1), np.stack([sin, cos], 1)], 1))


def translate(x: Images, share: float, rng: np.random.Generator) -> Images:
    """Move the image in a direction that is drawn.

    Args:
        x: images.
        share: distance, as a share of the side.
        rng: generator of the directions.
    """
    angles = rng.uniform(0, 2 * np.pi, len(x))
    moves = share * x.shape[2] * np.stack([np.sin(angles), np.cos(angles)], 1)
    return _transformed(x, np.tile(np.eye(2), (len(x), 1, 1)), moves)


def elastic_transform(x: Images, strength: tuple[float, float, float], rng: np.random.Generator) -> Images:
    """Deform the image by a random affine map, then by a smooth random field.

    Source: Simard, Steinkraus and Platt (2003) for the field. The affine map moves three points around the middle.

    Args:
        x: images.
        strength: height of the field, standard deviation of its smoothing, and the furthest that the affine map moves
            each point along each axis; all as shares of the side.
        rng: generator of maps and fields.
    """
    height, deviation, furthest = (share * x.shape[2] for share in strength)
    n, s = len(x), x.shape[2]
    third = s / 3
    points = np.array([[third, third], [third, -third], [-third, -third]])
    moved = points + rng.uniform(-furthest, furthest, (n, 3, 2))
    with_one = np.concatenate([moved, np.ones((n, 3, 1))], 2)
    back = np.linalg.solve(with_one, np.broadcast_to(points, (n, 3, 2)))
    field = rng.uniform(-1, 1, (2, n, s, s))
    smooth = height * (gaussian_filter(field, (0, 0, deviation, deviation), mode="reflect") if height else field)
    rows, columns = (places - (s - 1) / 2 for places in grid(s))
    source = [
        back[:, 0, k, None, None] * rows + back[:, 1, k, None, None] * columns + back[:, 2, k, None, None]
        for k in range(2)
    ]
    row, column = (place + (s - 1) / 2 + part for place, part in zip(source, smooth, strict=True))
    return sampled(x, row, column, outside="mirror")


def _transformed(x: Images, matrices: NDArray[np.float64], moves: NDArray[np.float64] | None = None) -> Images:
    """Each image at places about its middle that a matrix (2, 2) gives for every pixel, then moved by (2,) pixels."""
    middle = (x.shape[2] - 1) / 2
    rows, columns = (places - middle for places in grid(x.shape[2]))
    if moves is not None:
        rows, columns = (places - moves[:, k, None, None] for k, places in enumerate((rows, columns)))
    row, column = (
        middle + matrices[:, k, 0, None, None] * rows + matrices[:, k, 1, None, None] * columns for k in range(2)
    )
    return sampled(x, row, column)


def _signs(n: int, rng: np.random.Generator) -> NDArray[np.float64]:
    return rng.choice([-1.0, 1.0], n)
