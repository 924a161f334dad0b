"""Metrics by name of one method in a report's form: means, intervals and paired differences."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from picsc.evaluation.holm import holm
from picsc.evaluation.judging import column_of
from picsc.evaluation.means import finite_mean
from picsc.evaluation.named_metrics import metric_of
from picsc.evaluation.paired_tests import Paired, difference_interval, score_interval
from picsc.reports.common import Interval
from picsc.reports.metrics import MetricDifference, MetricName, MetricScore

Floats = NDArray[np.float64]
Columns = Mapping[str, Floats]
"""Scores of a method by column, (..., pieces) each."""
Test = Callable[[str | None, str], Paired | None]
"""From the other method, None for none, and a column to the paired test."""
Mean = Callable[[Floats], float | None]
"""From scores of all pieces, (..., pieces), to their mean; None where there is none."""


def method_metrics(
    names: tuple[MetricName, ...],
    ours: Columns,
    others: Mapping[str, Columns],
    test: Test,
    reasons: Mapping[str, str],
    *,
    mean: Mean = finite_mean,
    no_test: str = "",
) -> tuple[MetricScore, ...]:
    """Every metric of one method.

    Args:
        names: of the metrics.
        ours: scores of the method.
        others: scores of the methods that it is compared with, in their order.
        test: the paired test that fits the pieces.
        reasons: why a metric does not exist in some piece, by its name.
        mean: of the scores of all pieces, (..., pieces).
        no_test: why there is no test of any metric; empty where tests are over rows, which all means over rows have.
    """
    return tuple(
        _score(
            _Scored(name, ours[column_of(name)], {other: each[column_of(name)] for other, each in others.items()}),
            test,
            reasons.get(name, "models without a result"),
            mean,
            no_test,
        )
        for name in names
    )


@dataclass(frozen=True, slots=True)
class _Scored:
    """One metric of one method and of those that it is compared with, (..., pieces) each."""

    name: MetricName
    values: Floats
    others: Mapping[str, Floats]


def _score(scored: _Scored, test: Test, reason: str, mean: Mean, no_test: str) -> MetricScore:
    name, values, metric = scored.name, scored.values, metric_of(scored.name)
    differences = [
        _difference(name, other, mean(values - theirs), test(other, column_of(name)))
        for other, theirs in scored.others.items()
    ]
    adjusted = holm([each.p for each in differences])
    own = test(None, column_of(name))
    if own is None and not no_test and not metric.by_row:
        no_test = f"no test: {name} is no mean over rows, and rows are tested over"
    missing = int((~np.isfinite(values)).sum())
    return MetricScore(
        metric=name,
        higher_is_better=metric.higher,
        mean=mean(values),
        interval=_interval(name, own),
        pieces=tuple(finite_mean(of_piece) for of_piece in values.reshape(-1, values.shape[-1]).T),
        differences=tuple(replace(each, p_holm=p) for each, p in zip(differences, adjusted, strict=True)),
        missing=missing,
        reason=reason if missing else "" if own is not None else no_test,
    )


def _difference(name: MetricName, other: str, value: float | None, paired: Paired | None) -> MetricDifference:
    metric = metric_of(name)
    return MetricDifference(
        against=other,
        value=value,
        interval=difference_interval(paired, "accuracy" if metric.share else "R2"),
        p=None if paired is None else paired.p,
        better=None if not value else (value > 0) == metric.higher,
    )


def _interval(name: MetricName, paired: Paired | None) -> Interval | None:
    """95 % interval of a mean, inside the values that the metric can have."""
    if metric_of(name).share:
        return score_interval(paired, "accuracy")
    if name in ("r2", "explained_variance"):
        return score_interval(paired, "R2")
    found = None if paired is None or paired.half is None else paired.interval
    if found is None or metric_of(name).higher:
        return found
    return Interval(max(0.0, found.low), found.high)  # errors and losses are never below 0
