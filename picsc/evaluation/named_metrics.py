"""Metrics by the names that scikit-learn gives them, each computed by scikit-learn's own function.

Letters: n rows, c classes. Class probabilities are (n, c), labels are codes in 0..c-1; numbers are those of the file.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from picsc.errors import SettingsError
from picsc.reports.metrics import MetricName

if TYPE_CHECKING:
    from picsc.equations.likelihood import Likelihood

Floats = NDArray[np.float64]
Labels = NDArray[np.int64] | Floats
_Compute = Callable[[Labels, Floats, Floats | None], float]
"""Of labels (n,), predictions and row weights (n,); predictions are probabilities (n, c) or numbers (n,)."""
Needs = Literal["", "two classes", "every class", "two values"]
"""Labels that a metric does not exist without."""


@dataclass(frozen=True, slots=True)
class NamedMetric:
    """One metric."""

    likelihood: Likelihood
    """The kind of target that it is for."""
    compute: _Compute
    needs: Needs = ""
    higher: bool = True
    """True where more is better."""
    share: bool = False
    """True where it lies in [0, 1]."""
    by_row: bool = False
    """True where it is a mean over rows."""


def metric_of(name: MetricName) -> NamedMetric:
    """The metric of a name."""
    return _METRICS[name]


def check_metrics(names: tuple[MetricName, ...], likelihood: Likelihood, target: str) -> None:
    """Refuse metrics of the other kind of target.

    Args:
        names: asked for.
        likelihood: of the target.
        target: its name, for the message.

    Raises:
        SettingsError: a metric does not fit.
    """
    wrong = [name for name in names if _METRICS[name].likelihood != likelihood]
    if wrong:
        fitting = ", ".join(name for name, metric in _METRICS.items() if metric.likelihood == likelihood)
        kind, other = ("classes", "numbers") if likelihood == "classes" else ("numbers", "classes")
        raise SettingsError(
            f"--metric {wrong[0]} is for {other}, and the target {target!r} holds {kind}: choose among {fitting}"
        )


def missing_reason(name: MetricName, y: Labels, classes: int, weights: Floats | None = None) -> str:
    """Reason why a metric does not exist for some rows, whatever the model; empty where it does.

    Args:
        name: of the metric.
        y: labels of the rows, (n,).
        classes: c.
        weights: (n,) row weights; rows of weight 0 do not count.
    """
    needs = _METRICS[name].needs
    used = y if weights is None else y[weights > 0]
    if not len(used):
        return f"no {name}: no rows to test" if weights is None or not len(y) else f"no {name}: all weights are 0"
    found = len(np.unique(used))
    if needs and found < 2:
        return f"no {name}: one {'value' if needs == 'two values' else 'class'} only"
    if needs == "every class" and found < classes:
        return f"no {name}: a class has no row"
    return ""


def metric_value(name: MetricName, y: Labels, predicted: Floats, weights: Floats | None = None) -> float:
    """A metric of one model; NaN where it does not exist.

    Args:
        name: of the metric.
        y: labels, (n,): class codes, or numbers in the units of the predictions.
        predicted: probabilities (n, c), or numbers (n,).
        weights: (n,) row weights; None is 1 for all.
    """
    classes = predicted.shape[1] if predicted.ndim == 2 else 1
    if missing_reason(name, y, classes, weights) or not np.isfinite(predicted).all():
        return float("nan")
    if weights is not None:
        used = weights > 0  # scikit-learn counts a class whose rows all have weight 0
        y, predicted, weights = y[used], predicted[used], weights[used]
    with warnings.catch_warnings():  # a class that is never predicted has precision 0, which is what is asked for
        warnings.simplefilter("ignore")
        return float(_METRICS[name].compute(y, predicted, weights))


def row_values(name: MetricName, y: Labels, predicted: Floats) -> Floats:
    """Each row's contribution to a metric that is a mean over rows, (n,).

    Args:
        name: of a metric with `by_row`.
        y: as in `metric_value`.
        predicted: as in `metric_value`.
    """
    if predicted.ndim == 1:
        error: Floats = predicted - y
        return np.abs(error) if name == "mae" else error**2
    if name == "accuracy":
        return np.asarray(predicted.argmax(1) == y, np.float64)
    if name == "log_loss":
        smallest = np.finfo(np.float64).eps  # as scikit-learn clips them
        return np.asarray(-np.log(np.clip(predicted[np.arange(len(y)), y.astype(np.intp)], smallest, 1 - smallest)))
    return _squared_distances(y, predicted)


def _squared_distances(y: Labels, predicted: Floats) -> Floats:
    """Brier's score of each row; of two classes that of the second one."""
    wanted = np.eye(predicted.shape[1])[y.astype(np.intp)]
    distances: Floats = ((predicted - wanted) ** 2).sum(1)
    return distances / 2 if predicted.shape[1] == 2 else distances


