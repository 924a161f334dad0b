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
"""Bounds of the number of target rows with labels for dynamic weights."""
SMALLEST_PIECE = 4
"""Rows of the smallest piece that can be a target: two target rows and two test rows."""
_SHOWN = 10


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


@dataclass(frozen=True, slots=True)
class _Target:
    """Rows of one target, and the pieces that are trained on for it."""

    name: str
    sources: tuple[Rows, ...]
    rows: Rows


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
    if settings.cut.ways:
        return _by_pieces(dataset, settings, count, official)
    bias = None if settings.bias is None else selection(dataset, settings.bias, settings.bias_strength)
    share = settings.validation or (0.2 if bias is None else 0.3)
    fixed = bool(len(official)) or settings.label_noise > 0
    pool = np.setdiff1d(np.arange(dataset.n), official)
    name = "official test part" if len(official) else "random part"
    if settings.test_on:
        name = Path(settings.test_on[0]).name
    tasks = []
    for r in range(count):
        seed = settings.seed + r
        tested = official if len(official) else _random_part(dataset, share, settings.seed if fixed else seed)
        trained = np.setdiff1d(pool, tested)
        if bias is not None:
            trained = bias.selected(trained, seed=seed)
        tasks.append(_task(dataset, settings, r, _Target(name, (trained,), tested), bias, pool=len(pool)))
    words = f"{'official test part' if len(official) else f'a random {share:.0%} of the rows'} as the target"
    if settings.test_on:
        words = f"{name} as the target"
    if bias is not None:
        words += f"; training rows selected by {bias.words}"
    setting: Setting = "transfer" if settings.test_on else "integral"
    return TransferPlan(setting, tuple(tasks), (name,), fixed, not fixed, words, ())


def _by_pieces(dataset: Dataset, settings: CompareSettings, count: int, official: Rows) -> TransferPlan:
    """Pieces are the targets: the named ones, or each in turn."""
    everything = settings.cut.by is not None  # pieces by owner keep their rows of an official test part
    pool = np.arange(dataset.n) if everything else np.setdiff1d(np.arange(dataset.n), official)

    setting: Setting = "in turn" if settings.in_turn else "transfer"
    tasks: list[TransferTask] = []
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
        tasks += [_task(dataset, settings, r, target, None, pool=len(pool)) for target in targets]
    if setting == "in turn":
        words += ", each the target of a model of all others"
    else:
        words += f"; learned from {listed(settings.train_on, _SHOWN) or 'all others'}"
    redrawn = bool(settings.cut.folds) and settings.cut.shuffle
    fixed = setting == "transfer" and not redrawn
    return TransferPlan(setting, tuple(tasks), names, fixed, redrawn, words, tuple(findings))


def _targets(pieces: Sequence[Fragment], settings: CompareSettings) -> list[_Target]:
    """Each target with the pieces that are trained on for it."""
    sources = [_found(name, pieces, "--train-on") for name in settings.train_on]
    wanted = [_found(name, pieces, "--test-on") for name in settings.test_on]
    for piece in (piece for piece in wanted if any(piece is source for source in sources)):
        raise SettingsError(f"--train-on and --test-on both name {piece.name}: the target must not be trained on")
    targets = wanted or [piece for piece in pieces if not any(piece is source for source in sources)]
    if not targets:
        raise SettingsError("--train-on names all pieces: leave one as the target")
    found = []
    for target in targets:
        trained = sources or [piece for piece in pieces if all(piece is not each for each in wanted or [target])]
        if not trained:
            raise SettingsError("--test-on names all pieces: leave one to train on")
        found.append(_Target(target.name, tuple(piece.rows for piece in trained), target.rows))
    return found


def _found(name: str, pieces: Sequence[Fragment], option: str) -> Fragment:
    """The piece of a name, or of the part of a name behind `=` or `fold`."""
    short = {piece.name: piece.name.partition("=")[2] or piece.name.rpartition(" ")[2] for piece in pieces}
    for piece in pieces:
        if name in (piece.name, short[piece.name]):
            return piece
    existing = listed([piece.name for piece in pieces], _SHOWN)
    raise SettingsError(f"{option} {name!r}: no such piece; there are {existing}")


def _too_small(targets: Sequence[_Target]) -> list[Finding]:
    """Warning about pieces with too few rows for a target."""
    small = [target.name for target in targets if len(target.rows) < SMALLEST_PIECE]
    if not small:
        return []
    message = f"fewer than {SMALLEST_PIECE} rows, so they are trained on but are no target: {listed(small, _SHOWN)}"
    return [Finding("small-target", "warning", message)]


def _task(
    dataset: Dataset, settings: CompareSettings, r: int, target: _Target, bias: Selection | None, *, pool: int
) -> TransferTask:
    seed = settings.seed + r
    if len(target.rows) < SMALLEST_PIECE:
        raise DataError(
            f"{dataset.name}: the target has {len(target.rows)} rows and needs at least {SMALLEST_PIECE}, half of them "
            "to test on; raise --validation or name another target"
        )
    generator = np.random.default_rng([seed, 3])
    order = generator.permutation(target.rows)
    seen = min(len(order) - 1, max(1, round(settings.adapt * len(order))))
    usable = order[:seen]
    labelled = min(len(usable), MOST_LABELLED, max(FEWEST_LABELLED, round(settings.labelled * len(order))))
    parts = [_some(rows, settings.most_rows, target.sources, seed) for rows in target.sources if len(rows)]
    if sum(map(len, parts)) < 2:
        raise DataError(f"{dataset.name}: {sum(map(len, parts))} training rows, and at least 2 are needed")
    random_fragments = len(parts) == 1
    if random_fragments:
        parts = _random_fragments(dataset, parts[0], settings.fragments, seed)
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
        test=np.sort(order[seen:]),
        true_weights=None if bias is None else bias.ratio(train),
        unused=max(0, pool - len(train) - len(target.rows)),
    )


def _some(rows: Rows, most: int | None, sources: Sequence[Rows], seed: int) -> Rows:
    """Random rows of a piece, so that all pieces together have at most so many; two of each at least."""
    total = sum(map(len, sources))
    if most is None or total <= most:
        return rows
    kept = min(len(rows), max(2, round(len(rows) * most / total)))
    return np.sort(np.random.default_rng([seed, 4, int(rows[0])]).choice(rows, kept, replace=False))


def _random_fragments(dataset: Dataset, rows: Rows, k: int, seed: int) -> list[Rows]:
    """Random fragments of sizes that differ by at most one, each with its share of every class."""
    k = min(k, len(rows))
    order = np.random.default_rng([seed, 5]).permutation(rows)
    target = dataset.target
    if target is not None and target.kind == "classes":
        order = order[np.argsort(target.values[order], kind="stable")]
    return [np.sort(order[j::k]) for j in range(k)]


def with_random_fragments(task: TransferTask) -> TransferTask:
    """The same task with random fragments of the same sizes."""
    generator = np.random.default_rng([task.seed, 6])
    return replace(task, fragment=generator.permutation(task.fragment), random_fragments=True)


def _random_part(dataset: Dataset, share: float, seed: int) -> Rows:
    """A random share of all rows as the target."""
    rows = np.arange(dataset.n)
    if not SMALLEST_PIECE <= math.ceil(share * len(rows)) < len(rows):
        raise DataError(
            f"{dataset.name}: a target of {share:g} of {len(rows)} rows leaves too few; need {SMALLEST_PIECE} rows in "
            "it and some to train on"
        )
    return random_part(dataset, rows, share, seed)
