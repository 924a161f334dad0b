"""Training rows and test rows of every repeat of a cross-validation. Letters: n rows, k pieces."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from picsc.datasets.rows import Rows, take
from picsc.datasets.table import Dataset
from picsc.errors import DataError
from picsc.fragments import cut, validate
from picsc.fragments.holdout import random_part
from picsc.reports.common import Finding
from picsc.settings import CvSettings


@dataclass(frozen=True, slots=True)
class Repeat:
    """One repeat. Row numbers are those of the whole table."""

    seed: int
    """Seed of the cut, the validation rows and the models."""
    foldwise: bool
    """True where pieces are test folds, False where each piece trains a model of its own."""
    names: tuple[str, ...]
    """Names of the pieces."""
    pieces: tuple[Rows, ...]
    """Rows of each piece, disjoint, increasing."""
    strata: NDArray[np.int64] | None
    """(n,) classes that the pieces were balanced over; None if they were not."""
    validation: Rows
    """Test rows of the models of the whole set and, batchwise, of those of the pieces."""
    rare: NDArray[np.bool_]
    """(n,) True for rows of rare classes, which are training rows everywhere and test rows nowhere."""
    words: str
    """Description of the cut, for the report."""
    findings: tuple[Finding, ...]

    def training(self, i: int) -> tuple[Rows, NDArray[np.int64]]:
        """Training rows of the model of piece i, foldwise, and the fragment of each.

        Source: Section 4.4, E4: the fragments are the k - 1 training folds.
        Reading: of two folds, the fragments are the two halves of the training fold, every other row each.
        """
        others = [j for j in range(len(self.pieces)) if j != i]
        return fragmented([self.pieces[j] for j in others], self.pieces[i][self.rare[self.pieces[i]]])

    def tested(self, i: int) -> Rows:
        """Test rows of the model of piece i."""
        return self.pieces[i][~self.rare[self.pieces[i]]] if self.foldwise else self.validation

    def whole(self) -> tuple[Rows, NDArray[np.int64]]:
        """Training rows of the model of the whole set, and the piece of each; validation rows are left out."""
        parts = [piece[~np.isin(piece, self.validation)] for piece in self.pieces]
        return fragmented([part for part in parts if len(part)], np.empty(0, np.int64))

    def recut(self) -> Repeat:
        """The same repeat with random pieces of the same sizes, and of the same classes if the cut was balanced."""
        rows = np.concatenate(self.pieces)
        labels = np.repeat(np.arange(len(self.pieces)), [len(piece) for piece in self.pieces])
        generator = np.random.default_rng([self.seed, 1])
        strata = np.zeros(len(rows), np.int64) if self.strata is None else self.strata[rows]
        for stratum in np.unique(strata):
            inside = np.flatnonzero(strata == stratum)
            labels[inside] = generator.permutation(labels[inside])
        pieces = tuple(np.sort(rows[labels == i]) for i in range(len(self.pieces)))
        return replace(self, pieces=pieces)


def fragmented(parts: list[Rows], more: Rows) -> tuple[Rows, NDArray[np.int64]]:
    """Rows of the parts and the number of the part of each; `more` joins the smallest, and one part alone is halved."""
    smallest = min(range(len(parts)), key=lambda j: len(parts[j]))
    parts = [np.concatenate([part, more]) if j == smallest else part for j, part in enumerate(parts)]
    rows = np.concatenate(parts)
    if len(parts) == 1:
        return rows, np.arange(len(rows)) % 2  # not first and last half: of a sorted file those differ by its order
    return rows, np.repeat(np.arange(len(parts)), [len(part) for part in parts])


def repeats(dataset: Dataset, settings: CvSettings, count: int, official: Rows) -> Iterator[Repeat]:
    """Every repeat of a cross-validation, each with its own seed for the folds and the validation rows.

    Args:
        dataset: n labelled rows.
        settings: the cut, the share of validation rows, the seed.
        count: number of repeats.
        official: rows of the official test part; if there are any, they are the validation rows.

    Raises:
        DataError: the table cannot be cut this way, or a fold would leave no training rows.
    """
    for r in range(count):
        seed = settings.seed + r
        pool = np.setdiff1d(np.arange(dataset.n), official)
        # pieces of time are cut before validation rows are drawn, so that every repeat has the same ones
        made = None if settings.cut.batches else cut(take(dataset, pool), settings.cut, seed=seed)
        rare = np.zeros(dataset.n, np.bool_)
        if settings.keep_rare:
            rare = _rare(dataset, settings.cut.batches or len(made.fragments if made else ()))
        validation = official if len(official) else _validation_rows(dataset, settings.validation, seed, rare)
        if made is None:
            pool = np.setdiff1d(pool, validation)
            made = cut(take(dataset, pool), settings.cut, seed=seed)
        pieces = tuple(pool[fragment.rows] for fragment in made.fragments)
        if not settings.foldwise:
            pieces = tuple(np.setdiff1d(piece, validation) for piece in pieces)
        _check_pieces([fragment.name for fragment in made.fragments], pieces, settings)
        strata = None
        if made.strata is not None:
            strata = np.zeros(dataset.n, np.int64)
            strata[pool] = made.strata
        yield Repeat(
            seed=seed,
            foldwise=settings.foldwise,
            names=tuple(fragment.name for fragment in made.fragments),
            pieces=pieces,
            strata=strata,
            validation=validation,
            rare=rare,
            words=made.words,
            findings=validate(take(dataset, pool), made) if r == 0 else (),
        )


def _check_pieces(names: Sequence[str], pieces: Sequence[Rows], settings: CvSettings) -> None:
    """Refuse pieces that are too few or too small."""
    if len(pieces) < 2:
        raise DataError("one piece only: cross-validation needs at least two; choose another cut")
    small = [i for i, piece in enumerate(pieces) if len(piece) < 2]
    if small and (not settings.foldwise or len(pieces) == 2):
        size = len(pieces[small[0]])
        raise DataError(
            f"{names[small[0]]} has {size} row{'' if size == 1 else 's'} to learn from and needs at least 2: "
            "use fewer pieces"
        )


def _validation_rows(dataset: Dataset, share: float, seed: int, rare: NDArray[np.bool_]) -> Rows:
    """A random share of the rows that are not rare, balanced over classes if every class has two rows."""
    rows = np.flatnonzero(~rare)
    if len(rows) <= math.ceil(share * len(rows)):
        raise DataError(
            f"{dataset.name}: {share:g} of {len(rows)} rows to test on leaves none to learn from; lower --validation"
        )
    return random_part(dataset, rows, share, seed)


def _rare(dataset: Dataset, k: int) -> NDArray[np.bool_]:
    """Rows of classes with fewer rows than there are pieces."""
    target = dataset.target
    if target is None or target.kind != "classes":
        return np.zeros(dataset.n, np.bool_)
    codes = target.values.astype(np.int64)
    rare: NDArray[np.bool_] = np.bincount(codes)[codes] < k
    return rare
