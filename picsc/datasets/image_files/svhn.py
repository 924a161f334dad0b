"""SVHN's cropped digits as their authors distribute them, in two MATLAB files.

Letters: n images.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any
from zlib import error as ZlibError  # noqa: N812 - it is a class

import numpy as np
from scipy.io import loadmat
from scipy.io.matlab import MatReadError

from picsc.datasets.catalog.directory import find_file
from picsc.datasets.image_files.assemble import Part, joined, part
from picsc.datasets.image_files.bounds import check_matlab_fits
from picsc.datasets.images import ImageSet
from picsc.errors import DataError
from picsc.runtime.digests import digest, file_digest

_FILES = ("train_32x32.mat", "test_32x32.mat")
_BROKEN = (
    MatReadError, NotImplementedError, ValueError, TypeError, AttributeError, EOFError, LookupError, OverflowError,
    MemoryError, ZlibError,
)  # fmt: skip


def holds_svhn(folder: Path) -> bool:
    """True for a folder with one of SVHN's two files; no file is read."""
    return any(find_file(folder, [name]) for name in _FILES)


def read_svhn(folder: Path, name: str) -> ImageSet:
    """Read train_32x32.mat and test_32x32.mat; extra_32x32.mat is not used.

    Args:
        folder: folder of the files; one of the two may be missing.
        name: name of the set.

    Returns:
        Training images first; the label 10, which means the digit 0 in the files, becomes 0.

    Raises:
        DataError: a file is damaged, or does not hold images X (height, width, 3, n) and labels y (n, 1).
    """
    digests: list[str] = []
    train, test = (_part(find_file(folder, [name]), digests) for name in _FILES)
    return joined(train, test, name=name, source=str(folder), sha256=digest(digests))


def _part(path: Path | None, digests: list[str]) -> Part | None:
    if path is None:
        return None
    try:
        check_matlab_fits(path)
        held: dict[str, Any] = loadmat(str(path), variable_names=["X", "y"])
        digests.append(file_digest(path))
    except _BROKEN as error:
        raise DataError(f"{path} is no MATLAB file that can be read ({error}); get it again") from None
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror or error}") from None
    pixels, labels = held.get("X"), held.get("y")
    if pixels is None or labels is None or pixels.ndim != 4 or labels.dtype.kind not in "iu":
        raise DataError(f"{path}: there are no images X (height, width, 3, n) with digits y in it; is it another file?")
    labels = labels.reshape(-1).astype(np.int64)
    return part(np.moveaxis(pixels, 3, 0), np.where(labels == 10, 0, labels), str(path))
