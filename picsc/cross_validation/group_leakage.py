"""Finding on rows of one group that tell on each other: what plain training gains where groups may be divided.

A model may recognise the group of a row in place of what it should learn. Standard cross-validation with whole groups
is compared with the same learner on random splits of the same sizes that may divide groups. Letters: k pieces.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from picsc.cross_validation.experiment import Experiment
from picsc.cross_validation.piece_scores import PieceScores
from picsc.cross_validation.pooled_r2 import SCORE
from picsc.cross_validation.significance import paired_test
from picsc.cross_validation.splits import Repeat, fragmented
from picsc.evaluation.means import finite_mean
from picsc.evaluation.paired_tests import difference_interval
from picsc.reports.common import Finding, Metric
from picsc.reports.cv import GroupLeakage
from picsc.training.jobs import TrainingJob

DIVIDED = "groups-divided"
"""Name of the scores of models that may be tested on rows of groups that they learned from."""
LEVEL = 0.05
"""Level of the paired test below which a gap counts."""
LEAST = 0.02
"""Smallest gap that is worth a warning: an accuracy or a share of variance explained."""


def can_divide(experiment: Experiment) -> bool:
    """True where groups are kept whole and a split of the same sizes can be drawn that divides them.

    Reading: batch-wise, rows that test all repeats (the latest ones, an official test part) may differ from the others
        by more than their groups, so that random rows in their place would not tell groups apart from time.
    """
    return experiment.repeats[0].groups is not None and (experiment.foldwise or not experiment.keep_rows)


def whole_groups(experiment: Experiment) -> str:
    """Method whose pieces are whole groups by chance, and differ from `divided_jobs` in nothing else.

    Random folds are such pieces. Others are made by a column or by the order of rows, and `st-cv` also pays for their
    shift: there it is `subsample`.
    """
    return "st-cv" if experiment.random_folds else "subsample"


def divided_jobs(experiment: Experiment) -> list[TrainingJob]:
    """One training job per repeat and piece: the models of `whole_groups`, with rows dealt out one by one.

    Each has as many training rows and test rows as its model with whole groups, the classes as balanced as there.
    """
    recut = whole_groups(experiment) == "subsample"
    jobs: list[TrainingJob] = []
    for repeat in experiment.repeats:
        jobs += _jobs(repeat.recut() if recut else repeat)
    return jobs


def _jobs(whole: Repeat) -> list[TrainingJob]:
    """The jobs of one repeat, from its pieces with whole groups."""
    generator = np.random.default_rng([whole.seed, 3])
    parts = list(whole.pieces) if whole.foldwise else [*whole.pieces, whole.validation]
    # the rows that test all models are drawn with the pieces, as one more part
    drawn = replace(whole, groups=None, pieces=tuple(parts)).recut().pieces
    pieces = drawn if whole.foldwise else drawn[:-1]
    divided = replace(whole, groups=None, pieces=pieces, validation=whole.validation if whole.foldwise else drawn[-1])
    jobs = []
    for i, piece in enumerate(pieces):
        if whole.foldwise:
            rows = divided.training(i)[0]
            fewer = min(len(rows), len(whole.training(i)[0]))
            train = rows[np.sort(generator.choice(len(rows), fewer, replace=False))]
            jobs.append(TrainingJob(train, np.zeros(fewer, np.int64), divided.tested(i), whole.seed))
        else:
            train, fragment = fragmented([piece], np.empty(0, np.int64))
            jobs.append(TrainingJob(train, fragment, divided.validation, whole.seed, sequence=pieces, place=i))
    return jobs


def group_leakage(column: str, experiment: Experiment, found: Mapping[str, PieceScores]) -> GroupLeakage | None:
    """Scores with divided and with whole groups, and their difference; None where they were not trained or failed.

    Args:
        column: of the groups.
        experiment: that was run.
        found: scores with the column `SCORE`, by method.
    """
    method = whole_groups(experiment)
    if DIVIDED not in found or method not in found:
        return None
    divided, whole = found[DIVIDED], found[method]
    means = [finite_mean(scores.columns[SCORE]) for scores in (divided, whole)]
    if means[0] is None or means[1] is None:
        return None
    test = paired_test(divided, whole, SCORE, experiment)
    return GroupLeakage(
        column=column,
        divided=means[0],
        whole=means[1],
        method=method,
        interval=difference_interval(test, experiment.metric),
        p=None if test is None else test.p,
    )


def leakage_findings(leakage: GroupLeakage | None, metric: Metric) -> tuple[Finding, ...]:
    """The warning, if the gap is beyond chance and large enough to matter."""
    if leakage is None or leakage.p is None or leakage.p >= LEVEL or leakage.divided - leakage.whole < LEAST:
        return ()
    score = "R2" if metric == "R2" else "accuracy"
    message = (
        f"rows of one group tell on each other: {score} {100 * leakage.divided:.1f} % when rows of one "
        f"{leakage.column!r} may be on both sides of a split, {100 * leakage.whole:.1f} % for groups that the model "
        f"has not met (p {leakage.p:.2g})"
    )
    advice = "quote the second for new groups; the first holds only for further rows of groups that it was trained on"
    return (Finding("group-leakage", "warning", message, advice),)
