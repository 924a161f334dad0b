"""The columns of a table that hold dates: by their values, or by a format that the user gives. Letters: n rows."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from picsc.datasets.columns.calendar import FIRST, LAST
from picsc.datasets.columns.date_numbers import COUNTS, SMALLEST, proven_dates, says_time
from picsc.datasets.columns.dates import Dates, enough, read_dates, read_format
from picsc.datasets.columns.names import quoted
from picsc.datasets.columns.raw import Raw, spelled_date
from picsc.errors import DataError
from picsc.phrases import counted, listed
from picsc.reports.common import Finding

if TYPE_CHECKING:
    from picsc.settings import ReadSettings


@dataclass(frozen=True, slots=True)
class DatedTable:
    """The columns of a table, those with dates as dates."""

    raws: dict[str, Raw]
    """Every column. A column that cuts the table stays as it is where its words name months, quarters or weeks, or its
    numbers are dates, since these are the names of its pieces."""
    times: dict[str, NDArray[np.float64]]
    """(n,) seconds since 1970 of each column that cuts the table and holds dates, NaN where missing."""
    findings: tuple[Finding, ...]
    """Findings on how dates were read."""
    orders: dict[str, tuple[str, bool]]
    """By column whose words leave the order of day and month open: its format, and whether anything proves it."""


@dataclass(slots=True)
class _Found:
    """The different values of one column, and their dates."""

    raw: Raw
    codes: NDArray[np.int64]
    """(n,) number of each row's value, -1 where missing."""
    words: list[str]
    """The different values, as words."""
    dates: Dates
    asked: bool = False
    """The user gave a format for this column."""
    seconds: NDArray[np.float64] = field(init=False)

    def __post_init__(self) -> None:
        self.seconds = np.append(self.dates.seconds, np.nan)[self.codes]


def with_dates(
    raws: Mapping[str, Raw],
    settings: ReadSettings,
    *,
    keys: Collection[str] = (),
    target: str | None = None,
    missing: Collection[str] = (),
    where: str,
) -> DatedTable:
    """Read the dates of a table.

    Args:
        raws: its columns.
        settings: formats of dates, the order of day and month, and columns that are declared as something else.
        keys: columns that cut the table; a date of theirs may be any number that can be one.
        target: the column to predict, which holds dates only if a format says so.
        missing: words that stand for a missing value among dates.
        where: the file or table, for messages.

    Raises:
        DataError: a format that the user gives fits no column, or not the one that it is for.
    """
    formats = {column: form for column, form in settings.date_formats if column}
    for_all = [form for column, form in settings.date_formats if not column]
    declared = {*settings.categorical, *settings.numeric, *([] if target is None else [target])}
    found: dict[str, _Found] = {}
    fitted: set[str] = set()
    for name, raw in raws.items():
        if name in formats:
            found[name] = _asked(name, raw, formats[name], missing, where)
            continue
        if name in declared and name not in keys:
            continue
        time = name in keys
        way = next(
            ((form, dates) for form in for_all if (dates := _by_format(raw, form, time or says_time(name), missing))),
            None,
        )
        if way is not None:
            fitted.add(way[0])
            found[name] = replace(way[1], asked=True)
        elif (dates := _by_values(name, raw, settings.day_first, time=time)) is not None:
            found[name] = dates
    idle = [form for form in for_all if form not in fitted]
    if idle:
        raise DataError(
            f"{where}: --date-format {idle[0]} fits no column of words or of times; the columns are "
            f"{quoted(list(raws))}; correct it, or name the column: COL={idle[0]}"
        )
    found = _by_each_other(found)
    changed = {name: _dated(each) for name, each in found.items() if name not in keys or each.asked or _plain(each)}
    times = {name: each.seconds for name, each in found.items() if name in keys}
    return DatedTable({**raws, **changed}, times, (*_doubtful(found), *_impossible(found)), _orders(found))


def _plain(found: _Found) -> bool:
    return found.raw.form == "dates" or (found.raw.form == "words" and found.dates.whole)


