"""Summary of a cross-validation: the result of PIcsC, the strongest control, and advice, one line each."""

from __future__ import annotations

import numpy as np

from picsc.evaluation.failures import divergence_advice
from picsc.evaluation.majority import above_majority
from picsc.reports.common import Difference, MajorityClass, Metric
from picsc.reports.cv import MethodReport

CONTROLS = ("weight-decay", "isotropic anchor", "carried", "average", "carried, merged", "carried, running mean")
"""Methods without the penalty that may do as well as picsc."""
LEVEL = 0.05
"""Level of the paired tests below which the advice counts a difference."""


def summary_lines(
    methods: tuple[MethodReport, ...], metric: Metric, majority: MajorityClass | None, *, gradients: bool = True
) -> tuple[str, str, str]:
    """Lines on PIcsC against plain training, against the strongest control, and on what to do next."""
    by_name = {method.method: method for method in methods}
    if not gradients:
        return _of_estimator(by_name["st-cv"], by_name.get("subsample"), metric, majority)
    plain, ours = by_name["st-cv"], by_name.get("picsc")
    diverged = [(m.method, unit.reason) for m in methods for unit in m.units if unit.diverged is not None]
    failed = f"next: {divergence_advice(diverged)}" if diverged else ""
    if ours is not None and (ours.mean is None or plain.mean is None):
        return (
            f"picsc: {_percent(ours.mean, metric)}, {ours.failed} of {len(ours.units)} models failed",
            f"st-cv: {_percent(plain.mean, metric)}, {plain.failed} of {len(plain.units)} models failed",
            failed or f"next: {_without_result(plain, metric)}",
        )
    if ours is None or ours.mean is None:
        best = max(methods, key=lambda method: -np.inf if method.mean is None else method.mean)
        second = "no method has a result" if best.mean is None else f"best: {best.method} {_percent(best.mean, metric)}"
        if plain.mean is None:
            return f"st-cv: {_percent(plain.mean, metric)}", second, failed or f"next: {_without_result(plain, metric)}"
        return f"st-cv: {_percent(plain.mean, metric)}", second, failed or "next: add picsc to --method to compare it"
    against = {difference.against: difference for difference in ours.differences}
    scores = f"{_percent(ours.mean, metric)} against {_percent(plain.mean)} of st-cv"
    first = f"picsc: {scores}, {_points(against['st-cv'])}"
    if ours.log_loss is not None and plain.log_loss is not None:
        first += f"; log-loss {ours.log_loss:.3f} against {plain.log_loss:.3f}"
    best = _strongest(methods, plain)
    second = (
        f"strongest control: {best.method}, {_percent(best.mean)}; "
        f"picsc {_points(against[best.method], chosen=True)} against it"
    )
    _, advice = _advice(against["st-cv"], against[best.method], best.method)
    blind = "" if majority is None else above_majority(majority, [method.mean for method in methods])
    return first, second, failed or f"next: {advice}{blind}"


def _of_estimator(
    plain: MethodReport, chance: MethodReport | None, metric: Metric, majority: MajorityClass | None
) -> tuple[str, str, str]:
    """Lines on a model without gradients: its score, its pieces against chance, and what does not apply."""
    first = f"st-cv: {_percent(plain.mean, metric)}"
    if plain.log_loss is not None:
        first += f", log-loss {plain.log_loss:.3f}"
    second = "no result of pieces made by chance"
    if chance is not None and chance.mean is not None:
        against = plain.against("subsample")
        second = f"pieces made by chance: {_percent(chance.mean)}"
        second += "" if against is None else f"; st-cv {_points(against)} against them"
    if plain.mean is None:
        return first, second, f"next: {_without_result(plain, metric)}"
    blind = "" if majority is None else above_majority(majority, [plain.mean])
    return first, second, f"picsc and its controls need gradients of single rows, which this model does not have{blind}"


def _without_result(plain: MethodReport, metric: Metric) -> str:
    """The step that would give plain training a score, where nothing diverged."""
    if metric == "R2" and plain.log_loss is not None:
        return "all rows that test the models have the same target, so that there is no R2; choose another --target"
    return "test on more rows: use fewer pieces"


def recommended(methods: tuple[MethodReport, ...]) -> str | None:
    """The method that the advice is to train with; None where none has a result."""
    by_name = {method.method: method for method in methods}
    plain, ours = by_name["st-cv"], by_name.get("picsc")
    if plain.mean is None:
        return None
    if ours is None or ours.mean is None:
        return "st-cv"
    against = {difference.against: difference for difference in ours.differences}
    best = _strongest(methods, plain)
    return _advice(against["st-cv"], against[best.method], best.method)[0]


def _strongest(methods: tuple[MethodReport, ...], plain: MethodReport) -> MethodReport:
    """The best control; plain training where none has a result."""
    controls = [m for m in methods if m.method in CONTROLS and m.mean is not None]
    return max(controls, key=lambda method: -np.inf if method.mean is None else method.mean, default=plain)


def _advice(plain: Difference, control: Difference, name: str) -> tuple[str, str]:
    """The method to train with, and the reason."""
    # st-cv is compared with whatever comes out; the control is chosen among several by its score
    score, loss = _sign(plain.accuracy, plain.accuracy_p), -_sign(plain.log_loss, plain.log_loss_p)
    if score < 0:
        though = ", though it helps in log-loss" if loss > 0 else ""
        return "st-cv", f"picsc harms here{though}; train without it, or lower --lambda"
    if score > 0:
        worse = ", but its log-loss is worse: do not rely on its probabilities" if loss < 0 else ""
        if _sign(control.accuracy, control.accuracy_p_holm) > 0:
            return "picsc", f"picsc helps beyond its controls here{worse or '; keep it'}"
        return name, f"picsc helps, but {name} does as well; the penalty is not what helps{worse}"
    if loss > 0:
        alone = _sign(control.log_loss, control.log_loss_p_holm) < 0
        also = "" if alone else f", and {name} does as well"
        return "picsc" if alone else name, f"picsc helps in log-loss only{also}"
    if loss < 0:
        return "st-cv", "picsc harms in log-loss here; train without it, or lower --lambda"
    return "st-cv", "picsc makes no difference that this comparison can see; train without it, or use more --repeats"


def _sign(difference: float | None, p: float | None) -> float:
    """The difference; 0 where it is within chance."""
    return 0.0 if difference is None or p is None or p >= LEVEL else difference


def _percent(value: float | None, metric: Metric = "accuracy") -> str:
    name = "R2 " if metric == "R2" else ""
    return "no result" if value is None else f"{name}{100 * value:.1f} %"


def _points(difference: Difference, *, chosen: bool = False) -> str:
    """The difference with its p-value, and Holm's where the other method was chosen among several by its score."""
    if difference.accuracy is None:
        return "no difference to show"
    holm = difference.accuracy_p_holm
    adjusted = f", Holm {holm:.2g}" if chosen and holm is not None else ""
    p = "" if difference.accuracy_p is None else f" (p {difference.accuracy_p:.2g}{adjusted})"
    return f"{100 * difference.accuracy:+.1f} points{p}"
