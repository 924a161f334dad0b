"""Weights of a task's training rows by every weighting asked for, with the reasons where weights are refused.

Letters: n training rows of a task, m target rows.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from picsc.comparison.feature_space import covariates
from picsc.comparison.transfer_tasks import TransferTask
from picsc.errors import DataError, NumericsError
from picsc.fragments.groups import inner_folds_of_groups
from picsc.settings import WeighSettings, Weighting
from picsc.training.jobs import Trainer
from picsc.weighting import WeightingOptions, refuse, separation, weights_by
from picsc.weighting.logistic import FOLDS, log_ratio

Arrays = dict[str, NDArray[Any]]


@dataclass(frozen=True, slots=True)
class RowWeights:
    """The weights of one task."""

    weights: dict[str, NDArray[np.float64]]
    """(n,) by weighting, of mean 1; refused ones are missing."""
    refused: dict[str, str]
    """Reason why a weighting has no weights, or none to be trusted, by weighting."""
    separation: float
    """Area under the ROC curve of a classifier between training and target rows, in [0, 1]; NaN without weightings."""
    seconds: dict[str, float]
    """Seconds that each weighting took."""
    features: int
    """Features per row that weightings use; 0 without weightings."""

    def arrays(self) -> Arrays:
        """The weights as arrays, for a run folder."""
        found: Arrays = {f"weights {name}": values for name, values in self.weights.items()}
        found |= {f"refused {name}": np.array(reason) for name, reason in self.refused.items()}
        found |= {f"seconds {name}": np.array(value) for name, value in self.seconds.items()}
        return {**found, "separation": np.array(self.separation), "features": np.array(self.features)}

    @classmethod
    def of(cls, arrays: Arrays) -> RowWeights:
        """The inverse of `arrays`."""

        def named(kind: str) -> dict[str, NDArray[Any]]:
            return {key.removeprefix(f"{kind} "): value for key, value in arrays.items() if key.startswith(f"{kind} ")}

        return cls(
            {name: np.asarray(value, np.float64) for name, value in named("weights").items()},
            {name: str(value) for name, value in named("refused").items()},
            float(arrays["separation"]),
            {name: float(value) for name, value in named("seconds").items()},
            int(arrays["features"]),
        )


NO_WEIGHTS = RowWeights({}, {}, float("nan"), {}, 0)
"""Result of a task without weightings."""


def estimate_weights(
    trainer: Trainer,
    task: TransferTask,
    space: Literal["raw", "layer"],
    settings: WeighSettings,
    wanted: Sequence[Weighting],
) -> RowWeights:
    """Weights of a task's training rows for its target.

    Reading: weightings see the covariates of training rows and of target rows, never those of test rows, and no label
        of the target.

    Args:
        trainer: reads the rows.
        task: training and target rows.
        space: features that weightings use.
        settings: floor of the effective sample size, and the settings of single weightings.
        wanted: weightings to estimate.
    """
    try:
        x, z = covariates(trainer, space, task.train, task.target, seed=task.seed)
    except (DataError, NumericsError) as error:
        return replace(NO_WEIGHTS, refused=dict.fromkeys(wanted, str(error)))
    began = time.perf_counter()
    ratios = log_ratio(x, z, seed=task.seed, fold=_folds_of_groups(task, trainer.groups))
    overlap = separation(x, z, seed=task.seed, ratios=ratios)
    seconds = {"iw": time.perf_counter() - began}
    ridge = None if settings.ridge == "auto" else settings.ridge
    options = WeightingOptions(settings.relative, settings.bound, ridge)
    weights: dict[str, NDArray[np.float64]] = {}
    refused: dict[str, str] = {}
    for name in wanted:
        began = time.perf_counter()
        try:
            found = weights_by(name, x, z, seed=task.seed, options=options, ratio=ratios[0])
            refuse(found**settings.exponent, floor=settings.floor, name=name, auc=overlap if settings.floor else None)
            weights[name] = found.cpu().double().numpy()  # on the host first: mps has no float64
        except NumericsError as error:
            refused[name] = str(error)
        seconds[name] = seconds.get(name, 0.0) + time.perf_counter() - began
    return RowWeights(weights, refused, overlap, seconds, int(x.shape[1]))


def _folds_of_groups(task: TransferTask, groups: NDArray[np.int64] | None) -> Tensor | None:
    """Folds of training rows, then of target rows, in which groups are whole; None where rows may be dealt one by one.

    Reading: rows of one group are all training rows or all target rows, so a classifier between the two that has seen
        others of its rows recognises the group.
    """
    if groups is None:
        return None
    parts = [groups[task.train], groups[task.target]]
    k = min(FOLDS, *(len(np.unique(part)) for part in parts))
    if k < 2:
        return None
    generator = np.random.default_rng([task.seed, 9])
    folds = [inner_folds_of_groups(part, np.zeros(len(part), np.int64), k, generator) for part in parts]
    return torch.from_numpy(np.concatenate(folds))
