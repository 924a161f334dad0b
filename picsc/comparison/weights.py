"""How much each training row of a trial counts, by every weighting that is wanted, and whether that can be trusted.

Letters: n training rows of a trial, m target rows that may be looked at.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from picsc.comparison.feature_space import covariates
from picsc.comparison.transfer_tasks import TransferTask
from picsc.errors import DataError, NumericsError
from picsc.settings import WeighSettings, Weighting
from picsc.training.jobs import Trainer
from picsc.weighting import WEIGHTINGS, refuse, separation
from picsc.weighting.logistic import log_ratio

Arrays = dict[str, NDArray[Any]]


@dataclass(frozen=True, slots=True)
class RowWeights:
    """The weights of one trial."""

    weights: dict[str, NDArray[np.float64]]
    """(n,) by weighting, of mean 1; refused ones are missing."""
    refused: dict[str, str]
    """Why a weighting has none, or none to be trusted."""
    separation: float
    """Area under the ROC curve of a classifier between training and target rows; NaN where nothing looked."""
    seconds: dict[str, float]
    features: int
    """Numbers per row that weightings look at; 0 where nothing looked."""

    def arrays(self) -> Arrays:
        """For a run folder."""
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


NOTHING = RowWeights({}, {}, float("nan"), {}, 0)
"""Of a trial that no weighting looked at."""


def estimate_weights(
    backend: Trainer,
    trial: TransferTask,
    space: Literal["raw", "layer"],
    settings: WeighSettings,
    wanted: Sequence[Weighting],
) -> RowWeights:
    """Weigh a trial's training rows for its target.

    Reading: weightings see the covariates of training rows and of the target rows that may be looked at, never those
        that judge, and no label of the target.

    Args:
        backend: says what rows look like.
        trial: whose rows.
        space: what weightings look at.
        settings: the floor of the effective sample size, and each weighting's own.
        wanted: which weightings.
    """
    try:
        x, z = covariates(backend, space, trial.train, trial.adapt, seed=trial.seed)
    except (DataError, NumericsError) as error:
        return replace(NOTHING, refused=dict.fromkeys(wanted, str(error)))
    began = time.perf_counter()
    ratios = log_ratio(x, z, seed=trial.seed)
    overlap = separation(x, z, seed=trial.seed, ratios=ratios)
    seconds = {"iw": time.perf_counter() - began}
    own: dict[str, dict[str, object]] = {
        "iw": {"ratio": ratios[0]},
        "rulsif": {"alpha": settings.relative},
        "kmm": {"bound": settings.bound, "ridge": None if settings.ridge == "auto" else settings.ridge},
    }
    weights: dict[str, NDArray[np.float64]] = {}
    refused: dict[str, str] = {}
    for name in wanted:
        began = time.perf_counter()
        try:
            found = WEIGHTINGS[name](x, z, seed=trial.seed, **own.get(name, {}))
            refuse(found**settings.exponent, floor=settings.floor, name=name, auc=overlap if settings.floor else None)
            weights[name] = found.cpu().double().numpy()  # on the host first: mps has no float64
        except NumericsError as error:
            refused[name] = str(error)
        seconds[name] = seconds.get(name, 0.0) + time.perf_counter() - began
    return RowWeights(weights, refused, overlap, seconds, int(x.shape[1]))
