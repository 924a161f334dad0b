"""The format of a file, as given by the user or by its suffix."""

from __future__ import annotations

from pathlib import Path

from picsc.datasets.files.compression import uncompressed
from picsc.datasets.files.sources import STDIN, Source
from picsc.datasets.files.web import file_name, is_address
from picsc.errors import DataError
from picsc.settings import FileFormat, ReadSettings

BY_SUFFIX: dict[str, FileFormat] = {
    ".csv": "csv", ".txt": "csv", ".data": "csv", ".tsv": "tsv", ".tab": "tsv",
    ".parquet": "parquet", ".pq": "parquet", ".feather": "arrow", ".arrow": "arrow", ".ipc": "arrow",
    ".arff": "arff", ".dat": "keel", ".libsvm": "libsvm", ".svm": "libsvm", ".svmlight": "libsvm",
    ".jsonl": "jsonl", ".ndjson": "jsonl", ".json": "jsonl", ".npz": "npz", ".xlsx": "xlsx",
}  # fmt: skip
"""Formats by suffix. A .dat file is delimited text if its first line, after comments, does not begin with @."""


def format_of(source: Source, settings: ReadSettings) -> FileFormat:
    """The format of a file.

    Args:
        source: the file.
        settings: a format there takes precedence; standard input and pipes are csv by default.

    Raises:
        DataError: no format is given and the suffix is unknown.
    """
    if settings.format is not None:
        return settings.format
    if source.suffix in BY_SUFFIX:
        return BY_SUFFIX[source.suffix]
    if source.piped:
        return "csv"
    if source.suffix in (".yaml", ".yml"):
        raise DataError(f"{source.where}: YAML is no table; a recipe is run by `picsc run`, or goes with --recipe")
    named = f"suffix {source.suffix!r} is not known" if source.suffix else "there is no suffix that shows its format"
    raise DataError(f"{source.where}: {named}; say with --format what it is, or use one of {', '.join(BY_SUFFIX)}")


def format_by_name(path: str | Path, settings: ReadSettings) -> FileFormat | None:
    """The format of a file by its name, without opening it; None if the name does not decide it."""
    if settings.format is not None:
        return settings.format
    if str(path) == STDIN:
        return "csv"
    return BY_SUFFIX.get(uncompressed(_file(path)).suffix.lower())


def stem(path: str | Path) -> str:
    """The name of the table in a file: the file name without the suffixes of format and compression."""
    return "standard input" if str(path) == STDIN else uncompressed(_file(path)).stem


def _file(path: str | Path) -> Path:
    return Path(file_name(str(path))) if is_address(path) else Path(path)
