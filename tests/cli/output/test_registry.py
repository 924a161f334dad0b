"""Records of reports: the formats they offer, and that every format of a record can be written."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import get_args

import pytest

from picsc import reports
from picsc.reports import Report
from picsc_cli.output import destinations, registry
from picsc_cli.text.page import Page
from tests.factories.audit import audit_report, audit_reports
from tests.factories.compare import compare_report
from tests.factories.cv import cv_report
from tests.factories.fed import fed_audit_report, fed_report
from tests.factories.recipes import recipe_report

ALL = (
    audit_report(), audit_reports(), cv_report(), compare_report(), fed_report(), fed_audit_report(), recipe_report(),
)  # fmt: skip


def test_every_report_has_a_record() -> None:
    assert set(registry._WRITERS) == set(get_args(Report))


@pytest.mark.parametrize(
    ("report", "formats"),
    [
        (kind, ("table", "json", "csv", "markdown", "html", "junit", "github", "sarif", "codequality"))
        for kind in (
            reports.AuditReports,
            reports.CvReport,
            reports.CompareReport,
            reports.FedReport,
            reports.FedAuditReport,
            reports.RecipeReport,
        )
    ],
)
def test_a_report_offers_its_formats(report: type[Report], formats: tuple[str, ...]) -> None:
    assert registry.formats_of(report) == formats
    assert [destinations.parse([name], report)[-1].format for name in formats] == list(formats)


def test_reports_that_one_command_writes_offer_the_same() -> None:
    assert registry.formats_of(reports.AuditReport) == registry.formats_of(reports.AuditReports)
    assert registry.formats_of(reports.FedReport) == registry.formats_of(reports.FedAuditReport)
    assert registry.formats_of(reports.DataReport) == ("table", "json")


@pytest.mark.parametrize("report", ALL, ids=[type(report).__name__ for report in ALL])
def test_every_format_of_a_record_can_be_written(report: Report) -> None:
    writers = registry._WRITERS[type(report)]
    names = ("summary", *writers.offered, *writers.files)
    assert all(registry.as_text(report, name, Page()) for name in names)


def test_the_destinations_alone_import_no_writer() -> None:
    code = "import sys; from picsc_cli.output import destinations; assert 'rich' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("report", ALL, ids=[type(report).__name__ for report in ALL])
def test_a_table_on_a_terminal_ends_with_the_glossary_and_one_in_a_file_does_not(report: Report) -> None:
    in_a_file = registry.as_text(report, "table", Page())
    assert registry.as_text(report, "table", Page(on_terminal=True)) == f"{in_a_file}{registry.GLOSSARY}\n"
    assert (Path(__file__).parents[3] / "docs" / "glossary.md").is_file()
