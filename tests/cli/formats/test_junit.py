"""JUnit of audits as continuous integration reads it: which case fails, which is skipped, and names of any kind."""

from __future__ import annotations

from pathlib import Path

import pytest
from junitparser import Error, Failure, JUnitXml, Skipped, SystemOut, TestCase, TestSuite

from picsc.reports.audit import AuditReports, FragmentReport, Unaudited
from picsc.reports.common import Finding
from picsc_cli import gates
from picsc_cli.formats.junit import audits_junit
from picsc_cli.gates import FailOn
from picsc_cli.output.registry import as_text
from picsc_cli.text.page import Page
from tests.factories.audit import SHIFTED, TOO_SMALL, UNTESTED, audit_reports, file_report, fragment

GOLDEN = Path(__file__).parents[2] / "golden"
EVIL = "a\x00\x1b[31m]]>\ufffe\ud800<&\"'\r\nb\tβ→γ 🙂"  # noqa: RUF001 - Greek is meant
SHOWN = "a\\x00\\x1b[31m]]>\\ufffe\\ud800<&\"'\\r\\nb\\tβ→γ 🙂"  # noqa: RUF001


def suites(*reports: object, fail_on: FailOn = FailOn.SHIFT, ascii_only: bool = False) -> list[TestSuite]:
    text = audits_junit(AuditReports(reports, ()), fail_on, ascii_only=ascii_only)  # type: ignore[arg-type]
    return list(JUnitXml.fromstring(text.encode("ascii" if ascii_only else "utf-8")))


def ends(suite: TestSuite) -> dict[str, list[type[object]]]:
    return {case.name: [type(result) for result in case.result] for case in suite}


def failures(*pieces: FragmentReport, fail_on: FailOn) -> int:
    return suites(file_report("a.csv", *pieces), fail_on=fail_on)[0].failures


def test_p15_three_ok_one_shift_and_one_inconclusive() -> None:
    pieces = (*(fragment(f"fold {k}") for k in (1, 2, 4)), SHIFTED, TOO_SMALL)
    [suite] = suites(file_report("a.csv", *pieces))
    assert (suite.name, suite.tests, suite.failures, suite.errors, suite.skipped) == ("a.csv", 5, 1, 0, 1)
    assert ends(suite) == {"fold 1": [], "fold 2": [], "fold 4": [], "fold 3": [Failure], "fold 5": [Skipped]}
    [failure, skipped] = [result for case in suite for result in case.result]
    assert (failure.type, failure.message) == ("shift", SHIFTED.reason)
    assert "mean of worst concave points 0.93 sd higher (KS 0.52 [0.40, 0.61])\nβ→γ 0.412\n" in failure.text  # noqa: RUF001
    assert skipped.message == "n=8 < n_min"


@pytest.mark.parametrize("name", ["audits.xml", "audit.xml"])
def test_the_golden_one_is_read_whole(name: str) -> None:
    xml = JUnitXml.fromfile(str(GOLDEN / name))
    counted = [(len(list(suite)), suite.tests) for suite in xml]
    assert counted
    assert all(there == stated for there, stated in counted)
    assert xml.tests == sum(stated for _, stated in counted)


def test_equal_audits_give_equal_bytes_without_time_or_host() -> None:
    expected = (GOLDEN / "audits.xml").read_text(encoding="utf-8")
    assert as_text(audit_reports(), "junit", Page()) == expected
    assert "timestamp" not in expected
    assert "hostname" not in expected
    assert set(expected.split('time="')[1:]) == {part for part in expected.split('time="')[1:] if part.startswith('0"')}


def test_a_known_shift_passes_and_says_so() -> None:
    known = fragment("fold 1", "shift", standing="known", reason="x moved")
    [suite] = suites(file_report("a.csv", known, fragment("fold 2", "shift", standing="new"), baseline="known.json"))
    assert ends(suite) == {"fold 1": [], "fold 2": [Failure]}
    case = next(iter(suite))
    assert isinstance(case, TestCase)
    assert case.system_out.startswith("shift, as known.json has it: x moved\n")


@pytest.mark.parametrize("fail_on", list(FailOn))
@pytest.mark.parametrize(
    "pieces",
    [
        (fragment("a"), SHIFTED, TOO_SMALL),
        (fragment("a"), TOO_SMALL),
        (TOO_SMALL,),
        (fragment("a", "shift", standing="known"),),
        (fragment("a", "shift", standing="known"), fragment("b", "shift", standing="worse")),
        (fragment("a"),),
    ],
)
def test_a_case_fails_just_where_the_command_exits_1(pieces: tuple[FragmentReport, ...], fail_on: FailOn) -> None:
    code = gates.audit_code(file_report("a.csv", *pieces), fail_on)
    assert code in (0, 1)
    assert (failures(*pieces, fail_on=fail_on) > 0) == (code == 1)


