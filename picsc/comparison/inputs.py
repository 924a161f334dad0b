"""Inputs of the methods of a comparison: tasks, weights, choices and the setup of training."""

from __future__ import annotations

from dataclasses import dataclass

from picsc.comparison.iwcv import IwcvChoice
from picsc.comparison.transfer_tasks import TransferTask
from picsc.comparison.weights import RowWeights
from picsc.reports.common import Metric
from picsc.settings import CompareMethod, WeighSettings
from picsc.training.methods import MethodSetup


@dataclass(frozen=True, slots=True)
class ComparisonInputs:
    """One data set, all tasks, and the setup of training."""

    setup: MethodSetup
    tasks: tuple[TransferTask, ...]
    balanced: tuple[TransferTask, ...]
    """The tasks of DOB-SCV's folds; empty where that method does not run."""
    weights: tuple[RowWeights, ...]
    """Weights of each task's training rows."""
    choices: tuple[IwcvChoice, ...]
    """Result of importance-weighted cross-validation of each task; empty where it does not run."""
    weight_settings: WeighSettings
    majority: int
    """Code of the most frequent class of the data set; 0 for a numeric target."""
    risk_folds: int
    """Inner folds of importance-weighted cross-validation."""

    @property
    def metric(self) -> Metric:
        """The score that methods are compared by."""
        return "R2" if self.setup.likelihood == "numbers" else "accuracy"

    def tasks_of(self, method: CompareMethod) -> tuple[TransferTask, ...]:
        """The tasks that a method runs on."""
        return self.balanced if method == "dob-scv" else self.tasks
