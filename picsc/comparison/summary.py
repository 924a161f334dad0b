"""From what methods scored to one report: means, intervals, paired tests and three lines of summary.

Letters: R repeats, K targets of a repeat.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from picsc.comparison.iwcv import RISKS, Choice
from picsc.comparison.methods import Comparison, Result, weighting_of
from picsc.comparison.transfer_tasks import TransferPlan
from picsc.datasets.description import data_info
from picsc.datasets.images import ImageSet
from picsc.datasets.table import Dataset
from picsc.datasets.texts import TokenSet
from picsc.evaluation.means import difference, finite_mean, interval, nan_mean
from picsc.evaluation.paired_tests import Paired, resampled_t, rows_and_repeats_t
from picsc.reports.common import Difference, Finding, Interval, finite
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
from picsc.settings import COMPARE_METHODS, WEIGHTINGS, CompareMethod, CompareSettings
from picsc.weighting import estimated_bytes

Results = Mapping[CompareMethod, Result]
Floats = NDArray[np.float64]
BASE: CompareMethod = "st-cv"
OURS: CompareMethod = "picsc"
LEVEL = 0.05
"""Of the words in the summary."""
ALIKE = 0.6
"""Separation below which training and target rows look alike to a classifier."""
_MORE_KNOWN: tuple[CompareMethod, ...] = ("true-ratio", "pooled", "diw")
"""Methods that know more than training rows and the target's covariates, with losses matched in diw's case."""
_CHOSEN_STRENGTH: tuple[CompareMethod, ...] = ("picsc", "picsc-random", "weight-decay", "iwcv", "cv-choice")


def words(method: CompareMethod, settings: CompareSettings) -> str:
    """What a method is, in one line."""
    match = settings.weigh.match
    picsc = f"Algorithm {settings.algorithm}"
    if settings.algorithm == 1:
        picsc += f", penalty {settings.penalty.kind}"
    return {
        "st-cv": "standard training: all training rows weigh alike",
        "iw": "weights by an out-of-fold logistic classifier of training against target rows",
        "iwcv": "power of iw's weights and weight decay chosen by importance-weighted cross-validation",
        "kmm": "weights by kernel mean matching"
        + (", as near to 1 as the target's noise allows" if settings.weigh.ridge == "auto" else ""),
        "diw": f"weights anew at every step, by kernel mean matching of {match}"
        + (" with some labelled target rows" if match == "losses" else ""),
        "picsc": f"{picsc} between the training pieces",
        "ulsif": "weights by unconstrained least-squares importance fitting",
        "rulsif": f"weights by relative least-squares importance fitting, {settings.weigh.relative:g} of the target",
        "true-ratio": "weights by the true density ratio, which nobody knows outside of an experiment",
        "cv-choice": "iwcv's candidates chosen by plain cross-validation",
        "pooled": "standard training on the training rows and the target rows whose labels diw uses",
        "weight-decay": "weight decay chosen on training rows, no penalty",
        "carried": "parameters carried along the training pieces, no penalty",
        "picsc-random": f"{picsc} between pieces of the same sizes made by chance",
        "dob-scv": "standard training on folds cut by DOB-SCV",
    }[method]


def assemble(
    data: Dataset | ImageSet | TokenSet,
    settings: CompareSettings,
    plan: TransferPlan,
    comparison: Comparison,
    results: Results,
    findings: tuple[Finding, ...],
    manifest: dict[str, object],
) -> CompareReport:
    """The report of one comparison.

    Args:
        data: what it was run on.
        settings: how.
        plan: who learned and who judged.
        comparison: what the methods saw.
        results: of every method that was run.
        findings: of reading and cutting.
        manifest: what it takes to get the same bytes again.
    """
    names = [name for name in COMPARE_METHODS if name in results]
    methods = tuple(_method(name, results, plan, comparison, settings) for name in names)
    targets = _targets(plan, comparison)
    return CompareReport(
        setting=plan.setting,
        summary=_summary(methods, targets, settings),
        data=data_info(data),
        words=plan.words,
        targets=targets,
        repeats=plan.repeats,
        test=_test_words(plan),
        methods=methods,
        deltas=_deltas(methods),
        risks=_risks(comparison.chosen, results[BASE]),
        findings=findings,
        settings=settings.model_dump(mode="json", exclude={"jobs"}),
        manifest=manifest,
        measured=tuple(Measured(name, _seconds(name, results[name], comparison)) for name in names),
    )


def _method(
    name: CompareMethod, results: Results, plan: TransferPlan, comparison: Comparison, settings: CompareSettings
) -> CompareMethodReport:
    result = results[name]
    columns = result.columns
    accuracy = _by_target(columns["accuracy"], plan)
    used, exponents = columns["strength"], columns["exponent"]
    others = [other for other in COMPARE_METHODS if other in results and other != name]
    ess = columns["ess"][np.isfinite(columns["ess"])]
    weights = None
    if len(ess):
        weights = Weights(float(ess.mean()), float(ess.min()), float(np.nanmean(columns["largest"])))
    return CompareMethodReport(
        method=name,
        words=words(name, settings),
        accuracy=finite_mean(columns["accuracy"]),
        interval=_possible(interval(_paired(result, None, "accuracy", plan)), comparison),
        log_loss=finite_mean(columns["log_loss"]),
        targets=tuple(finite_mean(values) for values in accuracy.T),
        weights=weights,
        memory=_memory(name, comparison),
        strengths=_distinct(used) if name in _CHOSEN_STRENGTH else (),
        exponents=_distinct(exponents),
        failed=sum(bool(reason) for reason in result.refused) + int((columns["diverged"] > 0).sum()),
        differences=tuple(_difference(result, results[other], other, plan) for other in others),
        units=tuple(_unit(name, result, plan, i) for i in range(len(plan.trials))),
    )


def _unit(name: CompareMethod, result: Result, plan: TransferPlan, i: int) -> CompareUnit:
    at = {key: float(values[i]) for key, values in result.columns.items()}
    trial = plan.trials[i]
    reason = result.refused[i]
    if not reason and at["diverged"] > 0:
        strength = f" with lambda {at['strength']:g}" if at["strength"] > 0 and name == OURS else ""
        reason = f"diverged at epoch {at['diverged']:.0f}{strength}"
    elif not reason and np.isnan(at["accuracy"]):
        reason = "the target's rows that judge have one value only"
    return CompareUnit(
        repeat=trial.repeat + 1,
        target=trial.name,
        rows=int(at["rows"]),
        accuracy=finite(at["accuracy"]),
        log_loss=finite(at["log_loss"]),
        auc=finite(at["auc"]),
        reason=reason,
        ess=finite(at["ess"]),
        largest=finite(at["largest"]),
        strength=finite(at["strength"]) if name in _CHOSEN_STRENGTH else None,
        exponent=finite(at["exponent"]) if not np.isnan(at["exponent"]) else None,
    )


def _by_target(values: Floats, plan: TransferPlan) -> Floats:
    """(R, K)."""
    return values.reshape(plan.repeats, len(plan.names))


def _difference(ours: Result, theirs: Result, name: str, plan: TransferPlan) -> Difference:
    return difference(
        name,
        ours.columns["accuracy"] - theirs.columns["accuracy"],
        ours.columns["log_loss"] - theirs.columns["log_loss"],
        _paired(ours, theirs, "accuracy", plan),
        _paired(ours, theirs, "log_loss", plan),
    )


def _paired(ours: Result, theirs: Result | None, key: str, plan: TransferPlan) -> Paired | None:
    """The test that fits how targets came about; of one method alone its interval."""
    values = ours.columns[key] - (0.0 if theirs is None else theirs.columns[key])
    by_target = _by_target(values, plan)
    if plan.fixed:
        rows = [_by_row(ours, theirs, key, plan, k) for k in range(len(plan.names))]
        return rows_and_repeats_t(rows, np.array([nan_mean(line) for line in by_target]))
    tested = np.array([len(trial.adapt) + len(trial.judge) for trial in plan.trials], np.float64)
    others = np.array([len(trial.train) + trial.passed_over for trial in plan.trials], np.float64)
    tested, others = _by_target(tested, plan), _by_target(others, plan)
    if plan.redrawn:
        return resampled_t(by_target, tested, others)
    # repeats of the same pieces differ in seeds alone: a piece is one observation, however often it is repeated
    means = np.array([nan_mean(line) for line in by_target.T])
    return resampled_t(means[None], tested[:1], others[:1])


def _by_row(ours: Result, theirs: Result | None, key: str, plan: TransferPlan, k: int) -> Floats:
    """Difference of each row of target k that judged, mean over the repeats in which it did."""
    trials = range(k, len(plan.trials), len(plan.names))
    rows = np.concatenate([plan.trials[i].judge for i in trials])

    def values(result: Result) -> Floats:
        kept = result.right if key == "accuracy" else result.losses
        return np.concatenate([kept[i] for i in trials])

    differences = values(ours) - (0.0 if theirs is None else values(theirs))
    known = np.isfinite(differences)
    _, place = np.unique(rows[known], return_inverse=True)
    counts = np.bincount(place)
    means: Floats = np.bincount(place, weights=differences[known]) / np.maximum(counts, 1)
    return means


def _test_words(plan: TransferPlan) -> str:
    if plan.fixed:
        repeats = f" and {plan.repeats} repeats" if plan.repeats > 1 else ", given the trained models"
        return f"paired t-test over the target's rows{repeats}, 95 % intervals"
    if plan.redrawn:
        return "corrected resampled t-test over targets and repeats (Nadeau and Bengio 2003), 95 % intervals"
    return f"corrected resampled t-test over {len(plan.names)} targets, each the mean of its repeats, 95 % intervals"


def _targets(plan: TransferPlan, comparison: Comparison) -> tuple[TargetInfo, ...]:
    found = []
    for k, name in enumerate(plan.names):
        trial = plan.trials[k]
        seen = [comparison.weighed[i].separation for i in range(k, len(plan.trials), len(plan.names))]
        found.append(
            TargetInfo(
                name=name,
                train=len(trial.train),
                adapt=len(trial.adapt),
                labelled=len(trial.labelled),
                judge=len(trial.judge),
                separation=finite_mean(np.array(seen)),
            )
        )
    return tuple(found)


def _memory(name: CompareMethod, comparison: Comparison) -> int:
    """Bytes that a method's weighting holds at once, of the largest trial."""
    weighting = weighting_of(name)
    if weighting not in WEIGHTINGS:
        return 0
    return max(
        estimated_bytes(weighting, len(trial.train), len(trial.adapt), weighed.features)
        for trial, weighed in zip(comparison.trials, comparison.weighed, strict=True)
    )


