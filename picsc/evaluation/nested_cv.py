"""Interval of a cross-validated score by nested cross-validation, which measures how far such a score is off.

Folds share training rows, so the spread of scores over rows or folds understates the error of their mean. Nested
cross-validation measures that error: it repeats the cross-validation without one fold, and compares its result with
the score of that fold. Letters: r repeats, n rows, k folds.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from picsc.evaluation.paired_tests import LEVEL, Paired
from picsc.reports.common import Interval

Floats = NDArray[np.float64]
FEWEST_FOLDS = 3
"""Folds below which a cross-validation without one of them does not exist."""


@dataclass(frozen=True, slots=True)
class NestedScores:
    """Scores of every row by the models of a repeated nested cross-validation."""

    fold: NDArray[np.int64]
    """(r, n) fold of each row, 0..k-1."""
    outer: Floats
    """(r, n) score of each row by the model of all other folds."""
    inner: Floats
    """(r, n, k) score of each row by the model of all folds but its own and fold j; NaN where j is its own."""


def nested_cv(scores: NestedScores) -> Paired | None:
    """The cross-validated mean score and its 95 % interval.

    With e_k the scores of fold k by the model of all others, and i_k those of a cross-validation of all folds but k,
    the mean of (mean i_k - mean e_k)^2 - var(e_k)/n_k over folds and repeats estimates the mean squared error of a
    cross-validation of (k - 1)/k of the rows. The means i_k also tell what fewer rows cost, which is taken off.
    Source: Bates, Hastie and Tibshirani, "Cross-validation: what does it estimate and how well does it do it?", JASA
        119, 2023, Algorithm 1 and Section 4.3: the error is (k - 1)/k of that of fewer rows, and at least that of
        independent scores, at most k times as much; the bias is (1 + (k - 2)/k) (mean of i_k - mean of e_k).

    Args:
        scores: of all rows; those of rows that some repeat has no score for are NaN, and not used there.

    Returns:
        Mean and interval in the unit of the scores, without a p-value; None with fewer than three folds, and without a
        spread.
    """
    k = scores.inner.shape[2]
    if k < FEWEST_FOLDS:
        return None
    errors: list[float] = []
    inside: list[Floats] = []
    for fold, outer, inner in zip(scores.fold, scores.outer, scores.inner, strict=True):
        for j in range(k):
            held, left = outer[fold == j], inner[fold != j, j]
            held, left = held[np.isfinite(held)], left[np.isfinite(left)]
            if len(held) < 2 or not len(left):
                continue
            errors.append(float((left.mean() - held.mean()) ** 2 - held.var(ddof=1) / len(held)))
            inside.append(left)
    outer = scores.outer[np.isfinite(scores.outer)]
    if not inside or not np.ptp(outer) > 0:
        return None
    independent = float(outer.var(ddof=1)) / scores.outer.shape[1]
    square = float(np.clip((k - 1) / k * float(np.mean(errors)), independent, k * independent))
    fewer_rows = float(np.concatenate(inside).mean()) - float(outer.mean())
    mean = float(np.concatenate(inside).mean()) - (1 + (k - 2) / k) * fewer_rows
    half = float(ndtri((1 + LEVEL) / 2)) * float(np.sqrt(square))
    return Paired(mean, Interval(mean - half, mean + half), None, "an interval, and no test", half)
