"""Paired tests of the difference between two methods, with 95 % intervals.

The test that applies depends on what was repeated: `resampled_t` for folds, `holdout_t` for batches whose test rows are
drawn anew in every repeat, `rows_t` for batches with one repeat, `rows_and_repeats_t` for test rows that stay the same,
`repeats_t` for seeds alone, `compare_across_datasets` for one result per data set. All are two-sided.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtr, stdtrit

from picsc.reports.common import Interval, Metric

Floats = NDArray[np.float64]
LEVEL = 0.95
"""Confidence level of every interval."""
FEWEST = 3
"""Independent results that an interval needs: with two, their spread says next to nothing of that of others."""
_WIDEST = 20.0
"""Half width of an interval of log(1 - R^2) beyond which it says nothing."""
SAME = 1e-12
"""Differences closer than this are equal: accuracies and log-losses have rounding errors of their sums."""


@dataclass(frozen=True, slots=True)
class Paired:
    """A mean difference, its interval and its p-value."""

    mean: float
    """Mean of the differences, in their unit."""
    interval: Interval | None
    """95 % confidence interval of the mean, for numbers without bounds; None of fewer than `FEWEST` differences, and
    of equal ones that are not 0."""
    p: float | None
    """Two-sided p-value; None where differences have no spread to compare their mean with."""
    reason: str = ""
    """Reason why p is None; empty if it is not."""
    half: float | None = None
    """Half the width of the interval before it is moved to a bounded scale; None where there is no interval."""


@dataclass(frozen=True, slots=True)
class AcrossDatasets:
    """A method minus another one over several data sets."""

    t: Paired
    """t-test of the mean difference; assumes that differences are about normal over sets."""
    wilcoxon_p: float
    """Signed-rank test, exact; assumes only that differences are symmetric around 0 if the methods are equally good."""
    wins: int
    """Data sets with a positive difference."""
    ties: int
    """Data sets with equal results."""
    losses: int
    """Data sets with a negative difference."""


def resampled_t(
    differences: Floats, test_rows: float | NDArray[np.int64] | Floats, train_rows: float | NDArray[np.int64] | Floats
) -> Paired | None:
    """Corrected resampled t-test of (repeated) cross-validation, and the interval that belongs to it.

    Training sets overlap, so that differences of folds are correlated and their variance over J folds understates that
    of their mean; with the correlation taken as the share of rows tested, the variance is s^2 (1/J + n_test/n_train).
    Source: Nadeau and Bengio, "Inference for the generalization error", Machine Learning 52, 2003, Section 5.
    Reading: for pieces of unequal size n_test and n_train are means, which keeps the correlation at the mean share.

    Args:
        differences: (repeats, pieces) of accuracies or log-losses; NaN where a unit failed.
        test_rows: rows tested in each unit, or one number for all; broadcasts to (repeats, pieces).
        train_rows: rows trained on in each unit, or one number for all.

    Returns:
        None when fewer than two units are left.
    """
    kept = np.isfinite(differences)
    tested = np.broadcast_to(test_rows, differences.shape)[kept].sum()
    trained = np.broadcast_to(train_rows, differences.shape)[kept].sum()
    return _t(differences[kept], overlap=float(tested / trained) if kept.any() else 0.0)


def holdout_t(differences: Floats, test_rows: float, train_rows: float) -> Paired | None:
    """Corrected t-test for models of pieces that are all tested on one part of the rows, drawn anew in every repeat.

    Repeats share the table, so that their means over pieces are correlated and their variance s^2 over J repeats
    understates that of their mean. Two repeats have the share of rows tested in common among their test rows, and the
    share of rows trained on, 1 - share, among their training rows. Luck with test rows gives s^2 n_test/n_train, and
    luck with training rows v (1 - 2 share)/(1 - share), where v is the variance of the mean over pieces: pieces have no
    row in common, so neighbouring ones show it.
    Source: Nadeau and Bengio, "Inference for the generalization error", Machine Learning 52, 2003, Section 5.
    Reading: their correlation is that of test rows alone, and rejects twice as often as it should where pieces are
        small; v is theirs if a single model is trained, 0. It is made of differences between neighbouring pieces, which
        a trend along the pieces hardly changes. 1/J is at least the share of rows tested: further repeats test rows
        again that others have tested. Degrees of freedom are those of the repeats, which is conservative.

    Args:
        differences: (repeats, pieces) of accuracies or log-losses, pieces in order; NaN where a unit failed.
        test_rows: rows tested in one repeat.
        train_rows: rows of all pieces of one repeat.

    Returns:
        None when fewer than two repeats are left.
    """
    kept = differences[np.isfinite(differences).any(1)]
    if len(kept) < 2:
        return None
    means = np.array([line[np.isfinite(line)].mean() for line in kept])
    share = test_rows / (test_rows + train_rows)
    steps = [np.diff(line[np.isfinite(line)]) for line in kept]
    squares = [float((step**2).mean()) / 2 / (len(step) + 1) for step in steps if len(step)]
    luck = float(np.mean(squares)) * max(0.0, 1 - 2 * share) / (1 - share) if squares else 0.0
    return _t(means, overlap=test_rows / train_rows + max(0.0, share - 1 / len(means)), more=luck)


def repeats_t(means: Floats) -> Paired | None:
    """t-test over repeats that differ in nothing but their seeds, or whose rows were drawn independently.

    Reading: the interval is over seeds of weights and of the order of rows, given the rows trained on and tested.

    Args:
        means: (repeats,) mean difference over pieces; NaN where a repeat has none.

    Returns:
        None when fewer than two repeats are left.
    """
    return _t(means[np.isfinite(means)])


def future_t(means: Floats) -> Paired | None:
    """Mean over the pieces of a past, and the interval of the mean over a future of as many pieces.

    The variance is s^2 (1/J + 1/J) over J pieces: that of the mean over the past and that of the mean to come. Pieces
    count as independent, which they are not where a trend goes on.

    Args:
        means: (J,) score of each piece; NaN where it has none.

    Returns:
        None when fewer than two pieces are left.
    """
    known = means[np.isfinite(means)]
    return _t(known, overlap=1 / max(1, len(known)))


def rows_t(correct_a: Floats, correct_b: Floats) -> Paired | None:
    """Paired t-test over the validation rows of one repeat, given the trained models.

    Reading: says whether these models differ on other rows, not whether the methods would with other seeds; rows are
    independent draws given the models, as models of pieces tested on the same rows are not.

    Args:
        correct_a: (n,) share of a's models that are right on each row, or their mean log-loss; NaN without a label.
        correct_b: (n,) of the other method, same rows.

    Returns:
        None when fewer than two rows are left.
    """
    differences = correct_a - correct_b
    return _t(differences[np.isfinite(differences)])


def rows_and_repeats_t(by_row: Sequence[Floats], by_repeat: Floats) -> Paired | None:
    """t-test for a target whose rows are tested in every repeat, over its rows and over repeats with other seeds.

    The variance is that of the mean over rows plus that of the mean over repeats, with Satterthwaite's degrees of
    freedom. Reading: repeats that draw the test rows count these rows twice, so the test is conservative; it says
    nothing of other training rows than these.

    Args:
        by_row: of each target, (n,) difference of every row tested, mean over the repeats in which it was; NaN where a
            method had no model.
        by_repeat: (repeats,) mean difference over targets; NaN where a repeat has none.

    Returns:
        None when a target has fewer than two rows.
    """
    by_repeat = by_repeat[np.isfinite(by_repeat)]
    by_row = [values[np.isfinite(values)] for values in by_row]
    if not len(by_repeat) or min(map(len, by_row)) < 2:
        return None
    mean = float(by_repeat.mean())
    parts = [(values.var(ddof=1) / len(values) / len(by_row) ** 2, len(values) - 1) for values in by_row]
    if len(by_repeat) > 1:
        parts.append((by_repeat.var(ddof=1) / len(by_repeat), len(by_repeat) - 1))
    total = float(sum(variance for variance, _ in parts))
    if total <= SAME**2:
        return _alike(mean, FEWEST if min(map(len, by_row)) >= FEWEST else 2, "all rows and repeats agree")
    freedom = total**2 / sum(variance**2 / count for variance, count in parts)
    return _student(mean, float(np.sqrt(total)), freedom, enough=min(map(len, by_row)) >= FEWEST)


def compare_across_datasets(a: Floats, b: Floats) -> AcrossDatasets | None:
    """A method against another one with one result per data set.

    Source: Demsar, "Statistical comparisons of classifiers over multiple data sets", JMLR 7, 2006, Section 3.1.
    Reading: a tie of the methods keeps its rank, split between both sides (zsplit). Its half rank is then the same
    whatever the signs of the others, so the exact null distribution needs no approximation for ties.

    Args:
        a: (S,) results where more is better; NaN where there is none.
        b: (S,) of the other method, same sets.

    Returns:
        None when fewer than two sets have both results.
    """
    differences = a - b
    differences = differences[np.isfinite(differences)]
    t = _t(differences)
    if t is None:
        return None
    wins, losses = int((differences > SAME).sum()), int((differences < -SAME).sum())
    return AcrossDatasets(t, _signed_rank_p(differences), wins, len(differences) - wins - losses, losses)


def _t(differences: Floats, overlap: float = 0.0, more: float = 0.0) -> Paired | None:
    """Student's t with J - 1 degrees of freedom.

    For correlation, `overlap` is added to the factor 1/J of the variance, and `more` to the variance of the mean.
    Differences that are all equal have no spread: all zero is p = 1, and anything else has no p.
    """
    count = len(differences)
    if count < 2:
        return None
    mean = float(differences.mean())
    if np.ptp(differences) <= SAME:
        reason = f"all {count} differences are equal: they have no spread to compare their mean with"
        return _alike(mean, count, reason)
    error = float(np.sqrt(differences.var(ddof=1) * (1 / count + overlap) + more))
    return _student(mean, error, count - 1, enough=count >= FEWEST)


def _alike(mean: float, count: int, reason: str) -> Paired:
    """Differences without a spread: methods that are the same have an interval, [0, 0], and p = 1; others have none."""
    if abs(mean) > SAME:
        return Paired(mean, None, None, reason)
    return Paired(mean, Interval(mean, mean) if count >= FEWEST else None, 1.0)


def _student(mean: float, error: float, freedom: float, *, enough: bool) -> Paired:
    """Interval and p of a mean with its standard error; no interval unless there is enough to make one of."""
    p, half = float(2 * stdtr(freedom, -abs(mean) / error)), float(stdtrit(freedom, (1 + LEVEL) / 2)) * error
    return Paired(mean, Interval(mean - half, mean + half), p, half=half) if enough else Paired(mean, None, p)


def score_interval(of_score: Paired | None, metric: Metric) -> Interval | None:
    """95 % interval of a mean score, inside the values that the score can have.

    Reading: an accuracy has Wilson's interval, with the number of rows in it that would give the standard error of the
        test, so that the correction for overlapping training sets is kept; R^2 has the interval of log(1 - R^2).

    Args:
        of_score: test of the scores themselves, as from the functions of this module.
        metric: the score.

    Returns:
        None without a spread, or where the test has no interval.
    """
    if of_score is None or of_score.half is None:
        return None
    mean, half = of_score.mean, of_score.half
    if metric == "R2":
        missed = 1 - mean
        if not missed > 0 or half / missed > _WIDEST:
            return None
        factor = math.exp(half / missed)
        return Interval(1 - missed * factor, 1 - missed / factor)
    variance = mean * (1 - mean)
    if not variance > 0:
        return None
    ratio = half**2 / variance
    centre, reach = (mean + ratio / 2) / (1 + ratio), math.sqrt(ratio * (variance + ratio / 4)) / (1 + ratio)
    return Interval(max(0.0, centre - reach), min(1.0, centre + reach))


def difference_interval(of_difference: Paired | None, metric: Metric) -> Interval | None:
    """95 % interval of a difference of scores, cut at the largest difference that two accuracies can have.

    Args:
        of_difference: the test; None without one.
        metric: the score; R^2 has no smallest value, and so no largest difference.
    """
    found = None if of_difference is None else of_difference.interval
    if found is None or metric == "R2":
        return found
    return Interval(max(-1.0, found.low), min(1.0, found.high))


def _signed_rank_p(differences: Floats) -> float:
    """Wilcoxon's signed-rank test against all sign patterns of the differences that are not 0.

    Ranks are doubled so that shared ones are whole numbers; `ways[r]` counts, as a share of all patterns, those whose
    positive ranks sum to r.
    """
    sizes = np.abs(differences)
    order = np.sort(sizes)
    below, upto = np.searchsorted(order, sizes - SAME, "left"), np.searchsorted(order, sizes + SAME, "right")
    doubled = (below + upto + 1)[sizes > SAME]
    ways = np.zeros(int(doubled.sum()) + 1)
    ways[0] = 1
    for rank in doubled:
        ways[rank:] += ways[: len(ways) - rank].copy()
        ways /= 2
    positive = int(doubled[differences[sizes > SAME] > 0].sum())
    tail = min(ways[: positive + 1].sum(), ways[positive:].sum())
    return float(min(1.0, 2 * tail))
