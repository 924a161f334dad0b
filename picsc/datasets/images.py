"""Images of one size with one class each, read once. Letters: n images, c channels, s pixels a side."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class ImageSet:
    """One set of labelled images."""

    name: str
    source: str
    """A path, `scikit-learn`, `OpenML 554`, or `memory`."""
    pixels: NDArray[np.uint8]
    """(n, c, s, s), 0 to 255."""
    labels: NDArray[np.int64]
    """(n,) codes into `classes`."""
    classes: tuple[str, ...]
    test: NDArray[np.int64]
    """Row numbers of the official test part, increasing; empty where the authors made none."""
    sha256: str

    @property
    def n(self) -> int:
        """Images in all, the test part included."""
        return len(self.labels)
