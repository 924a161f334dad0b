"""The scores of a run beside its accuracy: metrics by name, and how much each row counts.

Letters: n rows, c classes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from picsc.evaluation.named_metrics import Floats, Labels, metric_of, metric_value, missing_reason, row_values
from picsc.evaluation.target_units import TargetUnits
from picsc.reports.metrics import MetricName


@dataclass(frozen=True, slots=True)
class Judging:
    """Metrics, weights of rows, and what they are computed in."""

    metrics: tuple[MetricName, ...] = ()
    """Names of metrics that are computed beside the accuracy."""
    units: TargetUnits | None = None
    """Units in which models predict a numeric target; None for classes."""
    positive: int = 1
    """Code of the class that metrics of two classes are about, for those that are not the same for both."""
    weights: Floats | None = None
    """Weight of each row of the data set in every score, (n,); None is the same for all."""
    keep: bool = False
    """Keep the prediction of every test row."""

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the metrics among the columns of a method's scores."""
        return tuple(map(column_of, self.metrics))

    @property
    def by_row(self) -> tuple[MetricName, ...]:
        """The metrics that are means over rows."""
        return tuple(name for name in self.metrics if metric_of(name).by_row)

    def weights_of(self, rows: NDArray[np.int64]) -> Floats | None:
        """Weights of some rows; None where all count the same."""
        return None if self.weights is None else self.weights[rows]

    def predicted(self, outputs: NDArray[np.floating]) -> Floats:
        """Class probabilities (n, c) that sum to 1, or numbers (n,) in the units of the file.

        Args:
            outputs: of one model: log-probabilities (n, c), or means (n,).
        """
        values = outputs.astype(np.float64)
        if self.units is not None:
            return np.asarray(values * self.units.deviation + self.units.mean)
        shares = np.exp(values - values.max(-1, initial=-np.inf, keepdims=True))
        return np.asarray(shares / shares.sum(-1, keepdims=True))

    def truth(self, y: Labels) -> Labels:
        """Labels in the units of `predicted`, from those of the trainer."""
        return y if self.units is None else np.asarray(y * self.units.deviation + self.units.mean)

    def values(self, outputs: NDArray[np.floating], y: Labels, rows: NDArray[np.int64]) -> dict[str, float]:
        """Every metric of one model, by the name of its column; NaN where it does not exist.

        Args:
            outputs: as in `predicted`.
            y: labels of the rows, as the trainer gives them.
            rows: their numbers.
        """
        if not self.metrics:
            return {}
        predicted, truth, weights = self.predicted(outputs), self.truth(y), self.weights_of(rows)
        found = {column_of(name): metric_value(name, truth, predicted, weights) for name in self.metrics}
        if self.positive == 0 and "average_precision" in self.metrics:
            turned = metric_value("average_precision", 1 - truth, predicted[:, ::-1], weights)
            found[column_of("average_precision")] = turned
        return found

    def row_values(self, outputs: NDArray[np.floating], y: Labels) -> list[Floats]:
        """Each row's contribution to every metric of `by_row`, (n,) each."""
        if not self.by_row:
            return []
        predicted, truth = self.predicted(outputs), self.truth(y)
        return [row_values(name, truth, predicted) for name in self.by_row]

    def reasons(self, y: Labels, classes: int, rows: NDArray[np.int64]) -> dict[str, str]:
        """Reasons for the metrics that do not exist for some rows, by the metric's name.

        Args:
            y: labels of the rows.
            classes: c.
            rows: their numbers.
        """
        weights = self.weights_of(rows)
        found = {name: missing_reason(name, y, classes, weights) for name in self.metrics}
        return {name: reason for name, reason in found.items() if reason}


PLAIN = Judging()
"""No metrics beside the accuracy, and all rows count the same."""


def column_of(name: MetricName) -> str:
    """The name of a metric's column among the scores of a method."""
    return f"metric {name}"


def linearised(values: Floats, weights: Floats | None) -> Floats:
    """Rows whose plain mean is the weighted mean of some values, and whose spread is that of the weighted mean.

    A weighted mean is a ratio of two sums over rows. The contributions are those of its linearisation, so that the
    paired tests for means over rows hold for it.

    Args:
        values: (..., n); NaN where there is none.
        weights: (n,); None leaves the values as they are.
    """
    if weights is None:
        return values
    known = np.isfinite(values)
    w = np.where(known, weights, np.nan)
    with np.errstate(invalid="ignore", divide="ignore"):
        scale = np.nansum(w, -1, keepdims=True) / known.sum(-1, keepdims=True)
        centre = np.nansum(w * np.where(known, values, 0.0), -1, keepdims=True) / np.nansum(w, -1, keepdims=True)
        return np.asarray(centre + w / scale * (values - centre))
