"""Metrics by name of one method, and of one model, as plain values that several reports have."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from picsc.reports.common import Interval

MetricName = Literal[
    "accuracy", "balanced_accuracy", "f1_macro", "f1_micro", "f1_weighted", "precision_macro", "recall_macro",
    "matthews_corrcoef", "roc_auc", "average_precision", "log_loss", "brier", "r2", "explained_variance", "mse", "rmse",
    "mae", "median_ae", "mape",
]  # fmt: skip
"""Metrics by the names of scikit-learn, those of classes first; computed by `picsc.evaluation.named_metrics`."""


@dataclass(frozen=True, slots=True)
class MetricDifference:
    """One method minus another one in one metric, paired."""

    against: str
    """The other method."""
    value: float | None
    """Difference of the means, in the unit of the metric; None where no unit has both."""
    interval: Interval | None
    """95 % interval of that difference; None where there is nothing to pair."""
    p: float | None
    """p-value of the two-sided paired test, in (0, 1]; None where there is no test."""
    p_holm: float | None = None
    """`p` adjusted by Holm's method over all methods that this one is compared with; None where there is no p-value."""
    better: bool | None = None
    """True where the difference is in favour of this method, whichever way the metric runs; None for 0 and None."""


@dataclass(frozen=True, slots=True)
class MetricScore:
    """One metric of one method."""

    metric: str
    """Name, as scikit-learn has it."""
    higher_is_better: bool
    """True where more is better."""
    mean: float | None
    """Mean over the models that have one, in the unit of the metric; None without any."""
    interval: Interval | None
    """95 % interval of the mean; None where it cannot be computed."""
    pieces: tuple[float | None, ...]
    """Mean over repeats of each piece or target, in the order of the report; None where none has one."""
    differences: tuple[MetricDifference, ...]
    """This method minus the others, in the order of the method's other differences."""
    missing: int = 0
    """Number of models without it."""
    reason: str = ""
    """Why a number, or its test, is missing; empty where none is."""

    def against(self, method: str) -> MetricDifference | None:
        """The difference from another method; None where the two were not compared."""
        return next((each for each in self.differences if each.against == method), None)


class HasMetrics(Protocol):
    """A method with its metrics."""

    @property
    def method(self) -> str:
        """Its name."""
        ...

    @property
    def metrics(self) -> tuple[MetricScore, ...]:
        """Its metrics."""
        ...


def metric_lines(methods: Sequence[HasMetrics], base: str = "st-cv") -> tuple[str, ...]:
    """A sentence on each metric that was asked for, on picsc against the plain method where both were run.

    Args:
        methods: of one report, all with the same metrics.
        base: the plain method.
    """
    count = len(methods[0].metrics) if methods else 0
    return tuple(
        _metric_line({method.method: method.metrics[i] for method in methods}, "picsc", base) for i in range(count)
    )


def _metric_line(scores: dict[str, MetricScore], ours: str, base: str) -> str:
    """One sentence on a metric: a method against another one, or the best method where the first was not run.

    Args:
        scores: one metric, by method.
        ours: the method that the sentence is about.
        base: the method that it is compared with.
    """
    first = next(iter(scores.values()))
    way = "higher is better" if first.higher_is_better else "lower is better"
    known = {name: score.mean for name, score in scores.items() if score.mean is not None}
    if not known:
        return f"{first.metric}: no method has one{f' ({first.reason})' if first.reason else ''}"
    if ours not in known or base not in known:
        best = (max if first.higher_is_better else min)(known, key=lambda name: known[name])
        return f"{first.metric} ({way}): best is {best} with {known[best]:.4g}"
    difference = scores[ours].against(base)
    tail = ""
    if difference is not None and difference.value is not None:
        p = "" if difference.p is None else f" (p {difference.p:.2g})"
        tail = f", {difference.value:+.3g}{p}"
    return f"{first.metric} ({way}): {ours} {known[ours]:.4g} against {known[base]:.4g} of {base}{tail}"
