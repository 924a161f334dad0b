"""Transfer tasks of a comparison: training rows, target rows and test rows. Letters: n rows of the table, k fragments.

The target is the set of rows that models shall be right on. Of a task's target, methods may use the covariates of one
part, called target rows, and the labels of a few of them for dynamic weights; the other part are the test rows.
Training rows come in fragments.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from picsc.comparison.targets import SHOWN, SMALLEST_PIECE, Target, backwards, targets_of, too_small
from picsc.datasets.rows import Rows, take
from picsc.datasets.table import Dataset
from picsc.errors import DataError
from picsc.fragments import Fragment, cut, validate
from picsc.fragments.duplicates import tested_duplicates
from picsc.fragments.groups import dealt_out, groups_of, of_other_groups, random_groups
from picsc.fragments.holdout import random_part
from picsc.phrases import counted, listed
from picsc.reports.common import Finding
from picsc.reports.compare import Setting
from picsc.settings import CompareSettings
from picsc.simulation.selection_bias import Selection, selection

FEWEST_LABELLED, MOST_LABELLED = 10, 1000
"""Bounds of the number of target rows with labels for dynamic weights."""


@dataclass(frozen=True, slots=True)
class TransferTask:
    """One target in one repeat. Row numbers are those of the whole table."""

    name: str
    """Name of the target."""
    repeat: int
    """Number of the repeat, from 0."""
    seed: int
    """Seed of the repeat."""
    train: Rows
    """Training rows, fragment by fragment."""
    fragment: NDArray[np.int64]
    """Fragment of each training row, in 0..k-1."""
    random_fragments: bool
    """True where the fragments are drawn at random, False where they are pieces of the data."""
    target: Rows
    """Target rows whose covariates methods may use, increasing."""
    labelled: Rows
    """Those of the target rows whose labels dynamic weights may use, increasing."""
    test: Rows
    """Rows of the target that test the models, increasing; no method sees them."""
    true_weights: NDArray[np.float64] | None
    """True weight of each training row, of mean 1; None where the selection of training rows is not known."""
    unused: int
    """Rows that are neither the target's nor training rows: not selected, or more than `most_rows`."""


@dataclass(frozen=True, slots=True)
class TransferPlan:
    """All tasks of a comparison."""

    setting: Setting
    tasks: tuple[TransferTask, ...]
    """Repeat by repeat, equally many each."""
    names: tuple[str, ...]
    """Names of the targets of a repeat."""
    fixed_target: bool
    """True where every repeat has the same target and the same pool of training rows, and redraws only the part of the
    target that is tested on."""
    redrawn_targets: bool
    """True where every repeat draws other targets at random."""
    words: str
    """Description of the split, for the report."""
    findings: tuple[Finding, ...]

    @property
    def repeats(self) -> int:
        """Number of repeats."""
        return len(self.tasks) // len(self.names)

    @property
    def rows_of_targets(self) -> Rows:
        """Target and test rows of all tasks, increasing."""
        return np.unique(np.concatenate([part for task in self.tasks for part in (task.target, task.test)]))


def plan(dataset: Dataset, settings: CompareSettings, count: int, official: Rows) -> TransferPlan:
    """Every task of every repeat.

    Args:
        dataset: n labelled rows.
        settings: target, and the share of its rows that methods may use.
        count: repeats.
        official: rows of the official test part or of the target's file; they are the target unless a piece is.

    Raises:
        SettingsError: a piece that is named does not exist, or the bias is in a column that cannot be used.
        DataError: the table cannot be cut this way, or a target has too few rows.
    """
    groups = groups_of(dataset, settings.cut)
    if settings.cut.ways:
        return _by_pieces(dataset, settings, count, official, groups)
    bias = None if settings.bias is None else selection(dataset, settings.bias, settings.bias_strength)
    share = settings.validation or (0.2 if bias is None else 0.3)
    fixed = bool(len(official)) or settings.label_noise > 0
    pool = np.setdiff1d(np.arange(dataset.n), official)
    name = "official test part" if len(official) else "random part"
    if settings.test_on:
        name = Path(settings.test_on[0]).name
    tasks, left_out = [], list[Finding]()
    for r in range(count):
        seed = settings.seed + r
        tested = official if len(official) else _random_part(dataset, share, settings.seed if fixed else seed, groups)
        trained = np.setdiff1d(pool, tested)
        if bias is not None:
            trained = bias.selected(trained, seed=seed)
        target = Target(name, (trained,), tested)
        left_out = left_out or _left_out([target], groups)
        tasks.append(_task(_Shared(dataset, settings, len(pool), groups), r, target, bias))
    words = f"{'official test part' if len(official) else f'a random {share:.0%} of the rows'} as the target"
    if settings.test_on:
        words = f"{name} as the target"
    if bias is not None:
        words += f"; training rows selected by {bias.words}"
    setting: Setting = "transfer" if settings.test_on else "integral"
    first = tasks[0]
    findings = tested_duplicates(dataset, first.train, np.concatenate([first.target, first.test]), "target")
    findings += [*left_out, *_of_one_group(tasks, groups, settings)]
    return TransferPlan(setting, tuple(tasks), (name,), fixed, not fixed, words, tuple(findings))


