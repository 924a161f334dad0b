"""From a file, a frame or arrays to one `Dataset`. Letters: n rows, f columns."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from picsc.datasets.dates import read_dates
from picsc.datasets.files import TARGET, frame_of_arrays, read_frame
from picsc.datasets.kinds import infer
from picsc.datasets.names import check_known, unique_names
from picsc.datasets.raw import Raw, digest, raw
from picsc.datasets.table import Column, Dataset, LeftOut, Target
from picsc.datasets.targets import pick, read_target
from picsc.errors import DataError
from picsc.settings import ReadSettings

FEWEST_ROWS = 4
_LARGEST_EXACT = 2**53


def load(source: str | Path, settings: ReadSettings, *, keys: Sequence[str] = ()) -> Dataset:
    """Read a table from a csv, tsv, parquet or npz file.

    Args:
        source: path of the file.
        settings: how to read it.
        keys: columns that cut the table (--by, --time, --group); they are kept aside and are no covariates.

    Raises:
        DataError: the file cannot be read, or its columns are not what the settings say.
    """
    path = Path(source)
    frame, sha256 = read_frame(path, settings)
    if path.suffix.lower() == ".npz" and TARGET not in frame.columns and settings.target is None:
        settings = settings.model_copy(update={"no_target": True})  # one array alone has no labels
    return from_frame(frame, settings, name=path.stem, source=str(path), keys=keys, sha256=sha256)


def from_arrays(
    X: NDArray[Any], y: NDArray[Any] | None = None, settings: ReadSettings | None = None, *, name: str = "memory"
) -> Dataset:
    """A table from arrays; columns are called x1, x2, ... and target.

    Args:
        X: covariates, (n, f).
        y: labels, (n,); None for a table without a target.
        settings: how to read it.
        name: of the table, for messages and reports.

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
    source: str = "memory",
    keys: Sequence[str] = (),
    sha256: str | None = None,
    target_chosen: str = "--target",
) -> Dataset:
    """A table from a frame. The index is ignored; later changes of the frame do not reach the table.

    Args:
        frame: n rows; any pandas dtypes.
        settings: how to read it.
        name: of the table, for messages and reports.
        source: where it came from.
        keys: columns that cut the table; they are kept aside and are no covariates.
        sha256: of the bytes read; None takes that of the values.
        target_chosen: how the target in `settings` was found.

    Raises:
        DataError: fewer than 4 rows, an unknown or repeated column name, no usable column, or an unusable target.
    """
    where = name if source == "memory" else source
    if len(frame) < FEWEST_ROWS:
        raise DataError(f"{where}: {len(frame)} data rows are too few; an audit needs at least {FEWEST_ROWS}")
    if sha256 is None:
        frame = frame.copy()
    names = unique_names(
        [str(column).strip() for column in frame.columns], rename=settings.rename_duplicates, where=where
    )
    for option, asked in (
        ("--target", () if settings.target is None else (settings.target,)),
        ("--categorical", settings.categorical),
        ("--numeric", settings.numeric),
        ("--drop", settings.drop),
        ("--by, --time or --group", keys),
    ):
        check_known(asked, names, option=option, where=where)
    raws = {column: raw(frame.iloc[:, i]) for i, column in enumerate(names)}
    picked = pick(names, settings, keys=keys, where=where)
    target: Target | None = None
    if picked is not None:
        chosen = target_chosen if picked[1] == "--target" else picked[1]
        target = read_target(picked[0], raws[picked[0]], settings, chosen=chosen, where=where)
    apart = {*keys, *(() if target is None else (target.name,))}
    columns, left_out = _covariates({c: r for c, r in raws.items() if c not in apart}, settings, where)
    return Dataset(
        name=name,
        source=source,
        n=len(frame),
        columns=columns,
        left_out=left_out,
        target=target,
        keys={key: _key_values(raws[key]) for key in keys},
        sha256=sha256 or digest(names, list(raws.values())),
    )


def _covariates(
    raws: dict[str, Raw], settings: ReadSettings, where: str
) -> tuple[tuple[Column, ...], tuple[LeftOut, ...]]:
    """The columns that take part, and those that do not."""
    columns: list[Column] = []
    left_out: list[LeftOut] = []
    for name, column in raws.items():
        dropped = name in settings.drop
        found = infer(
            name,
            column,
            categorical=name in settings.categorical,
            numeric=name in settings.numeric and not dropped,
            where=where,
        )
        if dropped:
            missing = int(np.count_nonzero(column.missing))
            left_out.append(LeftOut(name, found.kind, missing, "dropped by --drop"))
        elif isinstance(found, Column):
            columns.append(found)
        else:
            left_out.append(found)
    if not columns:
        why = "; ".join(f"{column.name!r}: {column.reason}" for column in left_out[:5]) or "there is none"
        more = f"; and {len(left_out) - 5} more" if len(left_out) > 5 else ""
        raise DataError(
            f"{where}: no column besides the target and the cutting columns can be tested ({why}{more}); "
            "add columns, or use --no-target, --categorical or --numeric"
        )
    return tuple(columns), tuple(left_out)


def _key_values(column: Raw) -> NDArray[Any]:
    """The values of a column that cuts: datetime64[ns] for dates, float64 for numbers, else object."""
    if column.form == "words":
        dates = read_dates(column.levels)
        if dates is not None:
            return _moments(np.append(dates[0], np.nan)[column.data])
    if column.form == "dates" and _within_nanoseconds(column.data):
        return _moments(column.data)
    if column.form in ("numbers", "integers") and _exact(column.present):
        return column.data.astype(np.float64)
    words = column.as_words()
    values: NDArray[Any] = np.asarray([*words.levels, None], dtype=object)[words.data]
    return values


def _exact(present: NDArray[Any]) -> bool:
    """Whether no two whole numbers would become one as float64."""
    return present.dtype.kind == "f" or not present.size or int(np.abs(present).max()) <= _LARGEST_EXACT


def _within_nanoseconds(seconds: NDArray[np.float64]) -> bool:
    return bool(np.nanmax(np.abs(seconds), initial=0.0) < 9.2e9)


def _moments(seconds: NDArray[np.float64]) -> NDArray[np.datetime64]:
    """Seconds since 1970 as datetime64[ns], NaT where NaN."""
    missing = np.isnan(seconds)
    micro = np.rint(np.where(missing, 0.0, seconds) * 1e6).astype(np.int64)
    moments = micro.astype("datetime64[us]").astype("datetime64[ns]")
    moments[missing] = np.datetime64("NaT")
    return moments
