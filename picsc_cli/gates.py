"""When a comparison fails a pipeline: its candidate is below a bound, or worse than plain training beyond chance."""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from picsc.errors import SettingsError
from picsc.reports.common import AuditReports
from picsc_cli.console.exits import FINDING, FINE, UNUSABLE

if TYPE_CHECKING:
    from picsc.reports.common import AuditReport, FragmentReport, Verdict
    from picsc.reports.compare import CompareReport

CANDIDATE = "picsc"
BASELINE = "st-cv"
LEVEL = 0.05
"""Of the test behind `worse`."""


class FailOnWorse(StrEnum):
    """What makes the command exit 1, beside a bound."""

    WORSE = "worse"
    NEVER = "never"


@dataclass(frozen=True, slots=True)
class Gate:
    """Whom the exit code is about, and what is asked of it."""

    candidate: str = CANDIDATE
    fail_under: float | None = None
    """Least mean accuracy, percent; None asks for none."""
    fail_on: FailOnWorse = FailOnWorse.NEVER

    @property
    def shut(self) -> bool:
        """Whether anything is asked."""
        return self.fail_under is not None or self.fail_on is FailOnWorse.WORSE


def gate(candidate: str | None, fail_under: float | None, fail_on: FailOnWorse | None) -> Gate:
    """The gate that the options describe; None is an option that was not given.

    Raises:
        SettingsError: the bound is no percentage, or the options contradict each other.
    """
    if candidate is not None and fail_under is None and fail_on is None:
        raise SettingsError(f"--candidate {candidate} goes with --fail-under PERCENT or --fail-on worse")
    if fail_under is not None and not fail_under <= 100:  # NaN would let everything pass
        raise SettingsError(f"--fail-under {fail_under:g}: must be a percentage, at most 100")
    if fail_under is not None and 0 < fail_under < 1:
        raise SettingsError(
            f"--fail-under {fail_under:g}: is a percentage, and below 1; for that share give {100 * fail_under:g}"
        )
    chosen = Gate(candidate or CANDIDATE, fail_under, fail_on or FailOnWorse.NEVER)
    if chosen.fail_on is FailOnWorse.WORSE and chosen.candidate == BASELINE:
        raise SettingsError(f"--fail-on worse compares with {BASELINE}: give --candidate another method")
    return chosen


def check(chosen: Gate, methods: Collection[str]) -> None:
    """Find out before the computation whether the candidate is going to be there.

    Raises:
        SettingsError: it is none of the methods asked for.
    """
    run = dict.fromkeys((BASELINE, *methods))  # the baseline is there whatever was asked for
    if chosen.shut and chosen.candidate not in run:
        raise SettingsError(
            f"--candidate {chosen.candidate} is not run: name it in --method, or choose one of {', '.join(run)}"
        )


def verdicts(report: CompareReport, chosen: Gate) -> tuple[str, ...]:
    """What the gate has against the candidate, one sentence each; nothing when it passes.

    A candidate without the number that a question needs does not pass it.
    """
    found = report.method(chosen.candidate)
    accuracy = None if found is None else found.accuracy
    said = []
    if chosen.fail_under is not None:
        least = f"--fail-under {chosen.fail_under:g}"
        if accuracy is None:
            said.append(f"{least}: {chosen.candidate} has no accuracy")
        elif accuracy < chosen.fail_under / 100 and not math.isclose(accuracy, chosen.fail_under / 100, abs_tol=1e-12):
            said.append(f"{least}: {chosen.candidate} has {_below(100 * accuracy, chosen.fail_under)} %")
    if chosen.fail_on is FailOnWorse.WORSE:
        base = None if found is None else found.against(BASELINE)
        if base is None or base.accuracy is None or (base.accuracy < 0 and base.accuracy_p is None):
            said.append(
                f"--fail-on worse: there is no test of {chosen.candidate} against {BASELINE}; use more --repeats"
            )
        elif base.accuracy < 0 and base.accuracy_p is not None and base.accuracy_p < LEVEL:
            lost = f"{-100 * base.accuracy:.1f} points below {BASELINE}"
            said.append(f"--fail-on worse: {chosen.candidate} is {lost} (p {base.accuracy_p:.2g})")
    return tuple(said)


def _below(percent: float, bound: float) -> str:
    """The number in as few decimals, from one on, as show that it is below the bound."""
    return next((text for text in (f"{percent:.{n}f}" for n in range(1, 12)) if float(text) < bound), str(percent))


class FailOn(StrEnum):
    """The mildest verdict that makes the command exit 1."""

    SHIFT = "shift"
    INCONCLUSIVE = "inconclusive"
    NEVER = "never"


_FAILS: dict[FailOn, tuple[Verdict, ...]] = {
    FailOn.SHIFT: ("shift",),
    FailOn.INCONCLUSIVE: ("shift", "inconclusive", "error"),  # an error is a piece that could not be judged either
    FailOn.NEVER: (),
}


def code(verdict: Verdict, fail_on: FailOn) -> int:
    """The exit code of a verdict: 1 when it is at or above `fail_on`, else 0."""
    return FINDING if verdict in _FAILS[fail_on] else FINE


def failing(report: AuditReport, fail_on: FailOn) -> tuple[FragmentReport, ...]:
    """The pieces that make an audit exit 1: shifts that no baseline knows, and what else `fail_on` asks for.

    A piece that could not be judged fails only with a table whose verdict that is: one small piece beside others that
    are ok does not make the table inconclusive.
    """
    verdicts = _FAILS[fail_on]
    doubtful = report.verdict != "shift" and report.verdict in verdicts
    return tuple(
        piece
        for piece in report.fragments
        if piece.verdict in verdicts and (piece.standing != "known" if piece.verdict == "shift" else doubtful)
    )


def audit_code(found: AuditReport | AuditReports, fail_on: FailOn) -> int:
    """The exit code of audits: 2 when a file could not be used, else 1 when a piece of any fails, else 0."""
    if isinstance(found, AuditReports):
        return UNUSABLE if found.unaudited else max((audit_code(each, fail_on) for each in found.reports), default=FINE)
    return FINDING if failing(found, fail_on) else FINE
