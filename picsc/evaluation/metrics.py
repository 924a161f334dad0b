"""Metrics of models on rows they were not trained on: accuracies, log-loss and area under the ROC curve.

Letters: M models, n rows, c classes. A row without a label (class -1, number NaN) is left out. Log-losses are
in nats per row; accuracies are fractions.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from picsc.errors import DataError

if TYPE_CHECKING:
    from picsc.equations.likelihood import Likelihood

Labels = NDArray[np.int64] | NDArray[np.float64]
Floats = NDArray[np.floating]


@dataclass(frozen=True, slots=True)
class Score:
    """Metrics of one model. A metric that does not exist is None, and `reason` says why."""

    accuracy: float | None
    """Share of rows whose most probable class is right; for numbers R^2, the share of variance explained, at most 1:
    one minus the sum of squared errors over that of the squared distances from the mean of the same rows."""
    log_loss: float | None
    """Mean negative log-likelihood per row, nats."""
    auc: float | None
    """Probability that a row of a class is ranked above one of another class, ties count half: for two classes one such
    number, for more the mean over each class against all others. None for numbers, and where a class has no row."""
    weighted_accuracy: float | None
    """`accuracy` with row weights; None without a reason when there are none."""
    reason: str
    """Reasons for the metrics that do not exist; empty if there are none."""
    balanced_accuracy: float | None = None
    """Share of right rows in each class, mean over the classes that have rows; None for numbers, and for one class."""


@dataclass(frozen=True, slots=True)
class Scores:
    """Metrics of M models at once, (M,) each as in `Score`; NaN in the place of None."""

    accuracy: NDArray[np.float64]
    log_loss: NDArray[np.float64]
    auc: NDArray[np.float64]
    weighted_accuracy: NDArray[np.float64]
    reason: tuple[str, ...]
    balanced_accuracy: NDArray[np.float64]

    def __iter__(self) -> Iterator[Score]:
        """One `Score` per model."""
        numbers = (self.accuracy, self.log_loss, self.auc, self.weighted_accuracy, self.balanced_accuracy)
        for m, reason in enumerate(self.reason):
            accuracy, log_loss, auc, weighted, balanced = (_none_for_nan(float(each[m])) for each in numbers)
            yield Score(accuracy, log_loss, auc, weighted, reason, balanced)


def _none_for_nan(value: float) -> float | None:
    return None if np.isnan(value) else value


def score(
    outputs: Floats,
    y: Labels,
    likelihood: Likelihood,
    weights: NDArray[np.float64] | None = None,
    classes: int | None = None,
) -> Score:
    """Score one model; see `scores_of_models`.

    Args:
        outputs: log-probabilities (n, c) for classes; means (n,) for numbers.
        y: (n,) class codes, -1 where missing; or numbers, NaN where missing.
        likelihood: which of the two.
        weights: (n,), finite and at least 0.
        classes: number of leading columns of `outputs` that are classes of the data; None is all.

    Raises:
        DataError: shapes or labels do not fit, or a weight is negative or not finite.
    """
    return next(iter(scores_of_models(outputs[None], y, likelihood, weights, classes)))


def scores_of_models(
    outputs: Floats,
    y: Labels,
    likelihood: Likelihood,
    weights: NDArray[np.float64] | None = None,
    classes: int | None = None,
    sample: NDArray[np.float64] | None = None,
) -> Scores:
    """Score M models at once.

    Reading: accuracy is over all labelled rows, so a class that no training row had counts as wrong.

    Args:
        outputs: log-probabilities (M, n, c) for classes; means (M, n) for numbers.
        y: (n,), or (M, n) where every model has its own rows; -1 or NaN where there is no label.
        likelihood: `classes` or `numbers`.
        weights: (n,) or (M, n), finite and at least 0.
        classes: number of leading columns of `outputs` that are classes of the data; None is all.
        sample: (n,) or (M, n), finite and at least 0: how much each row counts in every metric; None is the same for
            all. `weights` multiply it in the weighted accuracy.

    Returns:
        Arrays (M,). The log-loss of numbers is Gaussian with variance 1, without its constant, as in training.

    Raises:
        DataError: shapes or labels do not fit, or a weight is negative or not finite.
    """
    if likelihood == "classes":
        outputs = outputs[..., :classes]
    y = _fitting(outputs, y, likelihood)
    labelled = _labelled(y, likelihood)
    ones = labelled.astype(np.float64) if sample is None else _checked(sample, labelled)
    labelled = ones > 0
    accuracy = _mean(row_accuracy(outputs, y, likelihood, ones), ones)
    log_loss = _mean(row_log_loss(outputs, y, likelihood), ones)
    weighted = np.full(len(outputs), np.nan)
    if weights is not None:
        w = _checked(weights, labelled) * ones
        weighted = _mean(row_accuracy(outputs, y, likelihood, w), w)
    auc, no_auc = _areas(outputs, y, likelihood, ones)
    balanced = _balanced(outputs, y, likelihood, ones)
    empty, broken = labelled.sum(-1) == 0, _broken(outputs, labelled)
    for numbers in (accuracy, log_loss, weighted, auc, balanced):
        numbers[empty | broken | ~np.isfinite(numbers)] = np.nan
    reasons = []
    for m, why in enumerate(no_auc):
        if empty[m]:
            reasons.append("no labelled row")
        elif broken[m]:
            reasons.append("outputs are not finite")
        else:
            missing = (
                ("constant target", np.isnan(accuracy[m])),
                ("log-loss is not finite", np.isnan(log_loss[m])),
                (why, np.isnan(auc[m])),
                ("no weighted score", weights is not None and np.isnan(weighted[m])),
            )
            reasons.append("; ".join(reason for reason, so in missing if so))
    return Scores(accuracy, log_loss, auc, weighted, tuple(reasons), balanced)


def row_accuracy(
    outputs: Floats, y: Labels, likelihood: Likelihood, weights: NDArray[np.float64] | None = None
) -> NDArray[np.float64]:
    """Accuracy of each row, whose mean over labelled rows with the same weights is the accuracy.

    Args:
        outputs: as in `scores_of_models`.
        y: as in `scores_of_models`.
        likelihood: as in `scores_of_models`.
        weights: (M, n), 0 where there is no label; they move the mean that R^2 compares with. None is equal weights.

    Returns:
        (M, n): 1 for right and 0 for wrong; for numbers 1 minus the squared error in units of the target's variance.
        NaN without a label, and for a constant target.
    """
    y = _fitting(outputs, y, likelihood)
    labelled = _labelled(y, likelihood)
    if likelihood == "classes":
        return np.where(labelled, outputs.argmax(-1) == y, np.nan)
    w = labelled.astype(np.float64) if weights is None else weights
    centre = _mean(y.astype(np.float64), w)[:, None]
    variance = _mean((y - centre) ** 2, w)
    used = w > 0
    varies = np.where(used, y, -np.inf).max(-1, initial=-np.inf) > np.where(used, y, np.inf).min(-1, initial=np.inf)
    variance[~varies] = np.nan  # exactly: rounding leaves a constant target a variance above 0
    with np.errstate(over="ignore", invalid="ignore"):
        return np.asarray(1 - (y - outputs) ** 2 / variance[:, None], np.float64)


def row_log_loss(outputs: Floats, y: Labels, likelihood: Likelihood) -> NDArray[np.float64]:
    """Negative log-likelihood of each row.

    Args:
        outputs: as in `scores_of_models`.
        y: as in `scores_of_models`.
        likelihood: as in `scores_of_models`.

    Returns:
        (M, n) in nats, at least 0; NaN without a label.
    """
    y = _fitting(outputs, y, likelihood)
    if likelihood == "numbers":
        with np.errstate(over="ignore", invalid="ignore"):
            return np.asarray(0.5 * (y - outputs) ** 2, np.float64)
    labelled = _labelled(y, likelihood)
    at = np.where(labelled, y, 0).astype(np.intp)[..., None]
    return np.where(labelled, -np.take_along_axis(outputs, at, -1)[..., 0].astype(np.float64), np.nan)


def _fitting(outputs: Floats, y: Labels, likelihood: Likelihood) -> Labels:
    """Labels as int64 (M, n), numbers as float64 (M, n)."""
    dimensions = 3 if likelihood == "classes" else 2
    if outputs.ndim != dimensions or y.shape not in (outputs.shape[:2], outputs.shape[1:2]):
        wanted = "(M, n, c)" if likelihood == "classes" else "(M, n)"
        raise DataError(f"cannot score outputs of shape {outputs.shape} with labels of shape {y.shape}: need {wanted}")
    if likelihood == "classes" and y.size and y.max() >= outputs.shape[-1]:
        raise DataError(f"label {y.max()} is none of the {outputs.shape[-1]} classes that the outputs are of")
    shape = outputs.shape[:2]
    if likelihood == "classes":
        return np.broadcast_to(y.astype(np.int64, copy=False), shape)
    return np.broadcast_to(y.astype(np.float64, copy=False), shape)


def _labelled(y: Labels, likelihood: Likelihood) -> NDArray[np.bool_]:
    return np.asarray(y >= 0 if likelihood == "classes" else ~np.isnan(y))


def _checked(weights: NDArray[np.float64], labelled: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Weights as (M, n), 0 where there is no label."""
    if weights.shape not in (labelled.shape, labelled.shape[1:]):
        raise DataError(f"row weights have shape {weights.shape}: need one for each of {labelled.shape[1]} rows")
    w = np.where(labelled, weights, 0.0)
    wrong = np.argwhere(~(np.isfinite(w) & (w >= 0)))
    if len(wrong):
        m, row = wrong[0]
        raise DataError(f"row weights must be finite and at least 0: tested row {row + 1} has {w[m, row]:g}")
    return w


