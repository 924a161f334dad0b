"""The issues of any report, and the sentence that sums it up."""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

from picsc.phrases import counted
from picsc.reports.audit import AuditReport, AuditReports
from picsc.reports.compare import CompareReport
from picsc.reports.cv import CvReport
from picsc.reports.fed import FedAuditReport, FedReport
from picsc.reports.recipes import RecipeReport
from picsc_cli.formats.issues.audit import of_audits
from picsc_cli.formats.issues.recipes import of_recipes
from picsc_cli.formats.issues.results import of_compare, of_cv, of_fed, of_fed_audit
from picsc_cli.text.audit_words import overall_lines

if TYPE_CHECKING:
    from picsc_cli.formats.issues.issue import Issue
    from picsc_cli.gates import FailOn, Gate

Judged = AuditReport | AuditReports | CvReport | CompareReport | RecipeReport | FedReport | FedAuditReport
"""Reports that pipelines read."""


def issues(report: Judged, fail_on: FailOn, gate: Gate | None = None, *, all_well: bool = False) -> list[Issue]:
    """The issues in the order of the report.

    Args:
        report: the result of a verb.
        fail_on: the mildest verdict that fails an audit.
        gate: the conditions that a comparison must meet; None for none.
        all_well: True for those that say that all is well, too.
    """
    found = list(_of(report, fail_on, gate))
    return found if all_well else [issue for issue in found if issue.level != "none"]


def _of(report: Judged, fail_on: FailOn, gate: Gate | None) -> list[Issue]:
    match report:
        case AuditReport():
            return list(of_audits(AuditReports((report,), ()), fail_on))
        case AuditReports():
            return list(of_audits(report, fail_on))
        case CvReport():
            return list(of_cv(report))
        case CompareReport():
            return list(of_compare(report, gate))
        case FedReport():
            return list(of_fed(report))
        case FedAuditReport():
            return list(of_fed_audit(report))
        case RecipeReport():
            return list(of_recipes(report))
        case _:
            assert_never(report)


def verb(report: Judged) -> str:
    """The command that made the report."""
    return {
        AuditReport: "audit",
        AuditReports: "audit",
        CvReport: "cv",
        CompareReport: "compare",
        FedReport: "fed",
        FedAuditReport: "fed",
        RecipeReport: "run",
    }[type(report)]


def summary(report: Judged) -> str:
    """The report in one sentence."""
    if isinstance(report, AuditReports):
        alone = len(report.reports) == 1 and not report.unaudited and not report.skipped
        return report.reports[0].summary[0] if alone else next(overall_lines(report))
    if isinstance(report, RecipeReport):
        rows = sum(len(table.rows) for table in report.tables)
        return f"{counted(rows, 'data set')}: {report.shifted} shifted, {report.failed} without a result"
    return report.summary[0]
