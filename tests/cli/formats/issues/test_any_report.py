"""One verdict, whatever the format: what a pipeline calls a failure is what the exit code says."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest
from junitparser import Error, Failure, JUnitXml

from picsc.reports import CompareReport, Report
from picsc.reports.audit import AuditReports
from picsc.reports.common import Finding
from picsc_cli import gates
from picsc_cli.formats.issues.any_report import issues
from picsc_cli.gates import FailOn, FailOnWorse, Gate
from picsc_cli.output.registry import as_text
from picsc_cli.text.page import Page
from tests.factories.audit import SHIFTED, TOO_SMALL, UNTESTED, audit_report, audit_reports, file_report, fragment
from tests.factories.compare import compare_report
from tests.factories.compare_recipes import compare_recipe_report
from tests.factories.cv import cv_report
from tests.factories.fed import fed_audit_report, fed_report
from tests.factories.fed_recipes import fed_recipe_report
from tests.factories.recipes import recipe_report

FINE = fragment("fine")
KNOWN = replace(SHIFTED, standing="known")
NO_RESULT = fragment("none", "error", reason="no numbers")
CHANGED = (Finding("column-lost", "warning", "column a is gone"),)
STRICT = {"settings": {"strict_schema": True}, "findings": CHANGED}


def without_failures(report: Report) -> Report:
    """A report of methods that all have a result."""
    kept = tuple(
        method for method in report.methods if not getattr(method, "failures", ()) and not getattr(method, "failed", 0)
    )  # type: ignore[union-attr]
    return replace(report, methods=kept)  # type: ignore[type-var]


REPORTS: dict[str, Report] = {
    "ok": file_report("a.csv", FINE, UNTESTED),
    "shift": file_report("a.csv", FINE, SHIFTED),
    "known shift": file_report("a.csv", FINE, KNOWN, baseline="b.json"),
    "inconclusive": file_report("a.csv", TOO_SMALL),
    "inconclusive among others": file_report("a.csv", FINE, TOO_SMALL),
    "no result": file_report("a.csv", NO_RESULT, verdict="error"),
    "columns differ": file_report("a.csv", FINE, **STRICT),
    "all kinds": audit_report(),
    "several": audit_reports(),
    "several fine": AuditReports((file_report("a.csv", FINE), file_report("b.csv", FINE)), ()),
    "cv": cv_report(),
    "cv fine": without_failures(cv_report()),
    "compare": compare_report(),
    "compare fine": without_failures(compare_report()),
    "fed": fed_report(),
    "fed fine": without_failures(fed_report()),
    "fed audit": fed_audit_report(),
    "fed audit fine": replace(fed_audit_report(), clients=fed_audit_report().clients[:1]),
    "recipes": recipe_report(),
    "fed recipes": fed_recipe_report(),
    "compare recipes": compare_recipe_report(),
}
GATES = {
    "none": None,
    "passes": Gate("picsc", 1.0),
    "below": Gate("picsc", 99.9),
    "worse": Gate("iw", None, FailOnWorse.WORSE),
}


def fails(report: Report, fail_on: FailOn, gate: Gate | None = None) -> bool:
    """The exit code of the command is not 0."""
    rejected = gate is not None and isinstance(report, CompareReport) and bool(gates.verdicts(report, gate))
    return rejected or gates.report_code(report, fail_on) != 0


def by_format(report: Report, fail_on: FailOn, gate: Gate | None = None) -> dict[str, bool]:
    """Whether each format says that the command fails."""
    texts = {
        name: as_text(report, name, Page(), fail_on=fail_on, gate=gate)
        for name in ("junit", "github", "sarif", "codequality")
    }
    junit = JUnitXml.fromstring(texts["junit"].encode())
    ends = [type(result) for suite in junit for case in suite for result in case.result]
    [run] = json.loads(texts["sarif"])["runs"]
    return {
        "junit": Failure in ends or Error in ends,
        "github": bool(re.search(r"^::error ", texts["github"], re.MULTILINE)),
        "sarif": any(result["level"] == "error" for result in run["results"]),
        "codequality": any(issue["severity"] == "major" for issue in json.loads(texts["codequality"])),
    }


@pytest.mark.parametrize("fail_on", FailOn)
@pytest.mark.parametrize("name", REPORTS)
def test_every_format_fails_what_the_exit_code_fails(name: str, fail_on: FailOn) -> None:
    report = REPORTS[name]
    said = by_format(report, fail_on)
    assert set(said.values()) == {fails(report, fail_on)}, said


@pytest.mark.parametrize("gate", GATES)
@pytest.mark.parametrize("name", ["compare", "compare fine"])
def test_the_gate_of_a_comparison_is_in_every_format(name: str, gate: str) -> None:
    report = REPORTS[name]
    said = by_format(report, FailOn.SHIFT, GATES[gate])
    assert set(said.values()) == {fails(report, FailOn.SHIFT, GATES[gate])}, said


def test_there_are_reports_that_pass_and_reports_that_fail() -> None:
    found = {name: fails(report, FailOn.SHIFT) for name, report in REPORTS.items()}
    assert {name for name, failed in found.items() if not failed} >= {"ok", "cv fine", "compare fine", "fed fine"}
    assert {name for name, failed in found.items() if failed} >= {"shift", "several", "cv", "compare", "fed", "recipes"}
    assert fails(REPORTS["compare fine"], FailOn.SHIFT, GATES["below"])


def test_what_is_well_is_said_only_where_it_is_asked_for() -> None:
    report = REPORTS["ok"]
    assert issues(report, FailOn.SHIFT) == []  # type: ignore[arg-type]
    assert [issue.subject for issue in issues(report, FailOn.SHIFT, all_well=True)] == ["fine", "batch 1"]  # type: ignore[arg-type]
