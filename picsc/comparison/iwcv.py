"""Importance-weighted cross-validation: candidates compared by an estimate of their risk on the target.

The estimate needs training rows and their weights alone.

Source: Sugiyama, Krauledat and Mueller, "Covariate shift adaptation by importance weighted cross validation", JMLR 8,
2007; the paper's baseline IWCV. Letters: j training jobs, n training rows of one, a weight decays.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from picsc.equations.likelihood import Likelihood
from picsc.evaluation.metrics import row_accuracy, row_log_loss
from picsc.fragments.groups import inner_folds_of_groups
from picsc.training.jobs import Trainer, TrainingJob
from picsc.training.tuning.inner_cv import counts_of

EXPONENTS = (0.0, 0.5, 1.0)
"""Candidates for the power of the weights: none, flattened, full."""
DECAYS = (0.0, 0.001, 0.01, 0.1)
"""Candidates for weight decay."""
RISKS = ("unweighted", "iw", "true ratio")
"""Weights of the held-out rows in the risk."""
Floats = NDArray[np.float64]
Arrays = dict[str, NDArray[Any]]


@dataclass(frozen=True, slots=True)
class IwcvChoice:
    """Candidates chosen and risks estimated on the training rows of one job."""

    weighted: tuple[float, float]
    """Power and weight decay of the smallest weighted log-loss."""
    unweighted: tuple[float, float]
    """Power and weight decay of the smallest unweighted log-loss."""
    accuracy: Floats
    """(3,) estimates of the plain model's accuracy, in the order of `RISKS`; NaN where there are no such weights."""
    log_loss: Floats
    """(3,) estimates of its log-loss, nats, in the same order."""
    seconds: float
    """Seconds that the cross-validation took, as an equal share of those of all jobs."""

    @classmethod
    def of(cls, arrays: Arrays, i: int) -> IwcvChoice:
        """The choice of job i among the arrays of `choose_by_iwcv`."""
        weighted, unweighted = (tuple(map(float, arrays[key][i])) for key in ("weighted", "unweighted"))
        return cls(weighted, unweighted, arrays["accuracy"][i], arrays["log_loss"][i], float(arrays["seconds"][i]))  # type: ignore[arg-type]


def choose_by_iwcv(
    trainer: Trainer,
    jobs: Sequence[TrainingJob],
    weights: Sequence[Floats | None],
    ratios: Sequence[Floats | None],
    likelihood: Likelihood,
    *,
    inner: int,
) -> Arrays:
    """Cross-validate every candidate of every job on its training rows.

    A candidate is a power of the weights in training and a weight decay. Its weighted risk is sum w l / sum w over the
    held-out rows of all inner folds, with losses l and the full weights w, which is consistent for the risk on the
    target.

    Args:
        trainer: trains.
        jobs: j of them; their test rows are not used.
        weights: (n,) estimated weights of each job's training rows; None where there are none, and then all rows have
            the same weight and only the weight decay is chosen.
        ratios: (n,) true weights; None where they are not known.
        likelihood: of the target column.
        inner: folds; 1 holds out a third of the rows once.

    Returns:
        `weighted` and `unweighted` (j, 2): power and decay; `accuracy` and `log_loss` (j, 3), `seconds` (j,): see
        `IwcvChoice`.
    """
    began = time.perf_counter()
    parts, owners = [], []
    for i, job in enumerate(jobs):
        powers = EXPONENTS if weights[i] is not None else EXPONENTS[:1]
        for held in _held_out(job, inner, trainer.groups):
            for power in powers:
                parts.append(_without(job, held, weights[i], power))
                owners.append((i, power, held))
    grid = np.tile(np.array(DECAYS), (len(parts), 1))
    risks = [_HeldOutScores(len(job.train)) for job in jobs]
    for (i, power, held), part, models in zip(
        owners, parts, trainer.train_jobs(parts, np.zeros_like(grid), grid), strict=True
    ):
        y = trainer.targets(part.test)
        finite = np.isfinite(models.outputs.reshape(len(grid[0]), -1)).all(1)
        losses = np.full((len(grid[0]), len(held)), np.inf)
        right = np.full_like(losses, np.nan)
        if finite.any():
            losses[finite] = row_log_loss(models.outputs[finite], y, likelihood)
            right[finite] = row_accuracy(models.outputs[finite], y, likelihood)
        for a, decay in enumerate(DECAYS):
            risks[i].add((power, decay), held, losses[a], right[a])
    found: Arrays = {
        "weighted": np.zeros((len(jobs), 2)),
        "unweighted": np.zeros((len(jobs), 2)),
        "accuracy": np.full((len(jobs), len(RISKS)), np.nan),
        "log_loss": np.full((len(jobs), len(RISKS)), np.nan),
    }
    for i, risk in enumerate(risks):
        counts = counts_of(trainer, jobs[i].train)
        ones = np.ones(len(jobs[i].train)) if counts is None else counts
        estimated, true = (None if each is None else each * ones for each in (weights[i], ratios[i]))
        found["weighted"][i] = risk.best(ones if estimated is None else estimated)
        found["unweighted"][i] = risk.best(ones)
        for k, by in enumerate((ones, estimated, true)):
            if by is not None:
                found["accuracy"][i, k], found["log_loss"][i, k] = risk.of((0.0, 0.0), by)
    found["seconds"] = np.full(len(jobs), (time.perf_counter() - began) / len(jobs))
    return found


