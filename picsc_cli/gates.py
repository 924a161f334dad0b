"""When a comparison fails a pipeline: its candidate is below a bound, or worse than plain training beyond chance."""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from picsc.errors import SettingsError

if TYPE_CHECKING:
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
