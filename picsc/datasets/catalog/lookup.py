"""A data set by its name: from the data directory, from scikit-learn, or else from OpenML."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn import datasets as bundled

from picsc.datasets.catalog.directory import existing_directory, find_file, find_folders
from picsc.datasets.catalog.made_names import made_name
from picsc.datasets.catalog.made_sets import make
from picsc.datasets.catalog.natural_clients import read_natural
from picsc.datasets.catalog.openml import Fetched, as_images, fetch
from picsc.datasets.catalog.registry import NAMED, NamedFolder, NamedImages, NamedMade, NamedTable, known_as
from picsc.datasets.catalog.store import verify
from picsc.datasets.catalog.tables import FOLDERS, SUFFIXES, read_table
from picsc.datasets.data import Data
from picsc.datasets.image_files.folders import holds_images, npz_holds_images, read_image_folder, read_npz
from picsc.datasets.images import ImageSet
from picsc.datasets.load import Origin, from_frame
from picsc.datasets.table import Dataset
from picsc.datasets.text_files.detect import read_text
from picsc.datasets.text_files.leaf import leaf_files, read_leaf
from picsc.errors import DataError
from picsc.settings import ReadSettings

BUNDLED: dict[str, Callable[..., Any]] = {
    "breast_cancer": bundled.load_breast_cancer,
    "wdbc": bundled.load_breast_cancer,
    "iris": bundled.load_iris,
    "wine": bundled.load_wine,
    "digits": bundled.load_digits,
    "diabetes": bundled.load_diabetes,
}
"""Data sets that need no network. wdbc is breast_cancer under the name that it has elsewhere; a file of that name takes
precedence. All other names in this spelling always mean scikit-learn's sets."""


def by_name(name: str, settings: ReadSettings, *, keys: Sequence[str] = (), data_dir: Path | None = None) -> Data:
    """Get a data set by name, or from OpenML by number.

    Args:
        name: name of a file or folder in the data directory, of `NAMED` or of `BUNDLED`, else an OpenML name (its
            oldest active version) or number. Case, hyphens and underscores do not matter, except in `BUNDLED`.
        settings: how to read a table; without --target, the class of a named table or OpenML's default is used.
        keys: columns that cut a table; they are kept aside and are no covariates.
        data_dir: the data directory; None takes that of `data_directory`.

    Returns:
        A table, images or texts; settings and keys concern tables only.

    Raises:
        DataError: there is no such data set, its file is damaged or has changed since it was fetched, or OpenML cannot
            be reached.
    """
    root = existing_directory(data_dir)
    path = locate(name, root)
    if path is not None:
        return _from_directory(path, known_as(name) or name, settings, keys)
    made = made_name(name)
    if made is not None:
        return make(made, root, lambda base: _images(by_name(base, settings, data_dir=data_dir)))
    if name == "digits":
        return _digits()
    bundled_name = name if name in BUNDLED else known_as(name)
    if bundled_name in BUNDLED:
        frame = _bundled_frame(bundled_name)
        return from_frame(frame, settings, name=bundled_name, keys=keys, origin=Origin("scikit-learn"))
    return _from_openml(name, settings, keys, root)


def locate(name: str, root: Path) -> Path | None:
    """The file or folder that holds this data set; None if there is none in the data directory.

    Args:
        name: name of the set.
        root: the data directory, which need not exist.
    """
    known = known_as(name)
    if (name in BUNDLED and known is None) or not _is_plain(name):
        return None
    entry = NAMED[known] if known is not None else None
    if isinstance(entry, NamedImages) and known is not None:
        names = [f"{known}.npz", *entry.archives]
        archives = (find_file(folder, names) for folder in find_folders(root, ("", known)))
        folders = (folder for folder in find_folders(root, entry.folders) if holds_images(folder))
        written = (folder for folder in find_folders(root, entry.folders) if entry.leaf and any(leaf_files(folder)))
        return next((found for found in (*archives, *folders, *written) if found is not None), None)
    if isinstance(entry, NamedMade) and known is not None:
        return find_file(root, [f"{known}.npz"])
    if isinstance(entry, NamedFolder):
        ways = find_folders(root, entry.folders)
        return next((way for way in ways if any(any(way.glob(pattern)) for pattern in entry.files)), None)
    stems = entry.files if isinstance(entry, NamedTable) else (name,)
    if known is not None and known not in stems:
        stems = (*stems, known)
    for stem in stems:
        for folder in find_folders(root, [way.format(name=known or name) for way in FOLDERS]):
            found = find_file(folder, [stem + suffix for suffix in SUFFIXES])
            if found is not None:
                return found
    return None


def wanted_files(name: str, root: Path) -> str:
    """Advice for a named set that cannot be fetched: the file to put into the data directory."""
    entry = NAMED[name]
    if isinstance(entry, NamedMade):
        return wanted_files(entry.base, root)
    if not isinstance(entry, NamedTable):
        return f"put {entry.put} into {root / entry.folders[0].split('/')[0]}, or name another folder with --data-dir"
    other = "" if entry.files[0] == name else f" or {entry.files[0]}.arff"
    return (
        f"put {name}.csv (class last){other} into {root}, name another folder with --data-dir, "
        "or give a file instead (picsc audit FILE)"
    )


_LONGEST = 240
"""Bytes of a name at most: file systems allow 255 with the suffix."""


