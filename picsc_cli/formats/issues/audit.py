"""Issues of audits: pieces, columns under `--strict-schema`, findings, and files that could not be audited."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from picsc_cli import gates
from picsc_cli.formats.issues.issue import Issue, Level, file_of, line_of, of_finding, relative
from picsc_cli.text.audit_words import finding_words, how_far, moved
from picsc_cli.text.page import Page

if TYPE_CHECKING:
    from picsc.reports.audit import AuditReport, AuditReports, FragmentReport

_NAMES = 3
"""Columns that an issue names at most."""
_PAGE = Page()


def of_audits(reports: AuditReports, fail_on: gates.FailOn) -> Iterator[Issue]:
    """In the order of the call, files that could not be audited last.

    Args:
        reports: what the audits found.
        fail_on: the mildest verdict that is an error.
    """
    for report in reports.reports:
        yield from _of_audit(report, fail_on)
    for file in reports.unaudited:
        title = "picsc: not audited"
        yield Issue("error", "not-audited", file.source, title, file.reason, relative(file.source), source=file.source)
    for file in reports.skipped:
        title = "picsc: skipped"
        yield Issue("none", "not-tested", file.source, title, file.reason, relative(file.source), source=file.source)


def _of_audit(report: AuditReport, fail_on: gates.FailOn) -> Iterator[Issue]:
    file, data = file_of(report.data), report.data
    failing = {piece.name for piece in gates.failing(report, fail_on)}
    for piece in report.fragments:
        known = f", {piece.standing}" if piece.standing else ""
        yield Issue(
            _level(piece, fails=piece.name in failing),
            piece.verdict.replace(" ", "-"),
            piece.name,
            f"picsc: {piece.verdict}{known} in {piece.name}",
            _reason(piece, report.level),
            file,
            line_of(piece.first_row, data.reading),
            data.name,
        )
    for finding in report.findings:
        yield of_finding(finding, finding_words(finding), data, fails=finding in report.schema_failures)


def _level(piece: FragmentReport, *, fails: bool) -> Level:
    if fails:
        return "error"
    if piece.verdict in ("ok", "equivalent", "not tested"):
        return "none"
    return "notice" if piece.standing == "known" else "warning"


def _reason(piece: FragmentReport, level: float) -> str:
    columns = moved(piece, level)[:_NAMES] if piece.verdict == "shift" else []
    told = [how_far(column, level, _PAGE) for column in columns]
    names = "; ".join(each for each in told if each not in piece.reason)
    return "; ".join(filter(None, (piece.reason, names))) or piece.verdict
