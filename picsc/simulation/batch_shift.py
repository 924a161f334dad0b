"""Shift between batches of images: turned, also there and back, other classes, permuted pixels, or noise.

Letters: n images, k batches, c channels, s pixels a side.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import rotate

from picsc.datasets.images import ImageSet, pixel_scale
from picsc.settings.choices import BatchShift
from picsc.simulation.feature_noise import LARGEST_PIXEL, noisy_images

LARGEST_ANGLE = 60.0
"""Angle of the last batch, degrees, or of the one in the middle where images are turned back; the first is not
turned."""
LARGEST_NOISE = 1.5
"""Standard deviation of the last batch's noise, in those of all pixels; the first has none."""
DIRICHLET = 0.5
"""Concentration of the classes' shares in a batch."""
KEPT_FOR = 2
"""Batches with the same permutation of pixels."""

Pixels = NDArray[np.uint8]


def with_batch_shift(images: ImageSet, kind: BatchShift, k: int, *, seed: int) -> ImageSet:
    """The images in another order, in which every n / k of them are one batch, each shifted in its own way.

    Reading: images go to batches at random, so that batches differ by the shift alone. An official test part joins
        them, because models are tested on rows that are shifted as each batch is.

    Args:
        images: n of them.
        kind: of the shift.
        k: batches, whose sizes differ by at most one, as those of `--batches` do.
        seed: of all draws.
    """
    generator = np.random.default_rng([seed, 10])
    order = generator.permutation(images.n)
    sizes = [len(part) for part in np.array_split(order, k)]
    if kind == "labels":
        order = _by_drawn_classes(images.labels[order], order, sizes, generator)
    batches = np.split(np.arange(images.n), np.cumsum(sizes)[:-1])
    owners = None if images.owners is None else images.owners[order]
    ordered = replace(
        images, pixels=images.pixels[order], labels=images.labels[order], owners=owners, test=np.empty(0, np.int64)
    )
    if kind == "labels":
        return ordered
    if kind == "noise":
        sigmas = np.linspace(0, LARGEST_NOISE, k) * pixel_scale(images.pixels)[1] / LARGEST_PIXEL
        return noisy_images(ordered, batches, sigmas, seed=seed)
    changed = ordered.pixels.copy()
    for b, rows in enumerate(batches):
        change = _permuted(seed, b // KEPT_FOR) if kind == "permute" else _turned(_angle(kind, b / max(1, k - 1)))
        changed[rows] = change(changed[rows])
    return replace(ordered, pixels=changed)


def _angle(kind: BatchShift, along: float) -> float:
    """Degrees that a batch is turned by, at a place from 0 (the first one) to 1 (the last one)."""
    return LARGEST_ANGLE * (1 - abs(2 * along - 1) if kind == "return" else along)


def _turned(angle: float) -> Callable[[Pixels], Pixels]:
    """A function that turns images (n, c, s, s) about their centres, by linear interpolation; corners become 0."""

    def change(pixels: Pixels) -> Pixels:
        turned: Pixels = pixels if angle == 0 else rotate(pixels, angle, axes=(3, 2), reshape=False, order=1)
        return turned

    return change


def _permuted(seed: int, number: int) -> Callable[[Pixels], Pixels]:
    """A function that puts the pixels of all images (n, c, s, s) in the same random order."""

    def change(pixels: Pixels) -> Pixels:
        n, c, s, _ = pixels.shape
        places = np.random.default_rng([seed, 11, number]).permutation(s * s)
        return pixels.reshape(n, c, s * s)[..., places].reshape(pixels.shape)

    return change


def _by_drawn_classes(
    labels: NDArray[np.int64], order: NDArray[np.int64], sizes: Sequence[int], generator: np.random.Generator
) -> NDArray[np.int64]:
    """The rows batch by batch, whose shares of the classes are drawn; every row once, so that the last take the rest.

    Args:
        labels: classes of the rows in `order`, (n,).
        order: row numbers in random order, (n,).
        sizes: of the batches, which sum to n.
        generator: of the draws.
    """
    waiting = [order[labels == c] for c in range(int(labels.max()) + 1)]
    parts = []
    for size in sizes:
        left = np.array([len(rows) for rows in waiting])
        shares = generator.dirichlet(np.full(len(waiting), DIRICHLET))
        taken = np.minimum(generator.multinomial(size, shares), left)
        missing = size - int(taken.sum())
        taken += generator.multivariate_hypergeometric(left - taken, missing)
        parts.append(generator.permutation(np.concatenate([rows[:m] for rows, m in zip(waiting, taken, strict=True)])))
        waiting = [rows[m:] for rows, m in zip(waiting, taken, strict=True)]
    return np.concatenate(parts)
