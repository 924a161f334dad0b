"""Numbers that float64 does not hold exactly, and words that stand among numbers, both as codes. Letters: n rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

LARGEST = 2**53
"""Whole numbers up to this are exact in float64."""
MOST_DIGITS = 15
"""Numbers with at most this many digits are told apart in float64."""


@dataclass(frozen=True, slots=True)
class Exact:
    """The exact values of a column, as ranks."""

    ranks: NDArray[np.int64]
    """(n,) place among the distinct values, -1 where missing."""
    distinct: NDArray[Any]
    """Distinct values from the lowest on: int64 or uint64, or Python's int and Decimal as objects."""

    @property
    def ordered(self) -> NDArray[np.float64]:
        """Numbers that are ordered as the exact values are, (n,) float64, NaN where missing."""
        return np.where(self.ranks < 0, np.nan, self.ranks.astype(np.float64))

    @property
    def rounded(self) -> NDArray[np.float64]:
        """The nearest float64 of each value, (n,), NaN where missing."""
        nearest = np.asarray([*(float(value) for value in self.distinct.tolist()), np.nan])
        return nearest[self.ranks]

    def take(self, rows: NDArray[np.int64]) -> Exact:
        """The values of some rows."""
        return replace(self, ranks=self.ranks[rows])

    def followed_by(self, other: Exact) -> Exact:
        """The values of these rows, then those of others."""
        mine, theirs = self.distinct, other.distinct
        if mine.dtype != theirs.dtype:
            mine, theirs = mine.astype(object), theirs.astype(object)
        every = _sorted(np.concatenate([mine, theirs]))
        parts = [
            np.append(np.searchsorted(every, part), -1)[old]
            for part, old in ((mine, self.ranks), (theirs, other.ranks))
        ]
        return Exact(np.concatenate(parts).astype(np.int64), every)


def exact_of_whole(values: NDArray[Any], missing: NDArray[np.bool_] | None = None) -> Exact:
    """The exact values of integers of 64 bits.

    Args:
        values: (n,) int64 or uint64; any number where missing.
        missing: (n,); None for a column without missing values.
    """
    present = values if missing is None else values[~missing]
    distinct, places = np.unique(present, return_inverse=True)
    if missing is None:
        return Exact(places.astype(np.int64), distinct)
    ranks = np.full(len(values), -1, np.int64)
    ranks[~missing] = places
    return Exact(ranks, distinct)


def exact_of_objects(values: Sequence[int | Decimal | float | None]) -> Exact:
    """The exact values of Python's numbers, None where missing."""
    every = _sorted(np.asarray([*(value for value in values if value is not None), None], dtype=object)[:-1])
    place = {value: i for i, value in enumerate(every.tolist())}
    place[None] = -1
    return Exact(np.asarray([place[value] for value in values], np.int64), every)


def exact_of_floats(values: NDArray[np.float64]) -> Exact:
    """Values that float64 does hold, as `Exact` has them; NaN where missing."""
    return exact_of_objects([None if np.isnan(value) else _whole_if_so(value) for value in values.tolist()])


def _whole_if_so(value: float) -> int | float:
    return int(value) if value.is_integer() else value


def _sorted(values: NDArray[Any]) -> NDArray[Any]:
    if values.dtype != object:
        return np.unique(values)
    result = np.empty(len(found := sorted(set(values.tolist()))), dtype=object)
    result[:] = found
    return result


def is_rounded(text: str) -> bool:
    """True for a written number that float64 changes, so that it may not be told from its neighbours."""
    value = float(text)
    return bool(np.isfinite(value)) and Decimal(text) != Decimal(repr(value))


def needs_exact(value: Decimal | float) -> bool:
    """True for a number that may have a neighbour which float64 does not tell from it."""
    if isinstance(value, Decimal):
        return value.is_finite() and len(value.as_tuple().digits) > MOST_DIGITS
    return isinstance(value, int | np.integer) and abs(int(value)) > LARGEST


@dataclass(frozen=True, slots=True)
class Absent:
    """Words that stand where numbers should, which makes their rows missing values of several kinds."""

    words: tuple[str, ...]
    """Distinct words, the most frequent first."""
    codes: NDArray[np.int32]
    """(n,) code of the word that stands in the row; -1 for rows with a value or with an empty cell."""

    def take(self, rows: NDArray[np.int64]) -> Absent:
        """The words of some rows."""
        return replace(self, codes=self.codes[rows])


def absent_followed_by(first: Absent | None, n: int, second: Absent | None, m: int) -> Absent | None:
    """The words of n rows, then those of m others; None where neither has any."""
    if first is None and second is None:
        return None
    words = tuple(dict.fromkeys((*(first.words if first else ()), *(second.words if second else ()))))
    parts = []
    for part, rows in ((first, n), (second, m)):
        if part is None:
            parts.append(np.full(rows, -1, np.int32))
        else:
            parts.append(np.asarray([*map(words.index, part.words), -1], np.int32)[part.codes])
    return Absent(words, np.concatenate(parts))
