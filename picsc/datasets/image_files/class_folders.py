"""Pictures in one folder per class, as the authors of Caltech-101 distribute them.

Letters: n images, s pixels a side.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np

from picsc.datasets.image_files.assemble import joined, part
from picsc.datasets.image_files.pictures import pictures_in, read_pictures
from picsc.datasets.images import ImageSet
from picsc.errors import DataError

NO_CLASS = frozenset({"BACKGROUND_Google"})
"""Folders of pictures that show none of the classes; they are left out, as in the authors' experiments."""


def holds_class_folders(folder: Path) -> bool:
    """True for a folder with at least two folders of pictures; no file is read."""
    return len(_classes(folder)) > 1


def read_class_folders(folder: Path, name: str) -> ImageSet:
    """Read CLASS/*.jpg of every class; the class is the name of the folder.

    Args:
        folder: folder of the classes' folders.
        name: name of the set.

    Returns:
        Colour images of 64 x 64 pixels, class by class, by name; without a test part, since the authors defined none.

    Raises:
        DataError: there are no such folders, Pillow is not installed, or a file is no picture.
    """
    classes = _classes(folder)
    if not classes:
        raise DataError(f"{folder}: there are no folders of pictures in it; put one folder per class there")
    held = [pictures_in(each) for each in classes]
    pixels, sha256 = read_pictures([path for paths in held for path in paths], str(folder))
    codes = np.repeat(np.arange(len(classes)), [len(paths) for paths in held])
    names = [each.name for each in classes]
    listed = "\0".join(f"{name}\0{len(paths)}" for name, paths in zip(names, held, strict=True))
    return joined(
        part(pixels, codes, str(folder)),
        None,
        name=name,
        source=str(folder),
        sha256=hashlib.sha256(f"{sha256}\0{listed}".encode()).hexdigest(),
        classes=names,
    )


def _classes(folder: Path) -> list[Path]:
    """The folders of pictures, by name."""
    try:
        inside = sorted(path for path in folder.iterdir() if path.is_dir() and not path.name.startswith("."))
    except OSError:
        return []
    return [path for path in inside if path.name not in NO_CLASS and pictures_in(path)]
