"""Tables from files, pandas frames and numpy arrays. Letters: n rows, f columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from picsc.datasets.columns.missing_words import missing_words, without_words
from picsc.datasets.columns.names import INDEX, check_known, names_as_text
from picsc.datasets.columns.raw import Raw, digest, moments, raw
from picsc.datasets.columns.targets import pick
from picsc.datasets.files.formats import stem
from picsc.datasets.files.npz import TARGET, frame_of_arrays
from picsc.datasets.files.read import read_frame
from picsc.datasets.files.sources import STDIN
from picsc.datasets.files.table import FileTable
from picsc.datasets.table import Dataset
from picsc.datasets.typed import RawTable, needed_raws, typed
from picsc.errors import DataError, FewRowsError
from picsc.phrases import counted
from picsc.reports.common import Reading
from picsc.settings import ReadSettings

FEWEST_ROWS = 4
"""A table with fewer rows than this is refused."""
DECLARED = "declared by the file"
"""`Target.chosen` of a target that the file itself names."""


@dataclass(frozen=True, slots=True)
class Origin:
    """The place that a frame came from."""

    source: str = "memory"
    """A path, `standard input`, `scikit-learn`, `OpenML 1510`, or `memory`."""
    sha256: str | None = None
    """SHA-256 of the bytes that were read; None takes that of the values."""
    reading: Reading | None = None
    """The way in which the file was read; None for a frame that does not come from a file."""


IN_MEMORY = Origin()


def load(source: str | Path, settings: ReadSettings, *, keys: Sequence[str] = ()) -> Dataset:
    """Read a table from a file of any format.

    Args:
        source: path of the file; `-` is standard input.
        settings: how to read it; a target there takes precedence over the one that the file declares.
        keys: columns that cut the table (--by, --time, --group); they are kept aside and are no covariates.

    Raises:
        DataError: the file cannot be read, or its columns are not what the settings say.
    """
    return from_file(read_frame(source, settings), source, settings, keys=keys)


def from_file(
    table: FileTable,
    source: str | Path,
    settings: ReadSettings,
    *,
    name: str | None = None,
    keys: Sequence[str] = (),
    target_chosen: str = DECLARED,
) -> Dataset:
    """A table from the frame that a reader of files returns.

    Args:
        table: the frame; the target that it declares is used where the settings name none.
        source: path of the file; `-` is standard input.
        settings: how to understand it.
        name: name of the table; None takes that of the file.
        keys: columns that cut the table (--by, --time, --group); they are kept aside and are no covariates.
        target_chosen: `Target.chosen` of the target that the file declares.

    Raises:
        DataError: the columns are not what the settings say.
    """
    chosen = "--target"
    frame = table.frame
    if table.aside is not None and table.aside not in (*keys, *settings.drop, settings.target):
        frame = frame.drop(columns=table.aside)
    if settings.target is None and not settings.no_target:
        if table.target is not None:
            settings, chosen = settings.model_copy(update={"target": table.target}), target_chosen
        elif table.reading.format == "npz" and TARGET not in frame.columns:
            settings = settings.model_copy(update={"no_target": True})  # one array alone has no labels
    return from_frame(
        frame,
        settings,
        name=name or stem(source),
        keys=keys,
        target_chosen=chosen,
        origin=Origin("standard input" if str(source) == STDIN else str(source), table.sha256, table.reading),
    )


def from_arrays(
    X: NDArray[Any], y: NDArray[Any] | None = None, settings: ReadSettings | None = None, *, name: str = "memory"
) -> Dataset:
    """A table from arrays; columns are called x1, x2, ... and target.

    Args:
        X: covariates, (n, f).
        y: labels, (n,); None for a table without a target.
        settings: how to read it.
        name: name of the table, for messages and reports.

    Raises:
        DataError: the shapes do not fit, or the table cannot be used.
    """
    settings = settings or ReadSettings()
    if y is None and settings.target is None:
        settings = settings.model_copy(update={"no_target": True})
    return from_frame(frame_of_arrays(np.asarray(X), None if y is None else np.asarray(y), name), settings, name=name)


def from_frame(
    frame: pd.DataFrame,
    settings: ReadSettings,
    *,
    name: str = "memory",
    keys: Sequence[str] = (),
    target_chosen: str = "--target",
    origin: Origin = IN_MEMORY,
) -> Dataset:
    """A table from a frame. Later changes of the frame do not reach the table.

    The index is ignored, unless it has the name of a column that cuts the table, which is `index` where it has none.

    Args:
        frame: n rows; any pandas dtypes, and names of any type, which become text.
        settings: how to read it.
        name: name of the table, for messages and reports.
        keys: columns that cut the table; they are kept aside and are no covariates.
        target_chosen: `Target.chosen` of the target that the settings name.
        origin: the place that the frame came from.

    Raises:
        FewRowsError: fewer rows than `settings.min_table_rows`.
        DataError: fewer than 4 rows, an unknown or repeated column name, no usable column, or an unusable target.
    """
    where = name if origin.source == "memory" else origin.source
    if len(frame) < settings.min_table_rows:
        raise FewRowsError(
            f"{where}: {counted(len(frame), 'data row')}, fewer than --min-table-rows {settings.min_table_rows}"
        )
    if len(frame) < FEWEST_ROWS:
        rows = f"{counted(len(frame), 'data row')} {'is' if len(frame) == 1 else 'are'} too few"
        raise DataError(f"{where}: {rows}; an audit needs at least {FEWEST_ROWS}")
    if origin.sha256 is None:
        frame = frame.copy()
    frame = _with_index(frame, keys)
    names = names_as_text(frame.columns, rename=settings.rename_duplicates, where=where)
    for option, asked in (
        ("--target", () if settings.target is None else (settings.target,)),
        ("--categorical", settings.categorical),
        ("--numeric", settings.numeric),
        ("--drop", settings.drop),
        ("--keep", settings.keep),
        ("--date-format", [column for column, _ in settings.date_formats if column]),
        *((getattr(keys, "options", {}).get(key, "--by, --time or --group"), (key,)) for key in keys),
    ):
        check_known(asked, names, option=option, where=where)
    words = missing_words(settings)
    whole = {name: raw(without_words(series, words)) for name, (_, series) in zip(names, frame.items(), strict=True)}
    picked = pick(names, settings, keys=keys, where=where)
    reading = {} if origin.reading is None else {choice.name: choice.value for choice in origin.reading.choices}
    if picked is not None and len(names) == 1:
        raise _one_column(names[0], reading.get("delimiter"), where)
    chosen = None if picked is None else (picked[0], target_chosen if picked[1] == "--target" else picked[1])
    decimal = "," if "comma" in (settings.decimal, reading.get("decimal")) else "."
    found = typed(RawTable(whole, len(frame), chosen, decimal, where, tuple(keys)), settings)
    return Dataset(
        name=name,
        source=origin.source,
        n=len(frame),
        columns=found.columns,
        left_out=found.left_out,
        target=found.target,
        keys={key: _key_values(found.raws[key]) for key in keys},
        times={key: moments(seconds).astype("datetime64[ns]") for key, seconds in found.times.items()},
        date_orders=found.date_orders,
        sha256=origin.sha256 or digest(names, list(whole.values())),
        reading=origin.reading,
        findings=found.findings,
        raws=needed_raws(whole, found),
    )


def _with_index(frame: pd.DataFrame, keys: Sequence[str]) -> pd.DataFrame:
    """The frame with its index as a column, if that cuts the table."""
    index = frame.index
    name = INDEX if index.name is None else str(index.name).strip()
    if name not in keys or index.nlevels > 1 or isinstance(index, pd.RangeIndex):
        return frame
    if name in {str(column).strip() for column in frame.columns}:
        return frame
    return frame.assign(**{name: index.array})


def _one_column(name: str, delimiter: str | None, where: str) -> DataError:
    """The error for a table with one column; most such files have another delimiter."""
    by, way = "", "add columns"
    if delimiter is not None:
        by = f" (delimiter {delimiter if delimiter.isalpha() else repr(delimiter)})"
        way = "name the delimiter with --delimiter"
    return DataError(
        f"{where}: one column only, {name[:40]!r}{by}, so there is no covariate besides the target; {way}, "
        "or use --no-target"
    )


def _key_values(column: Raw) -> NDArray[Any]:
    """The values of a column that cuts the table: datetime64[ns] for dates, float64 for numbers, else object."""
    if column.form == "dates" and _within_nanoseconds(column.data):
        return moments(column.data).astype("datetime64[ns]")
    if column.form in ("numbers", "integers") and column.exact is None:
        return column.data.astype(np.float64)
    words = column.as_words()
    values: NDArray[Any] = np.asarray([*words.levels, None], dtype=object)[words.data]
    return values


def _within_nanoseconds(seconds: NDArray[np.float64]) -> bool:
    return bool(np.nanmax(np.abs(seconds), initial=0.0) < 9.2e9)