def _seconds(name: CompareMethod, result: Result, comparison: Comparison) -> float:
    """Of weights, choices and training; what two methods share counts for both."""
    weighed = sum(each.seconds.get(weighting_of(name), 0.0) for each in comparison.weighed)
    chosen = sum(choice.seconds for choice in comparison.chosen) if name in ("iwcv", "cv-choice") else 0.0
    return float(np.nansum(result.columns["seconds"])) + weighed + chosen


def _deltas(methods: Sequence[CompareMethodReport]) -> tuple[Delta, ...]:
    """The paper's two, where their methods were run.

    Reading: the paper's Delta_1 divides by PIcsC's accuracy, its Delta_2 by DIW's; both stand here beside the points.
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


def _risks(choices: Sequence[Choice], plain: Result) -> tuple[Risk, ...]:
    """Estimates of the plain model's risk beside what came out on the target."""
    if not choices:
        return ()
    found = []
    for k, by in enumerate(RISKS):
        accuracy = np.array([choice.accuracy[k] for choice in choices])
        log_loss = np.array([choice.log_loss[k] for choice in choices])
        if np.isnan(log_loss).all():
            continue
        off = accuracy - plain.columns["accuracy"], log_loss - plain.columns["log_loss"]
        found.append(
            Risk(
                by,
                finite_mean(accuracy),
                finite_mean(log_loss),
                *(finite_mean(np.abs(each)) for each in off),
                *(None if (mean := finite_mean(each)) is None else abs(mean) for each in off),
            )
        )
    return tuple(found)


