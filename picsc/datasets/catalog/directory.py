"""Where a user's data sets are kept, and how a file or folder is found there by name.

Spelling does not matter: `fashion_mnist`, `Fashion-MNIST` and `FashionMNIST` are the same name.
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
        explicit: of --data-dir.

    Returns:
        A path; whether there is such a folder is another question.
    """
    if explicit is not None:
        return explicit.expanduser()
    named = os.environ.get(VARIABLE)
    return Path(named).expanduser() if named else cache_folder() / "picsc" / "data"


def existing_directory(explicit: Path | None = None) -> Path:
    """As `data_directory`, but a folder given explicitly must be there.

    Raises:
        DataError: --data-dir names no folder.
    """
    root = data_directory(explicit)
    if explicit is not None and not root.is_dir():
        raise DataError(f"--data-dir {root}: there is no such folder; create it and put data files in it")
    return root


def key(name: str) -> str:
    """A name without case, hyphens, underscores, blanks and dots: two names with equal keys are the same."""
    return "".join(char for char in name.lower() if char not in "-_ .")


def find_file(folder: Path, names: Sequence[str]) -> Path | None:
    """The first of these file names that the folder holds, however spelled.

    Args:
        folder: need not exist.
        names: file names with suffix, most wanted first.
    """
    held = {key(path.name): path for path in _inside(folder) if path.is_file()}
    return next((held[key(name)] for name in names if key(name) in held), None)


def find_folders(root: Path, ways: Sequence[str]) -> Iterator[Path]:
    """The folders below `root` that these ways lead to, however spelled, in this order.

    Args:
        root: need not exist.
        ways: such as `keel/csv`; an empty one is `root` itself.
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
    """What a folder holds, last name first, hidden files left out; nothing if it cannot be read."""
    try:
        return sorted((path for path in folder.iterdir() if not path.name.startswith(".")), reverse=True)
    except OSError:
        return []
