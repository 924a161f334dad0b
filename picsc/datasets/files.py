"""Tables in files, by their suffix: csv, tsv, parquet and npz. Letters: n rows, f columns."""

from __future__ import annotations

import hashlib
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from picsc.datasets.delimited import read_delimited
from picsc.datasets.names import unique_names
from picsc.errors import DataError
from picsc.settings import ReadSettings

TARGET = "target"
"""Name of the column that the labels of an array become."""
_DELIMITER = {".csv": None, ".txt": None, ".data": None, ".tsv": "\t", ".tab": "\t"}
_PARQUET = (".parquet", ".pq")
KNOWN = (*_DELIMITER, *_PARQUET, ".npz")
_COVARIATES, _LABELS = ("X", "x", "data"), ("y", "target")


def read_frame(path: Path, settings: ReadSettings) -> tuple[pd.DataFrame, str]:
    """Read one file.

    Args:
        path: of the file; its suffix says what it holds.
        settings: header and repeated names.

    Returns:
        The frame, n rows, with unique column names; words are strings without surrounding blanks. And the SHA-256 of
        the file's bytes.

    Raises:
        DataError: there is no such file, its suffix is unknown, or it does not hold a table.
    """
    suffix = path.suffix.lower()
    if suffix not in KNOWN:
        named = f"suffix {path.suffix!r} is not known" if suffix else "there is no suffix to tell what it holds"
        raise DataError(f"{path}: {named}; known are {', '.join(KNOWN)}")
    if path.is_dir():
        raise DataError(f"{path} is a directory; give one file")
    if not path.exists():
        raise DataError(f"{path}: no such file")
    try:
        if suffix in _DELIMITER:
            return read_delimited(path, settings, delimiter=_DELIMITER[suffix])
        frame = _parquet(path, settings) if suffix in _PARQUET else _arrays(path)
        with path.open("rb") as file:
            return frame, hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror or error}") from None


def frame_of_arrays(X: NDArray[Any], y: NDArray[Any] | None, where: str) -> pd.DataFrame:
    """A frame with columns x1, ..., xf and, if there are labels, target.

    Args:
        X: (n, f).
        y: (n,) or (n, 1).
        where: the file or table, for messages.

    Raises:
        DataError: the shapes are not these, or the values are records.
    """
    if X.ndim != 2:
        raise DataError(f"{where}: X has {X.ndim} dimensions where a table has 2; reshape it to (rows, columns)")
    if X.dtype.names is not None or X.dtype.kind == "c":
        raise DataError(f"{where}: X holds {X.dtype} values; give plain numbers or words")
    frame = pd.DataFrame(X, columns=[f"x{i + 1}" for i in range(X.shape[1])])
    if y is not None:
        if y.ndim == 2 and y.shape[1] == 1:
            y = y[:, 0]
        if y.ndim != 1:
            raise DataError(f"{where}: y has shape {y.shape}; give one label per row")
        if len(y) != len(X):
            raise DataError(f"{where}: X has {len(X)} rows but y has {len(y)}; they must be equal")
        frame[TARGET] = y
    return frame


def _arrays(path: Path) -> pd.DataFrame:
    """An npz archive; pickled objects in it are refused, since unpickling runs code."""
    try:
        with path.open("rb") as file:  # numpy leaves a broken archive open
            archive = np.load(file, allow_pickle=False)
            if isinstance(archive, np.ndarray):
                raise DataError(f"{path} holds one bare array; save it with numpy.savez(FILE, X=..., y=...)")
            names = list(archive.files)
            x_name = next((name for name in _COVARIATES if name in names), None)
            y_name = next((name for name in _LABELS if name in names), None)
            if x_name is None and len(names) == 1:
                x_name, y_name = names[0], None
            if x_name is None:
                held = ", ".join(names) or "none"
                raise DataError(f"{path}: no array named {', '.join(_COVARIATES)} (arrays in it: {held})")
            X, y = archive[x_name], None if y_name is None else archive[y_name]
    except (ValueError, EOFError, KeyError, zipfile.BadZipFile, NotImplementedError) as error:
        pickled = "object" in str(error).lower() or "pickle" in str(error).lower()
        why = "it holds Python objects, which are not read; save plain arrays" if pickled else "it is no npz archive"
        raise DataError(f"{path} cannot be read: {why}") from None
    return frame_of_arrays(X, y, str(path))


def _parquet(path: Path, settings: ReadSettings) -> pd.DataFrame:
    try:
        table = pq.ParquetFile(path).read()
    except (pa.ArrowException, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise DataError(f"{path} is no parquet file that can be read: {str(error).splitlines()[0]}") from None
    # A frame's unnamed index is stored as a column that the frame did not have.
    stored = [i for i, name in enumerate(table.column_names) if not name.startswith("__index_level_")]
    names = unique_names(
        [table.column_names[i].strip() for i in stored], rename=settings.rename_duplicates, where=str(path)
    )
    if table.num_rows == 0:
        raise DataError(f"{path} has columns but no rows")
    return pd.DataFrame(
        {name: _plain(table.column(i)).to_pandas() for i, name in zip(stored, names, strict=True)}, copy=False
    )


def _plain(column: Any) -> Any:
    """An Arrow column in a type that pandas holds as values, not as Python objects."""
    kind = column.type
    if pa.types.is_decimal(kind):
        return pc.cast(column, pa.float64(), safe=False)
    if pa.types.is_date(kind):
        return pc.cast(column, pa.timestamp("s"), safe=False)
    if pa.types.is_time(kind) or pa.types.is_large_string(kind):
        return pc.cast(column, pa.string())
    return column
