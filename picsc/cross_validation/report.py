"""Report of a cross-validation: means and intervals of every method, the scores of every model, reasons for gaps."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from picsc.cross_validation.experiment import Experiment
from picsc.cross_validation.group_leakage import group_leakage, leakage_findings
from picsc.cross_validation.methods import (
    ALGORITHM_1,
    EQUAL,
    ISOTROPIC,
    MERGED,
    RUNNING,
    SMALLER,
    SO_FAR,
    UNMERGED,
    MethodScores,
    measured_pieces,
)
from picsc.cross_validation.piece_scores import PieceScores
from picsc.cross_validation.pooled_r2 import SCORE, with_scores
from picsc.cross_validation.significance import describe_test, difference_between, paired_test
from picsc.cross_validation.summary import summary_lines
from picsc.datasets.data import Data
from picsc.datasets.description import data_info
from picsc.datasets.rows import Rows
from picsc.evaluation.failures import divergence_reason
from picsc.evaluation.holm import with_holm
from picsc.evaluation.judging import column_of
from picsc.evaluation.lifelong import lifelong_scores
from picsc.evaluation.means import finite_mean, nan_mean
from picsc.evaluation.method_metrics import method_metrics
from picsc.evaluation.paired_tests import Paired, difference_interval, score_interval
from picsc.reports.common import Finding, MajorityClass, finite
from picsc.reports.cv import CvReport, Lifelong, Loss, MethodReport, Unit
from picsc.reports.metrics import MetricScore
from picsc.settings import METHODS, CvSettings
from picsc.settings.fields import HOW_IT_RUNS
from picsc.training.own.applies import OF_CV, not_applicable

WHOLE = "whole set"
"""Name of the fragment of models of the whole training set."""
_ORDER = (
    *METHODS[:2],
    UNMERGED,
    ALGORITHM_1,
    SO_FAR,
    *METHODS[2:3],
    ISOTROPIC,
    *METHODS[3:5],
    MERGED,
    RUNNING,
    *METHODS[5:],
)
"""Names of the methods in the order of the report."""
_WITH_STRENGTH = ("picsc", UNMERGED, ALGORITHM_1, ISOTROPIC, "weight-decay")
"""Methods that have a lambda or a weight decay."""

_NO_SCORE = ("no R2 of its own: one row is tested", "no R2 of its own: the tested rows have one value only")
"""Reasons by whether several rows are tested; classes always have an accuracy."""
_WORDS = {
    ("st-cv", True): "standard training on all other pieces",
    ("st-cv", False): "standard training on each piece alone",
    (SO_FAR, False): "standard training on the pieces so far: Algorithm 1 there without its penalty",
    ("weight-decay", True): "weight decay chosen on training rows, no penalty",
    ("weight-decay", False): "parameters carried along, weight decay chosen on training rows",
    ("carried", True): "parameters carried along the training pieces, no penalty",
    ("carried", False): "parameters carried along the pieces, no penalty",
    ("average", True): "plain running mean of the carried models",
    ("average", False): "plain running mean of the carried models",
    (MERGED, True): "Fisher-weighted running mean of the carried models",
    (MERGED, False): "Fisher-weighted running mean of the carried models: Algorithm 2 with lambda 0",
    **dict.fromkeys(
        ((RUNNING, True), (RUNNING, False)),
        "running mean of the carried models, its forgetting chosen on training rows",
    ),
    **dict.fromkeys(
        ((ISOTROPIC, True), (ISOTROPIC, False)),
        "Algorithm 2 with the identity in the place of the Fisher information: a control of its directions",
    ),
    ("subsample", True): "standard training, pieces made by chance alone",
    ("subsample", False): "standard training on random rows, as many as each piece has",
}


def assemble(
    data: Data,
    settings: CvSettings,
    experiment: Experiment,
    scores: MethodScores,
    findings: tuple[Finding, ...],
    manifest: dict[str, object],
) -> CvReport:
    """The report of one cross-validation.

    Args:
        data: the data set.
        settings: all settings of the run.
        experiment: repeats and the setup of training.
        scores: of all functions of `picsc.cross_validation.methods.METHOD_FUNCTIONS` that were run.
        findings: of reading and cutting.
        manifest: data, settings and versions that give the same bytes again.
    """
    scores, pooled = with_scores(scores, numbers=experiment.setup.likelihood == "numbers")
    whole = {name: scores[key] for name, key in (("st-cv", "whole"), ("picsc", "whole-picsc")) if key in scores}
    names = [name for name in _ORDER if name in scores]
    methods = tuple(_method(name, scores, whole.get(name), experiment, settings) for name in names)
    leakage = group_leakage(settings.cut.group or "", experiment, scores)
    findings += leakage_findings(leakage, experiment.metric)
    majority = _majority(data, scores, experiment)
    return CvReport(
        protocol="foldwise" if experiment.foldwise else "batchwise",
        algorithm=1 if experiment.setup.algorithm == 1 else 2,
        summary=summary_lines(methods, experiment.metric, majority, gradients=experiment.setup.gradients),
        data=data_info(data),
        pieces=experiment.repeats[0].words,
        fragments=experiment.repeats[0].names,
        repeats=len(experiment.repeats),
        test=describe_test(experiment),
        methods=methods,
        loss=_loss(scores, whole.get("st-cv"), experiment),
        findings=findings,
        settings=settings.model_dump(mode="json", exclude=HOW_IT_RUNS),
        manifest=manifest,
        majority=majority,
        pooled=pooled,
        group_leakage=leakage,
        not_applicable=not_applicable(OF_CV, experiment.setup.without_gradients),
    )


def _majority(data: Data, found: MethodScores, experiment: Experiment) -> MajorityClass | None:
    """The most frequent class and its share of the rows that test the pieces; None for numbers."""
    share = finite_mean(found["st-cv"].columns["majority"]) if "st-cv" in found else None
    names = data.classes if data.kind != "table" else () if data.target is None else data.target.levels
    return None if share is None else MajorityClass(names[experiment.majority], share)


def _method(
    name: str, found: MethodScores, whole: PieceScores | None, experiment: Experiment, settings: CvSettings
) -> MethodReport:
    """The report of one method; `whole` are the scores of its models of the whole set, None where it has none."""
    scores = found[name]
    columns = scores.columns
    per_piece = np.array([nan_mean(of_piece) for of_piece in columns["accuracy"].T])
    known = per_piece[np.isfinite(per_piece)]
    strength = columns["strength"][np.isfinite(columns["strength"])]
    looked, flagged = np.nansum(columns["looked"]), np.nansum(columns["flagged"])
    against = [other for other in ("st-cv", *_ORDER[4:], "picsc", *_ORDER[2:4]) if other in found and other != name]
    return MethodReport(
        method=name,
        words=_words(name, experiment, settings),
        whole=finite_mean(whole.columns["accuracy"]) if whole is not None else None,
        whole_log_loss=finite_mean(whole.columns["log_loss"]) if whole is not None else None,
        fragments=tuple(map(finite, per_piece)),
        mean=finite_mean(columns[SCORE]),
        variance=finite(float(np.var(known * 100, ddof=1))) if len(known) > 1 else None,
        interval=score_interval(paired_test(scores, None, SCORE, experiment), experiment.metric),
        log_loss=finite_mean(columns["log_loss"]),
        weighted_accuracy=finite_mean(columns["weighted_accuracy"]),
        strengths=tuple(float(f"{value:.6g}") for value in np.unique(strength)) if name in _WITH_STRENGTH else (),
        penalty_share=finite_mean(columns["share"]) if name in ("picsc", UNMERGED, ALGORITHM_1, ISOTROPIC) else None,
        flagged=(int(flagged), int(looked)) if looked else None,
        failed=sum(int((each.columns["diverged"] > 0).sum()) for each in (scores, whole) if each is not None),
        differences=with_holm(difference_between(scores, found[other], other, experiment) for other in against),
        units=_units(name, scores, whole, experiment),
        balanced_accuracy=finite_mean(columns["balanced_accuracy"]),
        auc=finite_mean(columns["auc"]),
        lifelong=_lifelong(scores),
        metrics=_metrics(scores, {other: found[other] for other in against}, experiment),
    )


def _metrics(scores: PieceScores, others: MethodScores, experiment: Experiment) -> tuple[MetricScore, ...]:
    """The metrics that are asked for."""

    def test(other: str | None, column: str) -> Paired | None:
        return paired_test(scores, None if other is None else others[other], column, experiment)

    judging, setup = experiment.judging, experiment.setup
    reasons: dict[str, str] = {}
    for repeat in experiment.repeats:
        for i in range(len(repeat.names)):
            rows = repeat.tested(i)
            reasons |= judging.reasons(setup.trainer.targets(rows), experiment.classes, rows)
    columns = {name: each.columns for name, each in others.items()}
    return method_metrics(judging.metrics, scores.columns, columns, test, reasons)


def _lifelong(scores: PieceScores) -> Lifelong | None:
    """Forgetting and transfer of one method, mean over repeats; None where pieces have no test rows."""
    if scores.matrix is None:
        return None
    found = [lifelong_scores(matrix) for matrix in scores.matrix]
    means = {
        name: finite_mean(np.array([getattr(each, name) for each in found]))
        for name in ("all_pieces", "seen", "forgetting", "forward")
    }
    over_repeats = np.array([[nan_mean(cell) for cell in row] for row in np.moveaxis(scores.matrix, 0, -1)])
    return Lifelong(**means, matrix=tuple(tuple(map(finite, row)) for row in over_repeats.tolist()))


def _words(name: str, experiment: Experiment, settings: CvSettings) -> str:
    """Description of a method in one line."""
    if not experiment.setup.gradients and name == SO_FAR:
        return "standard training on the pieces so far"
    if name == "weight-decay" and experiment.setup.algorithm == 1 and not experiment.foldwise:
        return "weight decay chosen on training rows, on the pieces so far"
    if name == ALGORITHM_1:
        return f"Algorithm 1, penalty {settings.penalty.kind} between the pieces so far"
    if name in ("picsc", UNMERGED):
        if experiment.setup.algorithm == 1:
            between = "the training pieces" if experiment.foldwise else "the pieces so far"
            return f"Algorithm 1, penalty {settings.penalty.kind} between {between}{_of_whole(experiment)}"
        merged = {
            "fisher": "Fisher-weighted running mean",
            "mean": "plain running mean",
            "running": "running mean, its forgetting chosen on training rows",
            "none": "last model",
        }
        which = "last model" if name == UNMERGED else merged[settings.penalty.evaluated]
        scale = " at the weight of the rows seen" if settings.penalty.strength == "posterior" else ""
        return f"Algorithm 2{scale}, {which}{_of_whole(experiment) if name != UNMERGED else ''}"
    return _WORDS[name, experiment.foldwise]


def _of_whole(experiment: Experiment) -> str:
    """The algorithm of the whole set's model, batch-wise another one than that of the pieces."""
    return "" if experiment.foldwise else "; whole set: Algorithm 1 between the pieces"


