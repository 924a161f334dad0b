"""Summary of a comparison: the result of PIcsC, the strongest other method, and advice, one line each."""

from __future__ import annotations

import numpy as np

from picsc.evaluation.failures import divergence_advice
from picsc.evaluation.majority import above_majority
from picsc.reports.common import Difference, MajorityClass, Metric
from picsc.reports.compare import CompareMethodReport, TargetInfo
from picsc.settings import CompareMethod, CompareSettings

BASE: CompareMethod = "st-cv"
OURS: CompareMethod = "picsc"
LEVEL = 0.05
"""Level of the paired tests below which the advice counts a difference."""
ALIKE = 0.6
"""Separation below which a classifier cannot tell training from target rows."""
_WITH_MORE_DATA: tuple[CompareMethod, ...] = ("true-ratio", "pooled", "diw")
"""Methods that use more than training rows and the target's covariates; diw does if it matches losses."""


def summary_lines(
    methods: tuple[CompareMethodReport, ...],
    targets: tuple[TargetInfo, ...],
    settings: CompareSettings,
    metric: Metric,
    majority: MajorityClass | None,
) -> tuple[str, str, str]:
    """Lines on PIcsC against plain training, against the strongest other method, and on what to do next."""
    by_name = {method.method: method for method in methods}
    base = by_name[BASE]
    ours = by_name.get(OURS) or next((method for method in methods if method.method != BASE), base)
    first = f"{ours.method}: {_percent(ours.accuracy, metric)} against {_percent(base.accuracy)} of {BASE}"
    difference = ours.against(BASE)
    if difference is not None and difference.accuracy is not None:
        first += f", {_points(difference.accuracy)}{_p(difference.accuracy_p)}"
    if ours.log_loss is not None and base.log_loss is not None and ours is not base:
        first += f"; log-loss {ours.log_loss:.3f} against {base.log_loss:.3f}"
    with_more_data = _WITH_MORE_DATA if settings.weigh.match == "losses" else _WITH_MORE_DATA[:2]
    fair = [
        method
        for method in methods
        if method is not ours and method.method not in (BASE, *with_more_data) and method.accuracy is not None
    ]
    second = f"no other method was run that knows as much as {ours.method}"
    if fair:
        best = max(fair, key=lambda method: -np.inf if method.accuracy is None else method.accuracy)
        second = f"strongest other: {best.method}, {_percent(best.accuracy)}"
        against = ours.against(best.method)
        if against is not None and against.accuracy is not None:
            p = _p(against.accuracy_p, against.accuracy_p_holm)
            second += f"; {ours.method} {_points(against.accuracy)}{p} against it"
    diverged = [(m.method, unit.reason) for m in methods for unit in m.units if unit.diverged is not None]
    if diverged:
        return first, second, f"next: {divergence_advice(diverged)}"
    blind = "" if majority is None else above_majority(majority, [method.accuracy for method in methods])
    return first, second, f"next: {_advice(methods, targets)[1]}{blind}"


def recommended(methods: tuple[CompareMethodReport, ...], targets: tuple[TargetInfo, ...]) -> str | None:
    """The method that the advice is to train with: the plain one where none is better.

    Args:
        methods: all of them.
        targets: with how well they can be told from training rows.

    Returns:
        None where the plain method has no result, or a model diverged, so that the advice is to train otherwise.
    """
    plain = next(method for method in methods if method.method == BASE)
    if plain.accuracy is None or any(unit.diverged is not None for method in methods for unit in method.units):
        return None
    return _advice(methods, targets)[0]


def _advice(methods: tuple[CompareMethodReport, ...], targets: tuple[TargetInfo, ...]) -> tuple[str, str]:
    """The method to train with, and advice on what to do next, where no model diverged."""
    refused = [method.method for method in methods if method.units and all(unit.refused for unit in method.units)]
    known = [target.separation for target in targets if target.separation is not None]
    separation = float(np.mean(known)) if known else None
    candidates = [method for method in methods if method.method not in (BASE, "true-ratio", "dob-scv")]
    tested = [(m.method, found) for m in candidates if (found := m.against(BASE)) is not None and _tested(found)]
    # the best of several methods has the smallest of several p-values: they are adjusted over all that st-cv is
    # compared with, as in the report; that of picsc alone against st-cv is one test, which was named before the run
    of_base = next(method for method in methods if method.method == BASE)
    adjusted = {found.against: found for found in of_base.differences}
    among = sum(_tested(found) for found in of_base.differences)
    better = [
        (name, found) for name, found in tested if _sign(found.accuracy, adjusted[name].accuracy_p_holm, LEVEL) > 0
    ]
    if better:
        best, found = max(better, key=lambda pair: pair[1].accuracy or 0.0)
        note = ", which uses target labels" if best in ("diw", "pooled") else ""
        worse_loss = _sign(found.log_loss, found.log_loss_p, LEVEL) > 0
        use = "its log-loss is worse: do not rely on its probabilities" if worse_loss else "use it"
        return best, f"{best}{note} is better than {BASE} beyond chance, also as one of {among} tested; {use}"
    ours = next((found for name, found in tested if name == OURS), None)
    if ours is not None and _sign(ours.accuracy, ours.accuracy_p, LEVEL) < 0:
        return BASE, f"{OURS} harms here; train without it, or lower --lambda"
    if refused:
        few = f"{', '.join(refused)} refused: too few training rows resemble the target"
        return BASE, f"{few}; get rows that do, or audit the pieces to see which columns differ"
    in_loss = [
        (name, found) for name, found in tested if _sign(found.log_loss, adjusted[name].log_loss_p_holm, LEVEL) < 0
    ]
    if in_loss:
        best, _ = min(in_loss, key=lambda pair: pair[1].log_loss or 0.0)
        note = ", which uses target labels," if best in ("diw", "pooled") else ""
        return best, f"{best}{note} is better than {BASE} in log-loss only, also as one of {among} tested"
    if ours is not None and _sign(ours.log_loss, ours.log_loss_p, LEVEL) > 0:
        return BASE, f"{OURS} harms in log-loss here; train without it, or lower --lambda"
    if separation is not None and separation < ALIKE:
        alike = f"training and target rows look alike (separation {separation:.2f})"
        return BASE, f"{alike}: weights have nothing to correct"
    plainly = "train plainly, or use more --repeats"
    return BASE, f"no method is better than {BASE} beyond chance ({len(tested)} tested); {plainly}"


def _tested(difference: Difference) -> bool:
    return difference.accuracy_p is not None or difference.log_loss_p is not None


def _sign(difference: float | None, p: float | None, level: float) -> float:
    """The difference; 0 where it is within chance."""
    return 0.0 if difference is None or p is None or p >= level else difference


def _percent(value: float | None, metric: Metric = "accuracy") -> str:
    name = "R2 " if metric == "R2" else ""
    return "no result" if value is None else f"{name}{100 * value:.1f} %"


def _points(value: float) -> str:
    return f"{100 * value:+.1f} points"


def _p(value: float | None, holm: float | None = None) -> str:
    """The p-value, and Holm's where the other method was chosen among several by its score."""
    if value is None:
        return ""
    return f" (p {_short(value)}{'' if holm is None else f', Holm {_short(holm)}'})"


def _short(p: float) -> str:
    return "< 0.001" if p < 0.001 else f"{p:.2g}"