def _by_pieces(
    dataset: Dataset, settings: CompareSettings, count: int, official: Rows, groups: Rows | None
) -> TransferPlan:
    """Pieces are the targets: the named ones, or each in turn."""
    everything = settings.cut.column is not None  # pieces by owner keep their rows of an official test part
    pool = np.arange(dataset.n) if everything else np.setdiff1d(np.arange(dataset.n), official)

    setting: Setting = "in turn" if settings.in_turn else "transfer"
    tasks: list[TransferTask] = []
    findings: list[Finding] = []
    names: tuple[str, ...] = ()
    words = ""
    for r in range(count):
        made = cut(take(dataset, pool), settings.cut, seed=settings.seed + r)
        pieces = [Fragment(each.kind, each.name, pool[each.rows]) for each in made.fragments]
        targets = targets_of(pieces, settings)
        if r == 0:
            findings += [
                *validate(take(dataset, pool), made),
                *too_small(targets),
                *backwards(pieces, targets, settings),
            ]
            findings += _left_out(targets, groups)
            words = made.words
        targets = [target for target in targets if len(target.rows) >= SMALLEST_PIECE]
        if not targets:
            raise DataError(f"{dataset.name}: no piece has {SMALLEST_PIECE} rows to be a target; use fewer pieces")
        names = tuple(target.name for target in targets)
        tasks += [_task(_Shared(dataset, settings, len(pool), groups), r, target, None) for target in targets]
    findings += _of_one_group(tasks, groups, settings)
    forward = settings.cut.forward
    if setting == "in turn":
        words += f", each{' but the first' if forward else ''} the target of a model of "
        words += "all pieces before it" if forward else "all others"
    else:
        others = "the pieces before" if forward else "all others"
        words += f"; learned from {listed(settings.train_on, SHOWN) or others}"
    redrawn = bool(settings.cut.folds) and settings.cut.shuffle
    fixed = setting == "transfer" and not redrawn
    return TransferPlan(setting, tuple(tasks), names, fixed, redrawn, words, tuple(findings))


@dataclass(frozen=True, slots=True)
class _Shared:
    """The table, the settings and the groups that the tasks of a plan share."""

    dataset: Dataset
    settings: CompareSettings
    pool: int
    """Rows that are trained on or are a target."""
    groups: Rows | None
    """(n,) group of each row; None without groups."""


def _task(shared: _Shared, r: int, target: Target, bias: Selection | None) -> TransferTask:
    dataset, settings = shared.dataset, shared.settings
    seed = settings.seed + r
    if len(target.rows) < SMALLEST_PIECE:
        raise DataError(
            f"{dataset.name}: the target has {len(target.rows)} rows and needs at least {SMALLEST_PIECE}, half of them "
            "to test on; raise --validation or name another target"
        )
    usable, tested = _divided(shared, target.rows, seed)
    labelled = min(len(usable), MOST_LABELLED, max(FEWEST_LABELLED, round(settings.labelled * len(target.rows))))
    sources = tuple(of_other_groups(rows, shared.groups, target.rows) for rows in target.sources)
    target = replace(target, sources=sources)
    parts = [_some(rows, settings.most_rows, target.sources, seed) for rows in target.sources if len(rows)]
    if sum(map(len, parts)) < 2:
        raise DataError(f"{dataset.name}: {sum(map(len, parts))} training rows, and at least 2 are needed")
    random_fragments = len(parts) == 1
    if random_fragments:
        parts = _random_fragments(shared, parts[0], seed)
    train = np.concatenate(parts)
    fragment = np.repeat(np.arange(len(parts)), [len(part) for part in parts])
    return TransferTask(
        name=target.name,
        repeat=r,
        seed=seed,
        train=train,
        fragment=fragment,
        random_fragments=random_fragments,
        target=np.sort(usable),
        labelled=np.sort(usable[:labelled]),
        test=np.sort(tested),
        true_weights=None if bias is None else bias.ratio(train),
        unused=max(0, shared.pool - len(train) - len(target.rows)),
    )