def _loss(found: MethodScores, whole: PieceScores | None, experiment: Experiment) -> Loss | None:
    """Accuracy that plain training loses by fragmentation: the share of smaller samples and that of shift.

    Models of folds and of the whole set are tested on other rows and learn from other shares of the rows, so each part
    compares models that differ in one thing.
    """
    fewer = found.get(SMALLER if experiment.foldwise else "subsample")
    if whole is None or fewer is None or "st-cv" not in found or "subsample" not in found:
        return None
    top, less = finite_mean(whole.columns[SCORE]), finite_mean(fewer.columns[SCORE])
    pieces, chance = (finite_mean(found[name].columns[SCORE]) for name in ("st-cv", "subsample"))
    if top is None or less is None or pieces is None or chance is None:
        return None
    shift = paired_test(found["subsample"], found["st-cv"], SCORE, experiment)
    interval = difference_interval(shift, experiment.metric)
    updates = _fewer_updates(found, experiment)
    return Loss(top - less + chance - pieces, top - less - (updates or 0.0), chance - pieces, interval, updates)


def _fewer_updates(found: MethodScores, experiment: Experiment) -> float | None:
    """Accuracy that subsamples win by the updates of the whole set; None where they have as many."""
    if EQUAL not in found:
        return None
    places = np.array([measured_pieces(repeat) for repeat in experiment.repeats])
    own = np.take_along_axis(found["subsample"].columns[SCORE], places, axis=1)
    return finite_mean(found[EQUAL].columns[SCORE] - own)