def _of_class(function: str, **options: object) -> _Compute:
    """A metric of predicted classes."""

    def compute(y: Labels, predicted: Floats, weights: Floats | None) -> float:
        import sklearn.metrics

        return float(getattr(sklearn.metrics, function)(y, predicted.argmax(1), sample_weight=weights, **options))

    return compute


def _of_numbers(function: str) -> _Compute:
    """A metric of predicted numbers."""

    def compute(y: Labels, predicted: Floats, weights: Floats | None) -> float:
        import sklearn.metrics

        return float(getattr(sklearn.metrics, function)(y, predicted, sample_weight=weights))

    return compute


def _roc_auc(y: Labels, predicted: Floats, weights: Floats | None) -> float:
    from sklearn.metrics import roc_auc_score

    if predicted.shape[1] == 2:
        return float(roc_auc_score(y, predicted[:, 1], sample_weight=weights))
    return float(roc_auc_score(y, predicted, sample_weight=weights, multi_class="ovr", average="macro"))


def _average_precision(y: Labels, predicted: Floats, weights: Floats | None) -> float:
    from sklearn.metrics import average_precision_score

    if predicted.shape[1] == 2:
        return float(average_precision_score(y, predicted[:, 1], sample_weight=weights))
    wanted = np.eye(predicted.shape[1])[y.astype(np.intp)]
    return float(average_precision_score(wanted, predicted, average="macro", sample_weight=weights))


def _log_loss(y: Labels, predicted: Floats, weights: Floats | None) -> float:
    from sklearn.metrics import log_loss

    return float(log_loss(y, predicted, sample_weight=weights, labels=np.arange(predicted.shape[1])))


def _brier(y: Labels, predicted: Floats, weights: Floats | None) -> float:
    # scikit-learn takes several classes since 1.7 only; the definition is the same
    return float(np.average(_squared_distances(y, predicted), weights=weights))


def _rmse(y: Labels, predicted: Floats, weights: Floats | None) -> float:
    return float(np.sqrt(_of_numbers("mean_squared_error")(y, predicted, weights)))


def _averaged(function: str, average: str) -> _Compute:
    return _of_class(function, average=average, zero_division=0)


_METRICS: Mapping[MetricName, NamedMetric] = {
    "accuracy": NamedMetric("classes", _of_class("accuracy_score"), share=True, by_row=True),
    "balanced_accuracy": NamedMetric("classes", _of_class("balanced_accuracy_score"), "two classes", share=True),
    "f1_macro": NamedMetric("classes", _averaged("f1_score", "macro"), share=True),
    "f1_micro": NamedMetric("classes", _averaged("f1_score", "micro"), share=True),
    "f1_weighted": NamedMetric("classes", _averaged("f1_score", "weighted"), share=True),
    "precision_macro": NamedMetric("classes", _averaged("precision_score", "macro"), share=True),
    "recall_macro": NamedMetric("classes", _averaged("recall_score", "macro"), share=True),
    "matthews_corrcoef": NamedMetric("classes", _of_class("matthews_corrcoef"), "two classes"),
    "roc_auc": NamedMetric("classes", _roc_auc, "every class", share=True),
    "average_precision": NamedMetric("classes", _average_precision, "every class", share=True),
    "log_loss": NamedMetric("classes", _log_loss, higher=False, by_row=True),
    "brier": NamedMetric("classes", _brier, higher=False, by_row=True),
    "r2": NamedMetric("numbers", _of_numbers("r2_score"), "two values"),
    "explained_variance": NamedMetric("numbers", _of_numbers("explained_variance_score"), "two values"),
    "mse": NamedMetric("numbers", _of_numbers("mean_squared_error"), higher=False, by_row=True),
    "rmse": NamedMetric("numbers", _rmse, higher=False),
    "mae": NamedMetric("numbers", _of_numbers("mean_absolute_error"), higher=False, by_row=True),
    "median_ae": NamedMetric("numbers", _of_numbers("median_absolute_error"), higher=False),
    "mape": NamedMetric("numbers", _of_numbers("mean_absolute_percentage_error"), higher=False),
}
"""All metrics, those of classes first."""
