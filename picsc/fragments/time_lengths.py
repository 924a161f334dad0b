"""Lengths of time as users write them: 30d, 12h, W, MS, or plain numbers where time is a number."""

from __future__ import annotations

import re
import warnings

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.tseries.frequencies import to_offset
from pandas.tseries.offsets import BaseOffset

from picsc.errors import SettingsError

_CALENDAR = {"M": "MS", "ME": "MS", "Q": "QS", "QE": "QS", "Y": "YS", "YE": "YS", "A": "YS"}
"""Months, quarters and years begin on their first day, in any spelling of pandas."""
_WORDS = {
    **dict.fromkeys(("mo", "mos", "month", "months", "monthly"), "MS"),
    **dict.fromkeys(("quarter", "quarters", "quarterly"), "QS"),
    **dict.fromkeys(("y", "yr", "yrs", "year", "years", "yearly"), "YS"),
    **dict.fromkeys(("w", "wk", "wks", "week", "weeks", "weekly"), "W"),
    **dict.fromkeys(("day", "days", "daily", ""), "D"),
    **dict.fromkeys(("hr", "hrs", "hour", "hours", "hourly"), "h"),
    **dict.fromkeys(("minute", "minutes"), "min"),
    **dict.fromkeys(("sec", "secs", "second", "seconds"), "s"),
}
"""Units as people write them, in pandas' spelling; a number alone counts days."""


def length_of_time(text: str, option: str) -> pd.Timedelta | BaseOffset:
    """A length of time: a fixed length if pandas can read it as one, else a calendar offset.

    Args:
        text: the length as the user wrote it.
        option: option of the command line, for the message.

    Raises:
        SettingsError: the text is no positive length.
    """
    stripped = text.strip()
    count = re.match(r"[\d.]*", stripped)
    digits = count.group() if count else ""
    unit = stripped[len(digits) :].strip()
    unit = _WORDS.get(unit if unit in ("", "y", "w") else unit.lower(), unit) if digits or unit else ""
    calendar = _CALENDAR.get(unit, unit)
    problem = SettingsError(
        f"{option} {text!r} is no positive length of time; write a number of days such as 30, or 12h, 2 weeks, 1 month"
    )
    if not unit:
        raise problem
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # pandas renames its units and warns of old spellings, which are accepted here
        fixed = (
            None if re.match(r"(MS|QS|YS)\b", calendar) else _fixed(f"{digits or 1}{unit}")
        )  # MS means month start, not milliseconds
        if fixed is not None:
            if not fixed > pd.Timedelta(0):  # also true for NaT
                raise problem
            return fixed
        try:
            offset = to_offset(f"{digits}{calendar}")
        except ValueError:
            raise problem from None
    if offset.n <= 0:
        raise problem
    return offset


def fixed_length(text: str, option: str) -> np.timedelta64:
    """A length of time that does not depend on its start, so no month.

    Args:
        text: the length as the user wrote it.
        option: option of the command line, for the message.

    Raises:
        SettingsError: the text is no such length.
    """
    length = length_of_time(text, option)
    if not isinstance(length, pd.Timedelta):
        raise SettingsError(f"{option} {text!r} is not the same length everywhere; write days or hours, such as 7d")
    return length.to_timedelta64()


def number(text: str, option: str, column: str) -> float:
    """A length of time for a time column of numbers.

    Args:
        text: the length as the user wrote it.
        option: option of the command line, for the message.
        column: column of the times, for the message.

    Raises:
        SettingsError: the text is no positive number.
    """
    try:
        length = float(text)
    except ValueError:
        length = np.nan
    if not (np.isfinite(length) and length > 0):
        raise SettingsError(
            f"{option} {text!r}: time column {column!r} holds numbers, so write a positive number such as 7"
        )
    return length


def fifteen_digits(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """The numbers rounded to 15 digits: 0.3 instead of 0.30000000000000004."""
    return np.asarray([float(f"{value:.15g}") for value in values.tolist()])


def _fixed(text: str) -> pd.Timedelta | None:
    """The length in days, hours or other fixed units; None if the text has no such unit."""
    try:
        return pd.Timedelta(re.sub(r"(?<![A-Za-z])d(?![A-Za-z])", "D", text).replace("H", "h"))
    except (ValueError, OverflowError):
        return None