def _units(method: str, scores: PieceScores, whole: PieceScores | None, experiment: Experiment) -> tuple[Unit, ...]:
    """One unit per repeat and piece, then one per repeat of the whole set."""
    repeats, pieces = scores.columns["accuracy"].shape
    units = [
        _unit(method, scores, _Place(r, i, experiment.repeats[r].names[i]), experiment)
        for r in range(repeats)
        for i in range(pieces)
    ]
    if whole is not None:
        units += [_unit(method, whole, _Place(r, 0, WHOLE), experiment) for r in range(repeats)]
    return tuple(units)


@dataclass(frozen=True, slots=True)
class _Place:
    """Repeat and piece of one model."""

    r: int
    i: int
    name: str
    """Name of the piece, or `WHOLE`."""


def _unit(method: str, scores: PieceScores, place: _Place, experiment: Experiment) -> Unit:
    at = {key: float(values[place.r, place.i]) for key, values in scores.columns.items()}
    has_strength = method in _WITH_STRENGTH
    looked = at["looked"] > 0 and not experiment.foldwise
    return Unit(
        repeat=place.r + 1,
        fragment=place.name,
        rows=int(at["rows"]),
        accuracy=finite(at["accuracy"]),
        log_loss=finite(at["log_loss"]),
        auc=finite(at["auc"]),
        weighted_accuracy=finite(at["weighted_accuracy"]),
        reason=_reason(method, at, place, experiment),
        strength=finite(at["strength"]) if has_strength else None,
        penalty_share=finite(at["share"]) if has_strength else None,
        flagged=at["flagged"] > 0 if looked else None,
        tau=finite(at["tau"]) if looked else None,
        gamma=finite(at["gamma"]) if looked else None,
        balanced_accuracy=finite(at["balanced_accuracy"]),
        diverged=int(at["diverged"]) if at["diverged"] > 0 else None,
        metrics={name: finite(at[column_of(name)]) for name in experiment.judging.metrics},
        metric_reasons=_metric_reasons(at, place, experiment),
    )