def test_pieces_of_an_inconclusive_table_fail_where_that_is_asked_for() -> None:
    assert failures(TOO_SMALL, fail_on=FailOn.INCONCLUSIVE) == 1
    assert failures(TOO_SMALL, fail_on=FailOn.SHIFT) == 0
    assert failures(TOO_SMALL, SHIFTED, fail_on=FailOn.INCONCLUSIVE) == 1


@pytest.mark.parametrize(("fail_on", "end"), [(FailOn.INCONCLUSIVE, Error), (FailOn.NEVER, Skipped)])
def test_a_piece_without_a_result_and_a_file_that_cannot_be_used_are_errors(fail_on: FailOn, end: type[object]) -> None:
    piece = fragment("fold 1", "error", reason="the model diverged")
    broken = file_report("a.csv", piece, fragment("fold 2"), verdict="error")
    text = audits_junit(AuditReports((broken,), (Unaudited("b.csv", "b.csv: no such file"),)), fail_on)
    first, second = JUnitXml.fromstring(text.encode("utf-8"))
    assert ends(first) == {"fold 1": [end], "fold 2": []}
    assert ends(second) == {"audit": [Error]}
    assert (second.name, next(iter(second)).result[0].message) == ("b.csv", "b.csv: no such file")


@pytest.mark.parametrize("ascii_only", [True, False])
def test_any_name_is_kept_as_far_as_xml_can_hold_it(ascii_only: bool) -> None:
    finding = Finding("x", "warning", EVIL, EVIL)
    piece = fragment(EVIL, "shift", reason=EVIL)
    [suite] = suites(file_report(EVIL, piece, findings=(finding,)), ascii_only=ascii_only)
    [case] = list(suite)
    assert (suite.name, case.name, case.classname, case.result[0].message) == (SHOWN, SHOWN, SHOWN, SHOWN)
    output = next(suite.iterchildren(SystemOut))
    assert output.text == f"warning: {SHOWN}; {SHOWN}"


def test_properties_say_what_it_takes_to_get_the_same_again() -> None:
    suite = next(iter(JUnitXml.fromstring(as_text(audit_reports(), "junit", Page()).encode("utf-8"))))
    properties = {each.name: each.value for each in suite.properties()}
    assert properties["seed"] == "7"
    assert properties["level"] == "0.05"
    assert properties["data-sha256"] == "0" * 64
    assert (properties["version-python"], properties["version-picsc"]) == ("3.12.0", "0.1.0")


def test_a_wide_table_names_twenty_columns_of_a_piece() -> None:
    columns = SHIFTED.columns[:1] * 25
    [suite] = suites(file_report("a.csv", fragment("fold 1", "shift", columns=columns)))
    lines = next(iter(suite)).result[0].text.splitlines()
    assert lines.count("mean of worst concave points 0.93 sd higher (KS 0.52 [0.40, 0.61])") == 20
    assert lines[-1] == "and 5 more columns"


@pytest.mark.parametrize(
    ("strict", "codes", "schema"),
    [(True, ["column-lost", "levels-new"], [Failure]), (True, ["sizes"], []), (False, ["column-lost"], None)],
)
def test_a_strict_schema_is_a_case_of_its_own(strict: bool, codes: list[str], schema: list[object] | None) -> None:
    """It fails with the exit code, whatever --fail-on says of verdicts, and is not there where it is not asked for."""
    findings = tuple(Finding(code, "warning", f"about {code}") for code in codes)
    report = file_report("a.csv", fragment("all rows"), findings=findings, settings={"strict_schema": strict})
    [suite] = suites(report, fail_on=FailOn.NEVER)
    assert ends(suite).get("schema") == schema
    assert gates.audit_code(report, FailOn.NEVER) == (1 if schema == [Failure] else 0)


@pytest.mark.parametrize("fail_on", FailOn)
def test_a_piece_without_a_reference_is_skipped_whatever_fails(fail_on: FailOn) -> None:
    [suite] = suites(file_report("a.csv", UNTESTED, fragment("batch 2")), fail_on=fail_on)
    assert ends(suite) == {"batch 1": [Skipped], "batch 2": []}
    assert (suite.tests, suite.failures, suite.skipped) == (2, 0, 1)
