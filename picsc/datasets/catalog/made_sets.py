"""Image sets that are made from another set: permuted pixels, corruptions, and Gaussian noise.

Letters: n images, c channels, s pixels a side.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from picsc.datasets.catalog.made_from_files import authors_folder, read_authors
from picsc.datasets.catalog.made_names import Made
from picsc.datasets.catalog.made_plan import SEED, dealt, made_digest, owned, planned
from picsc.datasets.corruptions.corrupt import SEVERITIES, corrupt
from picsc.datasets.corruptions.noise import gaussian_noise
from picsc.datasets.images import ImageSet

NOISES = (1, 10, 25, 50, 75, 100)
"""Standard deviations of Gaussian noise on the covariates, in 255ths of the range of a pixel."""
_ROWS = 5000
"""Images to which noise is added at once; the drawn numbers do not depend on it."""


def make(made: Made, root: Path, base: Callable[[str], ImageSet]) -> ImageSet:
    """Read a set from the authors' files, or else make it from the set that it is based on.

    Args:
        made: the set.
        root: the data directory.
        base: reads a set of images by its name.

    Returns:
        The images; `owners` are corruptions, severities or noises, wherever there are several.

    Raises:
        DataError: neither is there, or a file is damaged.
    """
    if made.entry.way == "corrupted":
        folder = authors_folder(made, root)
        return _corrupted(made, base(made.entry.base)) if folder is None else read_authors(made, folder)
    images = base(made.entry.base)
    return _noisy(made, images) if made.entry.way == "noisy" else _permuted(made, images)


def _permuted(made: Made, images: ImageSet) -> ImageSet:
    """All images under one permutation of their pixels, the same for every channel."""
    n, c, s, _ = images.shape
    order = np.random.default_rng(made.seed).permutation(s * s)
    pixels = images.pixels.reshape(n, c, s * s)[:, :, order].reshape(images.shape)
    return _changed(made, images, pixels)


def _noisy(made: Made, images: ImageSet) -> ImageSet:
    levels = NOISES if made.noise is None else (made.noise,)
    hands = dealt(images.n, len(levels))
    rng = np.random.default_rng(SEED)
    pixels = np.empty_like(images.pixels)
    for start in range(0, images.n, _ROWS):
        block = slice(start, start + _ROWS)
        x = images.pixels[block].astype(np.float32)
        scale = np.array(levels, np.float32)[hands[block], None, None, None]
        noise = scale * gaussian_noise(np.zeros_like(x), 1, rng)
        pixels[block] = np.rint(x + noise).clip(0, 255).astype(np.uint8)
    return owned(_changed(made, images, pixels), (hands, [f"noise {level}/255" for level in levels]))


def _corrupted(made: Made, images: ImageSet) -> ImageSet:
    """CIFAR's official test part, as its authors corrupt it; all images of MNIST, and of a set without a test part."""
    if not made.entry.grey and len(images.test):
        images = replace(
            images,
            pixels=images.pixels[images.test],
            labels=images.labels[images.test],
            test=np.empty(0, np.int64),
        )
    plan = planned(made, images.n)
    pixels = np.empty_like(images.pixels)
    rng = np.random.default_rng(SEED)
    for name in plan.names:
        for severity in range(1, SEVERITIES + 1):
            rows = np.flatnonzero((plan.corruptions == name) & (plan.severities == severity))
            if len(rows):
                pixels[rows] = corrupt(images.pixels[rows], name, severity, rng)
    return owned(_changed(made, images, pixels), plan.owners)


def _changed(made: Made, images: ImageSet, pixels: NDArray[np.uint8]) -> ImageSet:
    """A set with other pixels, and with the name of the made one."""
    return replace(
        images,
        name=made.name,
        source=f"made from {images.source}",
        pixels=pixels,
        sha256=made_digest(made, [images.sha256]),
        owners=None,
        clients=(),
    )
