"""Parquet files, Arrow's IPC files and streams (feather is one of these), and Arrow tables. Letters: n rows."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from picsc.datasets.columns.exact import MOST_DIGITS
from picsc.datasets.columns.names import INDEX, unique_names
from picsc.datasets.files.sources import Source
from picsc.datasets.files.table import FileTable
from picsc.errors import DataError
from picsc.reports.common import Reading
from picsc.settings import ReadSettings

_INDEX = "__index_level_"
_FEATHER_1, _IPC_FILE = b"FEA1", b"ARROW1"
_BEGINS = {"parquet file": (b"PAR1",), "Arrow file": (_IPC_FILE, b"\xff\xff\xff\xff")}
_CUT_OFF = ("magic bytes not found", "file size is", "Not an Arrow file", "file is too small")
BROKEN = (pa.ArrowException, OSError, ValueError, MemoryError, OverflowError, RecursionError)
"""Errors of Arrow about data that it cannot hold."""


def read_parquet(source: Source, settings: ReadSettings) -> FileTable:
    """Read a parquet file; a file from `picsc data get` declares its target.

    Args:
        source: the file.
        settings: whether repeated names are renamed, and columns that are dropped.

    Raises:
        DataError: the file is no parquet file or has no rows, or a column holds nested values.
    """
    try:
        # Without a memory map, since a file that changes while it is mapped can end the process.
        table = pq.ParquetFile(source.path, memory_map=False).read()
        called = table.column_names  # names that are no UTF-8 fail here
    except BROKEN as error:
        raise _unreadable(source, "parquet file", error) from None
    return _file_table(table, called, source, settings, "parquet")


def read_arrow(source: Source, settings: ReadSettings) -> FileTable:
    """Read an Arrow IPC file or stream; feather (version 2) is such a file.

    Args:
        source: the file.
        settings: whether repeated names are renamed, and columns that are dropped.

    Raises:
        DataError: the file is neither or has no rows, or a column holds nested values.
    """
    with source.path.open("rb") as file:
        start = file.read(len(_IPC_FILE))
    if start.startswith(_FEATHER_1):
        raise DataError(
            f"{source.where} is feather of version 1, which Arrow no longer reads; write it again with pyarrow or "
            "pandas 1 or later, or as parquet"
        )
    try:
        with pa.OSFile(str(source.path)) as file:
            reader = pa.ipc.open_file(file) if start == _IPC_FILE else pa.ipc.open_stream(file)
            table = reader.read_all()
            called = table.column_names
    except BROKEN as error:
        raise _unreadable(source, "Arrow file", error) from None
    return _file_table(table, called, source, settings, "arrow")


def _unreadable(source: Source, kind: str, error: BaseException) -> DataError:
    if isinstance(error, OSError) and error.errno is not None and error.strerror:
        return DataError(f"{source.where} cannot be read: {error.strerror}")
    with source.path.open("rb") as file:
        start = file.read(len(_IPC_FILE))
    why = " ".join(str(error).split())[:200].rstrip(".")
    if not start.startswith(_BEGINS[kind]):
        why = "it does not begin as one does"
    elif any(sign in why for sign in _CUT_OFF):
        why = "it ends too early"
    return DataError(
        f"{source.where} is no {kind} that can be read ({why}); fetch or save it again, or say with --format what it is"
    )


def _file_table(table: Any, called: list[str], source: Source, settings: ReadSettings, kind: str) -> FileTable:
    """The result for an Arrow table that was read."""
    frame, target = frame_of_arrow(table, called, settings, source.where)
    # the file leaves nothing else to choose
    return FileTable(frame, source.digest(), Reading(kind, source.compression, ()), target)


def frame_of_arrow(
    table: Any, called: list[str], settings: ReadSettings, where: str
) -> tuple[pd.DataFrame, str | None]:
    """An Arrow table as a frame, and the target that it declares.

    Args:
        table: n rows.
        called: its column names.
        settings: whether repeated names are renamed, and columns that are dropped.
        where: the file or table, for messages.

    Raises:
        DataError: there are no rows, or a column holds nested values.
    """
    # pandas stores an unnamed index as a column that the frame did not have.
    stored = [i for i, name in enumerate(called) if not name.startswith(_INDEX)]
    names = unique_names([called[i].strip() for i in stored], rename=settings.rename_duplicates, where=where)
    if table.num_rows == 0 or not names:
        raise DataError(f"{where} has no {'rows' if names else 'columns'}; nothing can be read")
    frame = {}
    for i, name in zip(stored, names, strict=True):
        try:
            table.column(i).validate(full=True)  # finds words that are no UTF-8, and codes without a level
            frame[name] = to_series(table.column(i), name, where)
        except (DataError, *BROKEN) as error:
            if name in settings.drop:
                frame[name] = pd.Series([None] * table.num_rows, dtype=object)
                continue
            if isinstance(error, DataError):
                raise
            why = "words that are no UTF-8" if "UTF8" in str(error) else " ".join(str(error).split())[:200]
            raise DataError(
                f"{where}: column {name!r} of type {table.column(i).type} cannot be read "
                f"({why}); leave it out with --drop"
            ) from None
    declared = (table.schema.metadata or {}).get(TARGET_KEY, b"").decode("utf-8", "replace")
    result = pd.DataFrame(frame, copy=False)
    # The index itself is kept, so that the table can be cut by its times.
    levels = [i for i, name in enumerate(called) if name.startswith(_INDEX)]
    if len(levels) == 1 and (pa.types.is_timestamp(kind := table.column(levels[0]).type) or pa.types.is_date(kind)):
        result.index = pd.Index(to_series(table.column(levels[0]), INDEX, where)).rename(None)
    return result, declared if declared in frame else None


def to_series(column: Any, name: str, where: str) -> pd.Series[Any]:
    """An Arrow column as a pandas series, without Python objects except for words.

    Args:
        column: a chunked array of n values.
        name: name of the column, for messages.
        where: the file, for messages.

    Returns:
        The values; whole numbers stay exact, also in columns with missing values.

    Raises:
        DataError: the values are nested or bytes.
    """
    column = _stored(column)
    kind = column.type
    types = pa.types
    values = kind.value_type if types.is_dictionary(kind) else kind
    nested = types.is_nested(values) or types.is_fixed_size_list(values)  # which pyarrow 15 leaves out of the former
    if nested or types.is_fixed_size_binary(values) or str(values) in ("binary", "large_binary", "binary_view"):
        held = f"nested values ({str(values)[:60]})" if nested else "bytes"
        raise DataError(f"{where}: column {name!r} holds {held}; flatten it, or leave it out with --drop")
    if types.is_decimal(kind) and kind.precision > MOST_DIGITS and _beyond(column):
        exact: pd.Series[Any] = column.to_pandas()
        return exact
    if types.is_dictionary(kind):
        series: pd.Series[Any] = pc.cast(column, _plain(values)).to_pandas()
        return series.astype("category")
    plain = _plain(kind)
    column = column if plain == kind else pc.cast(column, plain, safe=False)
    if types.is_integer(plain) and column.null_count:
        whole: pd.Series[Any] = column.to_pandas(types_mapper=_NULLABLE.get)
        return whole
    result: pd.Series[Any] = column.to_pandas()
    return result


def _stored(column: Any) -> Any:
    """The values behind an extension type, runs that are written out, and levels in a type that Arrow computes with."""
    kind = column.type
    if isinstance(kind, pa.BaseExtensionType):
        column = pa.chunked_array([chunk.storage for chunk in _chunks(column)], kind.storage_type)
        return _stored(column)
    if pa.types.is_run_end_encoded(kind):
        return _stored(pc.run_end_decode(column))
    if pa.types.is_dictionary(kind) and str(kind.value_type) == "string_view":
        words = pa.string()
        codes, levels = ([getattr(each, part) for each in _chunks(column)] for part in ("indices", "dictionary"))
        parts = [pa.DictionaryArray.from_arrays(at, level.cast(words)) for at, level in zip(codes, levels, strict=True)]
        return pa.chunked_array(parts, pa.dictionary(kind.index_type, words))
    return column


def _chunks(column: Any) -> list[Any]:
    return column.chunks if isinstance(column, pa.ChunkedArray) else [column]


_NULLABLE = {
    pa.int8(): pd.Int8Dtype(), pa.int16(): pd.Int16Dtype(), pa.int32(): pd.Int32Dtype(), pa.int64(): pd.Int64Dtype(),
    pa.uint8(): pd.UInt8Dtype(), pa.uint16(): pd.UInt16Dtype(), pa.uint32(): pd.UInt32Dtype(),
    pa.uint64(): pd.UInt64Dtype(),
}  # fmt: skip


def _beyond(column: Any) -> bool:
    """True if decimals have more digits than float64 tells apart."""
    limits = pc.min_max(column).as_py()
    largest = max((abs(value) for value in limits.values() if value is not None), default=Decimal(0))
    return bool(int(largest.scaleb(column.type.scale)) >= 10**MOST_DIGITS)


def _plain(kind: Any) -> Any:
    """The type as which an Arrow type is read."""
    types = pa.types
    if types.is_decimal(kind) or types.is_float16(kind):
        return pa.float64()
    if types.is_date(kind):
        return pa.timestamp("s")
    if types.is_timestamp(kind):
        return pa.timestamp(kind.unit)  # UTC, so that the machine need not know the time zone
    if types.is_time(kind) or types.is_large_string(kind) or str(kind) == "string_view":
        return pa.string()
    return kind


TARGET_KEY = b"picsc.target"
"""Key of the target's name in the metadata of a parquet file."""