def _is_plain(name: str) -> bool:
    """True for a name that can be that of a file in a folder and is no path out of it."""
    short = len(name.encode("utf-8", "surrogateescape")) <= _LONGEST
    return bool(name) and short and not name.startswith(".") and not set(name) & set("/\\:\0")


def _from_directory(path: Path, name: str, settings: ReadSettings, keys: Sequence[str]) -> Data:
    entry = NAMED.get(name)
    if isinstance(entry, NamedFolder):
        return read_natural(path, name, settings, keys=keys) if entry.kind == "table" else read_text(path, name)
    if path.is_dir():
        return read_image_folder(path, name) if holds_images(path) else read_leaf(path, name)
    verify(path)
    if isinstance(entry, NamedImages | NamedMade) or (
        entry is None and path.suffix.lower() == ".npz" and npz_holds_images(path)
    ):
        return read_npz(path, name)
    return read_table(path, name, entry if isinstance(entry, NamedTable) else None, settings, keys=keys)


def _images(data: Data) -> ImageSet:
    """Data that are images because of their name in the registry."""
    if data.kind != "images":
        raise DataError(f"{data.source}: it holds no images, which {data.name} should; is it another file?")
    return data


def _bundled_frame(name: str) -> pd.DataFrame:
    bunch = BUNDLED[name](as_frame=True)
    frame: pd.DataFrame = bunch.frame
    if "target_names" in bunch:
        frame = frame.assign(target=np.asarray(bunch.target_names)[bunch.target.to_numpy()])
    return frame


def _digits() -> ImageSet:
    """scikit-learn's digits, 8 x 8 pixels from 0 to 16, enlarged to 16 x 16 so that LeNet's kernels fit."""
    bunch = bundled.load_digits()
    small = np.rint(bunch.images * (255 / 16)).astype(np.uint8)
    pixels = small.repeat(2, axis=1).repeat(2, axis=2)[:, None]
    labels = bunch.target.astype(np.int64)
    return ImageSet(
        name="digits",
        source="scikit-learn",
        pixels=pixels,
        labels=labels,
        classes=tuple(str(digit) for digit in range(10)),
        test=np.empty(0, dtype=np.int64),
        sha256=hashlib.sha256(pixels.tobytes() + labels.tobytes()).hexdigest(),
    )


def fetch_by_name(name: str, root: Path) -> Fetched:
    """Get a data set from OpenML: a named one by its number, any other by its name or number.

    Args:
        name: name of the set.
        root: the data directory; the message says that a file can be put there instead.

    Raises:
        DataError: there is no such data set, it has no known number on OpenML, or OpenML cannot be reached.
    """
    made = made_name(name)
    if made is not None:
        base = made.entry.base
        if base in BUNDLED:
            raise DataError(f"{made.name} is made from {base}, which is there; use it as --dataset {made.name}")
        raise DataError(
            f"{made.name} is made from {base}, so there is nothing to get but that (picsc data get {base}); use it as "
            f"--dataset {made.name}"
        )
    known = known_as(name)
    if known is None:
        if os.path.isfile(name):  # noqa: PTH113 - any name, however long
            raise DataError(f"data set {name!r} is a file here; give it as it is, without --dataset")
        others = f", in {root}, or among those that need no network ({', '.join(BUNDLED)})"
        instead = f"give a file instead (picsc audit FILE), or put {name}.csv into {root}"
        near = _nearest(name)
        if near is not None:
            others, instead = f"{others}; the nearest name is {near}", f"the nearest name is {near}; {instead}"
        return fetch(name, instead=instead, unknown=others)
    entry = NAMED[known]
    instead = wanted_files(known, root)
    if entry.openml is None:
        raise DataError(f"data set {known!r} is not in {root}, and no number of it on OpenML is known; {instead}")
    return fetch(str(entry.openml), title=entry.title, shown=f"{known!r} (number {entry.openml})", instead=instead)


def _nearest(name: str) -> str | None:
    """The known name with the most similar spelling; None if no name is similar."""
    hyphenated = {each.replace("_", "-"): each for each in (*NAMED, *BUNDLED)}
    near = get_close_matches(name.lower().replace("_", "-"), hyphenated, n=1, cutoff=0.8)
    return hyphenated[near[0]] if near else None


def _from_openml(name: str, settings: ReadSettings, keys: Sequence[str], root: Path) -> Dataset | ImageSet:
    fetched = fetch_by_name(name, root)
    known = known_as(name)
    entry = NAMED[known] if known is not None else None
    if isinstance(entry, NamedImages):
        return as_images(fetched, entry, name=known or name)
    chosen = "--target"
    target = class_of(fetched, entry)
    if settings.target is None and not settings.no_target and target is not None:
        settings, chosen = settings.model_copy(update={"target": target}), "OpenML's default"
    return from_frame(
        fetched.without({settings.target, *keys}),  # the number of a person is no covariate, but may cut the table
        settings,
        name=known or fetched.title,
        keys=keys,
        target_chosen=chosen,
        origin=Origin(fetched.source),
    )


def class_of(fetched: Fetched, entry: NamedTable | NamedFolder | NamedMade | None) -> str | None:
    """The column that the paper predicts, else OpenML's default target."""
    named = entry.targets if isinstance(entry, NamedTable) else ()
    return next((name for name in named if name in fetched.frame.columns), fetched.target)
