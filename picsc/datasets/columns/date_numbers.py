"""Dates that are written as numbers: yyyymmdd, seconds or milliseconds since 1970, and days as Excel counts them.

A number is a date only if the user says so, or if the column is named as a time and every value is a plausible one.
Letters: n values.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from picsc.datasets.columns.calendar import FIRST, LAST, moments
from picsc.datasets.columns.dates import Dates

_TIME = re.compile(
    r"(?:^|[\W_])(?:date|datum|datetime|time|timestamp|ts|t|day|week|month|quarter|year|yr|hour|minute|epoch|unix|tick|"
    r"time[\W_]?step|step|period|when|yyyymmdd|yyyymm|at)$",
    re.IGNORECASE,
)
_TIME_BEFORE = re.compile(r"^(?:date|datetime|time|timestamp|year|month|week|day|epoch)(?:[\W_]|$)", re.IGNORECASE)
_RUN_ON = re.compile(r"(?:date|datetime|timestamp|time|timestep)$", re.IGNORECASE)
_CAMEL_AT = re.compile(r"[a-z]At$")
SMALLEST = 10_000
"""Numbers below this, such as years, stay numbers."""
_DAY = 86_400.0
_EXCEL, _EXCEL_1904 = -25_569.0, -24_107.0
"""Days from 1970 back to day 0 of Excel's two calendars."""
_SERIAL_FROM, _SERIAL_TO = 29_221.0, 54_789.0
"""Serial numbers of the years 1980 to 2049: others are too likely something else."""
_EPOCH_FROM, _EPOCH_TO = 631_152_000.0, 4_102_444_800.0
"""Seconds of the years 1990 to 2099."""
_YEAR_FROM, _YEAR_TO = -2_208_988_800.0, 4_133_980_800.0
"""Seconds of the years 1900 to 2100."""


@dataclass(frozen=True, slots=True)
class Count:
    """One way of writing dates as numbers."""

    words: str
    """Its name in notes."""
    seconds: Callable[[NDArray[np.float64]], NDArray[np.float64]]
    """From numbers to seconds since 1970, NaN where there is no such date."""
    low: float
    """First plausible moment, seconds since 1970."""
    high: float
    """End of the plausible moments, seconds since 1970."""
    any_name: bool = True
    """The values themselves are so particular that `--time` of a column with any name proves them."""


def _digits(form: str) -> Callable[[NDArray[np.float64]], NDArray[np.float64]]:
    """Read the digits of whole numbers: `yyyymmdd`, with `HHMMSS` or without."""
    names = {"y": "year", "m": "month", "d": "day", "H": "hour", "M": "minute", "S": "second"}
    pattern = "".join(rf"(?P<{names[letter]}>\d{{{form.count(letter)}}})" for letter in dict.fromkeys(form))

    def read(values: NDArray[np.float64]) -> NDArray[np.float64]:
        with np.errstate(invalid="ignore"):
            fits = (values == np.floor(values)) & (values >= 10 ** (len(form) - 1)) & (values < 10 ** len(form))
        seconds = np.full(len(values), np.nan)
        if fits.any():
            codes, different = pd.factorize(values[fits])
            words = pd.Series(different.astype(np.int64).astype(str), dtype=object)
            seconds[fits] = moments(words.str.extract(rf"\A{pattern}\Z"))[codes]
        return seconds

    return read


def _scaled(unit: float, start: float = 0.0) -> Callable[[NDArray[np.float64]], NDArray[np.float64]]:
    """Numbers of a unit, in seconds, since a day counted from 1970."""

    def read(values: NDArray[np.float64]) -> NDArray[np.float64]:
        seconds = values * unit if unit >= 1 else values / round(1 / unit)
        seconds = seconds + start * _DAY
        with np.errstate(invalid="ignore"):
            return np.where((seconds < FIRST) | (seconds > LAST), np.nan, seconds)

    return read


COUNTS = {
    "yyyymmdd": Count("yyyymmdd", _digits("yyyymmdd"), _YEAR_FROM, _YEAR_TO),
    "yyyymmddHHMM": Count("yyyymmddHHMM", _digits("yyyymmddHHMM"), _YEAR_FROM, _YEAR_TO),
    "yyyymmddHHMMSS": Count("yyyymmddHHMMSS", _digits("yyyymmddHHMMSS"), _YEAR_FROM, _YEAR_TO),
    "yyyymm": Count("yyyymm", _digits("yyyymm"), _YEAR_FROM, _YEAR_TO),
    "epoch": Count("seconds since 1970", _scaled(1.0), _EPOCH_FROM, _EPOCH_TO),
    "epoch-ms": Count("milliseconds since 1970", _scaled(1e-3), _EPOCH_FROM, _EPOCH_TO),
    "epoch-us": Count("microseconds since 1970", _scaled(1e-6), _EPOCH_FROM, _EPOCH_TO),
    "epoch-ns": Count("nanoseconds since 1970", _scaled(1e-9), _EPOCH_FROM, _EPOCH_TO),
    "excel": Count(
        "days as Excel counts them", _scaled(_DAY, _EXCEL),
        (_SERIAL_FROM + _EXCEL) * _DAY, (_SERIAL_TO + _EXCEL) * _DAY, any_name=False,
    ),
    "excel-1904": Count("days as Excel for Macintosh counted them", _scaled(_DAY, _EXCEL_1904), np.inf, -np.inf),
}  # fmt: skip
"""By the name that `--date-format` takes. The last one is never found by itself."""


def says_time(name: str) -> bool:
    """True for a column that is named as a time: `date`, `pickup_time`, `createdAt`, `model year`.

    Args:
        name: name of the column.
    """
    found = (_TIME.search(name), _TIME_BEFORE.search(name), _RUN_ON.search(name), _CAMEL_AT.search(name))
    return any(found)


def proven_dates(name: str, values: NDArray[np.float64], *, asked: bool = False) -> Dates | None:
    """Read numbers as dates, if the column is a time and every value is a plausible date.

    Args:
        name: name of the column.
        values: (n,) different numbers, none of them missing.
        asked: the table is to be ordered by this column, so that it is a time, whatever its name.

    Returns:
        None if they are no dates.
    """
    named = says_time(name)
    if not (named or asked) or not len(values) or values.min() < SMALLEST:
        return None
    for count in COUNTS.values():
        if not (named or count.any_name):
            continue
        if np.isnan(count.seconds(values[:1])).any():
            continue
        seconds = count.seconds(values)
        if np.all((seconds >= count.low) & (seconds < count.high)):
            return Dates(seconds, count.words)
    return None
