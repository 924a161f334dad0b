"""Who learns, who may be looked at and who judges in a comparison. Letters: n rows of the table, k fragments.

A trial has training rows in fragments, and target rows of which a part may be looked at (their covariates; for dynamic
weights the labels of a few) and the others judge.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from picsc.datasets.rows import Rows, take
from picsc.datasets.table import Dataset
from picsc.errors import DataError, SettingsError
from picsc.fragments import Fragment, cut, validate
from picsc.fragments.holdout import random_part
from picsc.phrases import listed
from picsc.reports.common import Finding
from picsc.reports.compare import Setting
from picsc.settings import CompareSettings
from picsc.simulation.selection_bias import Selection, selection

FEWEST_LABELLED, MOST_LABELLED = 10, 1000
SMALLEST_PIECE = 4
"""Rows of a piece that can be a target: two to look at and two that judge."""
_SHOWN = 10


@dataclass(frozen=True, slots=True)
class TransferTask:
    """One target in one repeat. Row numbers are those of the whole table."""

    name: str
    """Of the target."""
    repeat: int
    seed: int
    train: Rows
    """Fragment by fragment."""
    fragment: NDArray[np.int64]
    """Fragment of each training row, in 0..k-1."""
    drawn: bool
    """Whether chance made the fragments; if not, they are pieces of the data."""
    adapt: Rows
    """Target rows that may be looked at, increasing."""
    labelled: Rows
    """Those of them whose labels may be used."""
    judge: Rows
    """Target rows that judge, increasing."""
    ratio: NDArray[np.float64] | None
    """True weight of each training row, of mean 1, where the selection is known."""
    passed_over: int
    """Rows that are neither the target's nor learned from: not selected, or more than `most_rows`."""


@dataclass(frozen=True, slots=True)
class TransferPlan:
    """All trials of a comparison."""

    setting: Setting
    trials: tuple[TransferTask, ...]
    """Repeat by repeat, equally many each."""
    names: tuple[str, ...]
    """Of the targets of a repeat."""
    fixed: bool
    """Whether the same rows are the target in every repeat, apart from which of them judge, and nothing else is."""
    redrawn: bool
    """Whether chance draws other targets in every repeat."""
    words: str
    findings: tuple[Finding, ...]

    @property
    def repeats(self) -> int:
        """How often every target is judged."""
        return len(self.trials) // len(self.names)

    @property
    def target_rows(self) -> Rows:
        """Rows that are the target of some trial, increasing."""
        return np.unique(np.concatenate([part for trial in self.trials for part in (trial.adapt, trial.judge)]))


@dataclass(frozen=True, slots=True)
class _Target:
    """The rows of one target, and those that learn for it."""

    name: str
    sources: tuple[Rows, ...]
    rows: Rows


def plan(dataset: Dataset, settings: CompareSettings, count: int, official: Rows) -> TransferPlan:
    """Every trial of every repeat.

    Args:
        dataset: n labelled rows.
        settings: what is the target, and how many of its rows may be looked at.
        count: repeats.
        official: rows of the official test part or of the target's file; they are the target where no piece is.

    Raises:
        SettingsError: a piece that is named is not there, or the bias is in a column that cannot be used.
        DataError: the table cannot be cut this way, or a target has too few rows.
    """
    if settings.cut.ways:
        return _by_pieces(dataset, settings, count, official)
    bias = None if settings.bias is None else selection(dataset, settings.bias, settings.bias_strength)
    share = settings.validation or (0.2 if bias is None else 0.3)
    fixed = bool(len(official)) or settings.label_noise > 0
    pool = np.setdiff1d(np.arange(dataset.n), official)
    name = "official test part" if len(official) else "random part"
    if settings.test_on:
        name = Path(settings.test_on[0]).name
    trials = []
    for r in range(count):
        seed = settings.seed + r
        judged = official if len(official) else _random_part(dataset, share, settings.seed if fixed else seed)
        learned = np.setdiff1d(pool, judged)
        if bias is not None:
            learned = bias.selected(learned, seed=seed)
        trials.append(_trial(dataset, settings, r, _Target(name, (learned,), judged), bias, pool=len(pool)))
    words = f"{'official test part' if len(official) else f'a random {share:.0%} of the rows'} as the target"
    if settings.test_on:
        words = f"{name} as the target"
    if bias is not None:
        words += f"; training rows selected by {bias.words}"
    setting: Setting = "transfer" if settings.test_on else "integral"
    return TransferPlan(setting, tuple(trials), (name,), fixed, not fixed, words, ())


def _by_pieces(dataset: Dataset, settings: CompareSettings, count: int, official: Rows) -> TransferPlan:
    """Pieces are the targets: the named ones, or each in turn."""
    everything = settings.cut.by is not None  # pieces by owner keep their rows of an official test part
    pool = np.arange(dataset.n) if everything else np.setdiff1d(np.arange(dataset.n), official)

    setting: Setting = "in turn" if settings.in_turn else "transfer"
    trials: list[TransferTask] = []
    findings: list[Finding] = []
    names: tuple[str, ...] = ()
    words = ""
    for r in range(count):
        made = cut(take(dataset, pool), settings.cut, seed=settings.seed + r)
        pieces = [Fragment(each.kind, each.name, pool[each.rows]) for each in made.fragments]
        targets = _targets(pieces, settings)
        if r == 0:
            findings += [*validate(take(dataset, pool), made), *_too_small(targets)]
            words = made.words
        targets = [target for target in targets if len(target.rows) >= SMALLEST_PIECE]
        if not targets:
            raise DataError(f"{dataset.name}: no piece has {SMALLEST_PIECE} rows to be a target; use fewer pieces")
        names = tuple(target.name for target in targets)
        trials += [_trial(dataset, settings, r, target, None, pool=len(pool)) for target in targets]
    if setting == "in turn":
        words += ", each the target of a model of all others"
    else:
        words += f"; learned from {listed(settings.train_on, _SHOWN) or 'all others'}"
    redrawn_folds = bool(settings.cut.folds) and settings.cut.shuffle
    fixed = setting == "transfer" and not redrawn_folds
    return TransferPlan(setting, tuple(trials), names, fixed, redrawn_folds, words, tuple(findings))