class _HeldOutScores:
    """Loss and accuracy of each candidate on the training rows, each by a model that it was held out from."""

    def __init__(self, n: int) -> None:
        self._n = n
        self._losses: dict[tuple[float, float], Floats] = {}
        self._right: dict[tuple[float, float], Floats] = {}

    def add(self, candidate: tuple[float, float], held: NDArray[np.int64], losses: Floats, right: Floats) -> None:
        """Add the scores of a candidate on some rows."""
        for kept, values in ((self._losses, losses), (self._right, right)):
            kept.setdefault(candidate, np.full(self._n, np.nan))[held] = values

    def of(self, candidate: tuple[float, float], weights: Floats) -> tuple[float, float]:
        """Weighted accuracy and log-loss of a candidate."""
        losses, right = self._losses[candidate], self._right[candidate]
        tested = ~np.isnan(losses)
        w = weights[tested]
        if not w.sum() > 0:
            return np.nan, np.nan
        return float((w * right[tested]).sum() / w.sum()), float((w * losses[tested]).sum() / w.sum())

    def best(self, weights: Floats) -> tuple[float, float]:
        """The candidate of the smallest weighted log-loss; the first one wins a tie."""
        risks = {candidate: self.of(candidate, weights)[1] for candidate in sorted(self._losses)}
        return min(risks, key=lambda candidate: np.nan_to_num(risks[candidate], nan=np.inf))


def _held_out(job: TrainingJob, inner: int, groups: NDArray[np.int64] | None = None) -> list[NDArray[np.int64]]:
    """Positions of the training rows that each inner fold holds out: of every fragment, or whole groups."""
    generator = np.random.default_rng([job.seed, 8])
    order = generator.permutation(len(job.train))
    k = max(inner, 3) if len(order) >= 3 else 2
    if groups is not None and len(np.unique(groups[job.train])) > 1:
        fold = inner_folds_of_groups(groups[job.train], job.fragment, k, generator)
        return [np.flatnonzero(fold == j) for j in range(min(inner, k)) if (fold == j).any()]
    order = order[np.argsort(job.fragment[order], kind="stable")]
    return [np.sort(order[j::k]) for j in range(min(inner, k))]


def _without(job: TrainingJob, held: NDArray[np.int64], weights: Floats | None, power: float) -> TrainingJob:
    """The job on all rows but those held out, with weights to a power."""
    kept = np.setdiff1d(np.arange(len(job.train)), held)
    weight = None
    if weights is not None and power > 0:
        raised = weights[kept] ** power
        weight = raised / raised.mean() if raised.sum() > 0 else None
    train = job.train[kept]
    return replace(job, train=train, fragment=np.zeros(len(train), np.int64), test=job.train[held], weight=weight)