def _divided(shared: _Shared, rows: Rows, seed: int) -> tuple[Rows, Rows]:
    """Target rows and test rows of a target, in random order; by whole groups where it has several."""
    share, groups = shared.settings.adapt, shared.groups
    order = np.random.default_rng([seed, 3]).permutation(rows)
    if groups is None or len(np.unique(groups[rows])) < 2:
        seen = min(len(order) - 1, max(1, round(share * len(order))))
        return order[:seen], order[seen:]
    target = shared.dataset.target
    classes = None if target is None or target.kind != "classes" else target.values[order].astype(np.int64)
    inside = random_groups(groups[order], share, [seed, 3], classes)
    return order[inside], order[~inside]


def _left_out(targets: Sequence[Target], groups: Rows | None) -> list[Finding]:
    """A note on training rows that are left out because their groups are in the target."""
    left = [
        (sum(len(rows) - len(of_other_groups(rows, groups, target.rows)) for rows in target.sources), target.name)
        for target in targets
    ]
    if not any(count for count, _ in left):
        return []
    names = listed([f"{name} ({count})" for count, name in left if count], SHOWN)
    message = f"training rows whose group is in the target are left out: {names}"
    return [Finding("tested-groups-left-out", "note", message, "", tuple(name for count, name in left if count))]


def _of_one_group(tasks: Sequence[TransferTask], groups: Rows | None, settings: CompareSettings) -> list[Finding]:
    """A note on targets of one group, whose rows are divided into target rows and test rows."""
    if groups is None:
        return []
    first = [task for task in tasks if task.repeat == 0]
    one = [task.name for task in first if len(np.unique(groups[np.concatenate([task.target, task.test])])) < 2]
    if not one:
        return []
    message = (
        f"{counted(len(one), 'target')} of one group of {settings.cut.group!r}: {listed(one, SHOWN)}; target rows and "
        "test rows are of the same group there"
    )
    return [Finding("target-of-one-group", "note", message, "", tuple(one))]


def _some(rows: Rows, most: int | None, sources: Sequence[Rows], seed: int) -> Rows:
    """Random rows of a piece, so that all pieces together have at most so many; two of each at least."""
    total = sum(map(len, sources))
    if most is None or total <= most:
        return rows
    kept = min(len(rows), max(2, round(len(rows) * most / total)))
    return np.sort(np.random.default_rng([seed, 4, int(rows[0])]).choice(rows, kept, replace=False))


def _random_fragments(shared: _Shared, rows: Rows, seed: int) -> list[Rows]:
    """Random fragments of sizes that differ by at most one, each with its share of every class.

    Where parameters are carried along them, they have whole groups: the next fragment tests what the last ones taught.
    """
    k = min(shared.settings.fragments, len(rows))
    groups = shared.groups
    if groups is not None and shared.settings.algorithm == 2 and len(np.unique(groups[rows])) >= k:
        fragment = dealt_out(groups[rows], np.bincount(np.arange(len(rows)) % k), np.random.default_rng([seed, 5]))
        return [rows[fragment == j] for j in range(k)]
    order = np.random.default_rng([seed, 5]).permutation(rows)
    target = shared.dataset.target
    if target is not None and target.kind == "classes":
        order = order[np.argsort(target.values[order], kind="stable")]
    return [np.sort(order[j::k]) for j in range(k)]


def with_random_fragments(task: TransferTask, groups: Rows | None = None) -> TransferTask:
    """The same task with random fragments of the same sizes.

    Args:
        task: with fragments that are pieces of the data.
        groups: (n,) group of each row of the table: fragments then have whole groups, and nearly the same sizes.
    """
    generator = np.random.default_rng([task.seed, 6])
    sizes = np.bincount(task.fragment)
    if groups is not None and len(np.unique(groups[task.train])) >= len(sizes):
        return replace(task, fragment=dealt_out(groups[task.train], sizes, generator), random_fragments=True)
    return replace(task, fragment=generator.permutation(task.fragment), random_fragments=True)


def _random_part(dataset: Dataset, share: float, seed: int, groups: Rows | None) -> Rows:
    """A random share of all rows as the target, of whole groups where there are groups."""
    rows = np.arange(dataset.n)
    if not SMALLEST_PIECE <= math.ceil(share * len(rows)) < len(rows):
        raise DataError(
            f"{dataset.name}: a target of {share:g} of {len(rows)} rows leaves too few; need {SMALLEST_PIECE} rows in "
            "it and some to train on"
        )
    return random_part(dataset, rows, share, seed, groups)