def _mean(values: Floats, w: NDArray[np.float64]) -> NDArray[np.float64]:
    """Weighted mean over rows, (M,); NaN where weights sum to 0."""
    total = w.sum(-1)
    with np.errstate(over="ignore", invalid="ignore"):
        summed = np.where(w > 0, values * w, 0.0).sum(-1)
        return np.where(total > 0, summed / np.where(total > 0, total, 1.0), np.nan)


def _broken(outputs: Floats, labelled: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """True for models with an output that is not a number for a labelled row; a log-probability may be -inf."""
    if outputs.ndim == 2:
        return np.asarray((labelled & ~np.isfinite(outputs)).any(-1))
    return np.asarray((labelled & (np.isnan(outputs) | np.isposinf(outputs)).any(-1)).any(-1))


def _balanced(outputs: Floats, y: Labels, likelihood: Likelihood, ones: NDArray[np.float64]) -> NDArray[np.float64]:
    """Mean over classes of the share of their rows that is right; NaN for numbers, and for rows of one class."""
    found = np.full(len(outputs), np.nan)
    if likelihood == "numbers" or outputs.shape[-1] == 0:
        return found
    for m, right in enumerate(outputs.argmax(-1) == y):
        used = ones[m] > 0
        labels, w = y[m][used].astype(np.intp), ones[m][used]
        rows = np.bincount(labels, weights=w)
        there = rows > 0
        if there.sum() > 1:
            found[m] = (np.bincount(labels, weights=w * right[used])[there] / rows[there]).mean()
    return found


def _areas(
    outputs: Floats, y: Labels, likelihood: Likelihood, ones: NDArray[np.float64]
) -> tuple[NDArray[np.float64], tuple[str, ...]]:
    """Area under each model's ROC curve, NaN where there is none, and the reason then."""
    areas = np.full(len(outputs), np.nan)
    if likelihood == "numbers":
        return areas, ("numbers have no AUC",) * len(outputs)
    reasons = []
    for m, labels in enumerate(y):
        found = np.unique(labels[ones[m] > 0]).astype(np.intp)
        reasons.append("one class only" if len(found) < 2 else "a class has no row")
        if 2 <= outputs.shape[-1] == len(found):
            against = _against_others(outputs[m], np.where(ones[m] > 0, labels, -1))
            areas[m] = np.mean([_area(margin, mine, ones[m]) for margin, mine in against])
    return areas, tuple(reasons)


def _against_others(outputs: Floats, y: Labels) -> Iterator[tuple[Floats, Labels]]:
    """By class, a margin that ranks rows (n,), and 1 for its rows, 0 for those of other classes, -1 without a label."""
    if outputs.shape[-1] == 2:
        with np.errstate(invalid="ignore"):
            yield outputs[:, 1] - outputs[:, 0], y
        return
    for c in range(outputs.shape[-1]):
        yield outputs[:, c], np.where(y < 0, -1, y == c)


def _area(margin: Floats, y: Labels, w: NDArray[np.float64]) -> float:
    """Share of pairs of a second-class and a first-class row that the margin puts in order; NaN without such pairs.

    A pair counts as much as the product of its rows' weights.
    """
    used = y >= 0
    found, place = np.unique(margin[used], return_inverse=True)
    place = place.reshape(-1)
    second = np.bincount(place, weights=w[used] * y[used], minlength=len(found))
    first = np.bincount(place, weights=w[used], minlength=len(found)) - second
    pairs = first.sum() * second.sum()
    below = np.cumsum(first) - first / 2
    return float((second * below).sum() / pairs) if pairs > 0 else np.nan
