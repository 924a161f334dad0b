"""Means and paired tests over data sets. Letters: m data sets."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from picsc import paired
from picsc.recipe_report import OverSets, PairedDifference, RecipeRow, Score

TEST = "over data sets: mean difference with 95 % t-interval, two-sided Wilcoxon signed-rank p, not corrected"
OURS = "picsc"
"""The method that is compared with all others."""


def over_sets(rows: Sequence[RecipeRow], block: str | int) -> OverSets | None:
    """Means over the counted rows of one block, and the tests of PIcsC against every other method.

    Args:
        rows: of one recipe.
        block: the number of pieces, or how clients were asked for.

    Returns:
        None when no row counts.
    """
    counted = [row for row in rows if row.counted and row.block == block]
    if not counted:
        return None
    methods = [score.method for score in counted[0].scores]
    accuracy = np.asarray([[score.accuracy for score in row.scores] for row in counted], dtype=np.float64)
    log_loss = np.asarray([[score.log_loss for score in row.scores] for row in counted], dtype=np.float64)
    printed = [row.printed for row in counted]
    differences = [row.difference for row in counted]
    tests = []
    if OURS in methods:
        ours = methods.index(OURS)
        tests = [
            _test(method, accuracy[:, ours] - accuracy[:, i], log_loss[:, ours] - log_loss[:, i])
            for i, method in enumerate(methods)
            if i != ours
        ]
    counts = {row.pieces for row in counted}
    return OverSets(
        pieces=counts.pop() if len(counts) == 1 else None,
        sets=len(counted),
        scores=tuple(
            Score(method, float(a), float(b))
            for method, a, b in zip(methods, accuracy.mean(0), log_loss.mean(0), strict=True)
        ),
        printed=_mean(printed),
        difference=_mean(differences),
        tests=tuple(tests),
        clients=counted[0].clients,
    )


def _test(against: str, accuracy: NDArray[np.float64], log_loss: NDArray[np.float64]) -> PairedDifference:
    """PIcsC minus another method; (m,) differences each."""
    by_accuracy, by_log_loss = (paired.over_sets(each, np.zeros_like(each)) for each in (accuracy, log_loss))
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


def _mean(values: Sequence[float | None]) -> float | None:
    """The mean, or None if one of them is missing."""
    there = [value for value in values if value is not None]
    return float(np.mean(there)) if there and len(there) == len(values) else None
