"""Files that are there whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


@contextmanager
def written_whole(path: Path) -> Iterator[Path]:
    """A file to write to, which takes the place of `path` when nothing went wrong, and else is gone.

    It lies next to `path`, so that the last step is a rename; its ending is another one.

    Args:
        path: of the file; it may be there already.

    Raises:
        OSError: it cannot be renamed.
    """
    part = path.absolute().with_name(f".{path.name}.{os.getpid()}.part")
    try:
        yield part
        part.replace(path)
    finally:
        with suppress(FileNotFoundError):
            part.unlink()
