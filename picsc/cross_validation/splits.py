"""Training rows and test rows of every repeat of a cross-validation. Letters: n rows, k pieces."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from picsc.cross_validation.given_split import GivenSplit, given_split
from picsc.datasets.rows import Rows, take
from picsc.datasets.table import Dataset
from picsc.errors import DataError
from picsc.fragments import Cut, cut, validate
from picsc.fragments.duplicates import tested_duplicates
from picsc.fragments.groups import dealt_out, groups_of, of_other_groups
from picsc.fragments.holdout import random_part
from picsc.fragments.keys import key
from picsc.fragments.latest import Latest, latest_rows
from picsc.phrases import share
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
    groups: NDArray[np.int64] | None = None
    """(n,) group of each row, which is never trained on and tested in the same model; None without groups."""
    tested_by_piece: tuple[Rows, ...] = ()
    """Validation rows of each piece, batchwise; () where they come after all pieces, or pieces are folds."""
    learned: tuple[Rows, ...] = ()
    """Rows that every model learns from, by piece, where a column says which rows test; () where pieces are tested in
    turn."""
    chosen: Rows | None = None
    """Rows that choose lambda and weight decay; None where training rows do."""

    def training(self, i: int) -> tuple[Rows, NDArray[np.int64]]:
        """Training rows of the model of piece i, foldwise, and the fragment of each.

        Source: Section 4.4, E4: the fragments are the k - 1 training folds.
        Reading: of two folds, the fragments are the two halves of the training fold, every other row each.
        """
        if self.learned:
            return fragmented(list(self.learned), np.empty(0, np.int64))
        parts = [self.untested(piece, i) for j, piece in enumerate(self.pieces) if j != i]
        return fragmented(parts, self.pieces[i][self.rare[self.pieces[i]]])

    @property
    def divides_groups(self) -> bool:
        """True if rows of one group lie in several pieces."""
        if self.groups is None:
            return False
        code = self.groups[np.concatenate(self.pieces)]
        piece = np.repeat(np.arange(len(self.pieces)), [len(rows) for rows in self.pieces])
        return len(np.unique(code * len(self.pieces) + piece)) > len(np.unique(code))

    def untested(self, rows: Rows, i: int) -> Rows:
        """Those of some rows that are of no group that the model of piece i is tested on."""
        return of_other_groups(rows, self.groups, self.tested(i))

    def tested(self, i: int) -> Rows:
        """Test rows of the model of piece i."""
        return self.pieces[i][~self.rare[self.pieces[i]]] if self.foldwise else self.validation

    def whole(self) -> tuple[Rows, NDArray[np.int64]]:
        """Training rows of the model of the whole set, and the piece of each; validation rows are left out."""
        parts = [piece[~np.isin(piece, self.validation)] for piece in self.pieces]
        return fragmented([part for part in parts if len(part)], np.empty(0, np.int64))

    def recut(self) -> Repeat:
        """The same repeat with random pieces of the same sizes, and of the same classes if the cut was balanced.

        With groups the pieces have whole groups, so that sizes and classes are nearly the same.
        """
        all_pieces = (*self.learned, *self.pieces)
        rows = np.concatenate(all_pieces)
        sizes = np.array([len(piece) for piece in all_pieces])
        labels = np.repeat(np.arange(len(all_pieces)), sizes)
        generator = np.random.default_rng([self.seed, 1])
        strata = np.zeros(len(rows), np.int64) if self.strata is None else self.strata[rows]
        if self.groups is not None and (self.foldwise or not self.divides_groups):
            labels = dealt_out(self.groups[rows], sizes, generator)
        else:
            for stratum in np.unique(strata):
                inside = np.flatnonzero(strata == stratum)
                labels[inside] = generator.permutation(labels[inside])
        pieces = tuple(np.sort(rows[labels == i]) for i in range(len(all_pieces)))
        return replace(self, learned=pieces[: len(self.learned)], pieces=pieces[len(self.learned) :])


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
    groups = groups_of(dataset, settings.cut)
    for r in range(count):
        seed = settings.seed + r
        pool = np.setdiff1d(np.arange(dataset.n), official)
        late = _latest(dataset, settings)
        pool = pool if late is None else late.before
        # pieces of time are cut before validation rows are drawn, so that every repeat has the same ones
        after = settings.cut.batches is not None and settings.batch_shift is None
        made = None if after else cut(take(dataset, pool), settings.cut, seed=seed)
        given = None if made is None else given_split(made, settings, groups)
        if made is not None and given is not None:
            yield _tested_once(made, given, seed, groups, take(dataset, pool) if r == 0 else None)
            continue
        rare = np.zeros(dataset.n, np.bool_)
        if settings.keep_rare:
            rare = _rare(dataset, settings.cut.batches or len(made.fragments if made else ()), groups)
        validation = official
        if late is not None:
            validation = late.rows[~rare[late.rows]]
        elif settings.batch_shift is not None and made is not None:
            validation = _of_every_piece(
                [pool[fragment.rows] for fragment in made.fragments], settings.validation, seed
            )
        elif not len(official):
            validation = _validation_rows(dataset, settings.validation, seed, rare, groups)
        if made is None:
            pool = np.setdiff1d(pool, validation)
            made = cut(take(dataset, pool), settings.cut, seed=seed)
        pieces = whole_pieces = tuple(pool[fragment.rows] for fragment in made.fragments)
        apart: list[Finding] = []
        if not settings.foldwise:
            learned = [np.setdiff1d(piece, validation) for piece in pieces]
            pieces = tuple(of_other_groups(piece, groups, validation) for piece in learned)
            apart = _left_out(sum(map(len, learned)), sum(map(len, pieces)))
        _check_pieces([fragment.name for fragment in made.fragments], pieces, settings)
        strata = None
        if made.strata is not None:
            strata = np.zeros(dataset.n, np.int64)
            strata[pool] = made.strata
        repeat = Repeat(
            seed=seed,
            foldwise=settings.foldwise,
            names=tuple(fragment.name for fragment in made.fragments),
            pieces=pieces,
            strata=strata,
            validation=validation,
            rare=rare,
            tested_by_piece=() if settings.foldwise or late is not None else _by_piece(whole_pieces, validation, seed),
            words=made.words if late is None else f"{made.words}; the latest {len(validation)} rows test all models",
            findings=validate(take(dataset, pool), made) if r == 0 else (),
            groups=groups,
        )
        repeat = _backwards(repeat) if settings.backwards else repeat
        apart += _kept_apart(repeat)
        again = () if settings.foldwise or r else tested_duplicates(dataset, np.concatenate(pieces), validation, "test")
        yield replace(repeat, findings=(*repeat.findings, *apart, *again)) if r == 0 else repeat


def _backwards(repeat: Repeat) -> Repeat:
    """The repeat whose models learn from the last piece first; whose pieces keep their names."""
    return replace(
        repeat,
        names=repeat.names[::-1],
        pieces=repeat.pieces[::-1],
        tested_by_piece=repeat.tested_by_piece[::-1],
        words=f"{repeat.words}, the last one first",
    )


def _tested_once(
    made: Cut, given: GivenSplit, seed: int, groups: NDArray[np.int64] | None, first: Dataset | None
) -> Repeat:
    """A repeat of the split that a column says; `first` is the table, for its findings, or None."""
    none = np.zeros(sum(len(piece.rows) for piece in made.fragments) + len(made.unassigned), np.bool_)
    return Repeat(
        seed=seed,
        foldwise=True,
        names=(given.name,),
        pieces=(given.tested,),
        strata=None,
        validation=given.tested,
        rare=none,
        words=made.words,
        findings=() if first is None else (*validate(first, made), *given.findings),
        groups=groups,
        learned=given.learned,
        chosen=given.chosen if len(given.chosen) else None,
    )


def same_test_rows(plan: Sequence[Repeat]) -> bool:
    """True where the validation rows of all repeats are the same."""
    return all(np.array_equal(repeat.validation, plan[0].validation) for repeat in plan)


def _latest(dataset: Dataset, settings: CvSettings) -> Latest | None:
    """The latest rows, which test the models of all pieces of time; None for other pieces, or if times may be mixed."""
    cut = settings.cut
    if not cut.forward or cut.time is None:
        return None
    return latest_rows(key(dataset, cut.time), cut.time, share=settings.validation, gap=cut.gap, table=dataset.name)


def _left_out(rows: int, kept: int) -> list[Finding]:
    """A finding on rows of pieces that no model learns from, because rows of their groups test all models."""
    if kept == rows:
        return []
    message = (
        f"{share(rows - kept, rows)} rows of the pieces are left out, because rows of their groups test the models"
    )
    advice = "test on groups of their own: fewer --validation rows, or --mix-time" if 2 * kept < rows else ""
    return [Finding("tested-groups-left-out", "warning" if advice else "note", message, advice)]


def _kept_apart(repeat: Repeat) -> list[Finding]:
    """A finding on training rows that are left out because their groups are tested, if any group lies in two pieces.

    Raises:
        DataError: a piece has no other rows.
    """
    if repeat.groups is None or not (repeat.foldwise and repeat.divides_groups):
        return []  # the rows that test batches are of other groups, or their groups were taken from the pieces
    rows_in_all = sum(map(len, repeat.pieces))
    groups, k = len(np.unique(repeat.groups[np.concatenate(repeat.pieces)])), len(repeat.pieces)
    if groups < k:
        raise DataError(f"{groups} groups < {k} pieces: too few to keep groups whole; leave out --group")
    gone = []
    for i, name in enumerate(repeat.names):
        kept = [len(repeat.untested(rows, i)) for j, rows in enumerate(repeat.pieces) if j != i]
        if not all(kept):
            raise DataError(
                f"a model that is tested on {name} must not learn from its groups, and another piece has no rows of "
                "other groups: leave out --group, or cut folds of whole groups"
            )
        gone.append(rows_in_all - len(repeat.pieces[i]) - sum(kept))
    message = f"groups lie in several pieces: {min(gone)} to {max(gone)} rows are left out of a model's training rows"
    return [Finding("tested-groups-left-out", "note", f"{message}, because rows of their groups test it")]


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


def _validation_rows(
    dataset: Dataset, share: float, seed: int, rare: NDArray[np.bool_], groups: NDArray[np.int64] | None
) -> Rows:
    """A random share of the rows that are not rare, of whole groups or balanced over classes where possible."""
    rows = np.flatnonzero(~rare)
    if len(rows) <= math.ceil(share * len(rows)):
        raise DataError(
            f"{dataset.name}: {share:g} of {len(rows)} rows to test on leaves none to learn from; lower --validation"
        )
    return random_part(dataset, rows, share, seed, groups)


def _of_every_piece(pieces: Sequence[Rows], share: float, seed: int) -> Rows:
    """A random share of the rows of every piece, at least one and not all, increasing."""
    generator = np.random.default_rng([seed, 12])
    counts = [min(max(1, round(share * len(piece))), len(piece) - 1) for piece in pieces]
    drawn = [generator.permutation(piece)[:count] for piece, count in zip(pieces, counts, strict=True)]
    return np.sort(np.concatenate(drawn))


def _by_piece(pieces: Sequence[Rows], validation: Rows, seed: int) -> tuple[Rows, ...]:
    """The validation rows of every piece: its own, or those between its rows in file order, or else a random part."""
    own = [np.intersect1d(piece, validation) for piece in pieces]
    if all(map(len, own)):
        return tuple(own)
    starts = np.array([piece[0] for piece in pieces])
    if all(a[-1] < b[0] for a, b in itertools.pairwise(pieces)) and validation[0] < pieces[-1][-1]:
        place = np.clip(np.searchsorted(starts, validation, side="right") - 1, 0, None)
    else:  # an official test part, or pieces without an order
        place = np.random.default_rng([seed, 13]).permutation(np.arange(len(validation)) % len(pieces))
    return tuple(validation[place == i] for i in range(len(pieces)))


def _rare(dataset: Dataset, k: int, groups: NDArray[np.int64] | None) -> NDArray[np.bool_]:
    """Rows of classes with fewer rows than there are pieces, and with groups all rows of their groups."""
    target = dataset.target
    if target is None or target.kind != "classes":
        return np.zeros(dataset.n, np.bool_)
    codes = target.values.astype(np.int64)
    rare: NDArray[np.bool_] = np.bincount(codes)[codes] < k
    if groups is not None:
        rare = np.isin(groups, groups[rare])
        if rare.all():
            raise DataError(f"{dataset.name}: every group has a row of a rare class: leave out --keep-rare or --group")
    return rare
