"""Choice of lambda of corrected training, and of weight decay, its control, by inner cross-validation on training rows.

Letters: l jobs, a candidates.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from picsc.equations.likelihood import Likelihood
from picsc.evaluation.metrics import scores_of_models
from picsc.fragments.groups import inner_folds_of_groups
from picsc.training.jobs import Trainer, TrainingJob
from picsc.training.tuning.grid import Axis, Floats, search

STRENGTHS = Axis((0.0, 0.001, 0.01, 0.04, 0.07, 0.1), most=10.0)
"""Candidates for lambda: the paper's four, a weaker one and none; larger ones where the largest is the best."""
DECAYS = Axis((0.0, 0.0001, 0.001, 0.01, 0.03, 0.1), most=10.0)
"""Candidates for weight decay."""
INNER = 3
"""Inner folds of a cross-validation."""
MOST_ROWS = 6000
"""Most training rows that a choice uses, the same share of every fragment."""


def tune_by_inner_cv(
    trainer: Trainer, jobs: Sequence[TrainingJob], likelihood: Likelihood, *, penalised: bool, inner: int = INNER
) -> Floats:
    """The candidate of each job with the smallest log-loss in inner cross-validation on its training rows.

    Every inner fold takes a share of every fragment, so that no fragment disappears, or of whole groups where there are
    groups. The smaller candidate wins a tie.

    Args:
        trainer: trains the candidates.
        jobs: l of them; their test rows are not used.
        likelihood: of the target.
        penalised: True chooses lambda, False weight decay.
        inner: number of inner folds; 1 holds out one part only. Jobs that name the rows to choose on have one.

    Returns:
        (l,), candidates of `STRENGTHS` or `DECAYS`.
    """
    if jobs and jobs[0].choose_on is not None:
        inner = 1

    def losses(which: NDArray[np.intp], values: tuple[float, ...]) -> Floats:
        parts = [_inner(jobs[i], j, trainer.groups) for i in which for j in range(inner)]
        grid = np.tile(values, (len(parts), 1))
        none = np.zeros_like(grid)
        trained = trainer.train_jobs(parts, grid if penalised else none, none if penalised else grid)
        found = np.full((len(parts), len(values)), np.inf)
        for i, (part, models) in enumerate(zip(parts, trained, strict=True)):
            y, counts = trainer.targets(part.test), counts_of(trainer, part.test)
            found[i] = log_losses(models.outputs, y, likelihood, counts)
        mean: Floats = found.reshape(len(which), inner, -1).mean(1)
        return mean

    return search(STRENGTHS if penalised else DECAYS, len(jobs), losses)


def _inner(job: TrainingJob, j: int, groups: NDArray[np.int64] | None = None) -> TrainingJob:
    """Inner fold j: every third row of every fragment, in random order, is held out; long jobs are cut down.

    With groups it is every third group, and fragments that lose all their rows are left out.
    """
    if job.choose_on is not None:
        return replace(job, test=job.choose_on)
    generator = np.random.default_rng([job.seed, 2])
    order = generator.permutation(len(job.train))
    order = order[np.argsort(job.fragment[order], kind="stable")]
    fragment = job.fragment[order]
    position = np.arange(len(order)) - np.searchsorted(fragment, fragment)  # within its fragment
    sizes = np.bincount(fragment)
    kept = position < np.maximum(INNER, np.ceil(sizes * MOST_ROWS / len(order)))[fragment]
    order, fragment, position = order[kept], fragment[kept], position[kept]
    rows = job.train[order]
    if groups is None or len(np.unique(groups[rows])) < 2:
        alone = sizes[fragment] < 2  # the only row of its fragment is never held out
        held = ~alone & ((position + fragment) % INNER == j)
        left = fragment[~held]
    else:
        held = inner_folds_of_groups(groups[rows], fragment, INNER, generator) == j
        left = np.unique(fragment[~held], return_inverse=True)[1].ravel()
        if left.max() == 0 < fragment.max():
            left = np.arange(len(left)) % 2
    weight = None if job.weight is None else job.weight[order][~held]
    return replace(job, train=rows[~held], fragment=left, test=rows[held], weight=weight)


def counts_of(trainer: Trainer, rows: NDArray[np.int64]) -> Floats | None:
    """How much some rows count in scores; None is the same for all."""
    return None if trainer.counts is None else trainer.counts[rows]


def log_losses(
    outputs: NDArray[np.float32], y: NDArray[np.int64] | Floats, likelihood: Likelihood, counts: Floats | None = None
) -> Floats:
    """Log-losses of some models; infinite where one diverged, 0 where no row was held out.

    Args:
        outputs: log-probabilities (a, n, c), or means (a, n).
        y: labels of the rows, (n,).
        likelihood: of the target.
        counts: how much each row counts, (n,); None is the same for all.

    Returns:
        (a,), nats per row.
    """
    if len(y) == 0:
        return np.zeros(len(outputs))
    finite = np.isfinite(outputs.reshape(len(outputs), -1)).all(1)
    losses = np.full(len(outputs), np.inf)
    if finite.any():
        losses[finite] = scores_of_models(outputs[finite], y, likelihood, sample=counts).log_loss
    return losses
