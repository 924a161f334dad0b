"""Tables in memory: frames of any library, arrays, and labels that come apart from them. Letters: n rows, f columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from picsc.datasets.columns.names import names_as_text
from picsc.datasets.data import Data
from picsc.datasets.files.npz import TARGET, frame_of_arrays
from picsc.datasets.frames import is_frame, is_series, read_exported, read_series
from picsc.datasets.load import DECLARED, from_frame
from picsc.datasets.table import Dataset
from picsc.errors import DataError, SettingsError
from picsc.settings import ReadSettings

GIVEN = "given as y"
"""`Target.chosen` of labels that come apart from the covariates."""
_WAYS = {
    "to_frame": "give what its to_frame() returns",
    "to_pandas": "give what its to_pandas() returns",
    "toarray": "give what its toarray() returns",
    "collect": "give what its collect() returns",
    "compute": "give what its compute() returns",
}
"""By method that an object has, the way to something that can be read."""
_READ = "a frame, an array of shape (rows, columns), images, or the path of a file"


class ExportsArrow(Protocol):
    """A table of polars, pyarrow, DuckDB and others."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """The table as a stream of record batches."""


class ExportsFrame(Protocol):
    """A table that exports the dataframe interchange protocol."""

    def __dataframe__(self, nan_as_null: bool = False, allow_copy: bool = True) -> object:
        """The table as an interchange object."""


Frame = pd.DataFrame | ExportsArrow | ExportsFrame
"""A table with names in memory."""


def as_array(data: object) -> NDArray[Any] | None:
    """What a verb was given as an array (n, f), (n, s, s) or (n, c, s, s); None for a frame.

    Raises:
        DataError: it is neither; the message names its type.
    """
    if isinstance(data, pd.DataFrame):
        return None
    one_column = isinstance(data, pd.Index) or is_series(data)
    if not one_column and not isinstance(data, np.ndarray) and is_frame(data):
        return None
    if one_column or isinstance(data, dict) or "columns" in dir(data):
        raise _no_data(data)
    try:
        values = np.asarray(data)
    except (TypeError, ValueError, RuntimeError):
        raise _no_data(data) from None
    if values.ndim not in (2, 3, 4) and not isinstance(data, np.ndarray):
        raise _no_data(data)
    return values


def from_memory(
    data: Any, y: ArrayLike | None, settings: ReadSettings, *, keys: Sequence[str] = (), name: str = "memory"
) -> Dataset:
    """A table from a frame or an array, and labels.

    Args:
        data: a frame, or an array (n, f), whose columns are called x1, x2, ...
        y: labels (n,); their name is the target's, or `target` if they have none. Row i of `data` has label i, whatever
            the index says, as in scikit-learn. None leaves the target to the settings.
        settings: how to read the table.
        keys: columns that cut the table; they are kept aside and are no covariates.
        name: name of the table, for messages and reports.

    Raises:
        SettingsError: y contradicts the settings.
        DataError: shapes or names do not fit, or the table cannot be used.
    """
    chosen = "--target"
    if isinstance(data, np.ndarray):
        frame = frame_of_arrays(data, None, name)
        if y is None and settings.target is None:
            settings = settings.model_copy(update={"no_target": True})
    elif isinstance(data, pd.DataFrame):
        frame = data
    else:
        frame, declared = read_exported(data, settings, name)
        if declared is not None and y is None and settings.target is None and not settings.no_target:
            settings, chosen = settings.model_copy(update={"target": declared}), DECLARED
    if y is not None:
        column = labels(y)
        frame = _with_labels(frame, column, settings, name)
        settings, chosen = settings.model_copy(update={"target": str(column.name)}), GIVEN
    return from_frame(frame, settings, name=name, keys=keys, target_chosen=chosen)


def labels(y: ArrayLike) -> pd.Series[Any]:
    """Labels as a series with a name.

    Args:
        y: (n,) or (n, 1): a series, an array, a list, or a frame with one column.

    Raises:
        SettingsError: they are one word, which may be meant as the name of a column.
        DataError: they have another shape.
    """
    if isinstance(y, str):
        raise SettingsError(f"y={y!r} is one word where labels are wanted; name the target column with --target {y!r}")
    if not isinstance(y, np.ndarray | list | tuple) and is_frame(y) and not is_series(y):
        frame, _ = read_exported(y, ReadSettings(), "y")
        y = frame.iloc[:, 0] if frame.shape[1] == 1 else y
    name = _name(y)
    if is_series(y):
        return read_series(y, name, "y")
    try:
        values = np.asarray(y)
    except (TypeError, ValueError, RuntimeError):
        values = np.empty((0, 0))
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.ndim != 1:
        shape = f" of shape {values.shape}" if values.ndim and values.size else ""
        raise DataError(
            f"y of type {_kind(y)}{shape} holds no labels; give one label per row: a series, an array or a list"
        )
    if values.dtype.kind in "cV":
        held = "complex numbers" if values.dtype.kind == "c" else "records or bytes"
        raise DataError(f"y holds {held}; give plain numbers or words")
    if isinstance(y, list | tuple) and values.dtype.kind == "U":
        return pd.Series(list(y), name=name, dtype=object)  # numpy makes a word of a missing value
    return pd.Series(values, name=name)


def with_labels_of(data: Data, y: object, settings: ReadSettings) -> ReadSettings:
    """The settings for another table of the same call: where y was given, its name is the target there as well.

    Args:
        data: the data that y belongs to.
        y: what was given as labels; None leaves the settings as they are.
        settings: how the data were read.
    """
    if y is None or not isinstance(data, Dataset) or data.target is None:
        return settings
    return settings.model_copy(update={"target": data.target.name})


def _name(y: object) -> str:
    """Name of labels as text; `target` if they have none."""
    own = getattr(y, "name", None)
    return TARGET if own is None or callable(own) or not str(own).strip() else str(own).strip()


def _with_labels(frame: pd.DataFrame, y: pd.Series[Any], settings: ReadSettings, where: str) -> pd.DataFrame:
    """The frame with the labels as its last column, row by row."""
    target = str(y.name)
    if settings.no_target:
        raise SettingsError("--no-target contradicts y; leave one of them out")
    if settings.target not in (None, target):
        raise SettingsError(
            f"y is the target {target!r}, and --target names {settings.target!r}; leave one of them out"
        )
    if len(y) != len(frame):
        raise DataError(f"{where}: X has {len(frame)} rows but y has {len(y)}; they must be equal")
    names = names_as_text(frame.columns, rename=settings.rename_duplicates, where=where)
    if target in names:
        raise DataError(
            f"{where}: y is called {target!r}, and so is a column of X; rename one of them, or leave y out and name "
            f"the target with --target {target!r}"
        )
    joined = frame.set_axis(names, axis=1)
    joined[target] = y.array  # by position, not by index
    return joined


def _no_data(data: object) -> DataError:
    way = next((way for method, way in _WAYS.items() if hasattr(data, method)), None)
    records = isinstance(data, dict) or (isinstance(data, list | tuple) and bool(data) and isinstance(data[0], dict))
    if records:
        way = "make a frame of it with pandas.DataFrame(...)"
    return DataError(f"data of type {_kind(data)} are no table; {way or f'give {_READ}'}")


def _kind(value: object) -> str:
    """Type of a value, and of what a list begins with: `list of dict`."""
    kind = type(value)
    name = kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"
    inner = f" of {type(value[0]).__qualname__}" if isinstance(value, list | tuple) and value else ""
    return name + inner
