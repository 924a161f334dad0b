"""Report of a comparison: means and intervals of every method, the scores of every model, weights and risks.

Letters: R repeats, K targets of a repeat.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from picsc.comparison.inputs import ComparisonInputs
from picsc.comparison.iwcv import RISKS, IwcvChoice
from picsc.comparison.method_words import method_words
from picsc.comparison.significance import by_target, describe_test, difference_between, paired_test
from picsc.comparison.summary import BASE, OURS, summary_lines
from picsc.comparison.task_scores import TaskScores, weighting_of
from picsc.comparison.transfer_tasks import TransferPlan
from picsc.datasets.data import Data
from picsc.datasets.description import data_info
from picsc.datasets.rows import Rows
from picsc.evaluation.failures import divergence_reason
from picsc.evaluation.holm import with_holm
from picsc.evaluation.judging import column_of
from picsc.evaluation.means import finite_mean
from picsc.evaluation.method_metrics import method_metrics
from picsc.evaluation.paired_tests import Paired, score_interval
from picsc.reports.common import Finding, MajorityClass, finite
from picsc.reports.compare import (
    CompareMethodReport,
    CompareReport,
    CompareUnit,
    Delta,
    Measured,
    Risk,
    TargetInfo,
    Weights,
)
from picsc.reports.metrics import MetricScore
from picsc.settings import COMPARE_METHODS, WEIGHTINGS, CompareMethod, CompareSettings
from picsc.settings.fields import HOW_IT_RUNS
from picsc.training.own.applies import OF_COMPARE, not_applicable
from picsc.weighting import estimated_bytes

Results = Mapping[CompareMethod, TaskScores]
Floats = NDArray[np.float64]
_CHOSEN_STRENGTH: tuple[CompareMethod, ...] = ("picsc", "picsc-random", "weight-decay", "iwcv", "cv-choice")
"""Methods with a lambda or a weight decay."""


def assemble(
    data: Data,
    settings: CompareSettings,
    plan: TransferPlan,
    inputs: ComparisonInputs,
    scores: Results,
    findings: tuple[Finding, ...],
    manifest: dict[str, object],
) -> CompareReport:
    """The report of one comparison.

    Args:
        data: the data set.
        settings: all settings of the run.
        plan: tasks, and the way they were drawn.
        inputs: weights, and choices of importance-weighted cross-validation.
        scores: of every method that was run.
        findings: of reading and cutting.
        manifest: data, settings and versions that give the same bytes again.
    """
    names = [name for name in COMPARE_METHODS if name in scores]
    methods = tuple(_method(name, scores, plan, inputs, settings) for name in names)
    targets = _targets(plan, inputs)
    majority = _majority(data, scores[BASE], inputs)
    return CompareReport(
        setting=plan.setting,
        summary=summary_lines(methods, targets, settings, inputs.metric, majority),
        data=data_info(data),
        words=plan.words,
        targets=targets,
        repeats=plan.repeats,
        test=describe_test(plan),
        methods=methods,
        deltas=_deltas(methods),
        risks=_risks(inputs.choices, scores[BASE]),
        findings=findings,
        settings=settings.model_dump(mode="json", exclude=HOW_IT_RUNS),
        manifest=manifest,
        majority=majority,
        not_applicable=not_applicable(OF_COMPARE, inputs.setup.without_gradients),
        measured=tuple(Measured(name, _seconds(name, scores[name], inputs)) for name in names),
    )


def _majority(data: Data, plain: TaskScores, inputs: ComparisonInputs) -> MajorityClass | None:
    """The most frequent class and its share of the rows that test the models; None for numbers."""
    share = finite_mean(plain.columns["majority"])
    names = data.classes if data.kind != "table" else () if data.target is None else data.target.levels
    return None if share is None else MajorityClass(names[inputs.majority], share)


def _method(
    name: CompareMethod, all_scores: Results, plan: TransferPlan, inputs: ComparisonInputs, settings: CompareSettings
) -> CompareMethodReport:
    scores = all_scores[name]
    columns = scores.columns
    accuracy = by_target(columns["accuracy"], plan)
    used, exponents = columns["strength"], columns["exponent"]
    others = [other for other in COMPARE_METHODS if other in all_scores and other != name]
    ess = columns["ess"][np.isfinite(columns["ess"])]
    weights = None
    if len(ess):
        weights = Weights(float(ess.mean()), float(ess.min()), float(np.nanmean(columns["largest"])))
    return CompareMethodReport(
        method=name,
        words=method_words(name, settings),
        accuracy=finite_mean(columns["accuracy"]),
        interval=score_interval(paired_test(scores, None, "accuracy", plan, inputs.judging.weights), inputs.metric),
        log_loss=finite_mean(columns["log_loss"]),
        targets=tuple(finite_mean(values) for values in accuracy.T),
        weights=weights,
        memory=_memory(name, inputs),
        strengths=_distinct(used) if name in _CHOSEN_STRENGTH else (),
        exponents=_distinct(exponents),
        failed=sum(bool(reason) for reason in scores.refused) + int((columns["diverged"] > 0).sum()),
        differences=with_holm(
            difference_between(scores, (other, all_scores[other]), plan, inputs.metric, inputs.judging.weights)
            for other in others
        ),
        units=tuple(_unit(name, scores, plan, inputs, i) for i in range(len(plan.tasks))),
        balanced_accuracy=finite_mean(columns["balanced_accuracy"]),
        auc=finite_mean(columns["auc"]),
        metrics=_metrics(scores, {other: all_scores[other] for other in others}, plan, inputs),
    )


def _metrics(
    scores: TaskScores, others: Mapping[str, TaskScores], plan: TransferPlan, inputs: ComparisonInputs
) -> tuple[MetricScore, ...]:
    """The metrics that are asked for."""
    judging = inputs.judging

    def test(other: str | None, column: str) -> Paired | None:
        return paired_test(scores, None if other is None else others[other], column, plan, judging.weights)

    def in_shape(each: TaskScores) -> dict[str, Floats]:
        return {column: by_target(each.columns[column], plan) for column in judging.columns}

    reasons: dict[str, str] = {}
    for task in plan.tasks:
        reasons |= judging.reasons(inputs.setup.trainer.targets(task.test), inputs.classes, task.test)
    columns = {name: in_shape(each) for name, each in others.items()}
    return method_metrics(judging.metrics, in_shape(scores), columns, test, reasons)


def _unit(name: CompareMethod, scores: TaskScores, plan: TransferPlan, inputs: ComparisonInputs, i: int) -> CompareUnit:
    at = {key: float(values[i]) for key, values in scores.columns.items()}
    task = plan.tasks[i]
    reason = scores.refused[i]
    if not reason and at["diverged"] > 0:
        strength = at["strength"] if name in _CHOSEN_STRENGTH else None
        decayed = not name.startswith(OURS)
        reason = divergence_reason(int(at["diverged"]), inputs.setup.trainer.lr, strength, decayed=decayed)
    elif not reason and np.isnan(at["accuracy"]):
        reason = "no R2: the target's test rows have one value only"
    return CompareUnit(
        repeat=task.repeat + 1,
        target=task.name,
        rows=int(at["rows"]),
        accuracy=finite(at["accuracy"]),
        log_loss=finite(at["log_loss"]),
        auc=finite(at["auc"]),
        reason=reason,
        ess=finite(at["ess"]),
        largest=finite(at["largest"]),
        strength=finite(at["strength"]) if name in _CHOSEN_STRENGTH else None,
        exponent=finite(at["exponent"]) if not np.isnan(at["exponent"]) else None,
        balanced_accuracy=finite(at["balanced_accuracy"]),
        diverged=int(at["diverged"]) if at["diverged"] > 0 else None,
        refused=bool(scores.refused[i]),
        metrics={name: finite(at[column_of(name)]) for name in inputs.judging.metrics},
        metric_reasons=_metric_reasons(at, task.test, inputs),
    )


def _metric_reasons(at: Mapping[str, float], rows: Rows, inputs: ComparisonInputs) -> dict[str, str]:
    """Reasons for the metrics that one model does not have."""
    judging = inputs.judging
    known = judging.reasons(inputs.setup.trainer.targets(rows), inputs.classes, rows)
    missing = [name for name in judging.metrics if not np.isfinite(at[column_of(name)])]
    return {name: known.get(name, "the model has no result") for name in missing}


def _targets(plan: TransferPlan, inputs: ComparisonInputs) -> tuple[TargetInfo, ...]:
    """Sizes of every target in the first repeat, and its mean separation from the training rows."""
    found = []
    for k, name in enumerate(plan.names):
        task = plan.tasks[k]
        separations = [inputs.weights[i].separation for i in range(k, len(plan.tasks), len(plan.names))]
        found.append(
            TargetInfo(
                name=name,
                train=len(task.train),
                adapt=len(task.target),
                labelled=len(task.labelled),
                judge=len(task.test),
                separation=finite_mean(np.array(separations)),
            )
        )
    return tuple(found)


def _memory(name: CompareMethod, inputs: ComparisonInputs) -> int:
    """Bytes that a method's weighting holds at once, on the largest task; 0 without a weighting."""
    weighting = weighting_of(name)
    if weighting not in WEIGHTINGS:
        return 0
    return max(
        estimated_bytes(weighting, len(task.train), len(task.target), weights.features)
        for task, weights in zip(inputs.tasks, inputs.weights, strict=True)
    )


