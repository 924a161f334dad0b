"""The choice of a reader for a folder of images, and images in npz archives.

Letters: n images, c channels, s pixels a side.
"""

from __future__ import annotations

import hashlib
import struct
import tokenize
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from picsc.datasets.catalog.directory import find_file
from picsc.datasets.image_files.assemble import Part, joined, part
from picsc.datasets.image_files.bounds import check_images_fit
from picsc.datasets.image_files.cifar import layout_of, read_cifar
from picsc.datasets.image_files.class_folders import holds_class_folders, read_class_folders
from picsc.datasets.image_files.idx import read_idx_file
from picsc.datasets.image_files.stl10 import holds_stl10, read_stl10
from picsc.datasets.image_files.svhn import holds_svhn, read_svhn
from picsc.datasets.image_files.tiny_imagenet import holds_tiny_imagenet, read_tiny_imagenet
from picsc.datasets.images import ImageSet
from picsc.errors import DataError
from picsc.runtime.digests import digest

_BROKEN = (
    ValueError, EOFError, KeyError, TypeError, SyntaxError, OverflowError, MemoryError, NotImplementedError,
    zipfile.BadZipFile, zlib.error, struct.error, tokenize.TokenError,
)  # fmt: skip
Read = tuple[NDArray[Any], str]
"""An array and the SHA-256 of its file."""


@dataclass(frozen=True, slots=True)
class _Pairs:
    """Names of four files that hold images and labels of the training and the test part."""

    images: str
    """Name of the file of images, with {} for the part."""
    labels: str
    """Name of the file of labels, with {} for the part."""
    test: str
    """Name of the test part in file names."""
    suffixes: tuple[str, ...]
    """Suffixes that the files may have."""
    read_images: Callable[[Path], Read]
    read_labels: Callable[[Path], Read]


def holds_images(folder: Path) -> bool:
    """True for a folder with IDX pairs, npz pairs, or files that one of `_READERS` reads; no file is read."""
    return _pairs_of(folder) is not None or any(holds(folder) for holds, _ in _READERS)


def read_image_folder(folder: Path, name: str) -> ImageSet:
    """Read IDX pairs, npz pairs, or the files of CIFAR, SVHN, STL-10, Tiny ImageNet, or of one folder per class.

    Args:
        folder: folder of the files.
        name: name of the set.

    Returns:
        Training images first; `test` holds the rows of the test part, or none if one of the two parts is missing.

    Raises:
        DataError: there are no such files, one of them is missing or damaged, or images are not square or have mixed
            sizes.
    """
    pairs = _pairs_of(folder)
    if pairs is None:
        read = next((read for holds, read in _READERS if holds(folder)), read_cifar)
        return read(folder, name)
    digests: list[str] = []
    train = _pair(folder, pairs, "train", digests)
    test = _pair(folder, pairs, pairs.test, digests)
    return joined(train, test, name=name, source=str(folder), sha256=digest(digests))


def _pairs_of(folder: Path) -> _Pairs | None:
    for pairs in _PAIRS:
        if any(_file(folder, pairs, pairs.images, which) for which in ("train", pairs.test)):
            return pairs
    return None


def _file(folder: Path, pairs: _Pairs, pattern: str, which: str) -> Path | None:
    return find_file(folder, [pattern.format(which) + suffix for suffix in pairs.suffixes])


def _pair(folder: Path, pairs: _Pairs, which: str, digests: list[str]) -> Part | None:
    images, labels = (_file(folder, pairs, pattern, which) for pattern in (pairs.images, pairs.labels))
    if images is None:
        return None  # labels without images are ignored
    if labels is None:
        wanted = pairs.labels.format(which) + pairs.suffixes[-1]
        raise DataError(f"{images} has no file of labels; put {wanted} into the same folder")
    pixels, first = pairs.read_images(images)
    codes, second = pairs.read_labels(labels)
    digests += [first, second]
    return part(pixels, codes, str(images))


def _arr_0(path: Path) -> Read:
    arrays, sha256 = _arrays(path)
    if "arr_0" not in arrays:
        raise DataError(f"{path}: no array named arr_0 (arrays in it: {', '.join(arrays) or 'none'})")
    return arrays["arr_0"], sha256


def _upright(path: Path) -> Read:
    """EMNIST's images, which their authors distribute with rows and columns exchanged."""
    pixels, sha256 = read_idx_file(path, 3)
    return pixels.transpose(0, 2, 1), sha256


