"""Files that `picsc data get` writes into the data directory, each with a file of its SHA-256.

NAME.sha256 has the format of the program sha256sum, so that `sha256sum -c` can check it, too.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from picsc.datasets.files.parquet import TARGET_KEY
from picsc.datasets.images import ImageSet
from picsc.errors import DataError
from picsc.runtime.digests import file_digest


def verify(path: Path) -> None:
    """Compare a file with the SHA-256 in the file next to it; without such a file, nothing is compared.

    Raises:
        DataError: the file has changed since it was fetched.
    """
    expected = path.with_suffix(".sha256")
    try:
        if not path.is_file() or not expected.is_file():
            return
        kept, _, file = expected.read_text(encoding="utf-8").strip().partition("  ")
        if file.strip() != path.name:
            return  # it belongs to another file with the same stem
        found = file_digest(path)
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"{expected} cannot be read ({error}); remove it, or fetch the data again") from None
    if found != kept.strip():
        raise DataError(
            f"{path} has changed since it was fetched: its SHA-256 is {found}, and {expected.name} "
            f"says {kept.strip()}; put the original back, "
            f"or remove both files and fetch it again (picsc data get {path.stem})"
        )


def keep_images(images: ImageSet, path: Path) -> None:
    """Write an npz archive that `picsc.datasets.image_files.folders.read_npz` reads.

    Raises:
        DataError: the folder or the file cannot be written.
    """

    def write(file: BinaryIO) -> None:
        classes = np.asarray(images.classes)
        np.savez(file, X=images.pixels, y=images.labels, test=images.test, classes=classes)

    _keep(path, write)


def keep_table(frame: pd.DataFrame, target: str | None, path: Path) -> None:
    """Write a parquet file whose metadata name its target.

    Args:
        frame: n rows.
        target: column of the target; None for a table without one.
        path: path of the file.

    Raises:
        DataError: the folder or the file cannot be written.
    """
    table = pa.Table.from_pandas(frame, preserve_index=False)
    if target is not None:
        table = table.replace_schema_metadata({**(table.schema.metadata or {}), TARGET_KEY: target.encode()})
    _keep(path, lambda file: pq.write_table(table, file))


def _keep(path: Path, write: Callable[[BinaryIO], Any]) -> None:
    """Write a temporary file in the same folder, then rename it, so that the path never holds half a file.

    Its digest is moved into place first, so that a new file is never without one.
    """
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    digest = path.with_name(f".{path.stem}.sha256.{os.getpid()}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with part.open("wb") as file:
            write(file)
        digest.write_text(f"{file_digest(part)}  {path.name}\n", encoding="utf-8", newline="\n")
        digest.replace(path.with_suffix(".sha256"))
        part.replace(path)
    except OSError as error:
        raise DataError(
            f"cannot write {path}: {error.strerror or error}; choose another folder with --data-dir"
        ) from None
    finally:
        for temporary in (part, digest):
            with suppress(OSError):
                temporary.unlink()
