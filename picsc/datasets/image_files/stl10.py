"""STL-10's labelled images as its authors distribute them, in binary files.

Letters: n images. An image is 27,648 bytes: 96 x 96 of red, then of green, then of blue, each column by column.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from picsc.datasets.catalog.directory import find_file
from picsc.datasets.image_files.assemble import Part, joined, part
from picsc.datasets.images import ImageSet
from picsc.errors import DataError
from picsc.runtime.digests import digest

_SIDE = 96
_BYTES = 3 * _SIDE * _SIDE
_PARTS = ("train", "test")
CLASSES = ("airplane", "bird", "car", "cat", "deer", "dog", "horse", "monkey", "ship", "truck")
"""Names of the labels 1 to 10, as in the authors' class_names.txt."""


def holds_stl10(folder: Path) -> bool:
    """True for a folder with one of STL-10's two files of labelled images; no file is read."""
    return any(find_file(folder, [f"{name}_X.bin"]) for name in _PARTS)


def read_stl10(folder: Path, name: str) -> ImageSet:
    """Read train_X.bin with train_y.bin and test_X.bin with test_y.bin; unlabeled_X.bin and folds are not used.

    Args:
        folder: folder of the files; one of the two parts may be missing.
        name: name of the set.

    Returns:
        Training images first; label 1 of the files becomes code 0.

    Raises:
        DataError: a file of labels is missing, a file has no whole number of images, or a label is not 1 to 10.
    """
    digests: list[str] = []
    train, test = (_part(folder, name, digests) for name in _PARTS)
    return joined(train, test, name=name, source=str(folder), sha256=digest(digests), classes=CLASSES)


def _part(folder: Path, name: str, digests: list[str]) -> Part | None:
    images, labels = (find_file(folder, [f"{name}_{kind}.bin"]) for kind in ("X", "y"))
    if images is None:
        return None
    if labels is None:
        raise DataError(f"{images} has no file of labels; put {name}_y.bin into the same folder")
    content = _bytes(images, digests)
    if not len(content) or len(content) % _BYTES:
        raise DataError(
            f"{images} has {len(content)} bytes, which is no whole number of images of {_BYTES} bytes; get it again"
        )
    codes = _bytes(labels, digests)
    wrong = np.flatnonzero((codes < 1) | (codes > len(CLASSES)))
    if len(wrong):
        raise DataError(
            f"{labels}, label {wrong[0] + 1}: it is {codes[wrong[0]]}, and labels go from 1 to {len(CLASSES)}; "
            "get the file again"
        )
    upright = content.reshape(-1, 3, _SIDE, _SIDE).swapaxes(2, 3)
    return part(upright, codes.astype(np.int64) - 1, str(images))


def _bytes(path: Path, digests: list[str]) -> NDArray[np.uint8]:
    try:
        content = path.read_bytes()
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror or error}") from None
    digests.append(hashlib.sha256(content).hexdigest())
    return np.frombuffer(content, dtype=np.uint8)
