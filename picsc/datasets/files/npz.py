"""Tables of numpy arrays, in memory or in npz archives. Letters: n rows, f columns."""

from __future__ import annotations

import lzma
import struct
import tokenize
import warnings
import zipfile
import zlib
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from picsc.datasets.files.compression import check_size, most_unpacked
from picsc.datasets.files.sources import Source
from picsc.datasets.files.table import FileTable
from picsc.errors import DataError
from picsc.phrases import counted
from picsc.reports.common import Reading
from picsc.settings import ReadSettings

_UNREADABLE = "cV"
"""Kinds of numpy's dtypes that are refused: complex numbers and records."""
TARGET = "target"
"""Name of the column of labels."""
_NO_ARCHIVE = "it is no whole npz archive; save it again with numpy.savez(FILE, X=..., y=...)"
_COVARIATES, _LABELS = ("X", "x", "data"), ("y", "target")


def frame_of_arrays(X: NDArray[Any], y: NDArray[Any] | None, where: str) -> pd.DataFrame:
    """A frame with columns x1, ..., xf and, if there are labels, target.

    Args:
        X: (n, f) covariates.
        y: (n,) or (n, 1) labels; None for a table without labels.
        where: the file or table, for messages.

    Raises:
        DataError: the shapes are others, or the values are complex numbers or records.
    """
    if X.ndim != 2:
        raise DataError(
            f"{where}: X has {counted(X.ndim, 'dimension')} where a table has 2; reshape it to (rows, columns)"
        )
    for name, array in (("X", X), ("y", X if y is None else y)):
        if array.dtype.kind in _UNREADABLE:
            held = {"c": "complex numbers", "V": "records or bytes"}[array.dtype.kind]
            raise DataError(f"{where}: {name} holds {held}; give plain numbers or words")
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


def read_arrays(source: Source, settings: ReadSettings) -> FileTable:
    """Read an npz archive with X and optionally y; pickled objects are refused, since unpickling runs code.

    Args:
        source: the file.
        settings: the bound on what it unpacks to.

    Raises:
        DataError: the file is no archive, lacks these arrays, or they are too large.
    """
    where = source.where
    try:
        with (
            source.path.open("rb") as file,
            warnings.catch_warnings(),
        ):  # numpy warns that it leaves a broken archive open
            warnings.simplefilter("ignore")  # numpy warns of headers from Python 2, too
            archive = np.load(file, allow_pickle=False)
            if isinstance(archive, np.ndarray):
                raise DataError(f"{where} holds one bare array; save it with numpy.savez(FILE, X=..., y=...)")
            names = list(archive.files)
            x_name = next((name for name in _COVARIATES if name in names), None)
            y_name = next((name for name in _LABELS if name in names), None)
            if x_name is None and len(names) == 1:
                x_name, y_name = names[0], None
            if x_name is None:
                held = ", ".join(names) or "none"
                raise DataError(
                    f"{where}: no array is named {' or '.join(_COVARIATES)} (arrays in it: {held}); save it with "
                    "numpy.savez(FILE, X=..., y=...)"
                )
            _check_sizes(archive.zip, source.where, most_unpacked(settings))
            X, y = archive[x_name], None if y_name is None else archive[y_name]
    except MemoryError as error:
        raise DataError(f"{where} cannot be read: it is too large ({error}); give fewer rows") from None
    except _BROKEN as error:
        pickled = "object" in str(error).lower() or "pickle" in str(error).lower()
        why = "it holds Python objects, which are not read; save plain arrays" if pickled else _NO_ARCHIVE
        raise DataError(f"{where} cannot be read: {why}") from None
    if not (isinstance(X, np.ndarray) and (y is None or isinstance(y, np.ndarray))):
        raise DataError(f"{where} cannot be read: {_NO_ARCHIVE}")
    frame = frame_of_arrays(X, y, where)
    if not len(frame):
        raise DataError(f"{where} has {frame.shape[1]} columns but no rows")
    return FileTable(frame, source.digest(), Reading("npz", source.compression, ()))


def _check_sizes(archive: zipfile.ZipFile, where: str, most: float) -> None:
    """Refuse an archive that is too large; what is read of a member ends where the archive says that it does."""
    check_size(sum(part.file_size for part in archive.infolist()), where, most)


_BROKEN = (
    ValueError, EOFError, KeyError, zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError, SyntaxError,
    TypeError, OverflowError, AttributeError, IndexError, tokenize.TokenError, struct.error, lzma.LZMAError,
)  # fmt: skip