def _by_values(name: str, raw: Raw, day_first: bool, *, time: bool) -> _Found | None:
    """The dates of a column whose values say that they are dates; None for any other column."""
    if raw.form == "words":
        if raw.declared and not time:
            return None
        dates = read_dates(raw.levels, day_first=day_first)
        return None if dates is None else _Found(raw, raw.data, list(raw.levels), dates)
    if raw.form == "dates":
        return _outside(raw)
    if raw.form not in ("integers", "numbers") or not (time or says_time(name)):
        return None
    present = raw.present
    if not len(present) or present.min() < SMALLEST:
        return None
    codes, values = pd.factorize(raw.data)
    numbers = np.asarray(values, dtype=np.float64)
    proven = proven_dates(name, numbers, asked=time)
    return None if proven is None else _Found(raw, codes.astype(np.int64), _spelled(numbers), proven)


def _outside(raw: Raw) -> _Found | None:
    """A column of dates of which few lie outside the years that can be compared, as 9999-12-31 does."""
    with np.errstate(invalid="ignore"):
        outside = (raw.data < FIRST) | (raw.data > LAST)
    if not outside.any():
        return None
    codes, values = pd.factorize(raw.data)
    seconds = np.where((values < FIRST) | (values > LAST), np.nan, values)
    dates = Dates(seconds, "dates")
    spelled = [spelled_date(value) if gone else "" for value, gone in zip(values, dates.bad, strict=True)]
    return _Found(raw, codes.astype(np.int64), spelled, dates) if enough(dates) else None


def _by_format(raw: Raw, form: str, time: bool, missing: Collection[str]) -> _Found | None:
    """The dates of a column that a format for every column fits; None if it does not."""
    if raw.form not in ("words", "integers", "numbers") or raw.declared or (raw.form != "words" and not time):
        return None
    found = _read(raw, form, missing)
    return found if found.words and enough(found.dates) else None


def _asked(name: str, raw: Raw, form: str, missing: Collection[str], where: str) -> _Found:
    """The dates of a column in the format that the user gives for it."""
    if raw.form == "dates":
        raise DataError(
            f"{where}: column {name!r} holds dates already, without --date-format; leave it out for {name!r}"
        )
    found = _read(raw, form, missing)
    if found.words and not enough(found.dates):
        first = int(np.argmax(np.append(found.dates.bad, False)[found.codes]))
        raise DataError(
            f"{where}: --date-format column {name!r}, data row {first + 1}: {found.words[found.codes[first]]!r} is no "
            f"date of the format {form}, like {int(found.dates.bad.sum())} of its {len(found.words)} different values; "
            "correct the format"
        )
    return replace(found, asked=True)


def _read(raw: Raw, form: str, missing: Collection[str]) -> _Found:
    if form in COUNTS and not raw.coded:
        codes, values = pd.factorize(raw.data)
        numbers = np.asarray(values, dtype=np.float64)
        return _Found(raw, codes.astype(np.int64), _spelled(numbers), _counted(numbers, form))
    words = raw.as_words()
    kept = [level for level in words.levels if level not in missing]
    place = {level: i for i, level in enumerate(kept)}
    codes = np.asarray([*(place.get(level, -1) for level in words.levels), -1], dtype=np.int64)[words.data]
    if form in COUNTS:
        numbers = np.asarray(pd.to_numeric(pd.Series(kept, dtype=object), errors="coerce"), dtype=np.float64)
        return _Found(raw, codes, kept, _counted(numbers, form))
    return _Found(raw, codes, kept, read_format(kept, form))


def _counted(numbers: NDArray[np.float64], form: str) -> Dates:
    return Dates(COUNTS[form].seconds(numbers), COUNTS[form].words)


def _spelled(numbers: NDArray[np.float64]) -> list[str]:
    return [str(int(value)) if value.is_integer() else repr(value) for value in numbers.tolist()]


