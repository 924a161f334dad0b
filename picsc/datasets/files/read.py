"""The choice of the reader for a file; every format has a module of its own in this package."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from picsc.datasets.files.arff import read_arff
from picsc.datasets.files.compression import most_unpacked
from picsc.datasets.files.csv import read_delimited
from picsc.datasets.files.formats import format_of
from picsc.datasets.files.jsonl import read_json_lines
from picsc.datasets.files.keel import holds_keel, read_keel
from picsc.datasets.files.libsvm import read_libsvm
from picsc.datasets.files.many import is_many, read_many
from picsc.datasets.files.npz import read_arrays
from picsc.datasets.files.parquet import read_arrow, read_parquet
from picsc.datasets.files.sources import Source, opened
from picsc.datasets.files.table import FileTable
from picsc.datasets.files.xlsx import read_spreadsheet
from picsc.errors import DataError
from picsc.settings import FileFormat, ReadSettings

Reader = Callable[[Source, ReadSettings], FileTable]


def read_frame(path: str | Path, settings: ReadSettings) -> FileTable:
    """Read one file, or several as one table.

    Args:
        path: path or web address of the file, which may be compressed; `-` is standard input. A folder, or a pattern
            such as `data/*.csv`, is one table of all its files.
        settings: how to read it; without a format there, its suffix decides.

    Returns:
        The frame of n rows, how it was read, and the target that the file itself declares.

    Raises:
        DataError: there is no such file, its format is unknown, it is empty, or it does not hold a table.
    """
    if is_many(path):
        return read_many(path, lambda file: read_frame(file, settings))
    try:
        with opened(path, most_unpacked(settings)) as source:
            if source.path.stat().st_size == 0:
                raise DataError(f"{source.where} is empty")
            return READERS[format_of(source, settings)](source, settings)
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror or error}") from None


def _csv(source: Source, settings: ReadSettings) -> FileTable:
    return read_delimited(source, settings, delimiter=None)


def _tsv(source: Source, settings: ReadSettings) -> FileTable:
    return read_delimited(source, settings, delimiter="\t")


def _dat(source: Source, settings: ReadSettings) -> FileTable:
    """KEEL's format, or delimited text in a file with the suffix .dat."""
    given = settings.format is not None
    return read_keel(source, settings) if given or holds_keel(source) else _csv(source, settings)


READERS: dict[FileFormat, Reader] = {
    "csv": _csv,
    "tsv": _tsv,
    "parquet": read_parquet,
    "arrow": read_arrow,
    "arff": read_arff,
    "keel": _dat,
    "libsvm": read_libsvm,
    "jsonl": read_json_lines,
    "npz": read_arrays,
    "xlsx": read_spreadsheet,
}
