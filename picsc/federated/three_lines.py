"""The three lines on top of a federation's report: scores, PIcsC against baseline and control, shifted clients."""

from __future__ import annotations

from collections.abc import Sequence

from picsc.evaluation.majority import above_majority
from picsc.reports.common import MajorityClass, Metric
from picsc.reports.fed import ClientShift, FedDifference, FedMethodReport
from picsc.settings import FedMethod

_OURS: FedMethod = "picsc"
_BASELINES = ("fedavg", "fedprox", "scaffold")
"""Methods that are no control of PIcsC."""
LEVEL = 0.05
"""Level of the paired tests below which a difference counts."""


def three_lines(
    methods: Sequence[FedMethodReport], shifts: Sequence[ClientShift], metric: Metric, majority: MajorityClass | None
) -> tuple[str, str, str]:
    """The most important results.

    Args:
        methods: all of them.
        shifts: the clients.
        metric: the score that methods are compared by.
        majority: the most frequent class; None for numbers.
    """
    ranked = by_score(methods)
    failures = [(m.method, failure) for m in methods for failure in m.failures]
    if ranked:
        scores = ", ".join(f"{m.method} {100 * (m.accuracy or 0):.1f} %" for m in ranked[:4])
        first = f"mean {metric} over {len(shifts)} clients: {scores}"
        first += "" if majority is None else above_majority(majority, [m.accuracy for m in ranked])
    elif failures:
        first = "no method ended with finite numbers"
    else:
        first = f"no client has a {metric}: its test rows all have the same target"
    ours = next((m for m in methods if m.method == _OURS), None)
    second = "picsc was not run" if ours is None else _verdict(ours, methods) + _strongest_control(ours, methods)
    if failures:
        name, failure = failures[0]
        runs = "1 run or client" if len(failures) == 1 else f"{len(failures)} runs or clients"
        client = f", {failure.client}" if failure.client else ""
        where = f"{name}, seed {failure.seed}, round {failure.round}{client}"
        return first, second, f"{runs} without a result, the first is {where}: {failure.reason}; lower --lr"
    labels = sum(shift.labels_shifted for shift in shifts)
    moved = sum(shift.covariates == "shift" for shift in shifts)
    third = f"labels shifted in {labels} and covariates beyond that in {moved} of {len(shifts)} clients"
    return first, second, third


def by_score(methods: Sequence[FedMethodReport]) -> list[FedMethodReport]:
    """The methods that have a score, the best one first."""
    return sorted((m for m in methods if m.accuracy is not None), key=lambda m: -(m.accuracy or 0))


def _verdict(ours: FedMethodReport, methods: Sequence[FedMethodReport]) -> str:
    """PIcsC against the best method that is no control of it."""
    rivals = [m for m in methods if m.method in _BASELINES and m.accuracy is not None]
    if ours.accuracy is None:
        return "picsc did not end with finite numbers" if ours.failures else "picsc has no result"
    if not rivals:
        return "picsc was run without a baseline"
    rival = max(rivals, key=lambda m: float("-inf") if m.accuracy is None else m.accuracy)
    difference = ours.against(rival.method)
    if difference is None:
        return f"picsc and {rival.method} share no seed"
    points = f"{100 * difference.accuracy:+.1f} points"
    span = (
        ""
        if difference.interval is None
        else f" [{100 * difference.interval.low:.1f}, {100 * difference.interval.high:.1f}]"
    )
    if difference.p is None:
        why = "equal with every seed, so no test" if len(ours.seeds) > 1 else "one seed only, so no test"
        return f"picsc against {rival.method}, the best baseline: {points}, {why}"
    # the baseline was chosen by its score, and the verdict must not depend on how many there are
    holm = difference.p if difference.p_holm is None else difference.p_holm
    beyond = holm < LEVEL
    word = ("better" if difference.accuracy > 0 else "worse") if beyond else "not beyond chance"
    tested = f"{points}{span}, p = {difference.p:.2g}, Holm {holm:.2g}, {word}{_loss(difference)}"
    return f"picsc against {rival.method}, the best baseline: {tested}"


def _strongest_control(ours: FedMethodReport, methods: Sequence[FedMethodReport]) -> str:
    """The best method that is neither a baseline nor PIcsC, to follow the verdict; empty where none has a result."""
    controls = [m for m in methods if m.method not in (*_BASELINES, _OURS) and m.accuracy is not None]
    if not controls:
        return ""
    best = max(controls, key=lambda m: float("-inf") if m.accuracy is None else m.accuracy)
    named = f"; strongest control: {best.method}, {100 * (best.accuracy or 0):.1f} %"
    difference = ours.against(best.method)
    if difference is None:
        return named
    p = "" if difference.p is None else f" (p {difference.p:.2g})"
    return f"{named}; picsc {100 * difference.accuracy:+.1f} points{p} against it"


def _loss(difference: FedDifference) -> str:
    """What the log-loss says, to follow the verdict; empty where it is within chance."""
    holm = difference.log_loss_p if difference.log_loss_p_holm is None else difference.log_loss_p_holm
    if difference.log_loss is None or difference.log_loss_p is None or holm is None or holm >= LEVEL:
        return ""
    word = "better" if difference.log_loss < 0 else "worse"
    return f"; in log-loss {difference.log_loss:+.3f}, p = {difference.log_loss_p:.2g}, Holm {holm:.2g}, {word}"