def _by_each_other(found: dict[str, _Found]) -> dict[str, _Found]:
    """The dates, where another column of the same shape proves the order of day and month that was in doubt."""
    proven = {(each.dates.shape, each.dates.day_first): name for name, each in found.items() if each.dates.proven}
    result = dict(found)
    for name, each in found.items():
        dates = each.dates
        if dates.other is None:
            continue
        here, there = proven.get((dates.shape, dates.day_first)), proven.get((dates.shape, not dates.day_first))
        if (here is None) == (there is None):
            continue
        why = f", the order of {here or there!r}"
        dates = replace(dates, other=None, proven=True, way=dates.way + why) if there is None else dates.turned(why)
        result[name] = _Found(each.raw, each.codes, each.words, dates, each.asked)
    return result


def _dated(found: _Found) -> Raw:
    note = "" if found.raw.form == "dates" else f"read as {found.dates.way}"
    note += ", and the other order of day and month fits as well" if found.dates.other is not None else ""
    gone = _gone(found)
    if gone:
        note = "; ".join(
            filter(None, (note, f"{gone}, no possible date, {'counts' if _rows(found) == 1 else 'count'} as missing"))
        )
    return Raw("dates", found.seconds, note=note)


def _rows(found: _Found) -> int:
    return int(np.append(found.dates.bad, False)[found.codes].sum())


def _gone(found: _Found) -> str:
    """Rows whose value is no date, with the first of them; empty for none."""
    bad = np.append(found.dates.bad, False)[found.codes]
    if not bad.any():
        return ""
    first = int(np.argmax(bad))
    return f"{counted(int(bad.sum()), 'row')} ({found.words[found.codes[first]]!r} in data row {first + 1})"


def _impossible(found: Mapping[str, _Found]) -> list[Finding]:
    named = [f"{gone} of {name!r}" for name, each in found.items() if (gone := _gone(each))]
    if not named:
        return []
    return [Finding("impossible-dates", "note", f"no possible date, so missing: {listed(named)}")]


def _doubtful(found: Mapping[str, _Found]) -> list[Finding]:
    """A warning on columns in which day and month could be the other way round."""
    by_way: dict[str, list[str]] = {}
    for name, each in found.items():
        if each.dates.other is not None:
            by_way.setdefault(each.dates.way, []).append(name)
    findings = []
    for way, names in by_way.items():
        each = found[names[0]]
        other = each.dates.other
        assert other is not None  # noqa: S101 - only such columns are here
        i = int(np.argmax(np.abs(other - each.dates.seconds) > 0))
        readings = f"{_spelled_or_none(each.dates.seconds[i])}, not {_spelled_or_none(other[i])}"
        first = bool(each.dates.day_first)
        same, turned = (_format(each.words[i], day_first=order) for order in (first, not first))
        columns = listed([repr(name) for name in names])
        findings.append(
            Finding(
                "day-or-month",
                "warning",
                f"dates of {columns} fit both orders of day and month, and were read as {way}: {each.words[i]} is "
                f"{readings}",
                f"if that is wrong, use --date-format {names[0]}={turned}"
                + ("" if first else " or --day-first")
                + f"; if it is right, --date-format {names[0]}={same}",
            )
        )
    return findings


def _spelled_or_none(seconds: float) -> str:
    return "no date" if np.isnan(seconds) else spelled_date(float(seconds))


def _format(word: str, *, day_first: bool) -> str:
    """The format of a date of two numbers and a year, without its clock."""
    mark = next(each for each in "/-." if each in word)
    year = "%Y" if len(re.split(r"[T ,]", word.split(mark)[2])[0]) == 4 else "%y"
    return mark.join(("%d", "%m", year) if day_first else ("%m", "%d", year))


def _orders(found: Mapping[str, _Found]) -> dict[str, tuple[str, bool]]:
    """Format, and whether it is proven, of each column whose words leave the order of day and month open."""
    orders = {}
    for name, each in found.items():
        first, proven = each.dates.day_first, each.dates.proven
        if first is not None and (proven or each.dates.other is not None):
            orders[name] = (_format(each.words[int(np.argmin(each.dates.bad))], day_first=first), proven)
    return orders
