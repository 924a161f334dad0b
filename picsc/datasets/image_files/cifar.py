"""CIFAR-10 and CIFAR-100 as their authors distribute them, in Python's pickle or in the binary version.

Letters: n images. An image is 3,072 bytes: 32 x 32 of red, then of green, then of blue.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from picsc.datasets.files.pickled_arrays import load_plain
from picsc.datasets.image_files.assemble import Part, joined, part
from picsc.datasets.images import ImageSet
from picsc.errors import DataError
from picsc.runtime.digests import digest

_SHAPE = (3, 32, 32)
_BYTES = 3 * 32 * 32


@dataclass(frozen=True, slots=True)
class _Layout:
    """The files of one of the two sets in one of the two versions."""

    train: tuple[str, ...]
    """Files of the training part."""
    test: str
    """File of the test part."""
    label: str
    """Entry of the labels in a pickled batch; empty for a binary one."""
    coarse: int
    """Number of bytes before the label in a binary record."""
    names: str
    """File of the class names, which may be missing."""
    entry: str
    """Entry of the class names in a pickled file; empty for a text file."""


_FIVE = tuple(f"data_batch_{i}" for i in range(1, 6))
LAYOUTS: tuple[_Layout, ...] = (
    _Layout(_FIVE, "test_batch", "labels", 0, "batches.meta", "label_names"),
    _Layout(tuple(f"{name}.bin" for name in _FIVE), "test_batch.bin", "", 0, "batches.meta.txt", ""),
    _Layout(("train",), "test", "fine_labels", 0, "meta", "fine_label_names"),
    _Layout(("train.bin",), "test.bin", "", 1, "fine_label_names.txt", ""),
)
"""CIFAR-10 in pickle and binary, then CIFAR-100 in pickle and binary."""


def layout_of(folder: Path) -> _Layout | None:
    """The layout of the CIFAR set in a folder; None if it holds none."""
    for layout in LAYOUTS:
        if any((folder / name).is_file() for name in (*layout.train, layout.test)):
            return layout
    return None


def read_cifar(folder: Path, name: str) -> ImageSet:
    """Read the folder of an unpacked archive of the authors; no code in a file is run.

    Args:
        folder: a folder such as cifar-10-batches-py or cifar-100-binary.
        name: name of the set.

    Raises:
        DataError: a batch is missing, is damaged, or holds no images.
    """
    layout = layout_of(folder)
    if layout is None:
        raise DataError(
            f"{folder}: there is no CIFAR batch in it; put data_batch_1 to data_batch_5 and test_batch there"
        )
    there = [name for name in layout.train if (folder / name).is_file()]
    missing = [name for name in layout.train if name not in there]
    if there and missing:
        raise DataError(
            f"{folder}: {', '.join(missing)} is missing, although {there[0]} is there; put all training batches there"
        )
    read: Callable[[Path, _Layout], tuple[Part, str]] = _pickled if layout.label else _binary
    digests: list[str] = []
    batches: list[Part] = []
    for file in there:
        batch, sha256 = read(folder / file, layout)
        batches.append(batch)
        digests.append(sha256)
    train = None
    if batches:
        pixels = np.concatenate([batch.pixels for batch in batches])
        train = Part(pixels, np.concatenate([batch.labels for batch in batches]), str(folder))
    test = None
    if (folder / layout.test).is_file():
        test, sha256 = read(folder / layout.test, layout)
        digests.append(sha256)
    return joined(
        train, test, name=name, source=str(folder), sha256=digest(digests), classes=_class_names(folder, layout)
    )


def _pickled(path: Path, layout: _Layout) -> tuple[Part, str]:
    held, sha256 = _entries(path)
    pixels, labels = held.get("data"), held.get(layout.label)
    if not isinstance(pixels, np.ndarray) or not isinstance(labels, list | np.ndarray):
        raise DataError(
            f"{path}: no array 'data' with a list {layout.label!r} in it (entries: {', '.join(held) or 'none'}); "
            "is it another file?"
        )
    if pixels.dtype != np.uint8 or pixels.ndim != 2 or pixels.shape[1] != _BYTES:
        raise DataError(
            f"{path}: data of {pixels.dtype} {pixels.shape} are no CIFAR images, which are uint8 (n, {_BYTES})"
        )
    return part(pixels.reshape(-1, *_SHAPE), _labels(labels, path), str(path)), sha256


def _labels(labels: Any, path: Path) -> NDArray[np.int64]:
    array = np.asarray(labels)
    if array.dtype.kind not in "iu":
        raise DataError(f"{path}: its labels are not whole numbers; get the file again")
    return array.astype(np.int64)


def _entries(path: Path) -> tuple[dict[str, Any], str]:
    """The dictionary in a batch, its names as strings."""
    held, sha256 = load_plain(path)
    if not isinstance(held, dict):
        raise DataError(f"{path} holds a {type(held).__name__} where a batch holds a dictionary; is it another file?")
    return {_word(name): value for name, value in held.items()}, sha256


def _word(name: Any) -> str:
    return name.decode("latin1") if isinstance(name, bytes) else str(name)


def _binary(path: Path, layout: _Layout) -> tuple[Part, str]:
    try:
        content = path.read_bytes()
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror or error}") from None
    record = layout.coarse + 1 + _BYTES
    if not content or len(content) % record:
        raise DataError(
            f"{path} has {len(content)} bytes, which is no whole number of images of {record} bytes; get it again"
        )
    records = np.frombuffer(content, dtype=np.uint8).reshape(-1, record)
    pixels = records[:, layout.coarse + 1 :].reshape(-1, *_SHAPE)
    labels = records[:, layout.coarse].astype(np.int64)
    return part(pixels, labels, str(path)), hashlib.sha256(content).hexdigest()


def _class_names(folder: Path, layout: _Layout) -> list[str] | None:
    path = folder / layout.names
    if not path.is_file():
        return None
    if layout.entry:
        names = _entries(path)[0].get(layout.entry)
        return [_word(name) for name in names] if isinstance(names, list) else None
    try:
        return [line.strip() for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    except (OSError, UnicodeDecodeError):
        raise DataError(f"{path} is no text of class names that can be read; remove it or get it again") from None
