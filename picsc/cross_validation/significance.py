"""Significance of differences between methods of a cross-validation: the paired test that fits the pieces."""

from __future__ import annotations

import numpy as np

from picsc.cross_validation.experiment import Experiment
from picsc.cross_validation.piece_scores import BY_ROW, PieceScores
from picsc.cross_validation.pooled_r2 import SCORE
from picsc.evaluation.judging import linearised
from picsc.evaluation.means import difference, nan_mean
from picsc.evaluation.paired_tests import Paired, holdout_t, resampled_t, rows_and_repeats_t, rows_t
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
        key: column of the scores: `SCORE`, `log_loss`, or that of a metric by name.
        experiment: repeats of folds, or of batches that are all tested on the validation rows of their repeat.

    Returns:
        The test; None where there are no pairs, and for a metric that is no mean over rows where rows are what the test
        is over.
    """
    values = ours.columns[key] - (0.0 if theirs is None else theirs.columns[key])
    first = experiment.repeats[0]
    if experiment.foldwise and not experiment.tested_once:
        tested = np.array([[len(repeat.tested(i)) for i in range(values.shape[1])] for repeat in experiment.repeats])
        trained, alike = ours.columns["rows"], experiment.same_pieces
        if alike is None:
            return resampled_t(values, tested, trained)
        # repeats of the same pieces differ in seeds alone: a piece is one observation, however often it is repeated
        values, tested, trained = (np.take_along_axis(each, alike, 1) for each in (values, tested, trained))
        return resampled_t(np.array([[nan_mean(line) for line in values.T]]), tested[:1], trained[:1])
    if not experiment.keep_rows:
        return holdout_t(values, len(first.validation), sum(map(len, first.pieces)))
    place = {SCORE: BY_ROW[0], "log_loss": BY_ROW[1]}.get(key, f"{key} by row")
    if place not in ours.by_row:
        return None
    by_row = ours.by_row[place] - (0.0 if theirs is None else theirs.by_row[place])
    by_row = linearised(by_row, experiment.judging.weights_of(first.validation))
    if len(experiment.repeats) == 1:
        return rows_t(by_row, np.zeros_like(by_row))
    return rows_and_repeats_t([by_row], np.array([nan_mean(line) for line in values]))


def describe_test(experiment: Experiment) -> str:
    """Name of the paired test that `paired_test` uses."""
    repeats, pieces = experiment.shape
    folds = experiment.foldwise and not experiment.tested_once
    if folds and experiment.same_pieces is not None and repeats > 1:
        return f"corrected resampled t-test over {pieces} pieces, each the mean of its repeats, 95 % intervals"
    if folds:
        return "corrected resampled t-test over folds and repeats (Nadeau and Bengio 2003), 95 % intervals"
    if not experiment.keep_rows:
        return f"corrected resampled t-test over {repeats} repeats (Nadeau and Bengio 2003), 95 % intervals"
    if repeats > 1:
        return f"paired t-test over the test rows, the same in every repeat, and {repeats} repeats, 95 % intervals"
    return "paired t-test over validation rows, given the trained models; --repeats 5 also shows how seeds matter"
