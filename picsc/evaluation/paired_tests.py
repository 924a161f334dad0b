"""Whether one method is better than another: 95 % intervals and paired tests of differences.

Which one applies depends on what was repeated: `resampled_t` for folds, `repeats_t` for batches with several seeds,
`rows_t` for batches with one seed, `rows_and_repeats_t` for targets that stay the same, `compare_across_datasets` for
one result per data set. All are two-sided.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtr, stdtrit

from picsc.reports.common import Interval

Floats = NDArray[np.float64]
LEVEL = 0.95
"""Of every interval."""
SAME = 1e-12
"""Differences closer than this are equal: accuracies and log-losses carry rounding of their sums."""


@dataclass(frozen=True, slots=True)
class Paired:
    """A mean difference and how sure it is."""

    mean: float
    interval: Interval
    p: float | None
    """None where differences have no spread to compare their mean with."""
    reason: str = ""
    """Why p is None."""


@dataclass(frozen=True, slots=True)
class AcrossDatasets:
    """A method minus another one over several data sets."""

    t: Paired
    """Of the mean difference; assumes that differences are about normal over sets."""
    wilcoxon_p: float
    """Signed-rank test, exact; assumes only that differences are symmetric around 0 if the methods are equally good."""
    wins: int
    ties: int
    losses: int


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
        test_rows: of each unit, or one number for all; broadcasts to (repeats, pieces).
        train_rows: likewise.

    Returns:
        None when fewer than two units are left.
    """
    kept = np.isfinite(differences)
    tested = np.broadcast_to(test_rows, differences.shape)[kept].sum()
    trained = np.broadcast_to(train_rows, differences.shape)[kept].sum()
    return _t(differences[kept], overlap=float(tested / trained) if kept.any() else 0.0)


def repeats_t(means: Floats) -> Paired | None:
    """t-test over repeats with other seeds, for models of batches that one validation part judges.

    Reading: repeats share the table and its batches; the interval is over seeds of weights, order and validation rows.

    Args:
        means: (repeats,) mean difference over pieces; NaN where a repeat has none.

    Returns:
        None when fewer than two repeats are left.
    """
    return _t(means[np.isfinite(means)])


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
    """t-test for a target whose rows judge in every repeat, over its rows and over repeats with other seeds.

    The variance is that of the mean over rows plus that of the mean over repeats, with Satterthwaite's degrees of
    freedom. Reading: repeats that draw which rows judge count these rows twice, so the test is conservative; it says
    nothing of other training rows than these.

    Args:
        by_row: of each target, (n,) difference of every row that judged, mean over the repeats in which it did; NaN
            where a method had no model.
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
        zero = abs(mean) <= SAME
        return Paired(mean, Interval(mean, mean), 1.0 if zero else None, "" if zero else "all rows and repeats agree")
    freedom = total**2 / sum(variance**2 / count for variance, count in parts)
    return _student(mean, float(np.sqrt(total)), freedom)


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


def _t(differences: Floats, overlap: float = 0.0) -> Paired | None:
    """Student's t with J - 1 degrees of freedom; `overlap` is what correlation adds to the factor 1/J of the variance.

    Differences that are all equal have no spread: all zero is p = 1, and anything else has no p.
    """
    count = len(differences)
    if count < 2:
        return None
    mean = float(differences.mean())
    if np.ptp(differences) <= SAME:
        zero = abs(mean) <= SAME
        reason = "" if zero else f"all {count} differences are equal: they have no spread to compare their mean with"
        return Paired(mean, Interval(mean, mean), 1.0 if zero else None, reason)
    return _student(mean, float(np.sqrt(differences.var(ddof=1) * (1 / count + overlap))), count - 1)


def _student(mean: float, error: float, freedom: float) -> Paired:
    """Interval and p of a mean with its standard error."""
    half = float(stdtrit(freedom, (1 + LEVEL) / 2)) * error
    return Paired(mean, Interval(mean - half, mean + half), float(2 * stdtr(freedom, -abs(mean) / error)))


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
