"""Several files as one table: the files of a folder, or those that a pattern such as `data/*.csv` matches.

A column `file` says which file a row comes from, and folders called `key=value`, as Hive and Spark write them, are
columns of their own. They cut the table where they are asked to: `--by file`.
"""

from __future__ import annotations

import glob
import hashlib
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path, PurePath

import pandas as pd

from picsc.datasets.files.compression import uncompressed
from picsc.datasets.files.formats import BY_SUFFIX
from picsc.datasets.files.joined import joined
from picsc.datasets.files.table import FileTable
from picsc.datasets.files.web import is_address
from picsc.datasets.natural_order import natural_order
from picsc.errors import DataError
from picsc.phrases import counted, listed
from picsc.reports.common import Choice

FILE = "file"
"""Name of the column of files."""
PARTS, LARGE = ".parquet", 1 << 20
"""Suffix of files that can be read in parts, and bytes above which they may have to be: a compressed column of equal
values takes next to none, so that this is below what half a million rows usually take."""
MOST_FILES = 10_000
"""Most files of one table."""


def is_many(path: str | Path) -> bool:
    """True for a folder, and for a pattern that is not itself the name of a file."""
    if os.path.isdir(path):  # noqa: PTH112 - no error for a name that no file can have
        return True
    return glob.has_magic(str(path)) and not is_address(path) and not os.path.exists(path)  # noqa: PTH110


def may_be_parts(path: str | Path) -> bool:
    """True for a path of parquet files so large that they may have to be read in parts; looks at no content."""
    if not is_many(path):
        return str(path).lower().endswith(PARTS) and os.path.isfile(path) and os.path.getsize(path) > LARGE  # noqa: PTH113, PTH202
    try:
        files = files_of(path)
    except DataError:
        return False
    suffixes = all(file.name.lower().endswith(PARTS) for file in files)
    return suffixes and sum(file.stat().st_size for file in files) > LARGE


def read_many(path: str | Path, read_one: Callable[[Path], FileTable]) -> FileTable:
    """Read the files of a folder, or of a pattern, as one table.

    Args:
        path: folder, or pattern with * ? [] and ** for any number of folders.
        read_one: reads one of the files.

    Raises:
        DataError: there is no file to read, or one of them cannot be read.
    """
    files = files_of(path)
    root = Path(path) if os.path.isdir(path) else Path(os.path.commonpath([file.parent for file in files]))  # noqa: PTH112
    tables = [read_one(file) for file in files]
    frames = []
    for file, table in zip(files, tables, strict=True):
        inside = file.relative_to(root)
        said = values_of_folders(inside)
        added = {key: value for key, value in said.items() if key not in table.frame.columns}
        frames.append(pd.concat([table.frame.reset_index(drop=True), _constant(added, len(table.frame))], axis=1))
    first = tables[0]
    formats = sorted({table.reading.format for table in tables})
    if len(formats) > 1:
        raise DataError(
            f"{path} holds files of several formats ({listed(formats)}); give a pattern such as *.{formats[0]}"
        )
    digest = hashlib.sha256()
    for file, table in zip(files, tables, strict=True):
        digest.update(f"{file.relative_to(root).as_posix()}\0{table.sha256}\0".encode())
    choices = (Choice("files", str(len(files)), "found"), *first.reading.choices)
    return FileTable(joined(frames), digest.hexdigest(), replace(first.reading, choices=choices), first.target, FILE)


def table_files(folder: Path) -> list[Path]:
    """The files in a folder, at any depth, whose suffix is that of a table."""
    found = [file for file in folder.rglob("*") if _visible(file.relative_to(folder)) and file.is_file()]
    return [file for file in found if uncompressed(file).suffix.lower() in BY_SUFFIX]


def files_of(path: str | Path) -> list[Path]:
    """The files in natural order; of a folder, those with a known suffix, at any depth.

    Args:
        path: folder, or pattern.

    Raises:
        DataError: there are none, or too many.
    """
    if os.path.isdir(path):  # noqa: PTH112
        files = table_files(Path(path))
        why = f"{path} is a directory without a file whose suffix is known; give the files in it, as in '{path}/*'"
    else:
        files = [Path(name) for name in glob.glob(str(path), recursive=True) if os.path.isfile(name)]  # noqa: PTH113, PTH207
        why = f"{path}: no file matches this pattern"
    if not files:
        raise DataError(why)
    if len(files) > MOST_FILES:
        raise DataError(f"{path}: {counted(len(files), 'file')}, and one table has at most {MOST_FILES:,}")
    return sorted(files, key=lambda file: natural_order(file.as_posix()))


def _visible(inside: PurePath) -> bool:
    """False for hidden files and folders, and for those that Spark and its like write beside the data."""
    return not any(part.startswith((".", "_")) for part in inside.parts)


def values_of_folders(inside: PurePath) -> dict[str, str]:
    """Columns that the place of a file says: those of folders called `key=value`, then the file.

    Args:
        inside: path of the file from the folder that all files are in.
    """
    pairs = [part.partition("=") for part in inside.parts[:-1]]
    found = {key: value for key, equals, value in pairs if equals and key}
    return {**found, FILE: uncompressed(Path(inside)).with_suffix("").as_posix()} if FILE not in found else found


def _constant(values: dict[str, str], rows: int) -> pd.DataFrame:
    return pd.DataFrame({name: pd.Series([value] * rows, dtype=object) for name, value in values.items()})
