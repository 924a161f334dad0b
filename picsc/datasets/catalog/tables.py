"""The reader of a named table's file: csv with or without a header line, ARFF, KEEL's .dat, parquet or npz."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd

from picsc.datasets.catalog.registry import Layout, NamedTable
from picsc.datasets.files.read import read_frame
from picsc.datasets.files.table import FileTable
from picsc.datasets.load import from_file, load
from picsc.datasets.table import Dataset
from picsc.errors import DataError
from picsc.settings import ReadSettings

SUFFIXES = (".parquet", ".arff", ".data", ".csv", ".dat", ".npz")
"""Suffixes of the files that are searched for, the preferred one first."""
FOLDERS = ("", "{name}", "uci_uncleaned", "uci", "keel", "keel/csv", "keel/dat", "keel27/csv", "keel27/dat")
"""Folders that are searched, relative to the data directory; uncleaned tables, which the paper used, before KEEL's."""
CLASS = "class"
"""Name of the class column of a file without a header line; its other columns are called c1, c2, ..."""
_NULL = "<null>"
"""KEEL's spelling of a missing value."""


def read_table(
    path: Path, name: str, entry: NamedTable | None, settings: ReadSettings, *, keys: Sequence[str] = ()
) -> Dataset:
    """Read the file of a table.

    Args:
        path: path of the file; its suffix decides how it is read.
        name: name of the table.
        entry: its entry in the registry; None for a table of the user's own.
        settings: a target there takes precedence over the class in the file.
        keys: columns that cut the table.

    Raises:
        DataError: the file cannot be read, or its columns are not what the settings say.
    """
    suffix = path.suffix.lower()
    if suffix in (".arff", ".parquet"):
        table = read_frame(path, settings)
        table = replace(table, target=table.target or _class_column(table.frame, entry))
    elif suffix == ".dat":
        table = read_frame(path, settings)
    elif entry is None or suffix == ".npz":
        return load(path, settings, keys=keys)
    else:
        table = _delimited(path, entry, settings)
    return from_file(table, path, settings, name=name, keys=keys, target_chosen="class of the file")


def _class_column(frame: pd.DataFrame, entry: NamedTable | None) -> str | None:
    """The column of the class: one that the entry names, else the last; None for a table of the user's own."""
    if entry is None:
        return None
    names = [str(name) for name in frame.columns]
    return next((name for name in entry.targets if name in names), names[-1])


def _delimited(path: Path, entry: NamedTable, settings: ReadSettings) -> FileTable:
    """The table in a text file whose first line may be a header.

    The first line is a header if its last field does not occur again in the last column, since a class occurs more
    than once.
    """
    table = read_frame(path, settings.model_copy(update={"header": False}))
    layout = entry.layouts.get(path.name.lower(), Layout())
    last = table.frame.iloc[:, layout.target]
    if len(last) and int((last.iloc[1:] == last.iloc[0]).sum()) == 0:
        table = read_frame(path, settings.model_copy(update={"header": True}))
        frame = _without_null(table.frame)
        return replace(table, frame=frame, target=_class_column(frame, entry))
    frame = _without_null(table.frame)
    for position in entry.numeric:
        if position < frame.shape[1] - 1:  # the last is the class
            column = frame.columns[position]
            frame[column] = _numbers(frame[column], path, position + 1)
    names = list(frame.columns)
    names[layout.target] = CLASS
    frame.columns = pd.Index(names)
    return replace(table, frame=frame.drop(columns=[names[position] for position in layout.leave]), target=CLASS)


def _without_null(frame: pd.DataFrame) -> pd.DataFrame:
    """The frame with KEEL's `<null>` as missing; a column that then holds only numbers becomes numeric."""
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
