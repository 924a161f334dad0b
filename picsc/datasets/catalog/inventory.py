"""The data sets that are there or can be fetched, a description of one, and its download: `picsc data`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np

from picsc.datasets.catalog.directory import data_directory, existing_directory
from picsc.datasets.catalog.lookup import BUNDLED, by_name, class_of, fetch_by_name, locate
from picsc.datasets.catalog.made_from_files import authors_folder
from picsc.datasets.catalog.made_names import made_name
from picsc.datasets.catalog.natural_clients import natural_client
from picsc.datasets.catalog.openml import as_images
from picsc.datasets.catalog.registry import NAMED, NamedFolder, NamedImages, NamedMade, NamedTable, known_as
from picsc.datasets.catalog.store import keep_images, keep_table, verify
from picsc.datasets.data import Data
from picsc.errors import DataError
from picsc.runtime.digests import file_digest
from picsc.settings import ReadSettings

Kind = Literal["images", "table", "text"]


@dataclass(frozen=True, slots=True)
class StoredSet:
    """One line of `picsc data list`."""

    name: str
    kind: Kind
    shape: str
    """`60000 x 1x28x28` images, `286 x 10` rows and columns, or `4226223 x 80` rows and tokens; empty for a set that
    is not on this machine."""
    where: str
    """A path, `scikit-learn`, `OpenML 554`, `files only` or `made from mnist`; for a file that cannot be used, why."""


@dataclass(frozen=True, slots=True)
class Description:
    """The content of one data set."""

    name: str
    kind: Kind
    source: str
    shape: str
    test: int
    """Number of images or texts in the official test part; 0 for a table."""
    missing: int
    """Number of missing values of a table; 0 for images and texts."""
    classes: tuple[tuple[str, int], ...]
    """Names of the classes with their numbers of rows, in the order of the codes; () without a target of classes."""
    target: str
    """Column that is predicted; empty for images, texts and a table without a target."""
    clients: str
    """Number of owners of images or texts, such as `12`, or the column that names the client of a table's row; empty
    where there are none."""
    paper: int | None
    """Number of rows of the version that the paper used; None where that is unknown."""
    sha256: str


@dataclass(frozen=True, slots=True)
class Got:
    """A data set in the data directory."""

    path: Path
    sha256: str
    new: bool
    """It was fetched by this call."""


def inventory(data_dir: Path | None = None) -> tuple[Path, tuple[StoredSet, ...]]:
    """The data directory, and every data set that has a name; no server is asked.

    Args:
        data_dir: the data directory; None takes that of `data_directory`.

    Raises:
        DataError: the folder that was given does not exist.
    """
    root = existing_directory(data_dir)
    names = (*NAMED, *(name for name in BUNDLED if name not in NAMED), *_fetched(root))
    return root, tuple(_entry(name, root) for name in names)


def _fetched(root: Path) -> Iterator[str]:
    """Names of other data sets that `get` has written there."""
    for digest in sorted(root.glob("*.sha256")) if root.is_dir() else ():
        if known_as(digest.stem) is None and locate(digest.stem, root) is not None:
            yield digest.stem


def _entry(name: str, root: Path) -> StoredSet:
    entry = NAMED.get(name)
    kind: Kind = "images" if isinstance(entry, NamedImages) or name == "digits" else "table"
    if isinstance(entry, NamedFolder):
        kind = entry.kind
    if isinstance(entry, NamedMade) and locate(name, root) is None:
        return StoredSet(name, "images", "", _made_from(name, entry, root))
    if locate(name, root) is None and name not in BUNDLED:
        number = None if entry is None else entry.openml
        return StoredSet(name, kind, "", "files only" if number is None else f"OpenML {number}")
    try:
        data = by_name(name, ReadSettings(), data_dir=root if root.is_dir() else None)
    except DataError as error:
        return StoredSet(name, kind, "", f"cannot be used: {error}")
    return StoredSet(name, _kind(data), _shape(data), data.source)


def _made_from(name: str, entry: NamedMade, root: Path) -> str:
    """Where a made set comes from; it is not made for that, which may take minutes."""
    made = made_name(name)
    folder = None if made is None else authors_folder(made, root)
    if folder is not None:
        return str(folder)
    if entry.base in BUNDLED or locate(entry.base, root) is not None:
        return f"made from {entry.base}"
    base = NAMED[entry.base]
    where = ", files only" if base.openml is None else f", OpenML {base.openml}"
    return f"made from {entry.base}{where}"


def describe(name: str, data_dir: Path | None = None) -> Description:
    """Read a data set and describe its content.

    Args:
        name: name of the set, as for `by_name`.
        data_dir: the data directory; None takes that of `data_directory`.

    Raises:
        DataError: the set cannot be read, as for `by_name`.
    """
    data = by_name(name, ReadSettings(), data_dir=data_dir)
    entry = NAMED.get(data.name)
    classes: tuple[tuple[str, int], ...] = ()
    if data.labels is not None:
        counts = np.bincount(data.labels[data.labels >= 0], minlength=len(data.classes))
        classes = tuple(zip(data.classes, counts.tolist(), strict=True))
    target, missing = "", 0
    clients = str(len(data.clients)) if data.clients else ""
    if data.kind == "table":
        target = "" if data.target is None else data.target.name
        missing = sum(int(column.missing.sum()) for column in data.columns)
        missing += sum(column.missing for column in data.left_out)
        clients = natural_client(name) or ""
    return Description(
        name=data.name,
        kind=_kind(data),
        source=data.source,
        shape=_shape(data),
        test=len(data.test),
        missing=missing,
        classes=classes,
        target=target,
        clients=clients,
        paper=entry.rows if isinstance(entry, NamedTable) else None,
        sha256=data.sha256,
    )


def _kind(data: Data) -> Kind:
    return "text" if data.kind == "texts" else data.kind


def _shape(data: Data) -> str:
    rows, *row = data.shape
    return f"{rows} x {'x'.join(map(str, row))}"


def get(name: str, data_dir: Path | None = None) -> Got:
    """Fetch a data set from OpenML into the data directory, unless it is there already.

    Args:
        name: a name of the registry, or a name or number of OpenML.
        data_dir: the data directory; None takes that of `data_directory`. It is created if need be.

    Returns:
        The file; its SHA-256 is in a file next to it.

    Raises:
        DataError: the set comes with scikit-learn, OpenML lacks it or cannot be reached, the file that is there has
            changed since it was fetched, or the file cannot be written.
    """
    root = data_directory(data_dir)
    known = known_as(name)
    there = locate(name, root)
    if there is not None:
        verify(there)
        return Got(there, by_name(name, ReadSettings(), data_dir=root).sha256, new=False)
    if name in BUNDLED and known is None:
        raise DataError(f"{name} comes with scikit-learn, so there is nothing to get; use it as --dataset {name}")
    fetched = fetch_by_name(name, root)
    entry = NAMED[known] if known is not None else None
    if isinstance(entry, NamedImages):
        path = root / f"{known}.npz"
        keep_images(as_images(fetched, entry, name=known or name), path)
    else:
        target = class_of(fetched, entry)
        path = root / f"{known or name}.parquet"
        keep_table(fetched.without({target}), target, path)
    return Got(path, file_digest(path), new=True)
