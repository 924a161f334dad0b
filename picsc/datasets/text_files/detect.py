"""Which text, or LEAF file, a path holds: plays, reviews or LEAF's JSON."""

from __future__ import annotations

import re
from pathlib import Path

from picsc.datasets.images import ImageSet
from picsc.datasets.text_files.leaf import leaf_files, read_leaf
from picsc.datasets.text_files.reviews import TRAIN, read_reviews
from picsc.datasets.text_files.shakespeare import plays_in, read_plays
from picsc.datasets.texts import TokenSet
from picsc.errors import DataError

_LEAF = re.compile(rb'\s*\{\s*"(?:users|num_samples|user_data|hierarchies)"')
"""How LEAF's JSON begins; any other is a list of records, or one per line."""


def holds_text(path: Path) -> bool:
    """Whether a path is a file of LEAF's, or a folder with such files, plays or reviews; only a file is looked into."""
    try:
        if path.is_file():
            with path.open("rb") as file:
                return bool(_LEAF.match(file.read(4096)))
    except OSError:  # whoever reads it says so
        return False
    return any(leaf_files(path)) or any(plays_in(path)) or any(path.glob(f"*{TRAIN}"))


def read_clients(path: Path, name: str) -> ImageSet | TokenSet:
    """Read what `holds_text` found.

    Args:
        path: of a file or folder.
        name: of the set.

    Raises:
        DataError: a file is damaged or of another kind.
    """
    if any(leaf_files(path)):
        return read_leaf(path, name)
    return read_reviews(path, name) if any(path.glob(f"*{TRAIN}")) else read_plays(path, name)


def read_text(path: Path, name: str) -> TokenSet:
    """As `read_clients`, for a set that is known to be a text.

    Raises:
        DataError: as `read_clients`, or LEAF's files hold images.
    """
    found = read_clients(path, name)
    if found.kind == "images":
        raise DataError(f"{path} holds images where {name} is a text; is it another folder?")
    return found
