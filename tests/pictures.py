"""Small pictures for tests."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def write_picture(path: Path, pixels: NDArray[np.uint8]) -> None:
    """Write (height, width, 3) bytes as a portable pixmap, which Pillow knows by its content, whatever its suffix."""
    height, width, _ = pixels.shape
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"P6\n%d %d\n255\n" % (width, height) + pixels.tobytes())


def plain(colour: tuple[int, int, int], height: int = 8, width: int = 8) -> NDArray[np.uint8]:
    """A picture of one colour."""
    return np.full((height, width, 3), colour, dtype=np.uint8)