_READERS: tuple[tuple[Callable[[Path], bool], Callable[[Path, str], ImageSet]], ...] = (
    (lambda folder: layout_of(folder) is not None, read_cifar),
    (holds_svhn, read_svhn),
    (holds_stl10, read_stl10),
    (holds_tiny_imagenet, read_tiny_imagenet),
    (holds_class_folders, read_class_folders),
)
"""By layout of the authors' files, which are tried in this order: is it this one, and its reader."""
_PAIRS = (
    _Pairs(
        "{}-images-idx3-ubyte",
        "{}-labels-idx1-ubyte",
        "t10k",
        ("", ".gz"),
        lambda path: read_idx_file(path, 3),
        lambda path: read_idx_file(path, 1),
    ),
    _Pairs("kmnist-{}-imgs", "kmnist-{}-labels", "test", (".npz",), _arr_0, _arr_0),
    _Pairs(
        "emnist-digits-{}-images-idx3-ubyte",
        "emnist-digits-{}-labels-idx1-ubyte",
        "test",
        ("", ".gz"),
        _upright,
        lambda path: read_idx_file(path, 1),
    ),
)


def read_npz(path: Path, name: str) -> ImageSet:
    """Read one npz archive with both parts, or with all images.

    Args:
        path: path of an archive with x_train, y_train, x_test and y_test (one part may be missing), or with X and y and
            optionally test (increasing row numbers of the test part), client (the owner of every image) and classes
            (names of the labels 0, 1, ...).
        name: name of the set.

    Raises:
        DataError: the file is no such archive, or holds Python objects, which are not read.
    """
    arrays, sha256 = _arrays(path)
    classes = arrays.get("classes")
    names = None if classes is None else [str(word) for word in classes.tolist()]
    where = str(path)
    if "x" in arrays:
        everything = _part(arrays, "x", "y", where)
        found = joined(everything, None, name=name, source=where, sha256=sha256, classes=names)
        found = found if "test" not in arrays else _with_test(found, arrays["test"], where)
        return found if "client" not in arrays else _with_owners(found, arrays["client"], where)
    train, test = (
        _part(arrays, f"x_{which}", f"y_{which}", where) if f"x_{which}" in arrays else None
        for which in ("train", "test")
    )
    if train is None and test is None:
        held = ", ".join(arrays) or "none"
        raise DataError(f"{path}: no array named X, x_train or x_test (arrays in it: {held})")
    return joined(train, test, name=name, source=where, sha256=sha256, classes=names)


def npz_holds_images(path: Path) -> bool:
    """True for an archive of images: one with an x_train, x_test or X of more than two axes."""
    arrays, _ = _arrays(path)
    return any(arrays[x].ndim > 2 for x in ("x", "x_train", "x_test") if x in arrays)


def _part(arrays: dict[str, NDArray[Any]], x: str, y: str, where: str) -> Part:
    if y not in arrays:
        raise DataError(f"{where}: there is an array {x} but no {y}; save the labels with the images")
    return part(arrays[x], arrays[y], f"{where} ({x})")


def _with_test(images: ImageSet, test: NDArray[Any], where: str) -> ImageSet:
    rows = test.astype(np.int64) if test.dtype.kind in "iu" and test.ndim == 1 else np.array([-1])
    if len(rows) and (rows[0] < 0 or rows[-1] >= images.n or np.any(np.diff(rows) <= 0)):
        raise DataError(f"{where}: the array test must hold increasing row numbers from 0 to {images.n - 1}")
    return replace(images, test=rows)


def _with_owners(images: ImageSet, client: NDArray[Any], where: str) -> ImageSet:
    if client.shape != (images.n,) or client.dtype.kind not in "iuU":
        raise DataError(
            f"{where}: the array client is {client.dtype} {client.shape}; it must name the owner of each of the "
            f"{images.n} images by a whole number or a word"
        )
    names, owners = np.unique(client, return_inverse=True)
    return replace(images, owners=owners.reshape(-1).astype(np.int64), clients=tuple(map(str, names.tolist())))


def _arrays(path: Path) -> tuple[dict[str, NDArray[Any]], str]:
    """The arrays of an npz archive under names in lower case; pickled objects are refused, since they run code."""
    try:
        with path.open("rb") as file:
            sha256 = hashlib.file_digest(file, "sha256").hexdigest()
            file.seek(0)
            archive = np.load(file, allow_pickle=False)
            if isinstance(archive, np.ndarray):
                raise DataError(f"{path} holds one bare array; save it with numpy.savez(FILE, X=..., y=...)")
            check_images_fit(sum(member.file_size for member in archive.zip.infolist()), path)
            return {name.lower(): archive[name] for name in archive.files}, sha256
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror or error}") from None
    except _BROKEN as error:
        pickled = "object" in str(error).lower() or "pickle" in str(error).lower()
        why = (
            "it holds Python objects (images of mixed sizes?), which are not read; save plain arrays"
            if pickled
            else "it is no whole npz archive; get it again"
        )
        raise DataError(f"{path} cannot be read: {why}") from None
