"""The first pass: a random sample of rows, and the rows of each class, or of each value that cuts the table.

Letters: n rows, m sampled rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

from picsc.auditing.many_rows.piece_of_row import Ints, Ranks, Spelled
from picsc.datasets.columns.missing_words import MissingWords, missing_words, without_missing_words, without_words
from picsc.datasets.columns.raw import raw

if TYPE_CHECKING:
    from picsc.auditing.many_rows.parquet_parts import ParquetParts
    from picsc.settings import ReadSettings

MISSING = "\0missing"
"""Spelling of a row without a value, which no value has."""
MOST_VALUES = 10_000
"""Most different values that are counted; a column with more cuts no table, and holds no classes."""


@dataclass(frozen=True, slots=True)
class Sampled:
    """What the first pass found."""

    frame: pd.DataFrame
    """The m sampled rows, in their order."""
    rows: Ints
    """(m,) their numbers in the whole table, increasing."""
    codes: Ints
    """(m,) code of the value in the column that was counted; 0 where none was."""
    ranks: Ints
    """(m,) number of earlier rows of the whole table with that value."""
    spelled: Spelled | None
    """Rows by value of that column, of the whole table; None where there are too many values."""


@dataclass(frozen=True, slots=True)
class Counted:
    """Reads the values of one column, batch by batch."""

    name: str | None
    """The column; None for none."""
    words: MissingWords

    def codes(self, frame: pd.DataFrame) -> tuple[Ints, list[str]] | None:
        """Codes of the rows of a batch, (m,), and their spellings in order of first appearance; None if too many."""
        if self.name is None:
            return np.zeros(len(frame), np.int64), [MISSING]
        column = without_missing_words(raw(without_words(frame[self.name], self.words)), self.words)
        if not column.coded and column.form != "dates" and len(pd.unique(column.data)) > MOST_VALUES:
            return None
        column = column.as_words()
        if len(column.levels) > MOST_VALUES:
            return None
        codes, found = pd.factorize(column.data)
        return codes.astype(np.int64), [column.levels[i] if i >= 0 else MISSING for i in found.tolist()]


def counted(name: str | None, settings: ReadSettings) -> Counted:
    """A reader of one column's values."""
    return Counted(name, missing_words(settings))


def sampled_rows(n: int, m: int, seed: int) -> Ints:
    """Numbers of m different rows of n, increasing, each set as likely as any other; memory follows m alone."""
    rng = np.random.default_rng([seed, 7])
    found: NDArray[np.int64] = np.unique(rng.integers(n, size=m + m // 8))
    while len(found) < m:
        found = np.unique(np.append(found, rng.integers(n, size=m)))
    return np.sort(found[rng.permutation(len(found))[:m]])


def first_pass(parts: ParquetParts, column: Counted, *, m: int, seed: int) -> Sampled:
    """Read all rows once.

    Args:
        parts: the files, of n rows.
        column: the column whose values are counted.
        m: rows of the sample.
        seed: of the sample.

    Raises:
        DataError: a file cannot be read.
    """
    rows = sampled_rows(parts.n, m, seed)
    values: Spelled | None = Spelled({}, [])
    ranks, taken, codes, earlier = Ranks(), [], [], []
    start = 0
    for batch in parts.batches():
        first, last = np.searchsorted(rows, [start, start + len(batch)])
        inside = rows[first:last] - start
        taken.append(batch.take(pa.array(inside)))
        if values is not None:
            found = column.codes(_one_column(parts, batch, column.name))
            if found is None:
                values = None
            else:
                own = values.add(*found)
                codes.append(own[inside])
                earlier.append(ranks.of(own)[inside])
        start += len(batch)
    none = np.zeros(len(rows), np.int64)
    return Sampled(
        parts.frame(pa.concat_tables(taken), codes=False),
        rows,
        none if values is None else np.concatenate(codes),
        none if values is None else np.concatenate(earlier),
        values,
    )


def _one_column(parts: ParquetParts, batch: Any, name: str | None) -> pd.DataFrame:
    if name is None:
        return pd.DataFrame(index=range(len(batch)))
    return parts.frame(batch, codes=True, only=(name,))
