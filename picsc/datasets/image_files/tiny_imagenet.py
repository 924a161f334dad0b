"""Tiny ImageNet as its authors distribute it: pictures in folders, and a list of the validation pictures' classes.

Letters: n images.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from picsc.datasets.image_files.assemble import Part, joined, part
from picsc.datasets.image_files.pictures import pictures_in, read_pictures
from picsc.datasets.images import ImageSet
from picsc.errors import DataError
from picsc.runtime.digests import digest, file_digest

_LIST = "val_annotations.txt"


def holds_tiny_imagenet(folder: Path) -> bool:
    """True for a folder with train/CLASS/images, or with the list of the validation pictures; no file is read."""
    return (folder / "val" / _LIST).is_file() or bool(_classes(folder))


def read_tiny_imagenet(folder: Path, name: str) -> ImageSet:
    """Read train/CLASS/images/*.JPEG, and val/images/*.JPEG with val/val_annotations.txt.

    Args:
        folder: folder of train and val; one of the two may be missing. The test pictures of the authors, which have no
            classes, are not used.
        name: name of the set.

    Returns:
        Training images first, class by class; the validation pictures are the official test part. A class is called by
        its number in WordNet, such as n01443537.

    Raises:
        DataError: a picture or its class is missing, Pillow is not installed, or a file is no picture.
    """
    digests: list[str] = []
    train, test = _train(folder, digests), _validation(folder, digests)
    return joined(train, test, name=name, source=str(folder), sha256=digest(digests))


def _classes(folder: Path) -> list[Path]:
    """The folders train/CLASS with a folder images, by name."""
    train = folder / "train"
    return sorted(path.parent for path in train.glob("*/images") if path.is_dir()) if train.is_dir() else []


def _train(folder: Path, digests: list[str]) -> Part | None:
    classes = _classes(folder)
    if not classes:
        return None
    held = [pictures_in(each / "images") for each in classes]
    pixels, sha256 = read_pictures([path for paths in held for path in paths], str(folder / "train"))
    digests.append(sha256)
    names = np.array([each.name for each in classes])
    return part(pixels, np.repeat(names, [len(paths) for paths in held]), str(folder / "train"))


def _validation(folder: Path, digests: list[str]) -> Part | None:
    listed = folder / "val" / _LIST
    if not listed.is_file():
        return None
    try:
        lines = listed.read_text(encoding="utf-8").splitlines()
        digests.append(file_digest(listed))
    except OSError as error:
        raise DataError(f"{listed} cannot be read: {error.strerror or error}") from None
    except UnicodeDecodeError:
        raise DataError(f"{listed} is no UTF-8 text; get it again") from None
    paths, labels = [], []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        picture, _, rest = line.partition("\t")
        label = rest.split("\t")[0].strip()
        if not label or Path(picture).name != picture:
            raise DataError(
                f"{listed}, line {number}: there is no picture with a class, separated by a tab; get the file again"
            )
        path = folder / "val" / "images" / picture
        if not path.is_file():
            raise DataError(f"{listed}, line {number}: {path} is not there; put all validation pictures there")
        paths.append(path)
        labels.append(label)
    pixels, sha256 = read_pictures(paths, str(folder / "val"))
    digests.append(sha256)
    return part(pixels, np.array(labels, dtype=str), str(folder / "val"))
