"""A table by name from its file: csv with or without a header line, UCI's .data, ARFF, KEEL's .dat, parquet, npz."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from picsc.datasets.attribute_files import read_arff, read_keel
from picsc.datasets.delimited import read_delimited
from picsc.datasets.files import read_frame
from picsc.datasets.load import from_frame, load
from picsc.datasets.named import Layout, NamedTable
from picsc.datasets.stored import target_kept
from picsc.datasets.table import Dataset
from picsc.errors import DataError
from picsc.settings import ReadSettings

SUFFIXES = (".parquet", ".arff", ".data", ".csv", ".dat", ".npz")
"""Of the files that are looked for, most wanted first."""
FOLDERS = ("", "{name}", "uci_uncleaned", "uci", "keel", "keel/csv", "keel/dat", "keel27/csv", "keel27/dat")
"""Where they may be, below the data directory; uncleaned tables, which the paper ran, before KEEL's."""
CLASS = "class"
"""Name of the class of a file without a header line; its other columns are called c1, c2, ..."""
_NULL = "<null>"


def read_table(
    path: Path, name: str, entry: NamedTable | None, settings: ReadSettings, *, keys: Sequence[str] = ()
) -> Dataset:
    """Read the file of a table.

    Args:
        path: of the file; its suffix says what it holds.
        name: of the table.
        entry: what is known of it; None for a table of the user's own.
        settings: a target there wins over the class that the file has.
        keys: columns that cut the table.

    Raises:
        DataError: the file cannot be read, or its columns are not what the settings say.
    """
    suffix = path.suffix.lower()
    chosen = "--target"
    target: str | None
    if suffix == ".arff":
        frame, sha256 = read_arff(path)
        target = _class_column(frame, entry)
    elif suffix == ".dat":
        frame, target, sha256 = read_keel(path)
    elif suffix == ".parquet":
        frame, sha256 = read_frame(path, settings)
        target = target_kept(path) or _class_column(frame, entry)
    elif entry is None or suffix == ".npz":
        return load(path, settings, keys=keys)
    else:
        frame, target, sha256 = _delimited(path, entry)
    if settings.target is None and not settings.no_target and target is not None:
        settings, chosen = settings.model_copy(update={"target": target}), "class of the file"
    return from_frame(frame, settings, name=name, source=str(path), keys=keys, sha256=sha256, target_chosen=chosen)


def _class_column(frame: pd.DataFrame, entry: NamedTable | None) -> str | None:
    """The column that the entry names, else the last; for a table of the user's own, nothing is known."""
    if entry is None:
        return None
    names = [str(name) for name in frame.columns]
    return next((name for name in entry.targets if name in names), names[-1])


def _delimited(path: Path, entry: NamedTable) -> tuple[pd.DataFrame, str | None, str]:
    """A text file whose first line may hold names: the frame, its class and the digest.

    It does, if its last field does not occur again in the last column: a class occurs more than once.
    """
    try:
        frame, sha256 = read_delimited(path, ReadSettings(header=False), delimiter=None, remarks=True)
        layout = entry.layouts.get(path.name.lower(), Layout())
        last = frame.iloc[:, layout.target]
        if len(frame) and int((last.iloc[1:] == last.iloc[0]).sum()) == 0:
            frame, sha256 = read_delimited(path, ReadSettings(), delimiter=None, remarks=True)
            return _without_null(frame), _class_column(frame, entry), sha256
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror or error}") from None
    frame = _without_null(frame)
    for position in entry.numeric:
        if position < frame.shape[1] - 1:  # the last is the class
            column = frame.columns[position]
            frame[column] = _numbers(frame[column], path, position + 1)
    names = list(frame.columns)
    names[layout.target] = CLASS
    frame.columns = pd.Index(names)
    return frame.drop(columns=[names[position] for position in layout.leave]), CLASS, sha256


def _without_null(frame: pd.DataFrame) -> pd.DataFrame:
    """KEEL's spelling of a missing value taken out; a column of which only numbers are left becomes numbers."""
    for column in frame.columns:
        values = frame[column]
        if pd.api.types.is_numeric_dtype(values.dtype) or not (values == _NULL).any():
            continue
        values = values.where(values != _NULL)
        numbers = pd.to_numeric(values, errors="coerce")
        frame[column] = numbers if numbers.notna().equals(values.notna()) else values
    return frame


def _numbers(values: pd.Series[Any], path: Path, position: int) -> pd.Series[Any]:
    numbers: pd.Series[Any] = pd.to_numeric(values, errors="coerce")
    wrong = values[numbers.isna() & values.notna()]
    if len(wrong):
        raise DataError(
            f"{path}, column {position}: {str(wrong.iloc[0])!r} is no number, although this column of the table "
            "holds numbers; is it another file?"
        )
    return numbers
