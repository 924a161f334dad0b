"""Corruption of images by its name and severity; the two families of fifteen corruptions.

Letters: n images, c channels, s pixels a side.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from picsc.datasets.corruptions import blur, digital, edges, geometry, marks, noise, weather
from picsc.errors import SettingsError
from picsc.phrases import listed

SEVERITIES = 5
ROWS_AT_ONCE = 500
"""Images that are corrupted at once; the same images and seed give the same result only with the same number."""


@dataclass(frozen=True, slots=True)
class Corruption:
    """A corruption and its strengths."""

    function: Callable[[NDArray[np.float32], Any, np.random.Generator], NDArray[np.float32]]
    strengths: tuple[Any, ...]
    """By severity, from 1 to 5."""


COLOURED: Mapping[str, Corruption] = {
    "gaussian_noise": Corruption(noise.gaussian_noise, (0.04, 0.06, 0.08, 0.09, 0.10)),
    "shot_noise": Corruption(noise.shot_noise, (500, 250, 100, 75, 50)),
    "impulse_noise": Corruption(noise.impulse_noise, (0.01, 0.02, 0.03, 0.05, 0.07)),
    "defocus_blur": Corruption(blur.defocus_blur, ((0.3, 0.4), (0.4, 0.5), (0.5, 0.6), (1, 0.2), (1.5, 0.1))),
    "glass_blur": Corruption(blur.glass_blur, ((0.05, 1, 1), (0.25, 1, 1), (0.4, 1, 1), (0.25, 1, 2), (0.4, 1, 2))),
    "motion_blur": Corruption(blur.motion_blur, ((6, 1), (6, 1.5), (6, 2), (8, 2), (9, 2.5))),
    "zoom_blur": Corruption(blur.zoom_blur, (1.06, 1.11, 1.16, 1.21, 1.26)),
    "snow": Corruption(
        weather.snow,
        (
            (0.1, 0.2, 1, 0.6, 8, 3, 0.95),
            (0.1, 0.2, 1, 0.5, 10, 4, 0.9),
            (0.15, 0.3, 1.75, 0.55, 10, 4, 0.9),
            (0.25, 0.3, 2.25, 0.6, 12, 6, 0.85),
            (0.3, 0.3, 1.25, 0.65, 14, 12, 0.8),
        ),
    ),
    "frost": Corruption(weather.frost, ((1, 0.2), (1, 0.3), (0.9, 0.4), (0.85, 0.4), (0.75, 0.45))),
    "fog": Corruption(weather.fog, ((0.2, 3), (0.5, 3), (0.75, 2.5), (1, 2), (1.5, 1.75))),
    "brightness": Corruption(weather.brightness, (0.05, 0.1, 0.15, 0.2, 0.3)),
    "contrast": Corruption(digital.contrast, (0.75, 0.5, 0.4, 0.3, 0.15)),
    "elastic_transform": Corruption(
        geometry.elastic_transform,
        ((0, 0, 0.08), (0.05, 0.2, 0.07), (0.08, 0.06, 0.06), (0.1, 0.04, 0.05), (0.1, 0.03, 0.03)),
    ),
    "pixelate": Corruption(digital.pixelate, (0.95, 0.9, 0.85, 0.75, 0.65)),
    "jpeg_compression": Corruption(digital.jpeg_compression, (80, 65, 58, 50, 40)),
}
"""The corruptions of CIFAR-10-C and CIFAR-100-C with their authors' strengths for 32 x 32 pixels."""

GREY: Mapping[str, Corruption] = {
    "shot_noise": Corruption(noise.shot_noise, (60, 25, 12, 5, 3)),
    "impulse_noise": Corruption(noise.impulse_noise, (0.03, 0.06, 0.09, 0.17, 0.27)),
    "glass_blur": Corruption(blur.glass_blur, ((0.7, 1, 2), (0.9, 2, 1), (1, 2, 3), (1.1, 3, 2), (1.5, 4, 2))),
    "motion_blur": Corruption(blur.motion_blur, ((10, 3), (15, 5), (15, 8), (15, 12), (20, 15))),
    "shear": Corruption(geometry.shear, (0.2, 0.35, 0.5, 0.65, 0.8)),
    "scale": Corruption(geometry.scale, (0.9, 0.8, 0.7, 0.6, 0.5)),
    "rotate": Corruption(geometry.rotate, (10, 20, 30, 40, 50)),
    "brightness": Corruption(weather.brightness, (0.1, 0.2, 0.3, 0.4, 0.5)),
    "translate": Corruption(geometry.translate, (0.05, 0.1, 0.15, 0.2, 0.25)),
    "stripe": Corruption(marks.stripe, (0.1, 0.15, 0.2, 0.25, 0.3)),
    "fog": Corruption(weather.fog, ((1.5, 2), (2, 2), (2.5, 1.7), (2.5, 1.5), (3, 1.4))),
    "spatter": Corruption(
        weather.spatter,
        (
            (0.65, 0.3, 1, 0.8, 0.6),
            (0.65, 0.3, 1, 0.76, 0.7),
            (0.65, 0.3, 1, 0.72, 0.8),
            (0.65, 0.3, 1, 0.68, 0.9),
            (0.65, 0.3, 1, 0.65, 1),
        ),
    ),
    "dotted_line": Corruption(marks.dotted_line, ((1, 0.4), (1, 0.6), (2, 0.4), (2, 0.6), (3, 0.6))),
    "zigzag": Corruption(marks.zigzag, ((1, 0.04), (1, 0.07), (1, 0.1), (2, 0.07), (2, 0.1))),
    "canny_edges": Corruption(edges.canny_edges, (0.5, 0.7, 0.9, 1.1, 1.3)),
}
"""The corruptions of MNIST-C. Its authors give each one strength; those that ImageNet has as well have its strengths
here, and the others have strengths in even steps."""


def family(channels: int) -> Mapping[str, Corruption]:
    """The corruptions for images with so many channels."""
    return GREY if channels == 1 else COLOURED


def corrupt(pixels: NDArray[np.uint8], name: str, severity: int, rng: np.random.Generator) -> NDArray[np.uint8]:
    """Corrupt images.

    Args:
        pixels: (n, c, s, s), from 0 to 255.
        name: name in `GREY` for c = 1, else in `COLOURED`.
        severity: 1 to 5.
        rng: generator of what is random in a corruption.

    Returns:
        (n, c, s, s), rounded and clipped to 0 and 255.

    Raises:
        SettingsError: there is no such corruption or severity.
    """
    known = family(pixels.shape[1])
    if name not in known:
        raise SettingsError(f"corruption {name!r} is unknown; choose {listed(list(known))}")
    if not 1 <= severity <= SEVERITIES:
        raise SettingsError(f"severity {severity}: need 1 to {SEVERITIES}")
    corruption = known[name]
    found = np.empty_like(pixels)
    for start in range(0, len(pixels), ROWS_AT_ONCE):
        block = slice(start, start + ROWS_AT_ONCE)
        x = pixels[block].astype(np.float32) / np.float32(255)
        changed = corruption.function(x, corruption.strengths[severity - 1], rng)
        found[block] = np.rint(changed.clip(0, 1) * np.float32(255)).astype(np.uint8)
    return found
