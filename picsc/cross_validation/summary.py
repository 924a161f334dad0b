"""Summary of a cross-validation: the result of PIcsC, the strongest control, and advice, one line each."""

from __future__ import annotations

import numpy as np

from picsc.reports.common import Difference
from picsc.reports.cv import MethodReport

LEVEL = 0.05
"""Level of the paired tests below which the advice counts a difference."""


def summary_lines(methods: tuple[MethodReport, ...]) -> tuple[str, str, str]:
    """Lines on PIcsC against plain training, against the strongest control, and on what to do next."""
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
        second = "no method has a result" if best.mean is None else f"best: {best.method} {_percent(best.mean)}"
        return f"st-cv: {_percent(plain.mean)}", second, "next: add picsc to --method to compare it"
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
    """The difference; 0 where it is within chance."""
    return 0.0 if difference is None or p is None or p >= LEVEL else difference


def _percent(value: float | None) -> str:
    return "no result" if value is None else f"{100 * value:.1f} %"


def _points(difference: Difference) -> str:
    if difference.accuracy is None:
        return "no difference to show"
    p = "" if difference.accuracy_p is None else f" (p {difference.accuracy_p:.2g})"
    return f"{100 * difference.accuracy:+.1f} points{p}"
