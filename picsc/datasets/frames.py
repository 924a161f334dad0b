"""Frames of any library as the pandas frames that all readers use, by way of narwhals and Arrow. Letters: n rows.

Numbers without missing values keep their memory where the library lays them out as Arrow does.
"""

from __future__ import annotations

from typing import Any

import narwhals as nw
import pandas as pd
import pyarrow as pa
from pyarrow.interchange import from_dataframe

from picsc.datasets.files.parquet import BROKEN, frame_of_arrow, to_series
from picsc.errors import DataError
from picsc.settings import ReadSettings

EXPORTS = ("__arrow_c_stream__", "__arrow_c_array__", "__dataframe__")
"""Methods of objects that are read as frames: Arrow's PyCapsule protocol and the dataframe interchange protocol."""
_WIDE = {"Int128": nw.Int64, "UInt128": nw.UInt64}
"""Whole numbers that Arrow does not know, by the name of their type, and the type that holds most of them."""


def is_series(values: object) -> bool:
    """True for one column of any library that narwhals knows, or of Arrow."""
    if isinstance(values, nw.Series | nw.DataFrame | nw.LazyFrame | pa.Array):
        return isinstance(values, nw.Series | pa.Array)
    return isinstance(nw.from_native(values, series_only=True, pass_through=True), nw.Series)


def is_frame(data: object) -> bool:
    """True for a table with names that `read_frame_of` reads: of narwhals, of a library that it knows, or exported."""
    if isinstance(data, nw.DataFrame | nw.LazyFrame):
        return isinstance(data, nw.DataFrame)
    known = nw.from_native(data, pass_through=True)
    if isinstance(known, nw.LazyFrame):
        return hasattr(data, "__arrow_c_stream__")
    return isinstance(known, nw.DataFrame) or any(hasattr(data, name) for name in EXPORTS)


def read_exported(data: Any, settings: ReadSettings, where: str) -> tuple[pd.DataFrame, str | None]:
    """A table of another library as a frame, and the target that it declares.

    Args:
        data: a frame that narwhals knows, or what has `__arrow_c_stream__`, `__arrow_c_array__` or `__dataframe__`.
        settings: whether repeated names are renamed, and columns that are dropped.
        where: the table, for messages.

    Raises:
        DataError: it exports no table, there are no rows, or a column holds values that are no cells of a table.
    """
    frame = data if isinstance(data, nw.DataFrame) else nw.from_native(data, eager_only=True, pass_through=True)
    if isinstance(frame, nw.DataFrame):
        data = frame.to_native()
    if isinstance(data, pd.DataFrame):
        return data, None
    if isinstance(frame, nw.DataFrame) and not isinstance(data, pa.Table):
        table = _by_column(frame, settings, where)
        return frame_of_arrow(table, table.column_names, settings, where)
    try:
        arrow = hasattr(data, "__arrow_c_stream__") or hasattr(data, "__arrow_c_array__")
        table = pa.table(data) if arrow else from_dataframe(data)
        called = table.column_names
    except (*BROKEN, TypeError, NotImplementedError, RuntimeError) as error:
        why = " ".join(str(error).split())[:200]
        raise DataError(
            f"{where}: data of type {type(data).__qualname__} are no table that Arrow can read ({why})"
        ) from None
    return frame_of_arrow(table, called, settings, where)


def read_series(values: Any, name: str, where: str) -> pd.Series[Any]:
    """One column of any library that narwhals knows as a pandas series.

    Args:
        values: the column.
        name: its name, for the result and messages.
        where: the table, for messages.

    Raises:
        DataError: the values are no cells of a table.
    """
    if isinstance(values, pa.Array):
        return to_series(values, name, where).rename(name)
    series = values if isinstance(values, nw.Series) else nw.from_native(values, series_only=True)
    if isinstance(own := series.to_native(), pd.Series):
        return own.rename(name)
    return to_series(_arrow_of(series, name, where), name, where).rename(name)


def _by_column(frame: nw.DataFrame[Any], settings: ReadSettings, where: str) -> Any:
    """An Arrow table of the columns, so that one which Arrow cannot hold is refused by its name or dropped."""
    names, columns = frame.columns, []
    for name in names:
        try:
            columns.append(_arrow_of(frame[name], name, where))
        except DataError:
            if name.strip() not in settings.drop:
                raise
            columns.append(pa.nulls(len(frame)))
    return pa.Table.from_arrays(columns, names=names)


def _arrow_of(series: nw.Series[Any], name: str, where: str) -> Any:
    """A column as Arrow holds it."""
    kind = str(series.dtype)
    if kind == "Object":
        raise DataError(
            f"{where}: column {name!r} holds Python objects; make numbers or words of them, or leave it out with --drop"
        )
    try:
        return (series.cast(_WIDE[kind]) if kind in _WIDE else series).to_arrow()
    except Exception as error:  # noqa: BLE001 - every library has errors of its own
        why = " ".join(str(error).split())[:200]
        raise DataError(
            f"{where}: column {name!r} of type {kind} cannot be read ({why}); change its type, or leave it "
            "out with --drop"
        ) from None