def _summary(
    methods: tuple[CompareMethodReport, ...], targets: tuple[TargetInfo, ...], settings: CompareSettings
) -> tuple[str, str, str]:
    """What PIcsC did against plain training; against the strongest other method; what to do next."""
    by_name = {method.method: method for method in methods}
    base = by_name[BASE]
    ours = by_name.get(OURS) or next((method for method in methods if method.method != BASE), base)
    first = f"{ours.method}: {_percent(ours.accuracy)} against {_percent(base.accuracy)} of {BASE}"
    difference = ours.against(BASE)
    if difference is not None and difference.accuracy is not None:
        first += f", {_points(difference.accuracy)}{_p(difference.accuracy_p)}"
    if ours.log_loss is not None and base.log_loss is not None and ours is not base:
        first += f"; log-loss {ours.log_loss:.3f} against {base.log_loss:.3f}"
    more_known = _MORE_KNOWN if settings.weigh.match == "losses" else _MORE_KNOWN[:2]
    fair = [
        method
        for method in methods
        if method is not ours and method.method not in (BASE, *more_known) and method.accuracy is not None
    ]
    second = f"no other method was run that knows as much as {ours.method}"
    if fair:
        best = max(fair, key=lambda method: method.accuracy or 0.0)
        second = f"strongest other: {best.method}, {_percent(best.accuracy)}"
        against = ours.against(best.method)
        if against is not None and against.accuracy is not None:
            second += f"; {ours.method} {_points(against.accuracy)}{_p(against.accuracy_p)} against it"
    return first, second, f"next: {_advice(methods, targets)}"


