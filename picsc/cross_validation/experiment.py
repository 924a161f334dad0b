"""Experiment of a cross-validation: all repeats of one data set, and the setup of training. Letters: n rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from picsc.cross_validation.splits import Repeat
from picsc.reports.common import Metric
from picsc.training.methods import MethodSetup


@dataclass(frozen=True, slots=True)
class Experiment:
    """One data set, all repeats, and the setup of training."""

    setup: MethodSetup
    repeats: tuple[Repeat, ...]
    weights: NDArray[np.float64] | None
    """(n,) row weights of the weighted accuracy; None without."""
    majority: int
    """Code of the most frequent class of the data set; 0 for a numeric target."""
    keep_rows: bool
    """Keep which test rows were predicted right, for a test over rows."""

    @property
    def metric(self) -> Metric:
        """The score that methods are compared by."""
        return "R2" if self.setup.likelihood == "numbers" else "accuracy"

    @property
    def foldwise(self) -> bool:
        """True where pieces are test folds, False where each piece trains a model of its own."""
        return self.repeats[0].foldwise

    @property
    def shape(self) -> tuple[int, int]:
        """Repeats and pieces."""
        return len(self.repeats), len(self.repeats[0].pieces)
