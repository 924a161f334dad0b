"""Significance of differences between methods: the paired test that fits the targets.

Letters: R repeats, K targets of a repeat, m test rows of one target.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from picsc.comparison.task_scores import TaskScores
from picsc.comparison.transfer_tasks import TransferPlan
from picsc.evaluation.judging import linearised
from picsc.evaluation.means import difference, nan_mean
from picsc.evaluation.paired_tests import Paired, resampled_t, rows_and_repeats_t
from picsc.reports.common import Difference, Metric

Floats = NDArray[np.float64]


def by_target(values: Floats, plan: TransferPlan) -> Floats:
    """Values of tasks, (R * K,), as (R, K)."""
    return values.reshape(plan.repeats, len(plan.names))


def difference_between(
    ours: TaskScores, other: tuple[str, TaskScores], plan: TransferPlan, metric: Metric, weights: Floats | None = None
) -> Difference:
    """Difference of a method from another one, given by name and scores, in the metric and in log-loss."""
    name, theirs = other
    return difference(
        name,
        ours.columns["accuracy"] - theirs.columns["accuracy"],
        ours.columns["log_loss"] - theirs.columns["log_loss"],
        paired_test(ours, theirs, "accuracy", plan, weights),
        paired_test(ours, theirs, "log_loss", plan, weights),
        metric,
    )


def paired_test(
    ours: TaskScores, theirs: TaskScores | None, key: str, plan: TransferPlan, weights: Floats | None = None
) -> Paired | None:
    """Paired test of two methods on one column, by the way targets are drawn.

    Args:
        ours: scores of one method.
        theirs: scores of the other; None tests `ours` alone, for its interval.
        key: column of the scores: `accuracy`, `log_loss`, or that of a metric by name.
        plan: tasks.
        weights: how much each row of the data counts in every score, (n,); None is the same for all.

    Returns:
        The test; None where there are no pairs, and for a metric that is no mean over rows where rows are what the test
        is over.
    """
    differences = by_target(ours.columns[key] - (0.0 if theirs is None else theirs.columns[key]), plan)
    if plan.fixed_target:
        if not _kept(ours, key):
            return None
        rows = [_by_row(ours, theirs, key, plan, k, weights) for k in range(len(plan.names))]
        return rows_and_repeats_t(rows, np.array([nan_mean(line) for line in differences]))
    tested = np.array([len(task.target) + len(task.test) for task in plan.tasks], np.float64)
    others = np.array([len(task.train) + task.unused for task in plan.tasks], np.float64)
    tested, others = by_target(tested, plan), by_target(others, plan)
    if plan.redrawn_targets:
        return resampled_t(differences, tested, others)
    # repeats of the same pieces differ in seeds alone: a piece is one observation, however often it is repeated
    means = np.array([nan_mean(line) for line in differences.T])
    return resampled_t(means[None], tested[:1], others[:1])


def _kept(scores: TaskScores, key: str) -> tuple[Floats, ...]:
    """What each test row contributes to a score, by task; () for a score that is no mean over rows."""
    if key in ("accuracy", "log_loss"):
        return scores.right if key == "accuracy" else scores.losses
    return scores.by_row.get(key, ())


def _by_row(
    ours: TaskScores, theirs: TaskScores | None, key: str, plan: TransferPlan, k: int, weights: Floats | None
) -> Floats:
    """Difference on each test row of target k, mean over the repeats in which the row was tested."""
    tasks = range(k, len(plan.tasks), len(plan.names))
    rows = np.concatenate([plan.tasks[i].test for i in tasks])

    def values(scores: TaskScores) -> Floats:
        return np.concatenate([_kept(scores, key)[i] for i in tasks])

    differences = values(ours) - (0.0 if theirs is None else values(theirs))
    known = np.isfinite(differences)
    tested, place = np.unique(rows[known], return_inverse=True)
    counts = np.bincount(place)
    means: Floats = np.bincount(place, weights=differences[known]) / np.maximum(counts, 1)
    return linearised(means, None if weights is None else weights[tested])


def describe_test(plan: TransferPlan) -> str:
    """Name of the paired test that `paired_test` uses."""
    if plan.fixed_target:
        repeats = f" and {plan.repeats} repeats" if plan.repeats > 1 else ", given the trained models"
        return f"paired t-test over the target's rows{repeats}, 95 % intervals"
    if plan.redrawn_targets:
        return "corrected resampled t-test over targets and repeats (Nadeau and Bengio 2003), 95 % intervals"
    return f"corrected resampled t-test over {len(plan.names)} targets, each the mean of its repeats, 95 % intervals"
