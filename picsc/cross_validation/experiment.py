"""Experiment of a cross-validation: all repeats of one data set, and the setup of training. Letters: n rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from picsc.cross_validation.splits import Repeat
from picsc.evaluation.judging import PLAIN, Judging
from picsc.reports.common import Metric
from picsc.training.methods import MethodSetup

COLUMNS = (
    "accuracy", "log_loss", "auc", "balanced_accuracy", "weighted_accuracy", "diverged", "share", "strength",
    "looked", "flagged", "tau", "gamma", "rows", "tested", "centre", "spread", "majority",
)  # fmt: skip
"""Numbers of every unit, as one array each; NaN where there is no number. Of the tested rows: their number, mean and
variance of their numbers, and the share of the majority class."""


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
    """Keep the score and the log-loss of every test row, for a test over rows."""
    random_folds: bool = False
    """True where pieces are folds drawn anew in every repeat, False where a column or the order of rows makes them."""

    forward: bool = False
    """True where pieces are a sequence in time and the latest rows test all models."""

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

    @property
    def foldwise(self) -> bool:
        """True where pieces are test folds, False where each piece trains a model of its own."""
        return self.repeats[0].foldwise

    @property
    def tested_once(self) -> bool:
        """True where a column says which rows test, the same in every repeat."""
        return bool(self.repeats[0].learned)

    @property
    def same_pieces(self) -> NDArray[np.intp] | None:
        """Position in each repeat, (repeats, pieces), of the pieces that all repeats have; None where they differ.

        Repeats of the same pieces differ in their seeds alone. Their order may differ, as that of pieces of one row.
        """
        orders = [np.argsort([piece[0] if len(piece) else -1 for piece in each.pieces]) for each in self.repeats]
        sorted_ = [[each.pieces[i] for i in order] for each, order in zip(self.repeats, orders, strict=True)]
        for pieces in sorted_[1:]:
            if len(pieces) != len(sorted_[0]) or not all(map(np.array_equal, pieces, sorted_[0])):
                return None
        return np.array(orders)

    @property
    def shape(self) -> tuple[int, int]:
        """Repeats and pieces."""
        return len(self.repeats), len(self.repeats[0].pieces)
