"""The choice of a reader for a path: plays, reviews or LEAF's JSON."""

from __future__ import annotations

import re
from pathlib import Path

from picsc.datasets.files.many import table_files
from picsc.datasets.images import ImageSet
from picsc.datasets.text_files.leaf import leaf_files, read_leaf
from picsc.datasets.text_files.reviews import TRAIN, read_reviews
from picsc.datasets.text_files.shakespeare import plays_in, read_plays
from picsc.datasets.texts import TokenSet
from picsc.errors import DataError

_LEAF = re.compile(rb'\s*\{\s*"(?:users|num_samples|user_data|hierarchies)"')
"""Beginning of LEAF's JSON; other JSON files are tables, as a list of records or one record per line."""


def holds_text(path: Path) -> bool:
    """True for a file in LEAF's JSON, or a folder with such files, plays or reviews; in a folder, only names count."""
    try:
        if path.is_file():
            with path.open("rb") as file:
                return bool(_LEAF.match(file.read(4096)))
    except OSError:  # the reader reports it
        return False
    if any(leaf_files(path)) or any(path.glob(f"*{TRAIN}")):
        return True
    return any(plays_in(path)) and not table_files(path)  # a text beside tables tells about them


def read_clients(path: Path, name: str) -> ImageSet | TokenSet:
    """Read a path for which `holds_text` is true.

    Args:
        path: path of a file or folder.
        name: name of the set.

    Raises:
        DataError: a file is damaged or of another kind.
    """
    if any(leaf_files(path)):
        return read_leaf(path, name)
    return read_reviews(path, name) if any(path.glob(f"*{TRAIN}")) else read_plays(path, name)


def read_text(path: Path, name: str) -> TokenSet:
    """Read a path with `read_clients`, for a set that must be a text.

    Raises:
        DataError: a file is damaged or of another kind, or LEAF's files hold images.
    """
    found = read_clients(path, name)
    if found.kind == "images":
        raise DataError(f"{path} holds images where {name} is a text; is it another folder?")
    return found
