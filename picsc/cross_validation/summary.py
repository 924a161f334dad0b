"""From what methods scored to one report: means, intervals, paired tests and three lines of summary."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from picsc.cross_validation.methods import WHOLE, Experiment, Found, Result
from picsc.datasets.description import data_info
from picsc.datasets.images import ImageSet
from picsc.datasets.table import Dataset
from picsc.datasets.texts import TokenSet
from picsc.evaluation.means import difference, finite_mean, interval, nan_mean
from picsc.evaluation.paired_tests import Paired, repeats_t, resampled_t, rows_t
from picsc.reports.common import Difference, Finding, finite
from picsc.reports.cv import CvReport, Loss, MethodReport, Unit
from picsc.settings import METHODS, CvSettings

Results = Mapping[str, Found]
UNMERGED = "picsc, unmerged"
LEVEL = 0.05
"""Of the words in the summary."""

_WORDS = {
    ("st-cv", True): "standard training on all other pieces",
    ("st-cv", False): "standard training on each piece alone",
    ("weight-decay", True): "weight decay chosen on training rows, no penalty",
    ("weight-decay", False): "parameters carried along, weight decay chosen on training rows",
    ("carried", True): "parameters carried along the training pieces, no penalty",
    ("carried", False): "parameters carried along the pieces, no penalty",
    ("average", True): "plain running mean of the carried models",
    ("average", False): "plain running mean of the carried models",
    ("subsample", True): "standard training, pieces made by chance alone",
    ("subsample", False): "standard training on random rows, as many as each piece has",
}


def assemble(
    data: Dataset | ImageSet | TokenSet,
    settings: CvSettings,
    experiment: Experiment,
    results: Results,
    findings: tuple[Finding, ...],
    manifest: dict[str, object],
) -> CvReport:
    """The report of one comparison.

    Args:
        data: what it was run on.
        settings: how.
        experiment: its repeats.
        results: of every function of `picsc.cross_validation.methods.METHOD_FUNCTIONS` that was run.
        findings: of reading and cutting.
        manifest: what it takes to get the same bytes again.
    """
    found = _by_method(results)
    wholes = {name: results.get(key) for name, key in (("st-cv", "whole"), ("picsc", "whole-picsc"))}
    whole = {name: result for name, result in wholes.items() if isinstance(result, Result)}
    names = [name for name in (*METHODS[:2], UNMERGED, *METHODS[2:]) if name in found]
    methods = tuple(_method(name, found, whole.get(name), experiment, settings) for name in names)
    return CvReport(
        protocol="foldwise" if experiment.foldwise else "batchwise",
        algorithm=1 if experiment.algorithm == 1 else 2,
        summary=_summary(methods),
        data=data_info(data),
        pieces=experiment.repeats[0].words,
        fragments=experiment.repeats[0].names,
        repeats=len(experiment.repeats),
        test=_test_words(experiment),
        methods=methods,
        loss=_loss(found, whole.get("st-cv"), experiment),
        findings=findings,
        settings=settings.model_dump(mode="json", exclude={"jobs"}),
        manifest=manifest,
    )


def _by_method(results: Results) -> dict[str, Result]:
    """Results under the names of the report."""
    found: dict[str, Result] = {}
    for name, result in results.items():
        if isinstance(result, tuple):
            second = "average" if name == "carried" else UNMERGED
            found |= {key: each for key, each in zip((name, second), result, strict=True) if each is not None}
        elif name in METHODS:
            found[name] = result
    return found


def _method(
    name: str, found: dict[str, Result], whole: Result | None, experiment: Experiment, settings: CvSettings
) -> MethodReport:
    result = found[name]
    accuracy, columns = result.columns["accuracy"], result.columns
    per_piece = np.array([nan_mean(of_piece) for of_piece in accuracy.T])
    known = per_piece[np.isfinite(per_piece)]
    strength = columns["strength"][np.isfinite(columns["strength"])]
    has_strength = name in ("picsc", UNMERGED, "weight-decay")
    looked, flagged = np.nansum(columns["looked"]), np.nansum(columns["flagged"])
    against = [other for other in ("st-cv", *METHODS[2:], "picsc", UNMERGED) if other in found and other != name]
    return MethodReport(
        method=name,
        words=_words(name, experiment, settings),
        whole=finite_mean(whole.columns["accuracy"]) if whole is not None else None,
        whole_log_loss=finite_mean(whole.columns["log_loss"]) if whole is not None else None,
        fragments=tuple(map(finite, per_piece)),
        mean=finite_mean(accuracy),
        variance=finite(float(np.var(known * 100, ddof=1))) if len(known) > 1 else None,
        interval=interval(_paired(result, None, "accuracy", experiment)),
        log_loss=finite_mean(columns["log_loss"]),
        weighted_accuracy=finite_mean(columns["weighted_accuracy"]),
        strengths=tuple(float(f"{value:.6g}") for value in np.unique(strength)) if has_strength else (),
        penalty_share=finite_mean(columns["share"]) if name in ("picsc", UNMERGED) else None,
        flagged=(int(flagged), int(looked)) if looked else None,
        failed=sum(int((each.columns["diverged"] > 0).sum()) for each in (result, whole) if each is not None),
        differences=tuple(_difference(result, found[other], other, experiment) for other in against),
        units=_units(name, result, whole, experiment, has_strength),
    )


def _words(name: str, experiment: Experiment, settings: CvSettings) -> str:
    if name in ("picsc", UNMERGED):
        if experiment.algorithm == 1:
            return f"Algorithm 1, penalty {settings.penalty.kind} between the training pieces"
        merged = {"fisher": "Fisher-weighted running mean", "mean": "plain running mean", "none": "last model"}
        which = "last model" if name == UNMERGED else merged[settings.penalty.merge]
        return f"Algorithm 2, {which}"
    return _WORDS[name, experiment.foldwise]


def _difference(ours: Result, theirs: Result, name: str, experiment: Experiment) -> Difference:
    return difference(
        name,
        ours.columns["accuracy"] - theirs.columns["accuracy"],
        ours.columns["log_loss"] - theirs.columns["log_loss"],
        _paired(ours, theirs, "accuracy", experiment),
        _paired(ours, theirs, "log_loss", experiment),
    )


def _paired(ours: Result, theirs: Result | None, key: str, experiment: Experiment) -> Paired | None:
    """The test that fits how units were made; None where there is nothing to pair, or for one method its interval."""
    values = ours.columns[key] - (0.0 if theirs is None else theirs.columns[key])
    if experiment.foldwise:
        tested = np.array([[len(repeat.tested(i)) for i in range(values.shape[1])] for repeat in experiment.repeats])
        return resampled_t(values, tested, ours.columns["rows"])
    if len(experiment.repeats) > 1:
        return repeats_t(np.array([nan_mean(line) for line in values]))
    if key != "accuracy" or ours.right is None:
        return None
    return rows_t(ours.right, np.zeros_like(ours.right) if theirs is None or theirs.right is None else theirs.right)


def _test_words(experiment: Experiment) -> str:
    if experiment.foldwise:
        return "corrected resampled t-test over folds and repeats (Nadeau and Bengio 2003), 95 % intervals"
    if len(experiment.repeats) > 1:
        return f"paired t-test over {len(experiment.repeats)} repeats, 95 % intervals"
    return "paired t-test over validation rows, given the trained models; --repeats 5 also shows how seeds matter"


def _loss(found: dict[str, Result], whole: Result | None, experiment: Experiment) -> Loss | None:
    """Split what fragmentation costs plain training."""
    if whole is None or "st-cv" not in found or "subsample" not in found:
        return None
    top, pieces, chance = (
        finite_mean(each.columns["accuracy"]) for each in (whole, found["st-cv"], found["subsample"])
    )
    if top is None or pieces is None or chance is None:
        return None
    shift = _paired(found["subsample"], found["st-cv"], "accuracy", experiment)
    return Loss(top - pieces, top - chance, chance - pieces, interval(shift))


def _units(
    method: str, result: Result, whole: Result | None, experiment: Experiment, has_strength: bool
) -> tuple[Unit, ...]:
    units = [
        _unit(method, result, r, i, experiment.repeats[r].names[i], experiment, has_strength)
        for r in range(len(experiment.repeats))
        for i in range(result.columns["accuracy"].shape[1])
    ]
    if whole is not None:
        units += [_unit(method, whole, r, 0, WHOLE, experiment, has_strength) for r in range(len(experiment.repeats))]
    return tuple(units)


def _unit(method: str, result: Result, r: int, i: int, name: str, experiment: Experiment, has_strength: bool) -> Unit:
    at = {key: float(values[r, i]) for key, values in result.columns.items()}
    strength = finite(at["strength"]) if has_strength else None
    looked = at["looked"] > 0 and not experiment.foldwise
    return Unit(
        repeat=r + 1,
        fragment=name,
        rows=int(at["rows"]),
        accuracy=finite(at["accuracy"]),
        log_loss=finite(at["log_loss"]),
        auc=finite(at["auc"]),
        weighted_accuracy=finite(at["weighted_accuracy"]),
        reason=_reason(method, at, strength, experiment, name, r, i),
        strength=strength,
        penalty_share=finite(at["share"]) if has_strength else None,
        flagged=at["flagged"] > 0 if looked else None,
        tau=finite(at["tau"]) if looked else None,
        gamma=finite(at["gamma"]) if looked else None,
    )


def _reason(
    method: str, at: dict[str, float], strength: float | None, experiment: Experiment, name: str, r: int, i: int
) -> str:
    """Why a number of a unit is missing."""
    if at["diverged"] > 0:
        what = "weight decay" if method == "weight-decay" else "lambda"
        held = "" if strength is None else f" with {what} {strength:g}"
        return f"diverged at epoch {int(at['diverged'])}{held} and learning rate {experiment.backend.lr:g}"
    repeat = experiment.repeats[r]
    tested = repeat.validation if name == WHOLE else repeat.tested(i)
    if not len(tested):
        return "no rows to test"
    one = len(np.unique(experiment.backend.targets(repeat.pieces[0], tested))) < 2
    missing = (
        (not np.isfinite(at["accuracy"]), "no accuracy: constant target"),
        (experiment.likelihood == "classes" and one, "no AUC: one class only"),
        (experiment.weights is not None and not np.isfinite(at["weighted_accuracy"]), "no weighted accuracy"),
    )
    return "; ".join(why for so, why in missing if so)


def _summary(methods: tuple[MethodReport, ...]) -> tuple[str, str, str]:
    """What PIcsC did; how the strongest control compares; what to do."""
    by_name = {method.method: method for method in methods}
    plain, ours = by_name["st-cv"], by_name.get("picsc")
    if ours is not None and (ours.mean is None or plain.mean is None):
        failed = sum(method.failed for method in methods)
        advice = f"{failed} models diverged; lower --lr" if failed else "test on more rows: use fewer pieces"
        return (
            f"picsc: {_percent(ours.mean)}, {ours.failed} of {len(ours.units)} models failed",
            f"st-cv: {_percent(plain.mean)}, {plain.failed} of {len(plain.units)} models failed",
            f"next: {advice}",
        )
    if ours is None or ours.mean is None:
        best = max(methods, key=lambda method: -np.inf if method.mean is None else method.mean)
        said = "no method has a result" if best.mean is None else f"best: {best.method} {_percent(best.mean)}"
        return f"st-cv: {_percent(plain.mean)}", said, "next: add picsc to --method to compare it"
    against = {difference.against: difference for difference in ours.differences}
    first = f"picsc: {_percent(ours.mean)} against {_percent(plain.mean)} of st-cv, {_points(against['st-cv'])}"
    if ours.log_loss is not None and plain.log_loss is not None:
        first += f"; log-loss {ours.log_loss:.3f} against {plain.log_loss:.3f}"
    controls = [m for m in methods if m.method in ("weight-decay", "carried", "average") and m.mean is not None]
    best = max(controls, key=lambda method: method.mean or 0.0, default=plain)
    second = (
        f"strongest control: {best.method}, {_percent(best.mean)}; picsc {_points(against[best.method])} against it"
    )
    return first, second, _advice(against["st-cv"], against[best.method], best.method)


def _advice(plain: Difference, control: Difference, name: str) -> str:
    helps, beats = _better(plain), _better(control)
    if helps and beats:
        return "next: picsc helps beyond its controls here; keep it"
    if helps:
        return f"next: picsc helps, but {name} does as well; the penalty is not what helps"
    if _beyond_chance(plain.accuracy, plain.accuracy_p) < 0:
        return "next: picsc harms here; train without it, or lower --lambda"
    if _beyond_chance(plain.log_loss, plain.log_loss_p) < 0:
        alone = _beyond_chance(control.log_loss, control.log_loss_p) < 0
        return f"next: picsc helps in log-loss only{'' if alone else f', and {name} does as well'}"
    return "next: picsc makes no difference that this comparison can see; train without it, or use more --repeats"


def _better(difference: Difference) -> bool:
    return _beyond_chance(difference.accuracy, difference.accuracy_p) > 0


def _beyond_chance(difference: float | None, p: float | None) -> float:
    """The difference, or 0 if chance may have made it."""
    return 0.0 if difference is None or p is None or p >= LEVEL else difference


def _percent(value: float | None) -> str:
    return "no result" if value is None else f"{100 * value:.1f} %"


def _points(difference: Difference) -> str:
    if difference.accuracy is None:
        return "no difference to show"
    p = "" if difference.accuracy_p is None else f" (p {difference.accuracy_p:.2g})"
    return f"{100 * difference.accuracy:+.1f} points{p}"
