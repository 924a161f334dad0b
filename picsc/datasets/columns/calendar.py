"""Moments from the parts of dates: year, month, day, quarter, week, clock and time zone. Letters: n words."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

FIRST, LAST = -9_214_560_000.0, 9_214_560_000.0
"""Bounds in seconds since 1970: 1678 to 2261, the range of nanoseconds in pandas 2. pandas 3 reads more, and both must
give the same result."""
_MONTHS = ("january", "february", "march", "april", "may", "june", "july", "august", "september", "october",
           "november", "december")  # fmt: skip
_HOURS = {"E": -5, "C": -6, "M": -7, "P": -8}
"""Hours from UTC of the four time zones that RFC 2822 knows by name."""
_NEXT_CENTURY = 69
"""Years of two digits from here on are of the 20th century, as POSIX reads them."""


def moments(parts: pd.DataFrame, *, day_first: bool | None = None) -> NDArray[np.float64]:
    """Seconds since 1970 of dates in parts, (n,); NaN where there is no such day or time, or a part is None.

    Args:
        parts: n rows of words, with the groups of a `picsc.datasets.columns.date_shapes.Shape` as columns.
        day_first: `a` is the day and `b` the month; None where the parts have names of their own.
    """
    names = {"a": "day", "b": "month"} if day_first else {"a": "month", "b": "day"}
    named = parts if day_first is None else parts.rename(columns=names)
    year = _year(named)
    days = _days_of_weeks(year, named) if "week" in named else _days(year, named)
    seconds, micro = _clock(named)
    with np.errstate(invalid="ignore"):
        whole = days * 86_400 + seconds
        outside = np.isnan(whole) | (whole < FIRST) | (whole > LAST)
        exact = np.where(outside, 0.0, whole).astype(np.int64) * 1_000_000 + micro
    return np.where(outside, np.nan, exact / 1e6)


def _number(parts: pd.DataFrame, name: str, default: float = 1.0) -> NDArray[np.float64]:
    """One part as numbers; the default where it may be left out."""
    if name not in parts:
        return np.full(len(parts), default)
    return _by_word(parts[name], float, default)


def _by_word(words: pd.Series[Any], number: Callable[[str], float], default: float) -> NDArray[np.float64]:
    """The number of each word, computed once for equal words; the default for None."""
    codes, different = pd.factorize(words)
    return np.asarray([*map(number, different), default], dtype=np.float64)[codes]


def _year(parts: pd.DataFrame) -> NDArray[np.float64]:
    year = _number(parts, "year", np.nan)
    short = _number(parts, "short", np.nan)
    digits = _by_word(parts["year"], len, 0)
    short = np.where(digits == 2, year, short)
    century = np.where(short < _NEXT_CENTURY, 2000, 1900)
    return np.where(np.isnan(short), year, century + short)


def _days(year: NDArray[np.float64], parts: pd.DataFrame) -> NDArray[np.float64]:
    """Days since 1970 of year, month and day; NaN for a day that the month does not have."""
    month, day = _month(parts), _number(parts, "day")
    known = ~np.isnan(year) & (month >= 1) & (month <= 12)
    count = np.where(known, (year - 1970) * 12 + month - 1, 0).astype(np.int64)
    start = count.astype("datetime64[M]").astype("datetime64[D]").astype(np.int64)
    end = (count + 1).astype("datetime64[M]").astype("datetime64[D]").astype(np.int64)
    known &= (day >= 1) & (day <= end - start)
    return np.where(known, start + day - 1, np.nan)


def _month(parts: pd.DataFrame) -> NDArray[np.float64]:
    if "quarter" in parts:
        quarter = _number(parts, "quarter", np.nan)
        return np.where((quarter >= 1) & (quarter <= 4), 3 * quarter - 2, np.nan)
    if "name" not in parts:
        return _number(parts, "month", np.nan)
    return _by_word(parts["name"], _named, np.nan)


def _named(name: str) -> float:
    """Number of a month by its English name, or the first letters of it; NaN for any other word."""
    lower = name.lower()
    found = [i for i, month in enumerate(_MONTHS, 1) if month.startswith(lower) or (lower == "sept" and i == 9)]
    return float(found[0]) if found else np.nan


def _days_of_weeks(year: NDArray[np.float64], parts: pd.DataFrame) -> NDArray[np.float64]:
    """Days since 1970 of weeks by ISO 8601, whose first holds 4 January; NaN for a week that the year does not have."""
    week, weekday = _number(parts, "week", np.nan), _number(parts, "weekday")
    january = {"month": "01", "day": "04"}
    fourth = _days(year, pd.DataFrame(january, index=parts.index))
    next_fourth = _days(year + 1, pd.DataFrame(january, index=parts.index))
    monday, next_monday = (each - (each + 3) % 7 for each in (fourth, next_fourth))  # 1 January 1970 was a Thursday
    start = monday + 7 * (week - 1)
    with np.errstate(invalid="ignore"):
        known = (week >= 1) & (start < next_monday)
    return np.where(known, start + weekday - 1, np.nan)


def _clock(parts: pd.DataFrame) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Seconds since midnight in UTC, NaN where there is no such time, and microseconds."""
    n = len(parts)
    if "hour" not in parts or parts["hour"].isna().all():
        return np.zeros(n), np.zeros(n, np.int64)
    hour, minute, second = (_number(parts, name, 0.0) for name in ("hour", "minute", "second"))
    known = (hour <= 23) & (minute <= 59) & (second <= 59)
    if "half" in parts:
        half = _by_word(parts["half"], lambda half: 12.0 if half in "Pp" else 0.0, np.nan)
        twelve = ~np.isnan(half)
        known &= ~twelve | ((hour >= 1) & (hour <= 12))
        hour = np.where(twelve, hour % 12 + half, hour)
    micro = np.zeros(n, np.int64)
    if "fraction" in parts:
        micro = _by_word(parts["fraction"], lambda digits: float(digits.ljust(6, "0")[:6]), 0).astype(np.int64)
    seconds = hour * 3600 + minute * 60 + second
    if "zone" in parts:
        seconds = seconds - _by_word(parts["zone"], _offset, 0.0)
    return np.where(known, seconds, np.nan), micro


def _offset(zone: str) -> float:
    """Seconds that a time zone is ahead of UTC."""
    if zone in ("Z", "UTC", "GMT"):
        return 0.0
    if re.fullmatch("[ECMP][SD]T", zone):
        return 3600.0 * (_HOURS[zone[0]] + (zone[1] == "D"))
    hours, minutes = int(zone[1:3]), int(zone[-2:])
    return (-1 if zone[0] == "-" else 1) * (3600.0 * hours + 60.0 * minutes)
