"""Metrics by name, against scikit-learn's own functions on the same predictions."""

from __future__ import annotations

from typing import get_args

import numpy as np
import pytest
import sklearn.metrics as m
from numpy.typing import NDArray

from picsc.errors import SettingsError
from picsc.evaluation.judging import PLAIN, Judging, linearised
from picsc.evaluation.named_metrics import (
    Floats,
    check_metrics,
    metric_of,
    metric_value,
    missing_reason,
    row_values,
)
from picsc.evaluation.target_units import TargetUnits
from picsc.reports.metrics import MetricName

NAMES: tuple[MetricName, ...] = get_args(MetricName)
OF_CLASSES = [name for name in NAMES if metric_of(name).likelihood == "classes"]
OF_NUMBERS = [name for name in NAMES if metric_of(name).likelihood == "numbers"]


def wanted(name: str, y: NDArray[np.int64] | Floats, p: Floats, w: Floats | None) -> float:
    """What a user of scikit-learn would write."""
    if p.ndim == 1:
        return {
            "r2": m.r2_score, "explained_variance": m.explained_variance_score, "mse": m.mean_squared_error,
            "rmse": lambda *a, **k: m.mean_squared_error(*a, **k) ** 0.5, "mae": m.mean_absolute_error,
            "median_ae": m.median_absolute_error, "mape": m.mean_absolute_percentage_error,
        }[name](y, p, sample_weight=w)  # fmt: skip
    hard, two = p.argmax(1), p.shape[1] == 2
    if name == "roc_auc":
        return (
            m.roc_auc_score(y, p[:, 1], sample_weight=w)
            if two
            else m.roc_auc_score(y, p, sample_weight=w, multi_class="ovr")
        )
    if name == "average_precision":
        return m.average_precision_score(y if two else np.eye(p.shape[1])[y], p[:, 1] if two else p, sample_weight=w)
    if name == "log_loss":
        return m.log_loss(y, p, sample_weight=w)
    if name == "brier":
        if two:
            return m.brier_score_loss(y, p[:, 1], sample_weight=w)
        return float(np.average(((p - np.eye(p.shape[1])[y]) ** 2).sum(1), weights=w))
    function, _, average = name.partition("_")
    if average in ("macro", "micro", "weighted"):
        return getattr(m, f"{function}_score")(y, hard, average=average, sample_weight=w, zero_division=0)
    of = {"accuracy": m.accuracy_score, "balanced_accuracy": m.balanced_accuracy_score}
    return of.get(name, m.matthews_corrcoef)(y, hard, sample_weight=w)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize("name", OF_CLASSES)
def test_a_metric_of_classes_is_scikit_learns(name: MetricName, classes: int, weighted: bool) -> None:
    generator = np.random.default_rng(classes)
    y = generator.integers(0, classes, 90)
    p = generator.dirichlet(np.ones(classes), 90) * 0.7 + 0.3 * np.eye(classes)[y]
    w = generator.exponential(size=90) if weighted else None
    assert metric_value(name, y, p, w) == pytest.approx(wanted(name, y, p, w), rel=1e-12)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", OF_NUMBERS)
def test_a_metric_of_numbers_is_scikit_learns(name: MetricName, weighted: bool) -> None:
    generator = np.random.default_rng(1)
    y = generator.normal(40, 9, 70)
    p = y + generator.normal(size=70)
    w = generator.exponential(size=70) if weighted else None
    assert metric_value(name, y, p, w) == pytest.approx(wanted(name, y, p, w), rel=1e-12)


@pytest.mark.parametrize("name", [name for name in NAMES if metric_of(name).by_row])
def test_contributions_of_rows_have_the_metric_as_their_mean(name: MetricName) -> None:
    generator = np.random.default_rng(2)
    if metric_of(name).likelihood == "classes":
        y: NDArray[np.int64] | Floats = generator.integers(0, 3, 50)
        p = generator.dirichlet(np.ones(3), 50)
    else:
        y, p = generator.normal(size=50), generator.normal(size=50)
    assert row_values(name, y, p).mean() == pytest.approx(metric_value(name, y, p), rel=1e-12)


@pytest.mark.parametrize(
    ("name", "y", "classes", "reason"),
    [
        ("roc_auc", [0, 0, 0], 2, "no roc_auc: one class only"),
        ("average_precision", [0, 1, 1], 3, "no average_precision: a class has no row"),
        ("balanced_accuracy", [1, 1], 2, "no balanced_accuracy: one class only"),
        ("r2", [3.5, 3.5], 1, "no r2: one value only"),
        ("accuracy", [], 2, "no accuracy: no rows to test"),
        ("accuracy", [0, 0], 2, ""),
        ("rmse", [3.5], 1, ""),
    ],
)
def test_a_metric_that_is_undefined_has_a_reason(name: MetricName, y: list[float], classes: int, reason: str) -> None:
    labels = np.array(y, np.float64 if classes == 1 else np.int64)
    p = np.full((len(y), classes), 1 / classes) if classes > 1 else np.zeros(len(y))
    assert missing_reason(name, labels, classes) == reason
    assert np.isnan(metric_value(name, labels, p)) == bool(reason)


def test_a_class_of_weight_0_has_no_row() -> None:
    assert missing_reason("roc_auc", np.array([0, 1, 1]), 2, np.array([0.0, 1, 1])) == "no roc_auc: one class only"


def test_a_metric_of_the_other_kind_of_target_is_refused_with_those_that_fit() -> None:
    with pytest.raises(SettingsError, match=r"--metric rmse is for numbers, and the target 'y' holds classes: .*brier"):
        check_metrics(("accuracy", "rmse"), "classes", "y")


def test_numbers_are_judged_in_the_unit_of_the_file() -> None:
    judging = Judging(("mae",), TargetUnits(100.0, 10.0))
    found = judging.values(np.array([0.5, -0.5]), np.array([0.0, 0.0]), np.arange(2))
    assert found == {"metric mae": pytest.approx(5.0)}


def test_average_precision_is_about_the_last_class_in_sorted_order() -> None:
    outputs = np.log([[0.3, 0.7], [0.4, 0.6], [0.8, 0.2]])
    y = np.array([1, 0, 0])
    p = np.exp(outputs)
    first = Judging(("average_precision",), positive=0).values(outputs, y, np.arange(3))
    second = Judging(("average_precision",), positive=1).values(outputs, y, np.arange(3))
    assert first["metric average_precision"] == pytest.approx(m.average_precision_score(1 - y, p[:, 0]))
    assert second["metric average_precision"] == pytest.approx(m.average_precision_score(y, p[:, 1]))
    assert PLAIN.values(outputs, y, np.arange(3)) == {}


def test_linearised_rows_have_the_weighted_mean_and_no_spread_where_all_are_alike() -> None:
    generator = np.random.default_rng(3)
    values, w = generator.normal(size=60), generator.exponential(size=60)
    assert linearised(values, w).mean() == pytest.approx(np.average(values, weights=w))
    assert np.ptp(linearised(np.ones(60), w)) < 1e-12
    assert linearised(values, None) is values
