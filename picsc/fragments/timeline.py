"""Pieces of time: intervals of equal length, or pieces with about equal numbers of rows.

Rows of equal time stay together. Letters: n rows, m distinct times, k pieces.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from picsc.errors import DataError, SettingsError
from picsc.fragments.even_pieces import ends_near, piece_of_unit
from picsc.fragments.time_gap import far_enough, openings
from picsc.fragments.time_lengths import fifteen_digits, length_of_time, number
from picsc.phrases import listed
from picsc.reports.common import Finding

DEFAULT_CUTS = 10
"""Number of pieces if the settings give neither a length nor a number."""
_DAY = np.timedelta64(1, "D")


@dataclass(frozen=True, slots=True)
class TimePieces:
    """The piece of time of each row."""

    names: tuple[str, ...]
    """`2024-01-01..2024-01-30` includes both ends, `..<` excludes the end; names do not cover gaps."""
    codes: NDArray[np.int64]
    """(n,) number of the piece of each row; -1 where the time is missing or in a gap."""
    words: str
    """A description of the cut."""
    findings: tuple[Finding, ...]
    missing: int
    """Number of rows without a time."""
    between: int
    """Number of rows in gaps."""


def cut_times(
    values: NDArray[Any],
    column: str,
    *,
    every: str | None,
    cuts: int | None,
    gap: str | None = None,
    most: int,
    table: str,
) -> TimePieces:
    """Cut a time column into intervals of length `every`, or into `cuts` pieces of about equal size (10 by default).

    An interval without rows is no piece; a note names it. With a gap, a piece begins that long after the end of the
    piece before it, so that the last row of one and the first row of the next are at least that far apart, which is the
    purpose of purging and of an embargo. The end is that of the interval, or with cuts the last row.

    Reading: scikit-learn's `TimeSeriesSplit(gap=)` counts rows and removes them from the end of the earlier part; here
        a gap is a length of time, so that rows of one date stay together, and it removes rows from the later part.

    Args:
        values: (n,) datetime64, NaT where missing, or numbers, NaN where missing.
        column: name of the column, for messages.
        every: length of the intervals; None for `cuts`. A pandas offset (30D, 12h, MS, W-MON; months, quarters and
            years follow the calendar), words such as 2 weeks, or a number of days, counted from midnight of the first
            day; for numbers a plain number, counted from the smallest.
        cuts: number of pieces, at least 2; None for 10.
        gap: a fixed length such as 7d, or for numbers a plain number; None for no gap.
        most: most pieces that are allowed.
        table: name of the table, for messages.

    Raises:
        SettingsError: `every` or `gap` cannot be read as a positive length.
        DataError: there are no times, or too few or too many for the pieces asked for, or a gap leaves a piece without
            rows.
    """
    if values.dtype.kind not in "Mfiu":
        raise DataError(f"{table}: column {column!r} holds neither dates nor numbers, so it cannot order rows by time")
    if values.dtype.kind in "iu":
        values = values.astype(np.float64)
    present = ~pd.isna(values)
    times = values[present]
    if len(times) == 0:
        raise DataError(f"{table}: time column {column!r} is empty; choose another column for --time")
    if values.dtype.kind == "f" and np.isinf(times).any():
        raise DataError(f"{table}: time column {column!r} holds infinite values in {int(np.isinf(times).sum())} rows")
    where = f"{table}: time column {column!r}"
    if every is not None and times.dtype.kind == "M" and re.fullmatch(r"\s*[\d.]+\s*", every):
        every = f"{every.strip()} days"
    if every is None:
        found, first, last = _by_count(times, cuts or DEFAULT_CUTS, where)
        findings: tuple[Finding, ...] = ()
        words = f"{len(first)} pieces of about equal size in order of {column}"
    else:
        found, first, last, findings = _by_length(times, every, column, most, where)
        words = f"{len(first)} pieces of {every} in order of {column}"
    between = 0
    if gap is not None:
        opens = openings(last, gap, column)
        kept = far_enough(times, found, opens, gap, where)
        later = _earliest(times[kept], found[kept])[1:] if every is None else np.maximum(first[1:], opens)
        first = np.append(first[:1], later)
        found, between = np.where(kept, found, -1), int((~kept).sum())
        words += f", {gap} apart"
    codes = np.full(len(values), -1, dtype=np.int64)
    codes[present] = found
    names = _closed(first, last) if every is None else _half_open(first, last, _whole(times))
    return TimePieces(tuple(names), codes, words, findings, len(values) - len(times), between)


def _earliest(times: NDArray[Any], piece: NDArray[np.int64]) -> NDArray[Any]:
    """Earliest time of each piece, (k,); no piece is empty."""
    order = np.lexsort((times, piece))
    return times[order[np.unique(piece[order], return_index=True)[1]]]


def _whole(times: NDArray[Any]) -> bool:
    return times.dtype.kind == "f" and bool(np.all(times == np.floor(times)))


def _by_count(times: NDArray[Any], k: int, where: str) -> tuple[NDArray[np.int64], NDArray[Any], NDArray[Any]]:
    """The piece of each row, and first and last times of the pieces, whose sizes are as equal as ties allow."""
    distinct, code, count = np.unique(times, return_inverse=True, return_counts=True)
    m = len(distinct)
    if m < k:
        way = f"use --cuts {m} or fewer" if m >= 2 else "choose another column for --time"
        raise DataError(f"{where} has {m} distinct time{'' if m == 1 else 's'}, too few for {k} pieces; {way}")
    ends = ends_near(count, len(times) * np.arange(1, k + 1) / k)
    starts = np.append(0, ends[:-1])
    return piece_of_unit(ends)[code.ravel()], distinct[starts], distinct[ends - 1]


def _by_length(
    times: NDArray[Any], every: str, column: str, most: int, where: str
) -> tuple[NDArray[np.int64], NDArray[Any], NDArray[Any], tuple[Finding, ...]]:
    """The piece of each row, and starts and ends of the pieces; intervals without rows are skipped."""
    counted, edge = _numeric_bins(times, every, column) if times.dtype.kind == "f" else _date_bins(times, every)
    used, code = np.unique(counted, return_inverse=True)
    if len(used) < 2:
        raise DataError(f"{where}: one interval of {every} holds all times; choose a shorter --every")
    if len(used) > most:
        raise DataError(
            f"{where} falls into {len(used)} intervals of {every}, more than the {most} pieces picsc makes; "
            "choose a longer --every, or --cuts"
        )
    first, last = edge(used), edge(used + 1)
    gap = np.flatnonzero(np.diff(used) > 1)
    empty = int((np.diff(used) - 1).sum())
    if empty == 0:
        return code.ravel(), first, last, ()
    spans = _half_open(edge(used[gap] + 1), edge(used[gap + 1]), _whole(times))
    noun = "interval holds" if empty == 1 else "intervals hold"
    note = Finding("empty-intervals", "note", f"{empty} {noun} no rows and are no pieces: {listed(spans)}")
    return code.ravel(), first, last, (note,)


Edge = Callable[[NDArray[np.int64]], NDArray[Any]]
"""A function from the number of an interval to its start."""


def _numeric_bins(times: NDArray[np.float64], every: str, column: str) -> tuple[NDArray[np.int64], Edge]:
    length = number(every, "--every", column)
    origin = float(times.min())
    steps = (times - origin) / length
    if steps.max() >= 2**53:
        raise SettingsError(f"--every {every!r} is below the resolution of time column {column!r}; choose a longer one")
    # 0.3 / 0.1 is 2.9999999999999996 in floating point but means the third step, so rounding errors are allowed for.
    slack = 4 * np.finfo(np.float64).eps * np.maximum(np.abs(times), abs(origin)) / length
    nearest = np.rint(steps)
    counted = np.where(np.abs(steps - nearest) <= slack, nearest, np.floor(steps)).astype(np.int64)
    return counted, lambda i: fifteen_digits(origin + i * length)


def _date_bins(times: NDArray[np.datetime64], every: str) -> tuple[NDArray[np.int64], Edge]:
    length = length_of_time(every, "--every")
    index = pd.DatetimeIndex(times)
    day = index.min().normalize()
    if isinstance(length, pd.Timedelta):
        counted = np.asarray((index - day) // length, dtype=np.int64)
        start, step = day.to_datetime64(), length.to_timedelta64()
        return counted, lambda i: start + i * step
    starts = pd.date_range(length.rollback(day), index.max(), freq=length)
    edges = starts.append(pd.DatetimeIndex([starts[-1] + length]))
    counted = np.asarray(edges.searchsorted(index, side="right"), dtype=np.int64) - 1
    return counted, lambda i: np.asarray(edges)[i]


def _closed(first: NDArray[Any], last: NDArray[Any]) -> list[str]:
    """Names of intervals that include both ends; dates only as fine as is needed to distinguish them."""
    if first.dtype.kind == "M":
        for unit in ("D", "m", "s"):
            start, stop = first.astype(f"datetime64[{unit}]"), last.astype(f"datetime64[{unit}]")
            if np.all(stop[:-1] < start[1:]):
                first, last = start, stop
                break
    ends = _spell(np.concatenate([first, last]))
    return [a if a == b else f"{a}..{b}" for a, b in zip(ends[: len(first)], ends[len(first) :], strict=True)]


def _half_open(start: NDArray[Any], stop: NDArray[Any], whole: bool) -> list[str]:
    """Names of intervals that exclude their end; for whole days and whole numbers, the last one is the end."""
    both = np.concatenate([start, stop])
    if both.dtype.kind == "M" and np.all(both == both.astype("datetime64[D]")):
        return _closed(start, stop - _DAY)
    if both.dtype.kind == "f" and whole and np.all(both == np.floor(both)):
        return _closed(start, stop - 1)
    ends = _spell(both)
    return [f"{a}..<{b}" for a, b in zip(ends[: len(start)], ends[len(start) :], strict=True)]


def _spell(times: NDArray[Any]) -> list[str]:
    """Times as text, all with the same precision, which is the coarsest that suffices."""
    if times.dtype.kind == "f":
        return [str(int(time)) if time.is_integer() else repr(time) for time in times.tolist()]
    for unit in ("D", "m", "s", "us"):
        if np.all(times == times.astype(f"datetime64[{unit}]")):
            return [str(text).replace("T", " ") for text in np.datetime_as_string(times, unit=unit)]
    return [str(text).replace("T", " ") for text in np.datetime_as_string(times)]
