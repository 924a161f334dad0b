"""Means over finite values, and differences between methods in a report's form."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from picsc.evaluation.paired_tests import Paired, difference_interval
from picsc.reports.common import Difference, Metric, finite

Floats = NDArray[np.float64]


def nan_mean(values: Floats) -> float:
    """Mean of the finite entries, of any shape; NaN where there is none."""
    known = values[np.isfinite(values)]
    return float(known.mean()) if len(known) else float("nan")


def finite_mean(values: Floats) -> float | None:
    """Mean of the finite entries, of any shape; None where there is none."""
    return finite(nan_mean(values))


def difference(
    against: str,
    accuracies: Floats,
    log_losses: Floats,
    accuracy: Paired | None,
    log_loss: Paired | None,
    metric: Metric,
) -> Difference:
    """A method minus another one.

    Args:
        against: the other method.
        accuracies: differences of single models, of any shape; NaN where one of the two has none.
        log_losses: differences of single models; NaN where one of the two has none.
        accuracy: paired test of the accuracies; None without a test.
        log_loss: paired test of the log-losses; None without a test.
        metric: the score that `accuracies` are differences of.
    """
    return Difference(
        against=against,
        accuracy=finite_mean(accuracies),
        accuracy_interval=difference_interval(accuracy, metric),
        accuracy_p=None if accuracy is None else accuracy.p,
        log_loss=finite_mean(log_losses),
        log_loss_p=None if log_loss is None else log_loss.p,
    )
