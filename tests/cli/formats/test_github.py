"""Annotations as GitHub's runner reads them: at most ten, on lines that exist, with every character escaped."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from picsc.reports.audit import AuditReport, AuditReports, Unaudited
from picsc.reports.common import Finding, Reading
from picsc_cli.formats.github import audits_github
from picsc_cli.gates import FailOn
from picsc_cli.output.registry import as_text
from picsc_cli.text.page import Page
from tests.factories.audit import ODD, SHIFTED, TOO_SMALL, USUAL, audit_reports, file_report, fragment, reading

GOLDEN = Path(__file__).parents[2] / "golden"
ESCAPED = {"%3A": ":", "%2C": ",", "%0D": "\r", "%0A": "\n", "%25": "%"}


@pytest.fixture(autouse=True)
def in_no_workspace(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GITHUB_WORKSPACE", raising=False)


def unescaped(text: str) -> str:
    return re.sub("%(?:3A|2C|0D|0A|25)", lambda found: ESCAPED[found[0]], text)


def commands(*reports: AuditReport, fail_on: FailOn = FailOn.SHIFT) -> list[dict[str, str]]:
    """The annotations that the runner reads from the lines: level, message and properties."""
    parsed = [re.fullmatch(r"::(\w+) ([^:]*)::(.*)", line) for line in lines_of(*reports, fail_on=fail_on)]
    assert all(parsed)
    return [
        {
            "level": found[1],
            "message": unescaped(found[3]),
            **{name: unescaped(value) for name, value in (pair.split("=", 1) for pair in found[2].split(","))},
        }
        for found in parsed
        if found
    ]


def lines_of(*reports: AuditReport, fail_on: FailOn = FailOn.SHIFT) -> list[str]:
    text = audits_github(AuditReports(reports, ()), fail_on)
    assert text.endswith("\n")
    return text[:-1].split("\n")


def line_of(row: int | None, how: Reading | None) -> str | None:
    report = file_report("a.csv", fragment("fold 1", "shift", first_row=row))
    return commands(replace(report, data=replace(report.data, reading=how)))[1].get("line")


def test_annotations_are_the_golden_ones() -> None:
    expected = (GOLDEN / "audits.github.txt").read_text(encoding="utf-8")
    assert as_text(audit_reports(), "github", Page()) == expected


def test_p20_forty_shifts_are_one_summary_and_nine_more() -> None:
    shifts = [fragment(f"fold {k}", "shift", first_row=k) for k in range(1, 41)]
    found = commands(file_report("a.csv", fragment("fine"), *shifts))
    assert [each["level"] for each in found] == ["error"] * 10
    assert found[0]["message"] == "shift: as the pieces of a.csv say (31 more are in the job summary)"
    assert [each["title"] for each in found[1:]] == [f"picsc: shift in fold {k}" for k in range(1, 10)]


def test_nine_shifts_are_all_named() -> None:
    found = commands(file_report("a.csv", *(fragment(f"fold {k}", "shift") for k in range(9))))
    assert len(found) == 10
    assert "more" not in found[0]["message"]


@pytest.mark.parametrize(
    ("row", "how", "line"),
    [
        (1, USUAL, "2"),
        (41, USUAL, "42"),
        (1, ODD, "1"),
        (1, reading("csv", header="yes, the default", remarks="3 lines, before the table, with #"), "5"),
        (7, reading("jsonl"), "7"),
        (7, reading("libsvm"), "7"),
        (7, reading("parquet"), "1"),
        (7, reading("arff"), "1"),
        (None, USUAL, "1"),
        (0, reading("jsonl"), "1"),
        (7, None, None),
    ],
)
def test_p19_lines_exist(row: int | None, how: Reading | None, line: str | None) -> None:
    assert line_of(row, how) == line


def test_files_are_relative_to_the_workspace_or_the_working_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inside, sub = tmp_path / "data" / "a.csv", tmp_path / "data"
    sub.mkdir()
    monkeypatch.chdir(sub)
    assert commands(file_report(str(inside), SHIFTED))[1]["file"] == "a.csv"
    assert commands(file_report("a.csv", SHIFTED))[1]["file"] == "a.csv"
    outside = commands(file_report("/elsewhere/a.csv", SHIFTED))[1]["file"]
    assert outside == "/elsewhere/a.csv"
    monkeypatch.setenv("GITHUB_WORKSPACE", str(tmp_path))
    assert commands(file_report("a.csv", SHIFTED))[1]["file"] == "data/a.csv"


def test_standard_input_and_memory_have_no_file() -> None:
    report = file_report("standard input", SHIFTED)
    memory = replace(report, data=replace(report.data, source="memory", reading=None))
    assert all("file" not in each for each in commands(report, memory))


def test_levels_say_what_fails() -> None:
    finding = Finding("duplicate-rows", "warning", "2 rows occur twice", "remove them")
    note = Finding("set-aside", "note", "nothing to do")
    known = fragment("fold 9", "shift", standing="known")
    pieces = (TOO_SMALL, known, SHIFTED, fragment("fold 1"))
    report = file_report("a.csv", *pieces, findings=(finding, note))
    expected = ["error", "error", "warning", "warning", "notice"]
    assert [each["level"] for each in commands(report)] == expected
    assert [each["level"] for each in commands(report, fail_on=FailOn.NEVER)][:2] == ["warning", "warning"]
    assert commands(report)[3]["message"] == "2 rows occur twice; remove them"
    small = file_report("a.csv", TOO_SMALL)
    assert [each["level"] for each in commands(small)] == ["warning", "warning"]
    assert [each["level"] for each in commands(small, fail_on=FailOn.INCONCLUSIVE)] == ["error", "error"]


def test_nothing_found_is_one_notice() -> None:
    [only] = commands(file_report("a.csv", fragment("fold 1"), fragment("fold 2")))
    assert only == {"level": "notice", "title": "picsc audit", "message": "ok: as the pieces of a.csv say"}


def test_a_file_that_could_not_be_audited_is_an_error() -> None:
    fine, missing = file_report("a.csv", fragment("fold 1")), Unaudited("b.csv", "b.csv: no such file")
    text = audits_github(AuditReports((fine,), (missing,)), FailOn.SHIFT)
    assert text.splitlines() == [
        "::error title=picsc audit::error: 0 of 2 files shifted, 1 could not be audited",
        "::error file=b.csv,line=1,title=picsc%3A not audited::b.csv: no such file",
    ]


def test_every_character_that_means_something_is_escaped() -> None:
    evil = "100%, a:b::error file=x::\r\nc\x1b[2J%0A"
    found = commands(file_report(evil, fragment(evil, "shift", reason=evil)))
    assert len(found) == 2
    shown = evil.replace("\x1b", "\\x1b")
    assert found[1]["title"] == f"picsc: shift in {shown}"
    assert found[1]["file"] == shown
    assert found[1]["message"].startswith(shown)


@pytest.mark.parametrize(("strict", "level"), [(True, "error"), (False, None)])
def test_a_strict_schema_makes_its_findings_errors(strict: bool, level: str | None) -> None:
    """Also a note, which is no annotation otherwise."""
    findings = (Finding("column-new", "note", "1 column not in file old, and not compared: 'b'"),)
    report = file_report("a.csv", fragment("all rows"), findings=findings, settings={"strict_schema": strict})
    found = {note.get("title"): note["level"] for note in commands(report, fail_on=FailOn.NEVER)}
    assert found.get("picsc: column-new") == level
