"""Methods that cross-validation and comparison share: plain training, Algorithm 1, weight decay, and their scores.

Methods that train along a sequence of fragments are in `picsc.training.sequence_methods`. Letters: j jobs, n test rows
of one job, c classes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from picsc.datasets.data import DataKind
from picsc.equations.likelihood import Likelihood
from picsc.evaluation.metrics import scores_of_models
from picsc.runtime.run_folder import PartsMissingError, RunFolder, kept
from picsc.settings import PenaltySettings
from picsc.training.jobs import TableNetwork, Trainer, TrainingJob
from picsc.training.tuning.inner_cv import INNER, tune_by_inner_cv

Arrays = dict[str, NDArray[Any]]
Floats = NDArray[np.float64]
Correction = Literal["none", "penalty", "isotropic", "decay"]
"""Term that corrects training: none, the penalty of Algorithm 1 or 2, and as its controls Algorithm 2's anchor without
the Fisher information's directions, and weight decay."""


SCORES = ("accuracy", "log_loss", "auc", "balanced_accuracy", "weighted_accuracy")
"""Metrics of a model on its test rows, as in `picsc.evaluation.metrics.Score`."""
ONE_INNER = 2000
"""Training rows above which one inner part chooses a candidate as surely as three do, for a third of the work."""
SMALL_WORK = 20_000_000
"""Rows x features x trainings (tasks or repeats) below which starting another process costs more than it saves."""


@dataclass(frozen=True, slots=True)
class MethodSetup:
    """Trainer of one data set, and the settings that every method of a run shares."""

    trainer: Trainer
    likelihood: Likelihood
    """Likelihood of the target column."""
    algorithm: int
    """Algorithm of the paper that picsc uses, 1 or 2."""
    penalty: PenaltySettings
    inner: int
    """Inner folds by which lambda or weight decay is chosen; 1 holds out one part only."""
    at_once: int
    """Jobs that are trained between two writes to the run folder."""
    without_gradients: str = ""
    """Reason why models have no gradients of single rows, and so no penalties; empty where they have them."""

    @property
    def gradients(self) -> bool:
        """True where penalties, Fisher information and parameters that are carried along apply."""
        return not self.without_gradients


@dataclass(frozen=True, slots=True)
class MethodModel:
    """One trained model, ready to be scored."""

    outputs: NDArray[np.float32]
    """Predictions of the test rows: log-probabilities (n, c), or means (n,)."""
    diverged: int
    """Epoch in which the model left the finite numbers; 0 if it did not."""
    penalty_share: float
    """Norm of the penalty's gradient over the sum of both gradients' norms, in [0, 1]."""
    strength: float = np.nan
    """Lambda or weight decay that was used; NaN for plain training."""
    network: TableNetwork | None = None
    """The network itself, of a table; None of images and texts."""

    @property
    def failed(self) -> int:
        """Epoch of divergence, 1 where only the outputs are not finite; 0 where the model can be scored."""
        return self.diverged or int(not np.isfinite(self.outputs).all())


def inner_folds(kind: DataKind, rows: int) -> int:
    """Inner folds by which a run chooses lambda or weight decay; for `MethodSetup.inner`.

    Args:
        kind: of the data.
        rows: training rows.
    """
    return 1 if kind != "table" or rows > ONE_INNER else INNER


def train_jobs(setup: MethodSetup, jobs: Sequence[TrainingJob], correction: Correction) -> list[MethodModel]:
    """One model per job, by plain training, by Algorithm 1, or with weight decay.

    Source: Algorithm 1 with `penalty`.

    Args:
        setup: trainer and settings; a penalty of strength `auto` and every weight decay are chosen by inner
            cross-validation on the training rows of each job.
        jobs: j of them.
        correction: term that is added to the loss.
    """
    if correction == "none":
        return fit_jobs(setup.trainer, jobs)
    if correction == "penalty" and any(job.fragment.max() == 0 for job in jobs):
        return _with_single_fragments(setup, jobs)
    if correction == "penalty" and not isinstance(setup.penalty.strength, str):
        chosen = np.full(len(jobs), setup.penalty.strength, np.float64)
    else:
        penalised = correction == "penalty"
        chosen = tune_by_inner_cv(setup.trainer, jobs, setup.likelihood, penalised=penalised, inner=setup.inner)
    if correction == "penalty":
        return fit_jobs(setup.trainer, jobs, strengths=chosen)
    return fit_jobs(setup.trainer, jobs, decays=chosen)


