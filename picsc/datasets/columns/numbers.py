"""Columns of words that are numbers, all or nearly all of them; the other words are missing values of their own kinds.

The decision is taken on the distinct words of a column, by one rule for every format, for frames and for arrays.
Letters: n rows, u distinct words.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from picsc.datasets.columns.dates import read_dates
from picsc.datasets.columns.exact import Absent, exact_of_objects
from picsc.datasets.columns.number_words import Written, as_written
from picsc.datasets.columns.raw import Raw, numbers_of

NEARLY_ALL = 0.9
"""Share of the rows with a value that are numbers in a column of numbers, at least."""
MANY = 0.5
"""Share of the rows with a value that are numbers, from which on a column may be read as numbers, or is remarked."""
FEW = 20
"""Numbers with no more distinct values than this may be codes of classes, so that words among them are levels, too."""
_LEAST = 5
"""Fewest distinct numbers of a column that is read as numbers, where nearly all values differ."""
_SAMPLE = 500
"""Number of words that are tried first."""
_WORDS_TOLD_APART = 5
"""Most words among numbers that are missing values of a kind each; the others are one kind together."""
OTHER_WORDS = "other words"


@dataclass(frozen=True, slots=True)
class NumbersRead:
    """A column of words as numbers."""

    raw: Raw
    """The numbers, with the words among them in `absent`."""
    codes: NDArray[np.int64]
    """(n,) code of the word among numbers in each row, -1 for a number and for an empty cell."""
    words: tuple[str, ...]
    """The words among the numbers, by code, in order of first appearance."""
    sure: bool
    """The values cannot be classes: there are many different numbers."""
    decimal: str
    """Decimal mark that the words prove; empty if they prove none."""
    doubt: str
    """The other way in which all of the words can be read; empty if there is none."""

    @property
    def rows(self) -> NDArray[np.int64]:
        """The rows with a word among the numbers."""
        return np.flatnonzero(self.codes >= 0)

    @property
    def nearly_all(self) -> bool:
        """Nine tenths of the values are numbers."""
        words = len(self.rows)
        return words <= (1 - NEARLY_ALL) * (words + int(np.count_nonzero(~self.raw.missing)))


@dataclass(frozen=True, slots=True)
class Unread:
    """A column of words that holds many numbers, but too few in one way of writing."""

    rows: int
    """Number of rows that hold a number in one way of writing or another."""
    total: int
    """Number of rows with a value."""


def read_numbers(column: Raw, missing: frozenset[str], *, decimal: str | None = None) -> NumbersRead | Unread | None:
    """Read a column of words as numbers, if nine tenths of its rows with a value are numbers in one way of writing.

    Half of the rows are enough where the other words are few, as each of them is then tested as a missing value.
    Words that begin with 0 and have only digits are codes, which a number would change: a column with such words is
    none of numbers, unless it has fractions.

    Args:
        column: n rows.
        missing: words that are missing among numbers.
        decimal: decimal mark, point or comma; None leaves it to the words.

    Returns:
        The column; the number of its numbers if these are half of the rows with a value or more, and too many different
        ones for classes; else None, as for a column that does not hold words or is declared as categories.
    """
    if column.form != "words" or column.declared or not column.levels:
        return None
    rows = np.bincount(column.data[column.data >= 0], minlength=len(column.levels))
    gone = np.asarray([level in missing for level in column.levels])
    counted = np.where(gone, 0, rows)
    total = int(counted.sum())
    if not total or not _promising(column.levels, counted) or read_dates(column.levels) is not None:
        return None
    words = pa.array(column.levels, pa.string())
    written = as_written(column.levels, counted, decimal)
    number = ~np.isnan(written.numbers) & ~gone
    if _codes(words, number, written):
        return None
    share = counted[number].sum() / total
    few_words = np.count_nonzero(~number & ~gone) <= _WORDS_TOLD_APART  # of which each is tested
    if share < (MANY if few_words else NEARLY_ALL):
        some = written.any_way & ~gone
        many = int(counted[some].sum())
        return Unread(many, total) if many >= MANY * total and np.count_nonzero(some) > FEW else None
    numbers = _raw(column, written, number)
    distinct = len(np.unique(numbers.ordered))
    sure = distinct > FEW or (distinct >= _LEAST and 2 * distinct > int(counted[number].sum()))
    odd = np.flatnonzero(~number & ~gone)
    place = np.full(len(column.levels) + 1, -1, np.int64)
    place[odd] = np.arange(len(odd))
    codes = place[column.data]
    levels = tuple(column.levels[i] for i in odd)
    raw = replace(numbers, absent=absent_words(codes, levels), note=_note(written))
    return NumbersRead(raw, codes, levels, sure, written.decimal, written.doubt)


def _promising(levels: tuple[str, ...], counted: NDArray[np.int64]) -> bool:
    """False for words of which a sample has hardly a number, which saves looking at all of them.

    The sample has the most frequent words, and others at equal steps.
    """
    if len(levels) <= _SAMPLE:
        return True
    frequent = np.argpartition(-counted, _SAMPLE)[:_SAMPLE]
    steps = np.arange(0, len(levels), max(1, len(levels) // _SAMPLE))
    return any(
        rows[as_written([levels[i] for i in part], rows, None).any_way].sum() >= MANY / 2 * rows.sum()
        for part in (frequent, steps)
        if (rows := counted[part]).sum()
    )


def _codes(words: pa.Array, number: NDArray[np.bool_], written: Written) -> bool:
    """True if the numbers are codes with leading zeros."""
    values = written.numbers[number & np.isfinite(written.numbers)]
    if (values != np.floor(values)).any():
        return False
    return bool(pc.any(pc.match_substring_regex(words.filter(pa.array(number)), "^0[0-9]+$")).as_py())


def _raw(column: Raw, written: Written, number: NDArray[np.bool_]) -> Raw:
    """The numbers of the words, row by row."""
    if written.exact:
        whole = exact_of_objects([written.exact.get(i) if number[i] else None for i in range(len(number))])
        ranks = np.append(whole.ranks, -1)[column.data]
        return numbers_of(np.empty(0), replace(whole, ranks=ranks))
    return numbers_of(np.append(np.where(number, written.numbers, np.nan), np.nan)[column.data])


def _note(written: Written) -> str:
    return f"read as numbers: {written.way}" if written.way else ""


def absent_words(codes: NDArray[np.int64], words: tuple[str, ...]) -> Absent | None:
    """The words among numbers as kinds of missing values, the most frequent first; None where there are none.

    Args:
        codes: (n,) code of the word in each row, -1 for none.
        words: the words, by code.
    """
    count = np.bincount(codes[codes >= 0], minlength=len(words))
    if not count.sum():
        return None
    first = np.argsort(-count, kind="stable")[:_WORDS_TOLD_APART]
    first = first[count[first] > 0]
    kind = np.full(len(words) + 1, len(first), np.int32)
    kind[first] = np.arange(len(first))
    kind[-1] = -1
    named = tuple(words[i] for i in first)
    others = (OTHER_WORDS,) if count.sum() > count[first].sum() else ()
    return Absent((*named, *others), kind[codes])
