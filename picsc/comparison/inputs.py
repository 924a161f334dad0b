"""Inputs of the methods of a comparison: tasks, weights, choices and the setup of training."""

from __future__ import annotations

from dataclasses import dataclass

from picsc.comparison.iwcv import IwcvChoice
from picsc.comparison.transfer_tasks import TransferTask
from picsc.comparison.weights import RowWeights
from picsc.evaluation.judging import PLAIN, Judging
from picsc.reports.common import Metric
from picsc.settings import CompareMethod, WeighSettings
from picsc.training.methods import MethodSetup

COLUMNS = (
    "accuracy", "log_loss", "auc", "balanced_accuracy", "majority", "diverged", "rows", "strength", "ess", "largest",
    "exponent", "seconds",
)  # fmt: skip
"""Numbers of every task, as one array each; NaN where there is no number."""


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

    classes: int = 0
    """Number of classes; 0 for a numeric target."""
    judging: Judging = PLAIN
    """Metrics by name, and how much each row counts in every score."""

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the scores of every model."""
        return (*COLUMNS, *self.judging.columns)

    @property
    def metric(self) -> Metric:
        """The score that methods are compared by."""
        return "R2" if self.setup.likelihood == "numbers" else "accuracy"

    def tasks_of(self, method: CompareMethod) -> tuple[TransferTask, ...]:
        """The tasks that a method runs on."""
        return self.balanced if method == "dob-scv" else self.tasks
