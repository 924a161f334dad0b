"""Which function writes which report in which format."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from picsc.reports import (
    AuditReport,
    AuditReports,
    CompareReport,
    CvReport,
    DataReport,
    FedAuditReport,
    FedReport,
    RecipeReport,
    Report,
)
from picsc_cli.formats.csv.audit import audits_csv
from picsc_cli.formats.csv.compare import compare_csv
from picsc_cli.formats.csv.cv import cv_csv
from picsc_cli.formats.csv.fed import fed_audit_csv, fed_csv
from picsc_cli.formats.csv.recipes import recipes_csv
from picsc_cli.formats.github import audits_github
from picsc_cli.formats.json import report_json
from picsc_cli.formats.junit import audits_junit
from picsc_cli.formats.markdown.audit import audits_markdown
from picsc_cli.formats.markdown.compare import compare_markdown
from picsc_cli.formats.markdown.fed import fed_audit_markdown, fed_markdown
from picsc_cli.formats.markdown.recipes import recipes_markdown
from picsc_cli.formats.plot import fed_html, fed_svg
from picsc_cli.formats.table.audit import audit_summary, audit_table, audits_summary, audits_table
from picsc_cli.formats.table.compare import compare_table
from picsc_cli.formats.table.cv import cv_table
from picsc_cli.formats.table.data import data_summary, data_table
from picsc_cli.formats.table.fed import fed_table
from picsc_cli.formats.table.fed_audit import fed_audit_summary, fed_audit_table
from picsc_cli.formats.table.recipes import recipes_summary, recipes_table
from picsc_cli.gates import FailOn
from picsc_cli.output.destinations import BASELINE
from picsc_cli.text.sections import summary

if TYPE_CHECKING:
    from picsc_cli.text.page import Page


@dataclass(frozen=True, slots=True)
class _Writers:
    """What writes one kind of report for people, and in formats that are the same on every page."""

    summary: Callable[[Any, Page], str]
    table: Callable[..., str]
    """Of the report and the page; `verbose` by name."""
    formats: Mapping[str, Callable[[Any], str]]


def _baseline(reports: AuditReports) -> str:
    from picsc.auditing.baseline import baseline_text

    return baseline_text(reports.reports)


_WRITERS: dict[type[Report], _Writers] = {
    AuditReport: _Writers(audit_summary, audit_table, {}),
    AuditReports: _Writers(
        audits_summary, audits_table, {"csv": audits_csv, "markdown": audits_markdown, BASELINE: _baseline}
    ),
    CvReport: _Writers(summary, cv_table, {"csv": cv_csv}),
    CompareReport: _Writers(summary, compare_table, {"csv": compare_csv, "markdown": compare_markdown}),
    RecipeReport: _Writers(recipes_summary, recipes_table, {"csv": recipes_csv, "markdown": recipes_markdown}),
    FedReport: _Writers(
        summary, fed_table, {"csv": fed_csv, "markdown": fed_markdown, "svg": fed_svg, "html": fed_html}
    ),
    DataReport: _Writers(data_summary, data_table, {}),
    FedAuditReport: _Writers(
        fed_audit_summary, fed_audit_table, {"csv": fed_audit_csv, "markdown": fed_audit_markdown}
    ),
}


def as_text(report: Report, name: str, page: Page, *, verbose: bool = False, fail_on: FailOn = FailOn.SHIFT) -> str:
    """The report in one format.

    Args:
        report: what a verb found.
        name: `summary`, `table`, or another format that `outputs.parse` let through for the verb.
        page: what it is written for.
        verbose: a table also holds the columns as understood, and the settings.
        fail_on: what an audit's JUnit and annotations call a failure.
    """
    if name == "json":
        return report_json(report, ascii_only=page.ascii_only)
    if isinstance(report, AuditReport) and name not in ("summary", "table"):
        report = AuditReports((report,), ())  # one file alone is written as one of several
    if isinstance(report, AuditReports) and name == "junit":
        return audits_junit(report, fail_on, ascii_only=page.ascii_only)
    if isinstance(report, AuditReports) and name == "github":
        return audits_github(report, fail_on)
    writers = _WRITERS[type(report)]
    if name == "summary":
        return writers.summary(report, page)
    return writers.table(report, page, verbose=verbose) if name == "table" else writers.formats[name](report)
