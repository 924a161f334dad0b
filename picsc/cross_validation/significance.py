"""Significance of differences between methods of a cross-validation: the paired test that fits the pieces."""

from __future__ import annotations

import numpy as np

from picsc.cross_validation.experiment import Experiment
from picsc.cross_validation.piece_scores import PieceScores
from picsc.cross_validation.pooled_r2 import SCORE
from picsc.evaluation.means import difference, nan_mean
from picsc.evaluation.paired_tests import Paired, repeats_t, resampled_t, rows_t
from picsc.reports.common import Difference


def difference_between(ours: PieceScores, theirs: PieceScores, name: str, experiment: Experiment) -> Difference:
    """Difference of two methods in accuracy and log-loss; `name` is that of `theirs`."""
    return difference(
        name,
        ours.columns[SCORE] - theirs.columns[SCORE],
        ours.columns["log_loss"] - theirs.columns["log_loss"],
        paired_test(ours, theirs, SCORE, experiment),
        paired_test(ours, theirs, "log_loss", experiment),
        experiment.metric,
    )


def paired_test(ours: PieceScores, theirs: PieceScores | None, key: str, experiment: Experiment) -> Paired | None:
    """Paired test of two methods on one column, by the design of the experiment.

    Args:
        ours: scores of one method.
        theirs: scores of the other; None tests `ours` alone, for its interval.
        key: column of the scores, `SCORE` or `log_loss`.
        experiment: repeats of folds, or of batches with the same validation part.

    Returns:
        The test; None where there are no pairs.
    """
    values = ours.columns[key] - (0.0 if theirs is None else theirs.columns[key])
    if experiment.foldwise:
        tested = np.array([[len(repeat.tested(i)) for i in range(values.shape[1])] for repeat in experiment.repeats])
        return resampled_t(values, tested, ours.columns["rows"])
    if len(experiment.repeats) > 1:
        return repeats_t(np.array([nan_mean(line) for line in values]))
    if key != SCORE or ours.right is None:
        return None
    return rows_t(ours.right, np.zeros_like(ours.right) if theirs is None or theirs.right is None else theirs.right)


def describe_test(experiment: Experiment) -> str:
    """Name of the paired test that `paired_test` uses."""
    if experiment.foldwise:
        return "corrected resampled t-test over folds and repeats (Nadeau and Bengio 2003), 95 % intervals"
    if len(experiment.repeats) > 1:
        first, *others = (repeat.validation for repeat in experiment.repeats)
        same = ", of which all have the same test rows" if all(np.array_equal(first, other) for other in others) else ""
        return f"paired t-test over {len(experiment.repeats)} repeats{same}, 95 % intervals"
    return "paired t-test over validation rows, given the trained models; --repeats 5 also shows how seeds matter"
