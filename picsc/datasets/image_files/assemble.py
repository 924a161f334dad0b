"""An `ImageSet` from arrays of pixels and labels, checked. Letters: n images, c channels, s pixels a side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from picsc.datasets.images import ImageSet
from picsc.errors import DataError

_CHANNELS = (1, 3)


@dataclass(frozen=True, slots=True)
class Part:
    """The training or the test part of an image set."""

    pixels: NDArray[np.uint8]
    """(n, c, s, s)."""
    labels: NDArray[Any]
    """(n,) labels, whole numbers or words."""
    where: str
    """The file, for messages."""


def part(pixels: NDArray[Any], labels: NDArray[Any], where: str) -> Part:
    """A part of an image set, after a check of its shapes and values.

    Args:
        pixels: (n, s, s), (n, s, s, c) or (n, c, s, s), c = 1 or 3, whole numbers from 0 to 255.
        labels: (n,) or (n, 1), whole numbers or words.
        where: the file, for messages.

    Raises:
        DataError: shapes or values are others.
    """
    checked = as_pixels(pixels, where)
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = labels[:, 0]
    if labels.ndim != 1 or len(labels) != len(checked):
        raise DataError(
            f"{where}: {len(checked)} images but labels of shape {labels.shape}; there must be one label per image"
        )
    if len(labels) == 0:
        raise DataError(f"{where}: there are no images in it; get the file again")
    if labels.dtype.kind == "f" and np.all(labels == np.floor(labels)):
        labels = labels.astype(np.int64)
    if labels.dtype.kind not in "iuU":
        raise DataError(f"{where}: labels are {labels.dtype}; they must be whole numbers or words")
    return Part(checked, labels, where)


def as_pixels(array: NDArray[Any], where: str) -> NDArray[np.uint8]:
    """The images as (n, c, s, s) bytes; grey ones have c = 1.

    Raises:
        DataError: the array does not have the shape of images, the images are not square, or a value is no whole number
            from 0 to 255.
    """
    if array.ndim == 3:
        array = array[:, None]
    elif array.ndim == 4 and array.shape[3] in _CHANNELS and array.shape[1] not in _CHANNELS:
        array = np.moveaxis(array, 3, 1)
    if array.ndim != 4 or array.shape[1] not in _CHANNELS:
        raise DataError(
            f"{where}: an array of shape {array.shape} holds no images; it must be (images, height, width), "
            "with 1 or 3 channels as last or second axis if there are channels"
        )
    height, width = array.shape[2:]
    if height != width:
        raise DataError(f"{where}: images of {height} x {width} pixels are not square; crop or pad them")
    if array.dtype != np.uint8:
        if array.dtype.kind not in "iufb":
            raise DataError(f"{where}: pixels are {array.dtype}; they must be whole numbers from 0 to 255")
        if array.size and not (array.min() >= 0 and array.max() <= 255 and np.all(array == np.floor(array))):
            raise DataError(
                f"{where}: pixels from {array.min():g} to {array.max():g} are not all whole numbers from 0 to 255; "
                "scale and round them, then save them as uint8"
            )
    return np.ascontiguousarray(array, dtype=np.uint8)


def joined(
    train: Part | None,
    test: Part | None,
    *,
    name: str,
    source: str,
    sha256: str,
    classes: Sequence[str] | None = None,
) -> ImageSet:
    """An image set from its training and test part, or from one of them alone.

    Args:
        train: the first rows; None if there is no training part.
        test: the last rows, which become the official test part unless they are the only ones; None if there is no test
            part.
        name: name of the set.
        source: path that it was read from.
        sha256: SHA-256 of the files that were read.
        classes: names of the labels 0, 1, ...; None takes the labels that occur.

    Raises:
        DataError: both parts are missing, their images differ in size, or a label has no class.
    """
    parts = [each for each in (train, test) if each is not None]
    if not parts:
        raise DataError(f"{source}: neither a training nor a test part is in it; put both there")
    shapes = {each.pixels.shape[1:] for each in parts}
    if len(shapes) > 1:
        sizes = " and ".join("x".join(map(str, each.pixels.shape[1:])) for each in parts)
        raise DataError(f"{source}: images of mixed sizes ({sizes}); training and test images must have one size")
    labels = np.concatenate([each.labels for each in parts])
    if classes is None:
        levels, codes = np.unique(labels, return_inverse=True)
        classes = [str(level) for level in levels.tolist()]
    else:
        codes = labels
        if labels.dtype.kind not in "iu" or labels.min() < 0 or labels.max() >= len(classes):
            raise DataError(
                f"{source}: labels from {labels.min()} to {labels.max()} do not fit its {len(classes)} class names"
            )
    pixels = parts[0].pixels if len(parts) == 1 else np.concatenate([each.pixels for each in parts])
    first = len(parts[0].labels) if len(parts) == 2 else len(labels)
    return ImageSet(
        name=name,
        source=source,
        pixels=pixels,
        labels=codes.reshape(-1).astype(np.int64),
        classes=tuple(classes),
        test=np.arange(first, len(labels), dtype=np.int64),
        sha256=sha256,
    )
