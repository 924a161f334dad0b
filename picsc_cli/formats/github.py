"""Reports as annotations of GitHub: `::error file=...,line=N,title=...::message`, at most ten of them.

GitHub shows ten annotations of a step and drops the others without a word, so the first one sums up, at most nine more
name the worst, and what is left is counted. What fails the command is an error; a warning, an inconclusive piece and a
shift that does not fail are warnings; a shift that the baseline knows is a notice.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from picsc_cli import gates
from picsc_cli.console.safe import annotation_message, annotation_property
from picsc_cli.formats.issues.any_report import Judged, issues, summary, verb
from picsc_cli.formats.issues.issue import LEVELS, Issue

if TYPE_CHECKING:
    from picsc.reports.audit import AuditReports

MOST = 10
"""Annotations that GitHub shows of one step."""
_NOTES = "notice"


def audits_github(reports: AuditReports, fail_on: gates.FailOn) -> str:
    """The annotations of audits, see `report_github`."""
    return report_github(reports, fail_on)


def report_github(report: Judged, fail_on: gates.FailOn, gate: gates.Gate | None = None) -> str:
    """One line per annotation, the summary first, then errors before warnings before notices.

    Args:
        report: the result of a verb.
        fail_on: the mildest verdict that is an error.
        gate: the conditions that a comparison must meet; None for none.
    """
    found = [issue for issue in issues(report, fail_on, gate) if not _is_note(issue)]
    found.sort(key=lambda issue: LEVELS.index(issue.level))  # stable: within a level in the order of the report
    shown, more = found[: MOST - 1], len(found) - (MOST - 1)
    rest = f" ({more} more {'is' if more == 1 else 'are'} in the job summary)" if more > 0 else ""
    level = found[0].level if found else "notice"
    first = Issue(level, "summary", "", f"picsc {verb(report)}", summary(report) + rest)
    return "".join(f"{_command(issue)}\n" for issue in (first, *shown))


def _is_note(issue: Issue) -> bool:
    """True for a finding that asks for nothing: ten annotations are few."""
    return issue.level == _NOTES and not issue.subject


def _command(issue: Issue) -> str:
    """The line that GitHub's runner looks for."""
    place = {"file": issue.file, "line": str(issue.line)} if issue.file else {}
    properties = ",".join(
        f"{name}={annotation_property(text)}" for name, text in {**place, "title": issue.title}.items()
    )
    return f"::{issue.level} {properties}::{annotation_message(issue.message)}"
