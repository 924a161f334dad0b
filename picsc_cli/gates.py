"""Conditions on a report that fail a pipeline: the exit code, and the pieces or methods that caused it.

Two verbs have one. An audit (`--fail-on`) fails by the verdicts of its pieces. A comparison (`--candidate` with
`--fail-under` or `--fail-on worse`) fails when one method, the candidate, is below a bound or worse than plain
training beyond chance.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from picsc.errors import SettingsError
from picsc.reports import DataReport, FedAuditReport, PredictReport, RecipeReport
from picsc.reports.audit import AuditReport, AuditReports
from picsc_cli.console.exits import FINDING, FINE, UNUSABLE

if TYPE_CHECKING:
    from picsc.reports import Report
    from picsc.reports.audit import FragmentReport
    from picsc.reports.common import Verdict
    from picsc.reports.compare import CompareReport
    from picsc.reports.cv import CvReport
    from picsc.reports.fed import FedReport

# Audits


class FailOn(StrEnum):
    """The mildest verdict that makes an audit exit with 1.

    `shift`: shifted pieces alone. `inconclusive`: also pieces for which the test is undecided or could not be made.
    `never`: none.
    """

    SHIFT = "shift"
    INCONCLUSIVE = "inconclusive"
    NEVER = "never"


_FAILS: dict[FailOn, tuple[Verdict, ...]] = {
    FailOn.SHIFT: ("shift",),
    FailOn.INCONCLUSIVE: ("shift", "inconclusive", "error"),  # an error is a piece without a verdict as well
    FailOn.NEVER: (),
}
"""The verdicts that fail, by the mildest of them."""


def code(verdict: Verdict, fail_on: FailOn) -> int:
    """The exit code of one verdict: 1 when it is at or above `fail_on`, else 0."""
    return FINDING if verdict in _FAILS[fail_on] else FINE


def failing(report: AuditReport, fail_on: FailOn) -> tuple[FragmentReport, ...]:
    """The pieces that make an audit exit with 1: shifts that no baseline knows, and what else `fail_on` asks for.

    An inconclusive piece, and one without a result, fails only when its verdict is the verdict of the whole table: one
    small piece among others that are ok does not make the table inconclusive.
    """
    fails = _FAILS[fail_on]
    without_verdict_fails = report.verdict != "shift" and report.verdict in fails
    return tuple(
        piece
        for piece in report.fragments
        if piece.verdict in fails and (piece.standing != "known" if piece.verdict == "shift" else without_verdict_fails)
    )


def audit_code(found: AuditReport | AuditReports, fail_on: FailOn) -> int:
    """The exit code of audits: 2 when a file could not be used, else 1 when a piece or the columns of any fail, else 0.

    Columns fail under `--strict-schema` alone, whatever `fail_on` says of verdicts.
    """
    if isinstance(found, AuditReports):
        return UNUSABLE if found.unaudited else max((audit_code(each, fail_on) for each in found.reports), default=FINE)
    return FINDING if failing(found, fail_on) or found.schema_failures else FINE


# Trained models


def result_code(report: CvReport | CompareReport | FedReport) -> int:
    """The exit code of trained models: 1 when one of them, or a whole method, has no result, else 0."""
    return FINDING if report.failed or report.without_result else FINE


def recipes_code(report: RecipeReport) -> int:
    """The exit code of recipes: 1 when a data set is shifted, or when one or a model has no result, else 0."""
    return FINDING if report.failed or report.shifted else FINE


def report_code(report: Report, fail_on: FailOn) -> int:
    """The exit code of any report, but for the conditions of a comparison.

    Args:
        report: the result of a verb.
        fail_on: the mildest verdict that fails an audit.
    """
    match report:
        case AuditReport() | AuditReports():
            return audit_code(report, fail_on)
        case FedAuditReport():
            return code(report.verdict, FailOn.SHIFT)
        case RecipeReport():
            return recipes_code(report)
        case DataReport():
            return FINE
        case PredictReport():
            return code(report.verdict, fail_on)
        case _:
            return result_code(report)


# Comparisons

CANDIDATE = "picsc"
"""The method that a gate is about unless another one is named."""
BASELINE = "st-cv"
"""The method that the candidate is compared with: plain training."""
LEVEL = 0.05
"""Level of the paired test behind `--fail-on worse`: a p-value below it is more than chance.

