"""A report in the interpreter is a few lines; everything else that is made of it is whole."""

from __future__ import annotations

from dataclasses import asdict, fields, replace

import pytest

from picsc.reports.common import brief
from tests.factories.audit import audit_report, audit_reports, fragment
from tests.factories.compare import compare_report
from tests.factories.cv import cv_report
from tests.factories.fed import client_audit, fed_audit_report, fed_report
from tests.factories.recipes import recipe_report

REPORTS = {
    "<AuditReport: ": audit_report(*[fragment(f"fold {i + 1}") for i in range(40)]),
    "<AuditReports: ": audit_reports(),
    "<CvReport: ": cv_report(),
    "<CompareReport: ": compare_report(),
    "<FedReport: ": fed_report(),
    "<FedAuditReport: ": fed_audit_report(client_audit("a"), client_audit("b")),
    "<RecipeReport: ": recipe_report(),
}


@pytest.mark.parametrize("begin", REPORTS)
def test_a_report_in_the_interpreter_is_short(begin: str) -> None:
    shown = repr(REPORTS[begin])
    assert shown.startswith(begin)
    assert len(shown.splitlines()) <= 10
    assert len(shown) < 1500
    for line in getattr(REPORTS[begin], "summary", ()):
        assert line in shown


@pytest.mark.parametrize("begin", REPORTS)
def test_values_and_equality_are_whole(begin: str) -> None:
    report = REPORTS[begin]
    assert set(asdict(report)) == {field.name for field in fields(report)}
    assert report == replace(report)
    first = fields(report)[0].name
    assert report != replace(report, **{first: "another"})


def test_numbers_of_pieces_and_methods_are_shown() -> None:
    assert ", 40 pieces>" in repr(REPORTS["<AuditReport: "])
    assert " methods>" in repr(REPORTS["<CvReport: "])
    assert ", 2 clients>" in repr(REPORTS["<FedAuditReport: "])


def test_many_and_long_lines_are_cut() -> None:
    shown = brief(None, ("a", "b"), ["x" * 1000] * 12).splitlines()
    assert shown[0] == "<NoneType: a, b>"
    assert shown[-1].strip() == "and 4 more"
    assert (len(shown), max(map(len, shown))) == (10, 162)
