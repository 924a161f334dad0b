"""Pictures in files of JPEG, PNG and similar formats, decoded by Pillow and brought to one size.

Letters: n images, s pixels a side.
"""

from __future__ import annotations

import hashlib
import io
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from picsc.datasets.image_files.bounds import check_images_fit
from picsc.errors import DataError

if TYPE_CHECKING:
    from types import ModuleType

SIDE = 64
"""Pixels a side of the images that pictures become."""
SUFFIXES = (".jpg", ".jpeg", ".png", ".bmp", ".ppm", ".gif", ".webp")
"""Suffixes of picture files, in lower case."""
_MOST_PIXELS = 1 << 26
"""Pixels of one picture at most: the largest camera has fewer, and a small file can promise more than memory holds."""
_CHANNELS = 3


def pictures_in(folder: Path) -> list[Path]:
    """The picture files of a folder by name, without hidden ones.

    Raises:
        DataError: the folder cannot be read.
    """
    try:
        held = [path for path in folder.iterdir() if path.suffix.lower() in SUFFIXES and not path.name.startswith(".")]
    except OSError as error:
        raise DataError(f"{folder} cannot be read: {error.strerror or error}") from None
    return sorted(path for path in held if path.is_file())


def read_pictures(paths: Sequence[Path], where: str) -> tuple[NDArray[np.uint8], str]:
    """Read pictures as colour images of one size.

    Args:
        paths: n files; grey pictures become colour images with three equal channels.
        where: the folder, for messages.

    Returns:
        (n, 3, s, s) bytes, and the SHA-256 of the files' bytes, one after the other. A picture that is not square loses
        the same width on both sides, or the same height.

    Raises:
        DataError: Pillow is not installed, a file is no picture, or the pictures are too large.
    """
    image = _pillow(where)
    check_images_fit(len(paths) * _CHANNELS * SIDE * SIDE, where)
    pixels = np.empty((len(paths), SIDE, SIDE, _CHANNELS), dtype=np.uint8)
    digest = hashlib.sha256()
    for i, path in enumerate(paths):
        try:
            content = path.read_bytes()
        except OSError as error:
            raise DataError(f"{path} cannot be read: {error.strerror or error}") from None
        digest.update(content)
        pixels[i] = _picture(content, path, image)
    return np.ascontiguousarray(np.moveaxis(pixels, 3, 1)), digest.hexdigest()


def _picture(content: bytes, path: Path, image: ModuleType) -> NDArray[np.uint8]:
    """One picture, (s, s, 3)."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Pillow warns of pictures that are large, and of odd but harmless fields
            with image.open(io.BytesIO(content)) as picture:
                width, height = picture.size
                if width * height > _MOST_PIXELS:
                    raise DataError(
                        f"{path}: a picture of {width} x {height} pixels is larger than the bound of "
                        f"{_MOST_PIXELS} pixels; make it smaller"
                    )
                side = min(width, height)
                left, top = (width - side) // 2, (height - side) // 2
                box = (left, top, left + side, top + side)
                small = picture.convert("RGB").resize((SIDE, SIDE), image.Resampling.BILINEAR, box=box)
                return np.asarray(small, dtype=np.uint8)
    except DataError:
        raise
    except Exception as error:  # noqa: BLE001 - a decoder of a dozen formats raises whatever a damaged file leads it to
        raise DataError(f"{path} is no picture that can be read ({type(error).__name__}); get it again") from None


def _pillow(where: str) -> ModuleType:
    try:
        from PIL import Image  # an optional dependency
    except ImportError:
        raise DataError(
            f"{where}: pictures such as JPEG need Pillow; pip install 'picsc[pictures]', or save the pixels as npz"
        ) from None
    image: ModuleType = Image
    return image
