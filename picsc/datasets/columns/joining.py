"""Rows of one column from two tables or files: one form for both, so that its kind is decided on all of its values.

Letters: n rows, then m more.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from picsc.datasets.columns.dates import read_dates
from picsc.datasets.columns.exact import Exact, absent_followed_by, exact_of_floats
from picsc.datasets.columns.raw import Raw

_NUMERIC = ("numbers", "integers")
_TRUTH = {"true": 1.0, "false": 0.0, "1": 1.0, "0": 0.0}


def followed_by(first: Raw, second: Raw, *, decimal: str = ".") -> Raw:
    """The values of n rows, then those of m others.

    Numbers stay numbers, dates stay dates, and where one of the two has words that are dates, these are dates. 0 and 1
    are the truth values of the other table. All other mixtures are words, spelt as a person would write them.

    Args:
        first: n rows.
        second: m rows.
        decimal: decimal mark in the words of the two, point or comma.
    """
    both: tuple[Raw, ...] = _with_form_of(first, second), _with_form_of(second, first)
    if not _alike(*both):
        both = _as_truth(*both) or _as_dates(*both) or (_as_words(first, decimal), _as_words(second, decimal))
    one, two = both
    declared, infinite = first.declared or second.declared, first.infinite + second.infinite
    notes = "; ".join(dict.fromkeys(filter(None, (one.note, two.note))))
    if one.coded:
        levels = tuple(dict.fromkeys((*one.levels, *two.levels)))
        place = {level: i for i, level in enumerate(levels)}
        parts = [np.asarray([*(place[level] for level in each.levels), -1], np.int64)[each.data] for each in both]
        data: NDArray[Any] = np.concatenate(parts)
        absent = absent_followed_by(one.absent, len(one.data), two.absent, len(two.data))
        return Raw(one.form, data, levels, declared, infinite, None, absent, notes)
    whole = one.form == two.form == "integers"
    return Raw(
        form="dates" if one.form == "dates" else "integers" if whole else "numbers",
        data=np.concatenate([one.data, two.data]),
        declared=declared,
        infinite=infinite,
        exact=_both_exact(one, two),
        absent=absent_followed_by(one.absent, len(one.data), two.absent, len(two.data)),
        note=notes,
    )


def _alike(one: Raw, two: Raw) -> bool:
    return one.form == two.form or {one.form, two.form} <= set(_NUMERIC)


def _with_form_of(column: Raw, other: Raw) -> Raw:
    """A column without values in the form of the other one; any other column as it is."""
    if not column.missing.all():
        return column
    empty = np.full(len(column.data), -1, np.int64) if other.coded else np.full(len(column.data), np.nan)
    return replace(column, form=other.form, data=empty, levels=(), exact=None)


def _both_exact(one: Raw, two: Raw) -> Exact | None:
    if one.exact is None and two.exact is None:
        return None
    first, second = (each.exact or exact_of_floats(each.data.astype(np.float64)) for each in (one, two))
    return first.followed_by(second)


def _as_truth(*both: Raw) -> tuple[Raw, ...] | None:
    """Both as 0 and 1, NaN where missing; None unless all their values are truth values in any spelling."""
    words = [each if each.coded else each.as_words() for each in both if each.form != "dates"]
    if len(words) < len(both) or any(level.lower() not in _TRUTH for each in words for level in each.levels):
        return None
    return tuple(
        Raw("integers", np.asarray([*(_TRUTH[level.lower()] for level in each.levels), np.nan])[each.data])
        for each in words
    )


def _as_dates(*both: Raw) -> tuple[Raw, ...] | None:
    """Both as dates; None unless one holds dates, and the words of the other are dates."""
    if {each.form for each in both} != {"dates", "words"}:
        return None
    found = []
    for each in both:
        if each.form == "dates":
            found.append(each)
            continue
        dates = read_dates(each.levels)
        if dates is None:
            return None
        found.append(Raw("dates", np.append(dates.seconds, np.nan)[each.data], note=dates.way))
    return tuple(found)


def _as_words(column: Raw, decimal: str) -> Raw:
    words = replace(column.as_words(), form="words")
    if decimal == "," and column.form in _NUMERIC:
        return replace(words, levels=tuple(level.replace(".", ",") for level in words.levels))
    return words
