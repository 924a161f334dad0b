"""Dates that are written as words: either all words of a column are dates, or none is read as one."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

_CLOCK = r"\d{1,2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?"
_ISO = re.compile(rf"\d{{4}}-\d{{2}}-\d{{2}}(?:[T ]{_CLOCK})?(?: ?(?:Z|[+-]\d{{2}}:?\d{{2}}))?", re.ASCII)
_SHAPES: tuple[tuple[str, tuple[tuple[str, str], ...]], ...] = (
    (r"\d{4}/\d{1,2}/\d{1,2}", (("%Y/%m/%d", "year/month/day"),)),
    (r"\d{1,2}/\d{1,2}/\d{4}", (("%m/%d/%Y", "month/day/year"), ("%d/%m/%Y", "day/month/year"))),
    (r"\d{1,2}-\d{1,2}-\d{4}", (("%d-%m-%Y", "day-month-year"), ("%m-%d-%Y", "month-day-year"))),
    (r"\d{1,2}\.\d{1,2}\.\d{4}", (("%d.%m.%Y", "day.month.year"),)),
    (r"\d{1,2}-[A-Za-z]{3}-\d{4}", (("%d-%b-%Y", "day-month-year"),)),
    (r"\d{1,2} [A-Za-z]{3,9} \d{4}", (("%d %b %Y", "day month year"), ("%d %B %Y", "day month year"))),
    (r"[A-Za-z]{3,9} \d{1,2}, \d{4}", (("%b %d, %Y", "month day, year"), ("%B %d, %Y", "month day, year"))),
)
"""Patterns of dates, and the formats to try for each, in this order."""
_CLOCKS = ("", " %H:%M", " %H:%M:%S", " %H:%M:%S.%f")
_SAMPLE = 50
# 1678 to 2261, the range of nanoseconds in pandas 2; pandas 3 reads more, and both must give the same result.
_FIRST, _LAST = -9_214_560_000.0, 9_214_560_000.0


def read_dates(words: Sequence[str]) -> tuple[NDArray[np.float64], str] | None:
    """Read all words as dates, or none of them.

    Reading: where both orders of day and month fit every word, slashes are read as month/day and dashes as day-month;
        the second value returned says which.

    Args:
        words: distinct values of a column.

    Returns:
        Seconds since 1970, float64, one per word (UTC where no zone is written), and the name of the format; None if
        any word is no date or lies outside the years 1678 to 2261.
    """
    sample = words[:: max(1, len(words) // _SAMPLE)]
    if _all(_ISO, sample):
        seconds = _seconds(words, "ISO8601") if _all(_ISO, words) else None
        return None if seconds is None else (seconds, "ISO")
    for shape, formats in _SHAPES:
        pattern = re.compile(rf"{shape}(?: {_CLOCK})?", re.ASCII)
        if _all(pattern, sample):
            if not _all(pattern, words):
                return None
            for day, way in formats:
                for clock in _CLOCKS:
                    seconds = _seconds(words, day + clock)
                    if seconds is not None:
                        return seconds, way
    return None


def _all(pattern: re.Pattern[str], words: Sequence[str]) -> bool:
    return bool(words) and all(pattern.fullmatch(word) for word in words)


def _seconds(words: Sequence[str], form: str) -> NDArray[np.float64] | None:
    moments = pd.to_datetime(pd.Series(list(words), dtype=object), format=form, errors="coerce", utc=True)
    if moments.isna().any():
        return None
    micro = moments.dt.tz_localize(None).to_numpy(dtype="datetime64[us]").astype(np.int64)
    seconds: NDArray[np.float64] = micro / 1e6
    return seconds if seconds.min() >= _FIRST and seconds.max() <= _LAST else None
