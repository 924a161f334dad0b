"""Issues of cross-validations, comparisons, federations and audits of clients: methods and clients, then findings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from picsc.phrases import counted
from picsc_cli import gates
from picsc_cli.formats.issues.issue import Issue, Level, file_of, of_finding
from picsc_cli.text.audit_words import finding_words
from picsc_cli.text.numbers import percent, span
from picsc_cli.text.page import Page
from picsc_cli.text.sections import metric

if TYPE_CHECKING:
    from picsc.reports.common import DataInfo, Finding, Interval
    from picsc.reports.compare import CompareReport
    from picsc.reports.cv import CvReport
    from picsc.reports.fed import FedAuditReport, FedReport

_PAGE = Page()


def of_cv(report: CvReport) -> Iterator[Issue]:
    """One issue for each method, which fails if a model of it has no result, then the findings."""
    for method in report.methods:
        reasons = [unit.reason for unit in method.units if unit.reason and unit.accuracy is None]
        score = _score(report.data, method.mean, method.interval)
        yield _method(report.data, method.method, score, failed=method.failed, reasons=reasons)
    yield from _findings(report.findings, report.data)


def of_compare(report: CompareReport, gate: gates.Gate | None) -> Iterator[Issue]:
    """One issue for each method, one for each condition that the candidate does not meet, then the findings.

    Args:
        report: the comparison.
        gate: the conditions; None for no condition.
    """
    for method in report.methods:
        reasons = [unit.reason for unit in method.units if unit.reason and unit.accuracy is None]
        score = _score(report.data, method.accuracy, method.interval)
        yield _method(report.data, method.method, score, failed=method.failed, reasons=reasons)
    if gate is not None and gate.shut:
        unmet = gates.verdicts(report, gate)
        for sentence in unmet:
            yield _about(report.data, Issue("error", "gate", gate.candidate, f"picsc: {gate.candidate}", sentence))
        if not unmet:
            words = f"{gate.candidate} meets its conditions"
            yield _about(report.data, Issue("none", "gate", gate.candidate, f"picsc: {gate.candidate}", words))
    yield from _findings(report.findings, report.data)


def of_fed(report: FedReport) -> Iterator[Issue]:
    """One issue for each method, which fails if a run or client of it has no result, shifted clients, and findings."""
    for method in report.methods:
        score = _score(report.data, method.accuracy, method.interval)
        reasons = [failure.reason for failure in method.failures]
        yield _method(report.data, method.method, score, failed=len(method.failures), reasons=reasons)
    for client in report.clients:
        shifted = client.labels_shifted or client.covariates == "shift"
        if shifted:
            issue = Issue("warning", "shift", client.name, f"picsc: shift of {client.name}", client.reason or "shift")
            yield _about(report.data, issue)
    yield from _findings(report.findings, report.data)


def of_fed_audit(report: FedAuditReport) -> Iterator[Issue]:
    """One issue for each client, then the findings; a shift fails, as it does at the command line."""
    fails = gates.code(report.verdict, gates.FailOn.SHIFT)
    for client in report.clients:
        verdict = client.verdict
        level: Level = "none" if verdict in ("ok", "not tested") else "warning"
        if fails and verdict == "shift":
            level = "error"
        title = f"picsc: {verdict} of {client.name}"
        issue = Issue(level, verdict.replace(" ", "-"), client.name, title, client.reason or verdict)
        yield _about(report.data, issue)
    yield from _findings(report.findings, report.data)


def _about(data: DataInfo, issue: Issue) -> Issue:
    return replace(issue, file=file_of(data), source=data.name)


def _score(data: DataInfo, value: float | None, interval: Interval | None) -> str | None:
    if value is None:
        return None
    within = f" {span(interval, 1, _PAGE, scale=100)}" if interval is not None else ""
    return f"{metric(data)} {percent(value, _PAGE)} %{within}"


def _method(data: DataInfo, name: str, score: str | None, *, failed: int, reasons: Iterable[str]) -> Issue:
    """The issue of one method.

    Args:
        data: the table.
        name: of the method.
        score: its score in words; None without one.
        failed: number of its models without a result.
        reasons: why models have none.
    """
    why = next(iter(dict.fromkeys(reasons)), "")
    because = f", first: {why}" if why else ""
    if score is None:
        issue = Issue("error", "no-result", name, f"picsc: {name}", f"{name} has no score{because}")
    elif failed:
        words = f"{name}: {counted(failed, 'model')} without a result{because}; the others: {score}"
        issue = Issue("error", "no-result", name, f"picsc: {name}", words)
    else:
        issue = Issue("none", "result", name, f"picsc: {name}", f"{name}: {score}")
    return _about(data, issue)


def _findings(found: Iterable[Finding], data: DataInfo) -> Iterator[Issue]:
    for finding in found:
        yield of_finding(finding, finding_words(finding), data, fails=False)