def _metric_reasons(at: dict[str, float], place: _Place, experiment: Experiment) -> dict[str, str]:
    """Reasons for the metrics that one model does not have."""
    rows = _tested(place, experiment)
    judging = experiment.judging
    known = judging.reasons(experiment.setup.trainer.targets(rows), experiment.classes, rows)
    missing = [name for name in judging.metrics if not np.isfinite(at[column_of(name)])]
    return {name: known.get(name, "the model has no result") for name in missing}


def _tested(place: _Place, experiment: Experiment) -> Rows:
    """The rows that test a model."""
    repeat = experiment.repeats[place.r]
    return repeat.validation if place.name == WHOLE else repeat.tested(place.i)


def _reason(method: str, at: dict[str, float], place: _Place, experiment: Experiment) -> str:
    """Reason why a number of a unit is missing; empty where none is."""
    setup = experiment.setup
    if at["diverged"] > 0:
        strength = at["strength"] if method in _WITH_STRENGTH else None
        return divergence_reason(int(at["diverged"]), setup.trainer.lr, strength, decayed=method == "weight-decay")
    tested = _tested(place, experiment)
    if not len(tested):
        return "no rows to test"
    one_class = len(np.unique(setup.trainer.targets(tested))) < 2
    missing = (
        (not np.isfinite(at["accuracy"]), _NO_SCORE[len(tested) > 1]),
        (setup.likelihood == "classes" and one_class, "no balanced accuracy and no AUC: one class only"),
        (
            setup.likelihood == "classes" and not one_class and not np.isfinite(at["auc"]),
            "no AUC: a class is not tested",
        ),
        (experiment.weights is not None and not np.isfinite(at["weighted_accuracy"]), "no weighted accuracy"),
    )
    return "; ".join(reason for holds, reason in missing if holds)