def _with_single_fragments(setup: MethodSetup, jobs: Sequence[TrainingJob]) -> list[MethodModel]:
    """Algorithm 1 on jobs of which some have one fragment, which is compared with none: those are trained plainly."""
    alone = [int(job.fragment.max()) == 0 for job in jobs]
    plain = iter(fit_jobs(setup.trainer, [job for job, one in zip(jobs, alone, strict=True) if one]))
    several = [job for job, one in zip(jobs, alone, strict=True) if not one]
    penalised = iter(train_jobs(setup, several, "penalty") if several else [])
    return [next(plain if one else penalised) for one in alone]


def fit_jobs(
    trainer: Trainer, jobs: Sequence[TrainingJob], *, strengths: Floats | None = None, decays: Floats | None = None
) -> list[MethodModel]:
    """One model per job, with given penalties or weight decays.

    Args:
        trainer: trains.
        jobs: j of them.
        strengths: lambda of Algorithm 1, (j,); None trains without a penalty.
        decays: weight decay, (j,); None trains without.

    Returns:
        j models; their `strength` is lambda if given, or else the weight decay.
    """
    zeros = np.zeros((len(jobs), 1))
    used = strengths if strengths is not None else decays
    trained = trainer.train_jobs(
        jobs,
        zeros if strengths is None else strengths[:, None],
        zeros if decays is None else decays[:, None],
    )
    return [
        MethodModel(
            models.outputs[0],
            int(models.diverged[0]),
            float(models.penalty_share[0]),
            np.nan if used is None else float(used[i]),
            models.networks[0] if models.networks else None,
        )
        for i, models in enumerate(trained)
    ]


def scores_on_test_rows(
    model: MethodModel,
    y: NDArray[np.int64] | Floats,
    likelihood: Likelihood,
    weights: Floats | None = None,
    sample: Floats | None = None,
) -> dict[str, float]:
    """`SCORES` of a model on its test rows.

    Args:
        model: its outputs on n rows.
        y: labels (n,), as `Trainer.targets` gives them.
        likelihood: of the target column.
        weights: (n,) weights of the rows in the weighted accuracy; None leaves it out.
        sample: (n,) weights of the rows in every score; None is the same for all.

    Returns:
        Fractions, and nats per row for the log-loss; NaN where a number does not exist. Empty where the model failed.
    """
    if model.failed:
        return {}
    scores = scores_of_models(model.outputs[None], y, likelihood, weights, sample=sample)
    return {key: float(getattr(scores, key)[0]) for key in SCORES}


def in_parts(
    setup: MethodSetup, folder: RunFolder, name: str, count: int, compute: Callable[[range], Arrays]
) -> list[Arrays]:
    """Arrays of all jobs, `at_once` jobs after another; finished parts are taken from the run folder.

    Args:
        setup: says how many jobs make a part.
        folder: keeps finished parts.
        name: of the method; part `name/START` holds the jobs from START on.
        count: jobs.
        compute: from positions of jobs to their arrays.

    Raises:
        PartsMissingError: parts are missing that are not to be made here.
    """
    parts: list[Arrays] = []
    missing: list[str] = []
    for start in range(0, count, setup.at_once):
        some = range(start, min(start + setup.at_once, count))
        try:
            parts.append(kept(folder, f"{name}/{start}", partial(compute, some)))
        except PartsMissingError as error:
            missing += error.units
    if missing:
        raise PartsMissingError(tuple(missing))
    return parts
