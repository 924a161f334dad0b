"""Pixel statistics: brightness, contrast and roughness of an image, whatever it shows.

A network learns to ignore noise, so its features do not show noise; these columns do.

Letters: n images, c channels, s pixels a side.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from picsc.datasets.table import Column

if TYPE_CHECKING:
    from numpy.typing import NDArray

NAMES = ("brightness", "contrast", "roughness")
IMAGES_AT_ONCE = 1024


def pixel_columns(pixels: NDArray[np.uint8]) -> tuple[Column, ...]:
    """Mean, standard deviation and root mean square step between neighbours, one column each.

    Args:
        pixels: (n, c, s, s), 0 to 255.
    """
    parts = [_measured(pixels[start : start + IMAGES_AT_ONCE]) for start in range(0, len(pixels), IMAGES_AT_ONCE)]
    return tuple(Column(name, "numeric", values) for name, values in zip(NAMES, np.concatenate(parts, 1), strict=True))


def _measured(pixels: NDArray[np.uint8]) -> NDArray[np.float64]:
    x = pixels.astype(np.float64)
    across, down = np.square(np.diff(x, axis=3)), np.square(np.diff(x, axis=2))
    roughness = np.sqrt((across.mean((1, 2, 3)) + down.mean((1, 2, 3))) / 2)
    return np.stack([x.mean((1, 2, 3)), x.std((1, 2, 3)), roughness])
