"""What a run judges its models by on one table: scores of the target that it has, and the true labels of its rows."""

from __future__ import annotations

import numpy as np

from picsc.datasets.data import Data
from picsc.datasets.row_weights import row_weights
from picsc.datasets.table import Dataset, Target
from picsc.errors import SettingsError
from picsc.evaluation.judging import Judging
from picsc.evaluation.named_metrics import Floats, check_metrics
from picsc.evaluation.target_units import TargetUnits
from picsc.reports.metrics import MetricName
from picsc.runtime.predictions_file import Truths


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


def truths_of(data: Data, table: Dataset, sample_weight: str | None) -> Truths:
    """Number in the file, label and weight of every row of a table that a run uses.

    Args:
        data: as it was read.
        table: the rows with a label, and with a weight above 0 where there are weights.
        sample_weight: column of weights; None without.

    Raises:
        SettingsError: the table has no target.
    """
    if table.target is None:
        raise SettingsError(f"{table.name}: predictions need a target; name one with --target")
    numbers = np.arange(1, table.n + 1)
    if data.kind == "table" and data.target is not None:
        numbers = np.flatnonzero(~data.target.missing) + 1
        if sample_weight is not None:
            numbers = numbers[row_weights(data, sample_weight)[numbers - 1] > 0]
    weights = None if sample_weight is None else row_weights(table, sample_weight)
    return Truths(numbers, table.target.values, table.target.levels, weights)
