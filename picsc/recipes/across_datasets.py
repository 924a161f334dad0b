"""Means and paired tests over data sets. Letters: m data sets, NaN where one has no number."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

import numpy as np

from picsc.evaluation import paired_tests as paired
from picsc.evaluation.holm import with_holm
from picsc.recipes.rows import OURS
from picsc.reports.common import Metric
from picsc.reports.recipes import Foretold, OverSets, PairedDifference, RecipeRow, Score

TEST = (
    "over data sets: mean difference with 95 % t-interval, two-sided Wilcoxon signed-rank p; Holm: adjusted for the "
    "number of methods"
)
UNWEIGHTED = "unweighted"
"""The estimates without weights, which those with weights are compared with."""


def across_datasets(rows: Sequence[RecipeRow], block: str | int, metric: Metric = "accuracy") -> OverSets | None:
    """Means over the counted rows of one block and metric, and the tests of PIcsC against every other method.

    Reading: a data set without a number of some method (a refused weighting) stays in means and tests of the others.
        Where there is a `Comparison`, its paired difference is what a data set brings to a test: methods are then
        compared on the targets that have a number of both.

    Args:
        rows: of one recipe.
        block: as in `RecipeRow.block`.
        metric: the score of the rows; accuracies and R² have no mean in common.

    Returns:
        None when no row counts.
    """
    counted = [row for row in rows if row.counted and row.block == block and row.metric == metric]
    if not counted:
        return None
    found = {score.method for row in counted for score in row.scores}
    methods = [score.method for score in max((row.scores for row in counted), key=len)]
    methods += sorted(found - set(methods))
    tests = [_test(counted, method) for method in methods if method != OURS] if OURS in methods else []
    counts = {row.pieces for row in counted}
    return OverSets(
        pieces=counts.pop() if len(counts) == 1 else None,
        sets=len(counted),
        scores=tuple(
            Score(method, _mean_score(counted, method, "accuracy"), _mean_score(counted, method, "log_loss"))
            for method in methods
        ),
        printed=_mean([row.printed for row in counted]),
        difference=_mean([row.difference for row in counted]),
        tests=with_holm(test for test in tests if test is not None),
        clients=counted[0].clients,
        target=counted[0].target,
        foretold=(*_estimates(counted, "error"), *_estimates(counted, "bias")),
        metric=metric,
        strength=counted[0].strength,
    )


def _mean_score(rows: Sequence[RecipeRow], method: str, kind: str) -> float | None:
    return _mean([_number(row, method, kind) for row in rows])


def _number(row: RecipeRow, method: str, kind: str) -> float | None:
    return next((getattr(score, kind) for score in row.scores if score.method == method), None)


def _test(rows: Sequence[RecipeRow], against: str) -> PairedDifference | None:
    """PIcsC minus another method; None where no row has both."""
    both = np.asarray([_differences(row, against) for row in rows], dtype=np.float64)
    accuracy, log_loss = both[np.isfinite(both).all(1)].T
    if not len(accuracy):
        return None
    by_accuracy, by_log_loss = (
        paired.compare_across_datasets(each, np.zeros_like(each)) for each in (accuracy, log_loss)
    )
    return PairedDifference(
        against=against,
        sets=len(accuracy),
        accuracy=float(accuracy.mean()),
        accuracy_interval=None if by_accuracy is None else by_accuracy.t.interval,
        accuracy_p=None if by_accuracy is None else by_accuracy.wilcoxon_p,
        log_loss=float(log_loss.mean()),
        log_loss_interval=None if by_log_loss is None else by_log_loss.t.interval,
        log_loss_p=None if by_log_loss is None else by_log_loss.wilcoxon_p,
    )


def _differences(row: RecipeRow, against: str) -> tuple[float | None, float | None]:
    """The differences of accuracies and of log-losses on one data set."""
    if row.comparison is not None:
        found = row.comparison.against(against)
        return (None, None) if found is None else (found.accuracy, found.log_loss)
    accuracy, log_loss = (
        None if ours is None or theirs is None else ours - theirs
        for ours, theirs in (
            (_number(row, OURS, kind), _number(row, against, kind)) for kind in ("accuracy", "log_loss")
        )
    )
    return accuracy, log_loss


def _estimates(rows: Sequence[RecipeRow], measure: Literal["error", "bias"]) -> Iterator[Foretold]:
    """The estimates with each kind of weights, compared with the unweighted ones over the sets that have both."""
    found = [row.comparison.risks for row in rows if row.comparison is not None]
    names = (f"log_loss_{measure}", f"accuracy_{measure}")
    errors = [{risk.by: tuple(getattr(risk, name) for name in names) for risk in risks} for risks in found]
    nothing = (None, None)
    for by in dict.fromkeys(by for one in errors for by in one):
        both = np.asarray([[one.get(by, nothing), one.get(UNWEIGHTED, nothing)] for one in errors], dtype=np.float64)
        both = both[np.isfinite(both).all((1, 2))]
        if len(both):
            log_loss, accuracy = both[:, 0].mean(0)
            closer = (both[:, 0] < both[:, 1]).sum(0)
            yield Foretold(by, measure, len(both), float(log_loss), int(closer[0]), float(accuracy), int(closer[1]))


def _mean(values: Sequence[float | None]) -> float | None:
    """The mean, or None if one of them is missing."""
    there = [value for value in values if value is not None]
    return float(np.mean(there)) if there and len(there) == len(values) else None
