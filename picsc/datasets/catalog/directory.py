"""The data directory, and the search for a file or folder in it by name.

Case and separators do not matter: `fashion_mnist`, `Fashion-MNIST` and `FashionMNIST` are the same name.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from picsc.errors import DataError
from picsc.runtime.cache import cache_folder

VARIABLE = "PICSC_DATA"
"""Environment variable that names the data directory."""


def data_directory(explicit: Path | None = None) -> Path:
    """The data directory: the one given, else that of `PICSC_DATA`, else picsc/data in the platform's cache folder.

    Args:
        explicit: the folder of --data-dir; None if it was not given.

    Returns:
        A path; the folder need not exist.
    """
    if explicit is not None:
        return explicit.expanduser()
    named = os.environ.get(VARIABLE)
    return Path(named).expanduser() if named else cache_folder() / "picsc" / "data"


def existing_directory(explicit: Path | None = None) -> Path:
    """The data directory, as from `data_directory`; a folder that is given explicitly must exist.

    Raises:
        DataError: the folder of --data-dir does not exist.
    """
    root = data_directory(explicit)
    if explicit is not None and not root.is_dir():
        raise DataError(f"--data-dir {root}: there is no such folder; create it and put data files in it")
    return root


def key(name: str) -> str:
    """A name in lower case without hyphens, underscores, blanks and dots; names with equal keys are the same."""
    return "".join(char for char in name.lower() if char not in "-_ .")


def find_file(folder: Path, names: Sequence[str]) -> Path | None:
    """The first of these file names that the folder holds, in any spelling; None if it holds none.

    Args:
        folder: a folder, which need not exist.
        names: file names with suffix, the preferred one first.
    """
    held = {key(path.name): path for path in _inside(folder) if path.is_file()}
    return next((held[key(name)] for name in names if key(name) in held), None)


def find_folders(root: Path, ways: Sequence[str]) -> Iterator[Path]:
    """The folders below `root` that these relative paths lead to, in any spelling, in this order.

    Args:
        root: a folder, which need not exist.
        ways: relative paths such as `keel/csv`; an empty one is `root` itself.
    """
    for way in ways:
        folders = [root] if root.is_dir() else []
        for step in filter(None, way.split("/")):
            folders = [
                inner
                for outer in folders
                for inner in _inside(outer)
                if key(inner.name) == key(step) and inner.is_dir()
            ]
        yield from folders


def _inside(folder: Path) -> list[Path]:
    """Files and folders in a folder, last name first, without hidden ones; none if it cannot be read."""
    try:
        return sorted((path for path in folder.iterdir() if not path.name.startswith(".")), reverse=True)
    except OSError:
        return []