The candidate is named before the run and compared with one method, so that this is one test: its p is not adjusted.
"""


class FailOnWorse(StrEnum):
    """The result of the paired test that makes a comparison exit with 1, in addition to a bound.

    `worse`: the candidate's accuracy is below plain training's, and p is below `LEVEL`. `never`: no result.
    """

    WORSE = "worse"
    NEVER = "never"


@dataclass(frozen=True, slots=True)
class Gate:
    """The conditions that one method of a comparison must meet."""

    candidate: str = CANDIDATE
    """The method that must meet them, one of `picsc.settings.COMPARE_METHODS`."""
    fail_under: float | None = None
    """Smallest mean accuracy that passes, in percent, at most 100; None sets no bound."""
    fail_on: FailOnWorse = FailOnWorse.NEVER
    """The result of the test against plain training that fails."""

    @property
    def shut(self) -> bool:
        """True if there is a condition at all."""
        return self.fail_under is not None or self.fail_on is FailOnWorse.WORSE


def gate(candidate: str | None, fail_under: float | None, fail_on: FailOnWorse | None) -> Gate:
    """The gate that the options describe.

    Args:
        candidate: follows `--candidate`; None, as in the others, where the option was not given.
        fail_under: follows `--fail-under`: a fraction up to 1, or percent above 1.
        fail_on: follows `--fail-on`.

    Raises:
        SettingsError: the bound is no percentage, or the options contradict each other.
    """
    if candidate is not None and fail_under is None and fail_on is None:
        raise SettingsError(f"--candidate {candidate} goes with --fail-under A or --fail-on worse")
    if fail_under is not None and not fail_under <= 100:  # NaN would let everything pass
        raise SettingsError(
            f"--fail-under {fail_under:g}: must be a fraction of at most 1, or above 1 a percentage of at most 100"
        )
    if fail_under is not None and abs(fail_under) <= 1:  # as in picsc.settings.fields.as_fraction
        fail_under = round(100 * fail_under, 10)
    chosen = Gate(candidate or CANDIDATE, fail_under, fail_on or FailOnWorse.NEVER)
    if chosen.fail_on is FailOnWorse.WORSE and chosen.candidate == BASELINE:
        raise SettingsError(f"--fail-on worse compares with {BASELINE}: give --candidate another method")
    return chosen


def check(chosen: Gate, methods: Collection[str]) -> None:
    """Refuse, before the computation, a candidate that is not going to be run.

    Args:
        chosen: the gate.
        methods: those that were asked for; plain training is run in any case.

    Raises:
        SettingsError: the candidate is none of them.
    """
    run = dict.fromkeys((BASELINE, *methods))
    if chosen.shut and chosen.candidate not in run:
        raise SettingsError(
            f"--candidate {chosen.candidate} is not run: name it in --method, or choose one of {', '.join(run)}"
        )


def verdicts(report: CompareReport, chosen: Gate) -> tuple[str, ...]:
    """The conditions that the candidate does not meet, one sentence each; none when it passes.

    A candidate without the number that a condition needs does not pass it.
    """
    found = report.method(chosen.candidate)
    accuracy = None if found is None else found.accuracy
    unmet = []
    if chosen.fail_under is not None:
        least = f"--fail-under {chosen.fail_under:g}"
        if accuracy is None:
            unmet.append(f"{least}: {chosen.candidate} has no accuracy")
        elif accuracy < chosen.fail_under / 100 and not math.isclose(accuracy, chosen.fail_under / 100, abs_tol=1e-12):
            unmet.append(f"{least}: {chosen.candidate} has {_below(100 * accuracy, chosen.fail_under)} %")
    if chosen.fail_on is FailOnWorse.WORSE:
        base = None if found is None else found.against(BASELINE)
        if base is None or base.accuracy is None or (base.accuracy < 0 and base.accuracy_p is None):
            unmet.append(
                f"--fail-on worse: there is no test of {chosen.candidate} against {BASELINE}; use more --repeats"
            )
        elif base.accuracy < 0 and base.accuracy_p is not None and base.accuracy_p < LEVEL:
            lost = f"{-100 * base.accuracy:.1f} points below {BASELINE}"
            unmet.append(f"--fail-on worse: {chosen.candidate} is {lost} (p {base.accuracy_p:.2g})")
    return tuple(unmet)


def _below(percent: float, bound: float) -> str:
    """The number in as few decimals, from one on, as show that it is below the bound."""
    return next((text for text in (f"{percent:.{n}f}" for n in range(1, 12)) if float(text) < bound), str(percent))
