"""Corrupted images as the authors of CIFAR-10-C, CIFAR-100-C and MNIST-C distribute them, in .npy files.

Letters: n images, s pixels a side.
"""

from __future__ import annotations

import tokenize
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from picsc.datasets.catalog.directory import find_file, find_folders
from picsc.datasets.image_files.assemble import Part, part
from picsc.errors import DataError
from picsc.runtime.digests import file_digest

SEVERITIES = 5
_BROKEN = (
    ValueError, EOFError, TypeError, SyntaxError, OverflowError, MemoryError, UnicodeDecodeError, tokenize.TokenError,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Chosen:
    """The images that are wanted of a corruption's file."""

    rows: NDArray[np.int64]
    """Numbers of the clean images, from 0."""
    severities: NDArray[np.int64]
    """Severity of each, from 1 to 5."""


def corruption_file(folder: Path, corruption: str) -> Path | None:
    """The file of a corruption of CIFAR-10-C or CIFAR-100-C; None if it is not there."""
    return find_file(folder, [f"{corruption}.npy"])


def read_labels(folder: Path, digests: list[str]) -> NDArray[np.int64]:
    """Labels of the n clean images from labels.npy, which repeats them for each of the five severities.

    Raises:
        DataError: the file is missing or damaged, or the five severities have different labels.
    """
    path = find_file(folder, ["labels.npy"])
    if path is None:
        raise DataError(f"{folder} has no file of labels; put labels.npy into it")
    labels = _array(path)
    if labels.ndim != 1 or labels.dtype.kind not in "iu" or len(labels) % SEVERITIES or not len(labels):
        raise DataError(
            f"{path}: labels of {labels.dtype} {labels.shape} where there should be whole numbers, the same for each "
            f"of {SEVERITIES} severities; get the file again"
        )
    digests.append(file_digest(path))
    each = np.asarray(labels).astype(np.int64).reshape(SEVERITIES, -1)
    if np.any(each != each[0]):
        raise DataError(f"{path}: the labels differ between the {SEVERITIES} severities; get the file again")
    result: NDArray[np.int64] = each[0]
    return result


def read_corrupted(path: Path, n: int, chosen: Chosen, digests: list[str]) -> NDArray[np.uint8]:
    """Some images of one file, whose first n rows have severity 1, and so on; only these are in memory.

    Args:
        path: the file of a corruption.
        n: number of clean images.
        chosen: the images that are wanted.
        digests: the file's digest is appended.

    Raises:
        DataError: the file is damaged, or does not hold five times n coloured images.
    """
    images = _array(path)
    if images.ndim != 4 or images.dtype != np.uint8 or images.shape[0] != SEVERITIES * n or images.shape[3] != 3:
        raise DataError(
            f"{path}: an array of {images.dtype} {images.shape} where labels.npy promises bytes "
            f"({SEVERITIES * n}, s, s, 3); get the file again"
        )
    digests.append(file_digest(path))
    rows = (chosen.severities - 1) * n + chosen.rows
    return np.ascontiguousarray(np.moveaxis(images[rows], 3, 1))


def corruption_folder(folder: Path, corruption: str) -> Path | None:
    """The folder of a corruption of MNIST-C; None if it is not there."""
    return next(find_folders(folder, [corruption]), None)


def read_corrupted_part(folder: Path, which: str, digests: list[str]) -> Part:
    """The training or the test images of one corruption of MNIST-C.

    Args:
        folder: folder of the corruption.
        which: `train` or `test`, for train_images.npy with train_labels.npy, or those of test.
        digests: the files' digests are appended.

    Raises:
        DataError: a file is missing or damaged, or images and labels do not belong together.
    """
    arrays = []
    for kind in ("images", "labels"):
        path = find_file(folder, [f"{which}_{kind}.npy"])
        if path is None:
            raise DataError(f"{folder} has no {which}_{kind}.npy; put all four files of MNIST-C there")
        arrays.append(_array(path))
        digests.append(file_digest(path))
    return part(arrays[0], arrays[1], f"{folder} ({which})")


def _array(path: Path) -> NDArray[Any]:
    """The array of a .npy file, which stays on the disk; pickled objects are refused, since they run code."""
    try:
        found = np.load(path, mmap_mode="r", allow_pickle=False)
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror or error}") from None
    except _BROKEN as error:
        objects = "it holds Python objects, which are not read" if "object" in str(error).lower() else ""
        raise DataError(f"{path} cannot be read: {objects or 'it is no whole .npy file'}; get it again") from None
    if not isinstance(found, np.ndarray):
        raise DataError(f"{path} is an npz archive where a .npy file should be; get it again")
    return found
