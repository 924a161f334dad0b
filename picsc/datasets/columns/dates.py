"""Dates that are written as words: nearly all words of a column are dates, or none is read as one. Letters: n words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from picsc.datasets.columns.calendar import FIRST, LAST, moments
from picsc.datasets.columns.date_shapes import ISO, SHAPES, Shape

_SAMPLE = 50
_PLAIN_SHARE, _SHARE = 0.8, 0.95
"""Share of the sample, and of all different words, that must have the shape of a date; and share that must be dates."""
_STRAY = 0.01
"""Largest share of words that may have another shape."""
_ORDERED = 10
"""Fewer different dates than this may be in order by chance."""
_CLOCK = ("%H", "%I", "%f")
_CLOCKS = (
    "",
    " %H:%M",
    " %H:%M:%S",
    " %H:%M:%S.%f",
    " %I:%M %p",
    " %I:%M:%S %p",
    "T%H:%M",
    "T%H:%M:%S",
    "T%H:%M:%S.%f",
)
_DAY_MONTH = {True: ("day", "month"), False: ("month", "day")}


@dataclass(frozen=True, slots=True)
class Dates:
    """The dates of n different words."""

    seconds: NDArray[np.float64]
    """(n,) seconds since 1970, in UTC where a zone is written and as they stand elsewhere; NaN for a word that is no
    date, or lies outside the years 1678 to 2261."""
    way: str
    """Name of the format, for notes."""
    whole: bool = True
    """Each word names one day or a time of it; if not, a month, a quarter or a week, which stands for its first day."""
    day_first: bool | None = None
    """The order of day and month, where the format leaves it open."""
    other: NDArray[np.float64] | None = None
    """(n,) seconds in the other order of day and month, where both orders fit every word and nothing proves one."""
    proven: bool = False
    """A value, or the order of the values, says which order of day and month holds."""
    shape: Shape | None = None
    """The shape of the words; None for ISO and for a format that was given."""

    @property
    def bad(self) -> NDArray[np.bool_]:
        """True for words that are no dates, (n,)."""
        return np.isnan(self.seconds)

    def turned(self, why: str) -> Dates:
        """The same words in the other order of day and month, which is now known.

        Args:
            why: the reason, for the note.
        """
        assert self.other is not None and self.shape is not None  # noqa: S101, PT018 - only where both orders fit
        turned = not self.day_first
        return replace(
            self, seconds=self.other, day_first=turned, other=None, proven=True, way=_way(self.shape, turned) + why
        )


def read_dates(words: Sequence[str], *, day_first: bool = False) -> Dates | None:
    """Read words as dates, if nearly all of them are.

    Words that have the shape of a date and are none, such as 31/02/2020 and 9999-12-31, may be one word or 5 % of all,
    and words of another shape 1 %.

    Reading: day and month in an open order are read so that most words are dates. Where both orders fit every word, the
        one is taken in which the dates rise or fall all along, if there is such a one; else the day comes first if the
        user says so; else the usual order of the shape is taken, month first with slashes and day first with dashes.

    Args:
        words: different words of a column, in order of first appearance.
        day_first: the day comes before the month where the words fit both orders.

    Returns:
        None if the words are no dates.
    """
    words = list(words)
    sample = words[:: max(1, len(words) // _SAMPLE)]
    if not sample or sum(any(map(str.isdigit, word)) for word in sample) < _PLAIN_SHARE * len(sample):
        return None
    if _share(sample, _is_iso) >= _PLAIN_SHARE and all(map(_is_iso, words)):
        return _accepted(Dates(_iso(words), "ISO"), 0)
    for shape in SHAPES:
        if _share(sample, shape.fits) >= _PLAIN_SHARE:
            parts = shape.parts(words)
            stray = int(parts["year"].isna().to_numpy().sum() if "short" not in parts else _stray(parts))
            return _accepted(_in_order(shape, parts, day_first), stray)
    return None


def read_format(words: Sequence[str], form: str) -> Dates:
    """Read words by a format of `datetime.strptime`; a word that does not have it is no date.

    After a format without a clock, a word may have one all the same.

    Args:
        words: different words of a column.
        form: the format.

    Raises:
        ValueError: the format cannot be read.
    """
    seconds = np.full(len(words), np.nan)
    for clock in ("",) if any(each in form for each in _CLOCK) else _CLOCKS:
        left = np.flatnonzero(np.isnan(seconds))
        if not left.size:
            break
        series = pd.Series([words[i] for i in left.tolist()], dtype=object)
        seconds[left] = _seconds(pd.to_datetime(series, format=form + clock, errors="coerce", utc=True))
    return Dates(seconds, f"dates of the format {form}")


def enough(dates: Dates, stray: int = 0) -> bool:
    """True if so many words are dates that the others are slips.

    Args:
        dates: the words.
        stray: number of words that do not have the shape of a date.
    """
    n, bad = len(dates.seconds), int(dates.bad.sum())
    return 2 * bad < n and bad <= max(1, (1 - _SHARE) * n) + stray and stray <= _STRAY * n


def _accepted(dates: Dates, stray: int) -> Dates | None:
    return dates if enough(dates, stray) else None


def _share(sample: Sequence[str], fits: Callable[[str], bool]) -> float:
    return sum(map(fits, sample)) / len(sample)


def _is_iso(word: str) -> bool:
    return ISO.fullmatch(word) is not None


def _stray(parts: pd.DataFrame) -> int:
    return int((parts["year"].isna() & parts["short"].isna()).to_numpy().sum())


def _iso(words: Sequence[str]) -> NDArray[np.float64]:
    return _seconds(pd.to_datetime(pd.Series(words, dtype=object), format="ISO8601", errors="coerce", utc=True))


def _seconds(found: pd.Series[Any]) -> NDArray[np.float64]:
    times = found.dt.tz_localize(None).to_numpy(dtype="datetime64[us]")
    seconds: NDArray[np.float64] = times.astype(np.int64) / 1e6
    seconds[np.isnat(times)] = np.nan
    with np.errstate(invalid="ignore"):
        seconds[(seconds < FIRST) | (seconds > LAST)] = np.nan
    return seconds


def _in_order(shape: Shape, parts: pd.DataFrame, day_first: bool) -> Dates:
    """The dates, with day and month in the order that fits best."""
    if shape.day_first is None:
        return Dates(moments(parts), shape.words, shape.whole, shape=shape)
    found = {order: moments(parts, day_first=order) for order in (True, False)}
    bad = {order: int(np.isnan(found[order]).sum()) for order in found}
    usual = shape.day_first
    if bad[True] != bad[False]:
        best, proven = bad[True] < bad[False], True
    else:
        ordered = {order: _runs_one_way(found[order]) for order in found}
        proven = ordered[True] != ordered[False]
        best = ordered[True] if proven else day_first or usual
    way = _way(shape, best)
    result = Dates(found[best], way, True, best, None, proven, shape)
    differ = not np.array_equal(found[True], found[False], equal_nan=True)
    guessed = not proven and shape.doubtful and not day_first and differ
    return replace(result, other=found[not best]) if guessed else result


def _way(shape: Shape, day_first: bool) -> str:
    return shape.words.format(*_DAY_MONTH[day_first])


def _runs_one_way(seconds: NDArray[np.float64]) -> bool:
    """True for dates that only rise, or only fall, from word to word."""
    steps = np.diff(seconds[~np.isnan(seconds)])
    return len(steps) >= _ORDERED - 1 and bool((steps >= 0).all() or (steps <= 0).all())