def _seconds(name: CompareMethod, scores: TaskScores, inputs: ComparisonInputs) -> float:
    """Seconds of weights, choices and training; those that two methods share count for both."""
    weights = sum(each.seconds.get(weighting_of(name), 0.0) for each in inputs.weights)
    chosen = sum(choice.seconds for choice in inputs.choices) if name in ("iwcv", "cv-choice") else 0.0
    return float(np.nansum(scores.columns["seconds"])) + weights + chosen


def _deltas(methods: Sequence[CompareMethodReport]) -> tuple[Delta, ...]:
    """The paper's two differences, where their methods were run.

    Reading: the paper's Delta_1 divides by PIcsC's accuracy, its Delta_2 by DIW's; both quotients are given
        in addition to the points.
    """
    by_name = {method.method: method for method in methods}
    found = []
    for name, against, base in (("Δ1", BASE, OURS), ("Δ2", "diw", "diw")):
        ours = by_name.get(OURS)
        difference = None if ours is None else ours.against(against)
        if difference is None or difference.accuracy is None or base not in by_name:
            continue
        scale = by_name[base].accuracy
        relative = difference.accuracy / scale if scale is not None and scale > 0 else None
        found.append(Delta(name, OURS, against, difference.accuracy, relative, base))
    return tuple(found)


def _risks(choices: Sequence[IwcvChoice], plain: TaskScores) -> tuple[Risk, ...]:
    """Estimates of the plain model's risk, compared with its risk on the test rows."""
    if not choices:
        return ()
    found = []
    for k, by in enumerate(RISKS):
        accuracy = np.array([choice.accuracy[k] for choice in choices])
        log_loss = np.array([choice.log_loss[k] for choice in choices])
        if np.isnan(log_loss).all():
            continue
        errors = accuracy - plain.columns["accuracy"], log_loss - plain.columns["log_loss"]
        found.append(
            Risk(
                by,
                finite_mean(accuracy),
                finite_mean(log_loss),
                *(finite_mean(np.abs(each)) for each in errors),
                *(None if (mean := finite_mean(each)) is None else abs(mean) for each in errors),
            )
        )
    return tuple(found)


def _distinct(values: Floats) -> tuple[float, ...]:
    """Distinct finite values, increasing, to six digits."""
    return tuple(float(f"{value:.6g}") for value in np.unique(values[np.isfinite(values)]))
