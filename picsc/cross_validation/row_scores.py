"""Scores of single rows by models of standard training that have not seen them. Letters: n rows, r repeats, k folds."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from picsc.cross_validation.experiment import Experiment
from picsc.cross_validation.splits import Repeat, fragmented
from picsc.evaluation.nested_cv import NestedScores
from picsc.runtime.run_folder import RunFolder
from picsc.training.jobs import TrainingJob
from picsc.training.methods import Arrays, MethodModel, in_parts, train_jobs

Floats = NDArray[np.float64]


def scores_of_jobs(experiment: Experiment, folder: RunFolder, name: str, jobs: Sequence[TrainingJob]) -> list[Floats]:
    """Train each job's model and score its test rows.

    Reading: the score of a number is 1 minus its squared error in units of the variance over all rows, so that the mean
        over rows is the share of variance explained.

    Args:
        experiment: setup of training.
        folder: keeps finished parts.
        name: of the parts.
        jobs: with their test rows.

    Returns:
        One array per job: 1 for right and 0 for wrong, or the score of a number; NaN where the model failed.
    """
    trainer, likelihood = experiment.setup.trainer, experiment.setup.likelihood
    rows = np.unique(np.concatenate([np.concatenate([job.train, job.test]) for job in jobs]))
    variance = 1.0
    if likelihood == "numbers":
        y, weights = trainer.targets(rows), experiment.judging.weights_of(rows)
        variance = float(np.average((y - np.average(y, weights=weights)) ** 2, weights=weights))

    def scored(model: MethodModel, job: TrainingJob) -> Floats:
        if model.failed or not variance > 0:
            return np.full(len(job.test), np.nan)
        y = trainer.targets(job.test)
        if likelihood == "numbers":
            return np.asarray(1 - (y - model.outputs.astype(np.float64)) ** 2 / variance, np.float64)
        return np.asarray(model.outputs.argmax(-1) == y, np.float64)

    def compute(some: range) -> Arrays:
        part = [jobs[i] for i in some]
        models = train_jobs(experiment.setup, part, "none")
        return {"scores": np.concatenate([scored(model, job) for model, job in zip(models, part, strict=True)])}

    parts = in_parts(experiment.setup, folder, name, len(jobs), compute)
    flat = np.concatenate([part["scores"] for part in parts])
    return np.split(flat, np.cumsum([len(job.test) for job in jobs])[:-1])


def folds_of(repeats: Sequence[Repeat], n: int) -> NDArray[np.int64]:
    """Fold of each row in each repeat, (r, n)."""
    fold = np.empty((len(repeats), n), np.int64)
    for r, repeat in enumerate(repeats):
        for i, piece in enumerate(repeat.pieces):
            fold[r, piece] = i
    return fold


def fold_jobs(repeats: Sequence[Repeat]) -> list[TrainingJob]:
    """One job per repeat and fold: the other folds are trained on."""
    return [
        TrainingJob(*repeat.training(i), repeat.tested(i), repeat.seed)
        for repeat in repeats
        for i in range(len(repeat.pieces))
    ]


def by_row(repeats: Sequence[Repeat], scores: Sequence[Floats], n: int) -> Floats:
    """Scores of `fold_jobs` as an array of rows, (r, n)."""
    found, k = np.full((len(repeats), n), np.nan), len(repeats[0].pieces)
    for r, repeat in enumerate(repeats):
        for i in range(k):
            found[r, repeat.tested(i)] = scores[r * k + i]
    return found


def nested_scores(
    experiment: Experiment, folder: RunFolder, name: str, repeats: Sequence[Repeat], outer: Floats
) -> NestedScores:
    """Scores of nested cross-validation: one more model for each two folds of a repeat, which tests both.

    Args:
        experiment: setup of training.
        folder: keeps finished parts.
        name: of the parts.
        repeats: r of them, with k folds of all rows.
        outer: (r, n) scores of the cross-validation itself.
    """
    n, k, jobs, pairs = outer.shape[1], len(repeats[0].pieces), [], []
    for r, repeat in enumerate(repeats):
        for a in range(k):
            for b in range(a):
                train, fragment = fragmented(
                    [piece for i, piece in enumerate(repeat.pieces) if i not in (a, b)], np.empty(0, np.int64)
                )
                test = np.concatenate([repeat.pieces[a], repeat.pieces[b]])
                jobs.append(TrainingJob(train, fragment, test, repeat.seed))
                pairs.append((r, a, b))
    inner = np.full((len(repeats), n, k), np.nan)
    for (r, a, b), job, scores in zip(pairs, jobs, scores_of_jobs(experiment, folder, name, jobs), strict=True):
        size = len(repeats[r].pieces[a])
        inner[r, job.test[:size], b] = scores[:size]
        inner[r, job.test[size:], a] = scores[size:]
    return NestedScores(folds_of(repeats, n), outer, inner)
