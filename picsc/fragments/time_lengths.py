"""Lengths of time as people write them: 30d, 12h, W, MS; plain numbers where time is a number."""

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
"""Months, quarters and years begin on their first day, however the user spells them."""


def length_of_time(text: str, option: str) -> pd.Timedelta | BaseOffset:
    """A fixed length where pandas knows one, else a calendar offset.

    Args:
        text: as the user wrote it.
        option: that it was given to, for the message.

    Raises:
        SettingsError: it is no positive length.
    """
    stripped = text.strip()
    count = re.match(r"[\d.]*", stripped)
    digits = count.group() if count else ""
    unit = stripped[len(digits) :].strip()
    calendar = _CALENDAR.get(unit, unit)
    problem = SettingsError(
        f"{option} {text!r} is no positive length of time; write a pandas offset such as 30D, 12h, W or MS (months)"
    )
    if not unit:  # pandas would read a bare number as nanoseconds
        raise problem
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # pandas is renaming its units; old and new spellings are fine here
        fixed = None if re.match(r"(MS|QS|YS)\b", calendar) else _fixed(f"{digits or 1}{unit}")  # MS is no millisecond
        if fixed is not None:
            if not fixed > pd.Timedelta(0):  # NaT included
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
    """A length that is the same wherever it begins, so no month.

    Args:
        text: as the user wrote it.
        option: that it was given to, for the message.

    Raises:
        SettingsError: it is no such length.
    """
    length = length_of_time(text, option)
    if not isinstance(length, pd.Timedelta):
        raise SettingsError(f"{option} {text!r} is not the same length everywhere; write days or hours, such as 7d")
    return length.to_timedelta64()


def number(text: str, option: str, column: str) -> float:
    """A length where time is a number.

    Args:
        text: as the user wrote it.
        option: that it was given to, for the message.
        column: of the times, for the message.

    Raises:
        SettingsError: it is no positive number.
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
    """Numbers as people write them: 0.3, and not 0.30000000000000004."""
    return np.asarray([float(f"{value:.15g}") for value in values.tolist()])


def _fixed(text: str) -> pd.Timedelta | None:
    """The length in days, hours and so on, if that is what it says."""
    try:
        return pd.Timedelta(re.sub(r"(?<![A-Za-z])d(?![A-Za-z])", "D", text).replace("H", "h"))
    except (ValueError, OverflowError):
        return None
