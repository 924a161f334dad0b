"""Which function writes which report in which format."""

from __future__ import annotations

from typing import TYPE_CHECKING

from picsc.compare_report import CompareReport
from picsc.cv_report import CvReport
from picsc.fed_report import FedAuditReport, FedReport
from picsc.recipe_report import RecipeReport
from picsc.reports import AuditReport
from picsc_cli.formats.csv import cv_csv
from picsc_cli.formats.csv_compare import compare_csv
from picsc_cli.formats.csv_fed import fed_audit_csv, fed_csv
from picsc_cli.formats.csv_recipes import recipes_csv
from picsc_cli.formats.json import report_json
from picsc_cli.formats.markdown import recipes_markdown
from picsc_cli.formats.markdown_compare import compare_markdown
from picsc_cli.formats.markdown_fed import fed_audit_markdown, fed_markdown
from picsc_cli.plot import fed_html, fed_svg
from picsc_cli.render import audit_summary, audit_table
from picsc_cli.render_compare import compare_summary, compare_table
from picsc_cli.render_cv import cv_summary, cv_table
from picsc_cli.render_fed import fed_summary, fed_table
from picsc_cli.render_fed_audit import fed_audit_summary, fed_audit_table
from picsc_cli.render_recipes import recipes_summary, recipes_table

if TYPE_CHECKING:
    from collections.abc import Callable

    from picsc_cli.page import Page

Report = AuditReport | CvReport | CompareReport | RecipeReport | FedReport | FedAuditReport

_FED: dict[str, Callable[[FedReport], str]] = {
    "csv": fed_csv,
    "markdown": fed_markdown,
    "svg": fed_svg,
    "html": fed_html,
}


def as_text(report: Report, name: str, page: Page, *, verbose: bool = False) -> str:
    """The report in one format.

    Args:
        report: what a verb found.
        name: `summary`, `table`, or another format that `outputs.parse` let through for the verb.
        page: what it is written for.
        verbose: a table also holds the columns as understood, and the settings.
    """
    if name == "json":
        return report_json(report, ascii_only=page.ascii_only)
    if isinstance(report, CvReport):
        if name == "csv":
            return cv_csv(report)
        return cv_summary(report, page) if name == "summary" else cv_table(report, page, verbose=verbose)
    if isinstance(report, CompareReport):
        if name in ("csv", "markdown"):
            return compare_csv(report) if name == "csv" else compare_markdown(report)
        return compare_summary(report, page) if name == "summary" else compare_table(report, page, verbose=verbose)
    if isinstance(report, RecipeReport):
        if name in ("csv", "markdown"):
            return recipes_csv(report) if name == "csv" else recipes_markdown(report)
        return recipes_summary(report, page) if name == "summary" else recipes_table(report, page, verbose=verbose)
    if isinstance(report, FedReport):
        if name in _FED:
            return _FED[name](report)
        return fed_summary(report, page) if name == "summary" else fed_table(report, page, verbose=verbose)
    if isinstance(report, FedAuditReport):
        if name in ("csv", "markdown"):
            return fed_audit_csv(report) if name == "csv" else fed_audit_markdown(report)
        return fed_audit_summary(report, page) if name == "summary" else fed_audit_table(report, page, verbose=verbose)
    return audit_summary(report, page) if name == "summary" else audit_table(report, page, verbose=verbose)
