from __future__ import annotations

import pytest
from junitparser import Error, JUnitXml, Skipped, SystemOut

from picsc_cli.formats.junit_results import results_junit
from picsc_cli.gates import FailOn, Gate
from tests.cli.formats.issues.test_any_report import REPORTS
from tests.factories.compare import compare_report
from tests.factories.cv import cv_report
from tests.factories.fed import fed_audit_report
from tests.factories.recipes import recipe_report
from tests.hostile import check_xml


def ends(report: object, gate: Gate | None = None) -> dict[str, list[type[object]]]:
    text = results_junit(report, FailOn.SHIFT, gate)  # type: ignore[arg-type]
    check_xml(text)
    return {
        case.name: [type(result) for result in case.result] or [type(None)] if not case.system_out else [SystemOut]
        for suite in JUnitXml.fromstring(text.encode())
        for case in suite
    }


def test_every_method_is_a_case_and_one_without_a_result_an_error() -> None:
    found = ends(cv_report())
    assert list(found) == [method.method for method in cv_report().methods]
    assert found["weight-decay"] == [Error]
    assert found["picsc"] == [SystemOut]


def test_a_condition_that_is_met_is_a_case_too() -> None:
    assert ends(compare_report(), Gate("picsc", 1.0))["picsc, gate"] == [SystemOut]


def test_an_undecided_client_is_skipped() -> None:
    found = ends(fed_audit_report())
    skipped = [client.name for client in fed_audit_report().clients if client.verdict == "inconclusive"]
    assert [name for name, end in found.items() if end == [Skipped]] == skipped


def test_recipes_have_a_suite_each() -> None:
    suites = list(JUnitXml.fromstring(results_junit(recipe_report(), FailOn.SHIFT).encode()))
    assert [suite.name for suite in suites] == [table.recipe for table in recipe_report().tables]
    assert sum(suite.tests for suite in suites) == sum(len(table.rows) for table in recipe_report().tables)


@pytest.mark.parametrize("name", ["cv", "compare", "fed", "fed audit", "recipes"])
def test_ascii_only_keeps_the_names(name: str) -> None:
    text = results_junit(REPORTS[name], FailOn.SHIFT, ascii_only=True)  # type: ignore[arg-type]
    assert text.isascii()
