"""What a file holds, by what is told or by its name."""

from __future__ import annotations

from pathlib import Path

from picsc.datasets.files.sources import STDIN, Source, uncompressed
from picsc.errors import DataError
from picsc.settings import FileFormat, ReadSettings

BY_SUFFIX: dict[str, FileFormat] = {
    ".csv": "csv", ".txt": "csv", ".data": "csv", ".tsv": "tsv", ".tab": "tsv",
    ".parquet": "parquet", ".pq": "parquet", ".feather": "arrow", ".arrow": "arrow", ".ipc": "arrow",
    ".arff": "arff", ".dat": "keel", ".libsvm": "libsvm", ".svm": "libsvm", ".svmlight": "libsvm",
    ".jsonl": "jsonl", ".ndjson": "jsonl", ".json": "jsonl", ".npz": "npz", ".xlsx": "xlsx",
}  # fmt: skip
"""A .dat file whose first line, but for remarks, does not begin with @ is delimited text nevertheless."""


def format_of(source: Source, settings: ReadSettings) -> FileFormat:
    """What a file holds.

    Args:
        source: the file.
        settings: a format told there wins; standard input and pipes without one are csv.

    Raises:
        DataError: neither a format is told nor the suffix known.
    """
    if settings.format is not None:
        return settings.format
    if source.suffix in BY_SUFFIX:
        return BY_SUFFIX[source.suffix]
    if source.piped:
        return "csv"
    if source.suffix in (".yaml", ".yml"):
        raise DataError(f"{source.where}: YAML is no table; a recipe is run by `picsc run`, or goes with --recipe")
    named = f"suffix {source.suffix!r} is not known" if source.suffix else "there is no suffix to tell what it holds"
    raise DataError(f"{source.where}: {named}; say with --format what it is, or use one of {', '.join(BY_SUFFIX)}")


def format_by_name(path: str | Path, settings: ReadSettings) -> FileFormat | None:
    """As `format_of`, without opening the file; None if that cannot tell."""
    if settings.format is not None:
        return settings.format
    if str(path) == STDIN:
        return "csv"
    return BY_SUFFIX.get(uncompressed(Path(path)).suffix.lower())


def stem(path: str | Path) -> str:
    """Name of the table in a file: without suffixes of its format and its compression."""
    return "standard input" if str(path) == STDIN else uncompressed(Path(path)).stem
