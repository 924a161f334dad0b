"""Scores that a run computes on one table or set of images, of the target that it has."""

from __future__ import annotations

from picsc.datasets.table import Dataset, Target
from picsc.evaluation.judging import Judging
from picsc.evaluation.named_metrics import Floats, check_metrics
from picsc.evaluation.target_units import TargetUnits
from picsc.reports.metrics import MetricName


def judging_of(
    table: Dataset, metrics: tuple[MetricName, ...], weights: Floats | None = None, *, keep: bool = False
) -> Judging:
    """The scores of models on a table.

    Args:
        table: n rows that all have a label.
        metrics: by name.
        weights: (n,) weight of each row in every score; None is the same for all.
        keep: the prediction of every test row.

    Raises:
        SettingsError: a metric is for the other kind of target.
    """
    target = table.target
    assert target is not None  # noqa: S101 - the verbs refuse tables without one
    check_metrics(metrics, target.kind, target.name)
    units = TargetUnits.of(target.values) if target.kind == "numbers" else None
    return Judging(metrics, units, positive_class(target), weights, keep)


def positive_class(target: Target) -> int:
    """Code of the class that metrics of two classes are about: the last one in sorted order, as scikit-learn has it."""
    if len(target.levels) != 2:
        return 1
    first, second = target.levels
    try:
        return int(float(first) < float(second))
    except ValueError:
        return int(first < second)
