"""Audits as annotations of GitHub: `::error file=...,line=N,title=...::message`, at most ten of them.

GitHub shows ten annotations of a step and drops the others without a word, so the first one sums up, at most nine more
name the worst, and what is left is counted. A failure (see `picsc_cli.gates`) is an error; a warning,
an inconclusive piece and a shift that does not fail are warnings; a shift that the baseline knows is a notice.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from picsc_cli import gates
from picsc_cli.console.safe import annotation_message, annotation_property
from picsc_cli.text.audit_words import finding_words, how_far, moved, overall_lines
from picsc_cli.text.page import Page

if TYPE_CHECKING:
    from picsc.reports.audit import AuditReport, AuditReports, FragmentReport
    from picsc.reports.common import Reading

MOST = 10
"""Annotations that GitHub shows of one step."""
_LEVELS = ("error", "warning", "notice")
"""Levels of annotations, the worst first."""
_NAMES = 3
"""Columns that an annotation names at most."""
_PAGE = Page()


@dataclass(frozen=True, slots=True)
class _Annotation:
    level: str
    title: str
    message: str
    file: str = ""
    line: int = 1


def audits_github(reports: AuditReports, fail_on: gates.FailOn) -> str:
    """One line per annotation, the summary first, then errors before warnings before notices.

    Args:
        reports: what the audits found.
        fail_on: the mildest verdict that is an error.
    """
    found = [note for report in reports.reports for note in _of_report(report, fail_on)]
    found += [_Annotation("error", "picsc: not audited", file.reason, _file(file.source)) for file in reports.unaudited]
    found.sort(key=lambda note: _LEVELS.index(note.level))  # stable: within a level in the order of the call
    shown, more = found[: MOST - 1], len(found) - (MOST - 1)
    return "".join(f"{_command(note)}\n" for note in (_summary(reports, found, more), *shown))


def _summary(reports: AuditReports, found: list[_Annotation], more: int) -> _Annotation:
    alone = len(reports.reports) == 1 and not reports.unaudited and not reports.skipped
    first = reports.reports[0].summary[0] if alone else next(overall_lines(reports))
    rest = f" ({more} more {'is' if more == 1 else 'are'} in the job summary)" if more > 0 else ""
    return _Annotation(found[0].level if found else "notice", "picsc audit", first + rest)


def _of_report(report: AuditReport, fail_on: gates.FailOn) -> Iterator[_Annotation]:
    file = _file(report.data.source) if report.data.reading is not None else ""
    failing = {piece.name for piece in gates.failing(report, fail_on)}
    for piece in report.fragments:
        fails = piece.name in failing or piece.verdict == "error"
        if not fails and piece.verdict in ("ok", "equivalent", "not tested"):
            continue
        level = "error" if fails else "notice" if piece.standing == "known" else "warning"
        known = f", {piece.standing}" if piece.standing else ""
        title = f"picsc: {piece.verdict}{known} in {piece.name}"
        yield _Annotation(level, title, _reason(piece, report.level), file, _line(piece.first_row, report.data.reading))
    for finding in report.findings:
        fails = finding in report.schema_failures
        if fails or finding.severity != "note":
            yield _Annotation("error" if fails else "warning", f"picsc: {finding.code}", finding_words(finding), file)


def _reason(piece: FragmentReport, level: float) -> str:
    columns = moved(piece, level)[:_NAMES] if piece.verdict == "shift" else []
    told = [how_far(column, level, _PAGE) for column in columns]
    names = "; ".join(each for each in told if each not in piece.reason)
    return "; ".join(filter(None, (piece.reason, names))) or piece.verdict


def _line(first_row: int | None, reading: Reading | None) -> int:
    """Line of a text file that a data row stands in, 1 the first; 1 for files that have no lines of data."""
    if first_row is None or reading is None or reading.format not in ("csv", "tsv", "jsonl", "libsvm"):
        return 1
    choices = {choice.name: choice.value for choice in reading.choices}
    header = int(reading.format in ("csv", "tsv") and choices.get("header") != "no")
    remarks = choices.get("remarks", "0").partition(" ")[0]
    return max(1, first_row + header + (int(remarks) if remarks.isdecimal() else 0))


def _file(source: str) -> str:
    """The file as GitHub wants it, relative to the repository, or else to the working directory if it is inside."""
    if source == "standard input":
        return ""
    path = Path(source).absolute()
    for folder in (os.environ.get("GITHUB_WORKSPACE"), Path.cwd()):
        if folder and path.is_relative_to(folder):
            return path.relative_to(folder).as_posix()
    return Path(source).as_posix()


def _command(note: _Annotation) -> str:
    """The line that GitHub's runner looks for."""
    place = {"file": note.file, "line": str(note.line)} if note.file else {}
    properties = ",".join(
        f"{name}={annotation_property(text)}" for name, text in {**place, "title": note.title}.items()
    )
    return f"::{note.level} {properties}::{annotation_message(note.message)}"
