"""Choice of lambda of corrected training, and of weight decay, its control, on training rows alone.

Letters: l jobs, g sequences, a candidates.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import torch
from numpy.typing import NDArray

from picsc.datasets.rows import Rows
from picsc.equations.likelihood import Likelihood
from picsc.evaluation.metrics import scores_of_models
from picsc.fragments.groups import inner_folds_of_groups, of_other_groups
from picsc.training.algorithm_2 import Algorithm2Settings, initial_state, learn_fragment
from picsc.training.jobs import Trainer, TrainingJob

STRENGTHS = (0.0, 0.001, 0.01, 0.04, 0.07, 0.1)
"""Candidates for lambda: the paper's four, a weaker one and none."""
DECAYS = (0.0, 0.0001, 0.001, 0.01, 0.03, 0.1)
"""Candidates for weight decay."""
INNER = 3
"""Inner folds of a cross-validation."""
MOST_ROWS = 6000
"""Most training rows that a choice uses, the same share of every fragment."""
LOOK_AHEAD = 4
"""Fragments that a sequence's strength is chosen on."""

Floats = NDArray[np.float64]


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
        inner: number of inner folds; 1 holds out one part only.

    Returns:
        (l,), one of `STRENGTHS` or `DECAYS` each.
    """
    candidates = np.array(STRENGTHS if penalised else DECAYS)
    parts = [_inner(job, j, trainer.groups) for job in jobs for j in range(inner)]
    grid = np.tile(candidates, (len(parts), 1))
    none = np.zeros_like(grid)
    trained = trainer.train_jobs(parts, grid if penalised else none, none if penalised else grid)
    losses = np.full((len(parts), len(candidates)), np.inf)
    for i, (part, models) in enumerate(zip(parts, trained, strict=True)):
        losses[i] = _log_losses(models.outputs, trainer.targets(part.test), likelihood)
    mean = losses.reshape(len(jobs), inner, -1).mean(1)
    best: Floats = candidates[mean.argmin(1)]
    return best


def tune_prequentially(
    trainer: Trainer,
    sequences: Sequence[Sequence[Rows]],
    seeds: Sequence[int],
    scaled_on: Sequence[Rows] | None,
    likelihood: Likelihood,
    settings: Algorithm2Settings,
    *,
    penalised: bool,
) -> Floats:
    """The candidate of each sequence under which the first fragments predict the next one best, by log-loss.

    Reading: rows whose group was in an earlier fragment are not predicted.

    Args:
        trainer: trains the candidates.
        sequences: g of equally many fragments; of fewer than three, each is halved if all have two rows.
        seeds: of the initial weights.
        scaled_on: rows that each sequence's encoding is fitted on once; None lets it grow with the fragments.
        likelihood: of the target.
        settings: of Algorithm 2, apart from the candidates.
        penalised: True chooses lambda, False weight decay.

    Returns:
        (g,), one of `STRENGTHS` or `DECAYS` each.
    """
    candidates = np.array(STRENGTHS if penalised else DECAYS)
    if len(sequences[0]) < 3:
        halved = [[half for rows in sequence for half in _halves(rows, trainer.groups)] for sequence in sequences]
        if min(len(half) for sequence in halved for half in sequence):
            sequences = halved
    first = [list(sequence[:LOOK_AHEAD]) for sequence in sequences]
    sequence_trainer = trainer.sequence_trainer(first, seeds, scaled_on, candidates=len(candidates))
    state, losses = initial_state(sequence_trainer), np.zeros((len(first), len(candidates)))
    grid = torch.from_numpy(candidates).to(state.theta).expand(len(first), -1)
    none = torch.zeros_like(grid)
    settings = replace(settings, strength=grid if penalised else none, weight_decay=none if penalised else grid)
    for t in range(len(first[0]) - 1):
        state, _ = learn_fragment(state, sequence_trainer, t, settings)
        evaluated = state.merged if settings.merge else state.theta
        following = [
            of_other_groups(sequence[t + 1], trainer.groups, np.concatenate(sequence[: t + 1])) for sequence in first
        ]
        for g, out in enumerate(sequence_trainer.outputs(evaluated, t, following)):
            losses[g] += _log_losses(out, trainer.targets(following[g]), likelihood)
    best: Floats = candidates[losses.argmin(1)]
    return best


def _halves(rows: Rows, groups: NDArray[np.int64] | None) -> tuple[Rows, Rows]:
    """Every other row, or the rows of every other group."""
    if groups is None:
        return rows[::2], rows[1::2]
    second = np.unique(groups[rows], return_inverse=True)[1].ravel() % 2 == 1
    return rows[~second], rows[second]


def _inner(job: TrainingJob, j: int, groups: NDArray[np.int64] | None = None) -> TrainingJob:
    """Inner fold j: every third row of every fragment, in random order, is held out; long jobs are cut down.

    With groups it is every third group, and fragments that lose all their rows are left out.
    """
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


def _log_losses(outputs: NDArray[np.float32], y: NDArray[np.int64] | Floats, likelihood: Likelihood) -> Floats:
    """(a,) log-losses; infinite where a model diverged, 0 where no row was held out."""
    if len(y) == 0:
        return np.zeros(len(outputs))
    finite = np.isfinite(outputs.reshape(len(outputs), -1)).all(1)
    losses = np.full(len(outputs), np.inf)
    if finite.any():
        losses[finite] = scores_of_models(outputs[finite], y, likelihood).log_loss
    return losses
