"""Importance-weighted score of a repeated cross-validation, with the interval that the weights leave.

Letters: r repeats, n rows, k folds.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from picsc.evaluation.paired_tests import LEVEL, Paired
from picsc.reports.common import Interval

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class WeightedScore:
    """A weighted mean score."""

    score: Paired | None
    """Mean and interval; None without rows of any weight."""
    effective_rows: float
    """Kish's effective sample size of the rows that have a score, in rows."""


def weighted_score(scores: Floats, weights: Floats, k: int) -> WeightedScore:
    """Mean of sum w s / sum w over repeats, with its 95 % interval.

    Source: Sugiyama, Krauledat and Mueller, JMLR 8, 2007, for the mean, with weights scaled to sum to one; Nadeau and
        Bengio, Machine Learning 52, 2003, Section 5, for the correction.
    Reading: the variance of one repeat is that of a ratio of sums, sum w^2 (s - mean)^2 / (sum w)^2. Training sets
        overlap as without weights, so that it counts 1/r + k/(k - 1) times, as in the corrected resampled t-interval of
        rows. Degrees of freedom are the effective sample size less one.

    Args:
        scores: (r, n) score of each row by a model that has not seen it; NaN where it has none.
        weights: (n,), non-negative, of any scale; taken as known.
        k: folds.
    """
    kept = np.isfinite(scores).all(0) & (weights > 0)
    scores, w = scores[:, kept], weights[kept]
    if not len(w):
        return WeightedScore(None, 0.0)
    share = w / w.sum()
    effective = float(1 / (share**2).sum())
    means = (scores * share).sum(1)
    mean = float(means.mean())
    of_repeat = ((share * (scores - means[:, None])) ** 2).sum(1)
    error = float(np.sqrt(of_repeat.mean() * (1 / len(scores) + k / (k - 1))))
    if effective < 2 or not error > 0:
        return WeightedScore(Paired(mean, None, None, "the weighted rows have no spread"), effective)
    half = float(stdtrit(effective - 1, (1 + LEVEL) / 2)) * error
    found = Paired(mean, Interval(mean - half, mean + half), None, "an interval, and no test", half)
    return WeightedScore(found, effective)
