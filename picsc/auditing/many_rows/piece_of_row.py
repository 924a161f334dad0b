"""The piece that a row belongs to, from its number, its class or its value, without a list of all rows.

Folds are those that scikit-learn cuts without shuffling. Letters: n rows, k folds, c classes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]

OUTSIDE, UNKNOWN = -1, -2
"""Label of a row in no piece, and of a row whose value no sampled row has."""


@dataclass(slots=True)
class Spelled:
    """Values by their spelling, in order of first appearance, and how many rows have each."""

    code: dict[str, int]
    count: list[int]
    missing: int = 0
    """Rows without a value."""

    def add(self, codes: Ints, values: Sequence[str]) -> Ints:
        """Count the rows of a batch.

        Args:
            codes: (m,) codes into `values`, -1 where missing.
            values: spellings in order of first appearance in the batch.

        Returns:
            (m,) codes into all values so far, -1 where missing.
        """
        place = np.full(len(values) + 1, -1, np.int64)
        for i, value in enumerate(values):
            place[i] = self.code.setdefault(value, len(self.code))
        self.count += [0] * (len(self.code) - len(self.count))
        found: Ints = place[codes]
        present = np.bincount(found + 1, minlength=len(self.code) + 1)
        self.missing += int(present[0])
        for i in np.flatnonzero(present[1:]).tolist():
            self.count[i] += int(present[i + 1])
        return found


@dataclass(slots=True)
class Ranks:
    """The number of earlier rows of the same code, of batch after batch."""

    before: Ints = field(default_factory=lambda: np.zeros(0, np.int64))
    """Rows of each code so far."""

    def of(self, codes: Ints) -> Ints:
        """Ranks of the rows of a batch, (m,), from 0; codes are at least 0."""
        held = np.bincount(codes, minlength=len(self.before))
        before = np.append(self.before, np.zeros(len(held) - len(self.before), np.int64))
        order = np.argsort(codes, kind="stable")
        found = np.empty(len(codes), np.int64)
        found[order] = np.arange(len(codes)) - np.repeat(np.cumsum(held) - held, held)
        self.before = before + held
        return found + before[codes]


def folds_of_rows(rows: Ints, n: int, k: int) -> Ints:
    """Fold of rows by number, as `sklearn.model_selection.KFold` cuts n rows."""
    sizes = np.full(k, n // k)
    sizes[: n % k] += 1
    return np.searchsorted(np.cumsum(sizes), rows, side="right")


def fold_ends(counts: Sequence[int], k: int) -> Ints:
    """Rank in its class at which each fold ends, (c, k), as `sklearn.model_selection.StratifiedKFold` cuts.

    It deals the rows, sorted by class, out to the folds in turn; each fold gets as many of a class as it was dealt.

    Args:
        counts: rows of each class, in order of first appearance.
        k: folds.
    """
    starts = np.cumsum([0, *counts])
    folds = np.arange(k)
    # of the numbers below x, those that leave the remainder i when divided by k
    upto = (starts[:, None] - folds + k - 1) // k
    return np.cumsum(np.diff(upto, axis=0), axis=1)


def folds_of_classes(codes: Ints, ranks: Ints, ends: Ints) -> Ints:
    """Fold of rows by class and rank in the class, (m,)."""
    found: Ints = (ranks[:, None] >= ends[codes]).sum(1)
    return found
