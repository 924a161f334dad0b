"""Shapes of dates that are written as words: a pattern for each, with the parts of a date as its groups."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

_CLOCK = (
    r"(?P<hour>\d{1,2}):(?P<minute>\d{2})(?::(?P<second>\d{2})(?:[.,](?P<fraction>\d{1,9}))?)?"
    r"(?: ?(?P<half>[AaPp])\.?[Mm]\.?)?"
)
_ZONE = r"(?P<zone>Z|UTC|GMT|[ECMP][SD]T|[+-]\d{2}:?\d{2})"
_TIME = rf"(?:(?:T|,? ){_CLOCK}(?: ?{_ZONE})?)?"
_WEEKDAY = r"(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? )?"
_NAME = r"(?P<name>[A-Za-z]{3,9})\.?"
_NTH = r"(?:st|nd|rd|th)?"
_YEAR, _ANY_YEAR = r"(?P<year>\d{4})", r"(?P<year>\d{4}|\d{2})"


@dataclass(frozen=True, slots=True)
class Shape:
    """One way of writing dates."""

    words: str
    """Its name in notes: `day.month.year`."""
    pattern: re.Pattern[str]
    """Its groups are the parts of a date; `a` and `b` are day and month in an order that the shape leaves open."""
    whole: bool = True
    """A word names one day; if not, it names a month, a quarter or a week, which stands for its first day."""
    day_first: bool | None = None
    """The usual order of `a` and `b`; None where they do not occur."""
    doubtful: bool = False
    """The other order is usual elsewhere, so that a reading that no value proves is reported."""

    def parts(self, words: Sequence[str]) -> pd.DataFrame:
        """The parts of each word, one column per group; None where a word has another shape.

        Args:
            words: any words.
        """
        return pd.Series(list(words), dtype=object).str.extract(rf"\A(?:{self.pattern.pattern})\Z", flags=re.ASCII)

    def fits(self, word: str) -> bool:
        """True if the word has this shape, whether or not there is such a day."""
        return self.pattern.fullmatch(word) is not None


def _shape(words: str, day: str, *, time: str = _TIME, whole: bool = True) -> Shape:
    return Shape(words, re.compile(day + time, re.ASCII), whole)


def _open(words: str, mark: str, *, day_first: bool, doubtful: bool = True) -> Shape:
    """Two numbers and a year; a year of two digits only after two digits each, as version numbers look like it."""
    number = r"\d{1,2}"
    year = rf"(?:(?P<year>\d{{4}})|(?<=\d\d{mark}\d\d{mark})(?P<short>\d{{2}}))" if mark == r"\." else _ANY_YEAR
    day = rf"(?P<a>{number}){mark}(?P<b>{number}){mark}{year}"
    return Shape(words, re.compile(day + _TIME, re.ASCII), True, day_first, doubtful)


ISO = re.compile(
    r"\d{4}-\d{2}-\d{2}(?:[T ]\d{1,2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?)?(?: ?(?:Z|[+-]\d{2}:?\d{2}))?", re.ASCII
)
"""Dates that pandas reads at once, by far the most frequent ones."""
SHAPES = (
    _shape("year-month-day", rf"{_YEAR}-(?P<month>\d{{1,2}})-(?P<day>\d{{1,2}})"),
    _shape("year/month/day", rf"{_YEAR}(?P<mark>[/.])(?P<month>\d{{1,2}})(?P=mark)(?P<day>\d{{1,2}})"),
    _open("{}/{}/year", "/", day_first=False),
    _open("{}-{}-year", "-", day_first=True),
    _open("{}.{}.year", r"\.", day_first=True, doubtful=False),
    _shape("day month year", rf"{_WEEKDAY}(?P<day>\d{{1,2}}){_NTH}[ \-./]?{_NAME},?[ \-./]?{_ANY_YEAR}"),
    _shape("month day, year", rf"{_WEEKDAY}{_NAME}[ \-](?P<day>\d{{1,2}}){_NTH}(?:, ?|[ \-]){_YEAR}"),
    _shape("year month day", rf"{_YEAR}[ \-/]?{_NAME}[ \-/]?(?P<day>\d{{1,2}})"),
    _shape(
        "weekday month day time year",
        rf"[A-Z][a-z]{{2}} {_NAME} {{1,2}}(?P<day>\d{{1,2}}) {_CLOCK}(?: {_ZONE})? {_YEAR}",
        time="",
    ),
    _shape("year-month", rf"{_YEAR}[-/](?P<month>\d{{2}})", time="", whole=False),
    _shape("month/year", rf"(?P<month>\d{{1,2}})[-/]{_YEAR}", time="", whole=False),
    _shape("year month", rf"{_YEAR}[ \-/]?{_NAME}", time="", whole=False),
    _shape("month year", rf"{_NAME}(?:[ \-/]?(?P<year>\d{{4}})|[\-'/](?P<short>\d{{2}}))", time="", whole=False),
    _shape("year and quarter", rf"{_YEAR}[ \-/]?[Qq](?P<quarter>\d)", time="", whole=False),
    _shape("quarter and year", rf"[Qq](?P<quarter>\d)[ \-/]?{_YEAR}", time="", whole=False),
    _shape("year and week", rf"{_YEAR}-?W(?P<week>\d{{2}})(?:-?(?P<weekday>[1-7]))?", time="", whole=False),
    _shape(
        "compact ISO",
        rf"{_YEAR}(?P<month>\d{{2}})(?P<day>\d{{2}})[T ](?P<hour>\d{{2}}):?(?P<minute>\d{{2}})"
        rf"(?::?(?P<second>\d{{2}})(?:\.(?P<fraction>\d{{1,9}}))?)?(?: ?{_ZONE})?",
        time="",
    ),
)
"""All shapes, in the order in which they are tried."""