def _targets(pieces: Sequence[Fragment], settings: CompareSettings) -> list[_Target]:
    """Each target with the pieces that learn for it."""
    sources = [_found(name, pieces, "--train-on") for name in settings.train_on]
    wanted = [_found(name, pieces, "--test-on") for name in settings.test_on]
    for piece in (piece for piece in wanted if any(piece is source for source in sources)):
        raise SettingsError(f"--train-on and --test-on both name {piece.name}: the target must not be trained on")
    targets = wanted or [piece for piece in pieces if not any(piece is source for source in sources)]
    if not targets:
        raise SettingsError("--train-on names all pieces: leave one as the target")
    found = []
    for target in targets:
        learned = sources or [piece for piece in pieces if all(piece is not each for each in wanted or [target])]
        if not learned:
            raise SettingsError("--test-on names all pieces: leave one to learn from")
        found.append(_Target(target.name, tuple(piece.rows for piece in learned), target.rows))
    return found


def _found(name: str, pieces: Sequence[Fragment], option: str) -> Fragment:
    """The piece of a name, or of what follows `=` or `fold` in it."""
    short = {piece.name: piece.name.partition("=")[2] or piece.name.rpartition(" ")[2] for piece in pieces}
    for piece in pieces:
        if name in (piece.name, short[piece.name]):
            return piece
    there = listed([piece.name for piece in pieces], _SHOWN)
    raise SettingsError(f"{option} {name!r}: no such piece; there are {there}")


def _too_small(targets: Sequence[_Target]) -> list[Finding]:
    small = [target.name for target in targets if len(target.rows) < SMALLEST_PIECE]
    if not small:
        return []
    said = f"fewer than {SMALLEST_PIECE} rows, so they are learned from and are no target: {listed(small, _SHOWN)}"
    return [Finding("small-target", "warning", said)]


def _trial(
    dataset: Dataset, settings: CompareSettings, r: int, target: _Target, bias: Selection | None, *, pool: int
) -> TransferTask:
    seed = settings.seed + r
    if len(target.rows) < SMALLEST_PIECE:
        raise DataError(
            f"{dataset.name}: the target has {len(target.rows)} rows and needs at least {SMALLEST_PIECE}, half of them "
            "to look at; raise --validation or name another target"
        )
    generator = np.random.default_rng([seed, 3])
    order = generator.permutation(target.rows)
    looked = min(len(order) - 1, max(1, round(settings.adapt * len(order))))
    adapt = order[:looked]
    labelled = min(len(adapt), MOST_LABELLED, max(FEWEST_LABELLED, round(settings.labelled * len(order))))
    parts = [_some(rows, settings.most_rows, target.sources, seed) for rows in target.sources if len(rows)]
    if sum(map(len, parts)) < 2:
        raise DataError(f"{dataset.name}: {sum(map(len, parts))} rows to learn from, and at least 2 are needed")
    drawn = len(parts) == 1
    if drawn:
        parts = _dealt(dataset, parts[0], settings.fragments, seed)
    train = np.concatenate(parts)
    fragment = np.repeat(np.arange(len(parts)), [len(part) for part in parts])
    return TransferTask(
        name=target.name,
        repeat=r,
        seed=seed,
        train=train,
        fragment=fragment,
        drawn=drawn,
        adapt=np.sort(adapt),
        labelled=np.sort(adapt[:labelled]),
        judge=np.sort(order[looked:]),
        ratio=None if bias is None else bias.ratio(train),
        passed_over=max(0, pool - len(train) - len(target.rows)),
    )


def _some(rows: Rows, most: int | None, sources: Sequence[Rows], seed: int) -> Rows:
    """A piece's random share of at most so many training rows; two at least."""
    total = sum(map(len, sources))
    if most is None or total <= most:
        return rows
    kept = min(len(rows), max(2, round(len(rows) * most / total)))
    return np.sort(np.random.default_rng([seed, 4, int(rows[0])]).choice(rows, kept, replace=False))


def _dealt(dataset: Dataset, rows: Rows, k: int, seed: int) -> list[Rows]:
    """Random fragments of sizes that differ by at most one, each with its share of every class."""
    k = min(k, len(rows))
    order = np.random.default_rng([seed, 5]).permutation(rows)
    target = dataset.target
    if target is not None and target.kind == "classes":
        order = order[np.argsort(target.values[order], kind="stable")]
    return [np.sort(order[j::k]) for j in range(k)]


def redrawn(trial: TransferTask) -> TransferTask:
    """The same trial with fragments of the same sizes made by chance."""
    generator = np.random.default_rng([trial.seed, 6])
    return replace(trial, fragment=generator.permutation(trial.fragment), drawn=True)


def _random_part(dataset: Dataset, share: float, seed: int) -> Rows:
    """A random share of all rows as the target."""
    rows = np.arange(dataset.n)
    if not SMALLEST_PIECE <= math.ceil(share * len(rows)) < len(rows):
        raise DataError(
            f"{dataset.name}: a target of {share:g} of {len(rows)} rows leaves too few; need {SMALLEST_PIECE} rows in "
            "it and some to learn from"
        )
    return random_part(dataset, rows, share, seed)