def _advice(methods: tuple[CompareMethodReport, ...], targets: tuple[TargetInfo, ...]) -> str:
    refused = [method.method for method in methods if method.units and all(unit.reason for unit in method.units)]
    seen = [target.separation for target in targets if target.separation is not None]
    separation = float(np.mean(seen)) if seen else None
    candidates = [method for method in methods if method.method not in (BASE, "true-ratio", "dob-scv")]
    against = [(method, method.against(BASE)) for method in candidates]
    tested = [(method, found) for method, found in against if found is not None and found.accuracy_p is not None]
    # of several methods tested against one, the best one's p counts as often as there are methods
    level = LEVEL / max(1, len(tested))
    better = [(m, d) for m, d in tested if d.accuracy is not None and d.accuracy > 0 and (d.accuracy_p or 0) < level]
    if better:
        best, _ = max(better, key=lambda pair: pair[1].accuracy or 0.0)
        note = ", which uses target labels" if best.method in ("diw", "pooled") else ""
        return f"{best.method}{note} is better than {BASE} beyond chance, also as one of {len(tested)} tested; use it"
    worse = [m.method for m, d in tested if m.method == OURS and (d.accuracy or 0) < 0 and (d.accuracy_p or 0) < LEVEL]
    if worse:
        return f"{OURS} harms here; train without it, or lower --lambda"
    if refused:
        return (
            f"{', '.join(refused)} refused: too few training rows resemble the target; get rows that do, or audit the "
            "pieces to see which columns differ"
        )
    if separation is not None and separation < ALIKE:
        return f"training and target rows look alike (separation {separation:.2f}): weights have nothing to correct"
    return f"no method is better than {BASE} beyond chance ({len(tested)} tested); train plainly, or use more --repeats"


def _percent(value: float | None) -> str:
    return "no number" if value is None else f"{100 * value:.1f} %"


def _points(value: float) -> str:
    return f"{100 * value:+.1f} points"


def _p(value: float | None) -> str:
    if value is None:
        return ""
    return " (p < 0.001)" if value < 0.001 else f" (p {value:.2g})"


def _distinct(values: Floats) -> tuple[float, ...]:
    return tuple(float(f"{value:.6g}") for value in np.unique(values[np.isfinite(values)]))


def _possible(interval: Interval | None, comparison: Comparison) -> Interval | None:
    """The part of an interval that accuracies can be in; R^2 has no lower end."""
    if interval is None:
        return None
    low = max(0.0, interval.low) if comparison.likelihood == "classes" else interval.low
    return Interval(low, min(1.0, interval.high))
