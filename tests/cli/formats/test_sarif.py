"""SARIF against the published schema, and places that code scanning accepts."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import jsonschema
import pytest

from picsc.reports.audit import AuditReports, Unaudited
from picsc_cli.formats.sarif import report_sarif
from picsc_cli.gates import FailOn
from tests.cli.formats.issues.test_any_report import REPORTS
from tests.factories.audit import SHIFTED, USUAL, audit_report, file_report, fragment
from tests.hostile import HOSTILE, check_json

SCHEMA = json.loads((Path(__file__).parent / "sarif-2.1.0-rtm.5.json").read_text(encoding="utf-8"))


def results(report: object, fail_on: FailOn = FailOn.SHIFT) -> list[dict[str, Any]]:
    text = report_sarif(report, fail_on)  # type: ignore[arg-type]
    check_json(text)
    log = json.loads(text)
    jsonschema.Draft4Validator(SCHEMA).validate(log)
    [run] = log["runs"]
    rules = run["tool"]["driver"]["rules"]
    for each in run["results"]:
        [location] = each["locations"]
        uri = location["physicalLocation"]["artifactLocation"]["uri"]
        assert uri.isascii()
        assert " " not in uri
        assert not uri.startswith("/")
        assert (urlsplit(uri).scheme, urlsplit(uri).netloc) == ("", "")
        assert location["physicalLocation"]["region"]["startLine"] >= 1
        assert rules[each["ruleIndex"]]["id"] == each["ruleId"]
    marks = [each["partialFingerprints"]["picsc/v1"] for each in run["results"]]
    assert len(set(marks)) == len(marks)
    found: list[dict[str, Any]] = run["results"]
    return found


def uri(result: dict[str, Any]) -> str:
    return str(result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"])


@pytest.mark.parametrize("fail_on", FailOn)
@pytest.mark.parametrize("name", REPORTS)
def test_every_report_is_valid(name: str, fail_on: FailOn) -> None:
    results(REPORTS[name], fail_on)


def test_the_version_is_that_of_the_report() -> None:
    for name in ("several", "cv"):
        [run] = json.loads(report_sarif(REPORTS[name], FailOn.SHIFT))["runs"]  # type: ignore[arg-type]
        assert run["tool"]["driver"]["version"] == "0.1.0"


def test_a_piece_stands_at_its_first_row_and_a_finding_at_the_first_line() -> None:
    report = replace(file_report("data/my file.csv", replace(SHIFTED, first_row=115)), findings=audit_report().findings)
    shift, *findings = results(report)
    assert (shift["level"], uri(shift)) == ("error", "data/my%20file.csv")
    assert shift["locations"][0]["physicalLocation"]["region"] == {"startLine": 116}
    assert shift["message"]["text"].startswith("fold 3: mean of worst concave points 0.93 sd higher")
    assert [each["level"] for each in findings] == ["warning", "note"]
    assert {uri(each) for each in findings} == {"data/my%20file.csv"}


def test_standard_input_and_data_by_name_have_a_place_too() -> None:
    report = file_report("standard input", SHIFTED)
    [shift] = results(replace(report, data=replace(report.data, name="standard input", reading=USUAL)))
    assert uri(shift) == "standard%20input"
    [shift] = results(replace(report, data=replace(report.data, source="scikit-learn", name="digits", reading=None)))
    assert uri(shift) == "digits"


def test_a_file_elsewhere_is_relative_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    [shift] = results(file_report(str(tmp_path / "there" / "a.csv"), SHIFTED))
    assert uri(shift) == "../there/a.csv"


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_are_encoded(name: str) -> None:
    report = file_report(f"{name}.csv", fragment(name, "shift", reason=name))
    [shift] = results(report)
    assert unquote(uri(shift)).endswith(Path(f"{name}.csv").name)
    results(AuditReports((), (Unaudited(f"{name}\udcff", "no such file"),)))
