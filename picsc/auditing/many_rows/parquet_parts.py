"""Parquet files, one or many, as one table that is read in batches of rows. Letters: n rows."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from picsc.datasets.columns.names import INDEX
from picsc.datasets.files.many import FILE, files_of, is_many, values_of_folders
from picsc.datasets.files.parquet import BROKEN, TARGET_KEY, to_series
from picsc.datasets.files.table import FileTable
from picsc.errors import DataError
from picsc.reports.common import Choice, Reading

SUFFIX = ".parquet"
BATCH = 131_072
"""Rows that are read at a time; the number changes no result."""
_WORDS = (pa.string(), pa.large_string())
_BYTES = 1 << 22


@dataclass(frozen=True, slots=True)
class ParquetParts:
    """The files of one table."""

    where: str
    """Path as it was given."""
    files: tuple[Path, ...]
    added: tuple[Mapping[str, str], ...]
    """Columns that the name of a file says, by file."""
    n: int
    """Rows of all files."""
    names: tuple[str, ...]
    """Columns of the files, without blanks around them, then those that are added."""
    words: frozenset[str]
    """Names, as stored, of columns of plain words, which are read as codes."""
    target: str | None
    """Column that the files declare as the target; None if they declare none."""

    def batches(self) -> Iterator[Any]:
        """Yield Arrow tables of at most `BATCH` rows, in the order of files and rows.

        Raises:
            DataError: a file cannot be read.
        """
        for file, added in zip(self.files, self.added, strict=True):
            try:
                with pq.ParquetFile(file, memory_map=False, read_dictionary=sorted(self.words)) as opened:
                    for batch in opened.iter_batches(BATCH):
                        table = pa.Table.from_batches([batch])
                        for name, value in added.items():
                            codes = pa.array(np.zeros(len(table), np.int32))
                            table = table.append_column(name, pa.DictionaryArray.from_arrays(codes, [value]))
                        yield table.rename_columns(list(self.names))
            except BROKEN as error:
                raise DataError(f"{file} cannot be read ({' '.join(str(error).split())[:200]})") from None

    def frame(self, table: Any, *, codes: bool, only: Collection[str] | None = None) -> pd.DataFrame:
        """A part of the table as a frame.

        Args:
            table: rows of `batches`.
            codes: words as categories, which is fast; False for words as a file of them gives.
            only: names of the columns; None for all.
        """
        columns = {}
        for name in self.names if only is None else only:
            column = table.column(name)
            if name in self._read_as_codes:
                column = column if codes else column.cast(pa.string())
                columns[name] = column.combine_chunks().to_pandas() if codes else to_series(column, name, self.where)
            else:
                columns[name] = to_series(column, name, self.where)
        return pd.DataFrame(columns, copy=False)

    @property
    def _read_as_codes(self) -> frozenset[str]:
        return frozenset(name.strip() for name in self.words) | frozenset(self.added[0])

    def digest(self) -> str:
        """SHA-256 of the file's bytes; of several files, that of their names and digests."""
        digests = [_sha256(file) for file in self.files]
        if not is_many(self.where):
            return digests[0]
        total = hashlib.sha256()
        root = _root(self.where, self.files)
        for file, digest in zip(self.files, digests, strict=True):
            total.update(f"{file.relative_to(root).as_posix()}\0{digest}\0".encode())
        return total.hexdigest()

    def table(self, frame: pd.DataFrame) -> FileTable:
        """Some of the rows as a reader of files gives them."""
        many = is_many(self.where)
        choices = (Choice("files", str(len(self.files)), "found"),) if many else ()
        return FileTable(frame, self.digest(), Reading("parquet", "", choices), self.target, FILE if many else None)


def parquet_parts(path: str) -> ParquetParts | None:
    """The parquet files of a path as one table; None where they are no such table, which other readers then explain.

    Args:
        path: a file, a folder, or a pattern.
    """
    many = is_many(path)
    if not many and not (os.path.isfile(path) and path.lower().endswith(SUFFIX)):  # noqa: PTH113
        return None
    try:
        files = files_of(path) if many else [Path(path)]
    except DataError:
        return None
    if any(file.suffix.lower() != SUFFIX for file in files):
        return None
    n, first = 0, None
    for file in files:
        try:
            with pq.ParquetFile(file, memory_map=False) as opened:
                schema, rows = opened.schema_arrow, opened.metadata.num_rows
        except BROKEN:
            return None
        first = schema if first is None else first
        if not schema.equals(first):
            return None
        n += rows
    root = _root(path, files)
    added = [values_of_folders(file.relative_to(root)) if many else {} for file in files]
    return _parts(path, files, added, n, first)


def _parts(path: str, files: list[Path], added: list[dict[str, str]], n: int, schema: Any) -> ParquetParts | None:
    stored = [name.strip() for name in schema.names]
    added = [{key: value for key, value in each.items() if key not in stored} for each in added]
    names = [*stored, *added[0]]
    if len(set(names)) < len(names) or "" in names or any(each.keys() != added[0].keys() for each in added):
        return None
    if any(name.startswith("__index_level_") or name == INDEX for name in names):
        return None
    words = frozenset(field.name for field in schema if field.type in _WORDS)
    declared = (schema.metadata or {}).get(TARGET_KEY, b"").decode("utf-8", "replace")
    return ParquetParts(
        path, tuple(files), tuple(added), n, tuple(names), words, declared if declared in stored else None
    )


def _root(path: str, files: list[Path] | tuple[Path, ...]) -> Path:
    if os.path.isdir(path):  # noqa: PTH112
        return Path(path)
    return Path(os.path.commonpath([file.parent for file in files]))


def _sha256(file: Path) -> str:
    digest = hashlib.sha256()
    with file.open("rb") as opened:
        while block := opened.read(_BYTES):
            digest.update(block)
    return digest.hexdigest()
