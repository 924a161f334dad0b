"""Strengths chosen on training rows alone: lambda of corrected training, and weight decay, its control.

Letters: l lessons, a candidates.
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
from picsc.training.algorithm_2 import Algorithm2Settings, initial_state, learn_fragment
from picsc.training.jobs import Trainer, TrainingJob

STRENGTHS = (0.0, 0.001, 0.01, 0.04, 0.07, 0.1)
"""Candidates for lambda: the paper's four, a weaker one and none."""
DECAYS = (0.0, 0.0001, 0.001, 0.01, 0.03, 0.1)
"""Candidates for weight decay."""
INNER = 3
"""Inner folds."""
MOST_ROWS = 6000
"""Rows of a lesson that a choice looks at, the same share of every fragment."""
LOOK_AHEAD = 4
"""Fragments that a sequence's strength is chosen on."""

Floats = NDArray[np.float64]


def tune_by_inner_cv(
    backend: Trainer, lessons: Sequence[TrainingJob], likelihood: Likelihood, *, penalised: bool, inner: int = INNER
) -> Floats:
    """The candidate of each lesson with the smallest log-loss in inner cross-validation on its training rows.

    Every inner fold takes a share of every fragment, so that no fragment disappears. The smaller candidate wins a tie.

    Args:
        backend: trains.
        lessons: l of them; their tested rows are not looked at.
        likelihood: of the target.
        penalised: choose lambda; if not, weight decay.
        inner: folds; 1 holds out one part only.

    Returns:
        (l,), one of `STRENGTHS` or `DECAYS` each.
    """
    candidates = np.array(STRENGTHS if penalised else DECAYS)
    parts = [_inner(lesson, j) for lesson in lessons for j in range(inner)]
    grid = np.tile(candidates, (len(parts), 1))
    none = np.zeros_like(grid)
    learned = backend.train_jobs(parts, grid if penalised else none, none if penalised else grid)
    losses = np.full((len(parts), len(candidates)), np.inf)
    for i, (part, models) in enumerate(zip(parts, learned, strict=True)):
        losses[i] = _log_losses(models.outputs, backend.targets(part.train, part.test), likelihood)
    mean = losses.reshape(len(lessons), inner, -1).mean(1)
    best: Floats = candidates[mean.argmin(1)]
    return best


def tune_prequentially(
    backend: Trainer,
    sequences: Sequence[Sequence[Rows]],
    seeds: Sequence[int],
    scaled_on: Sequence[Rows],
    likelihood: Likelihood,
    rules: Algorithm2Settings,
    *,
    penalised: bool,
) -> Floats:
    """The candidate of each sequence under which the first fragments predict the next one best, by log-loss.

    Args:
        backend: trains.
        sequences: g of equally many fragments; of fewer than three, each is halved if all have two rows.
        seeds: of the initial weights.
        scaled_on: rows that each sequence's encoding is fitted on.
        likelihood: of the target.
        rules: how to learn, apart from the candidates.
        penalised: choose lambda; if not, weight decay.

    Returns:
        (g,), one of `STRENGTHS` or `DECAYS` each.
    """
    candidates = np.array(STRENGTHS if penalised else DECAYS)
    if len(sequences[0]) < 3 and min(len(rows) for sequence in sequences for rows in sequence) > 1:
        sequences = [[half for rows in sequence for half in (rows[::2], rows[1::2])] for sequence in sequences]
    first = [list(sequence[:LOOK_AHEAD]) for sequence in sequences]
    learner = backend.sequence_trainer(first, seeds, scaled_on, candidates=len(candidates))
    state, losses = initial_state(learner), np.zeros((len(first), len(candidates)))
    grid = torch.from_numpy(candidates).to(state.theta).expand(len(first), -1)
    none = torch.zeros_like(grid)
    rules = replace(rules, strength=grid if penalised else none, weight_decay=none if penalised else grid)
    for t in range(len(first[0]) - 1):
        state, _ = learn_fragment(state, learner, t, rules)
        evaluated = state.merged if rules.merge else state.theta
        following = [sequence[t + 1] for sequence in first]
        for g, out in enumerate(learner.outputs(evaluated, following)):
            losses[g] += _log_losses(out, backend.targets(scaled_on[g], following[g]), likelihood)
    best: Floats = candidates[losses.argmin(1)]
    return best


def _inner(lesson: TrainingJob, j: int) -> TrainingJob:
    """Inner fold j: every third row of every fragment, in random order, is held out; long lessons are cut down."""
    generator = np.random.default_rng([lesson.seed, 2])
    order = generator.permutation(len(lesson.train))
    order = order[np.argsort(lesson.fragment[order], kind="stable")]
    fragment = lesson.fragment[order]
    position = np.arange(len(order)) - np.searchsorted(fragment, fragment)  # within its fragment
    sizes = np.bincount(fragment)
    kept = position < np.maximum(INNER, np.ceil(sizes * MOST_ROWS / len(order)))[fragment]
    order, fragment, position = order[kept], fragment[kept], position[kept]
    alone = sizes[fragment] < 2  # the only row of its fragment is never held out
    held = ~alone & ((position + fragment) % INNER == j)
    rows = lesson.train[order]
    weight = None if lesson.weight is None else lesson.weight[order][~held]
    return replace(lesson, train=rows[~held], fragment=fragment[~held], test=rows[held], weight=weight)


def _log_losses(outputs: NDArray[np.float32], y: NDArray[np.int64] | Floats, likelihood: Likelihood) -> Floats:
    """(a,) log-losses; infinite where a model diverged, 0 where nothing was held out that could tell them apart."""
    if len(y) == 0:
        return np.zeros(len(outputs))
    finite = np.isfinite(outputs.reshape(len(outputs), -1)).all(1)
    losses = np.full(len(outputs), np.inf)
    if finite.any():
        losses[finite] = scores_of_models(outputs[finite], y, likelihood).log_loss
    return losses
