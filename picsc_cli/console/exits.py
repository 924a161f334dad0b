"""Exit codes: 0 fine, 1 finding, 2 the user's input could not be used, 3 our bug, 130 and 143 interrupted."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from enum import StrEnum
from typing import TYPE_CHECKING, NoReturn

import typer

from picsc.errors import PicscError, RecipeError
from picsc.reports.common import AuditReports
from picsc_cli.console.signals import Terminated, termination
from picsc_cli.console.streams import say

if TYPE_CHECKING:
    from picsc.reports.common import AuditReport, FragmentReport, Verdict

FINE, FINDING, UNUSABLE, BUG, INTERRUPTED, TERMINATED = 0, 1, 2, 3, 130, 143


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


def leave(done: SystemExit) -> NoReturn:
    """End the process; at once if torch is loaded, since taking its modules apart costs more than a second.

    Nothing is left to be done then: reports are written and renamed, and both streams are flushed here.
    """
    if "torch" not in sys.modules or not isinstance(done.code, int):
        raise done
    with suppress(OSError):  # a reader that has gone was dealt with when the report was written
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(done.code)


@contextmanager
def outcome(interrupted: str = "interrupted") -> Iterator[None]:
    """Turn what goes wrong inside into one line on standard error and an exit code.

    A `PicscError` is the user's to mend: its sentence, exit 2. Anything else is our bug: the traceback stays, exit 3.

    Args:
        interrupted: what to say when the user, or the machine, ends the command.
    """
    try:
        with termination():
            yield
    except typer.Exit:
        raise
    except RecipeError as error:
        for problem in error.problems:
            say(problem)
        raise typer.Exit(UNUSABLE) from None
    except PicscError as error:
        say(str(error))
        raise typer.Exit(UNUSABLE) from None
    except KeyboardInterrupt as signal:
        say(interrupted)
        raise typer.Exit(TERMINATED if isinstance(signal, Terminated) else INTERRUPTED) from None
    except Exception:  # noqa: BLE001 - the one place that tells our bugs from the user's input
        traceback.print_exc()
        say("this is a bug in picsc; please report it with the lines above, the command and `picsc --version`")
        raise typer.Exit(BUG) from None
