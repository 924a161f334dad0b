"""`picsc view`: a saved report in every format, as the command that made it would have written it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from picsc.reports import AuditReports, RecipeReport, Report
from picsc.reports.common import strict
from picsc.reports.shown import Drawn
from picsc_cli.app import app
from picsc_cli.output.registry import as_text, formats_of
from picsc_cli.text.page import Page
from tests.reports.pages.test_write import REPORTS


def view(*arguments: str, stdin: str | None = None) -> tuple[int, str, str]:
    done = CliRunner().invoke(app, ["view", *arguments], input=stdin)
    return done.exit_code, done.stdout, done.stderr


def made(name: str) -> Report:
    """A report whose settings and manifest are JSON's own values, as those of commands are."""
    report = REPORTS[name]()
    if isinstance(report, AuditReports):
        return replace(report, reports=tuple(map(in_json, report.reports)))
    return report if isinstance(report, RecipeReport) else in_json(report)


def in_json(report: Any) -> Any:
    return replace(report, settings=strict(report.settings), manifest=strict(report.manifest))


@pytest.fixture
def saved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder, with a saved report of each kind."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    for name in REPORTS:
        (tmp_path / f"{name}.json").write_text(as_text(made(name), "json", Page()), encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize("name", REPORTS)
def test_every_format_is_what_the_command_would_have_written(name: str, saved: Path) -> None:
    report = made(name)
    formats = [each for each in formats_of(type(report)) if each != "table"]
    wanted = [word for each in formats for word in ("--output", f"{each}:out.{each}")]
    code, table, err = view(f"{name}.json", *wanted)
    assert (code, err) == (2 if name == "audits" else 1, "")
    assert table == as_text(report, "table", Page())
    for each in formats:
        assert (saved / f"out.{each}").read_bytes() == as_text(report, each, Page()).encode(), each


@pytest.mark.parametrize(("fail_on", "code"), [("shift", 1), ("inconclusive", 1), ("never", 0)])
def test_the_exit_code_is_that_of_fail_on(fail_on: str, code: int, saved: Path) -> None:
    del saved
    assert view("audit.json", "--quiet", "--fail-on", fail_on)[0] == code
    assert view("audit.json", "--quiet", "--fail-on", fail_on, "--exit-zero")[0] == 0


def test_standard_input_is_read(saved: Path) -> None:
    code, out, _ = view("-", "--output", "html", stdin=(saved / "cv.json").read_text(encoding="utf-8"))
    assert code == 1
    assert out == as_text(made("cv"), "html", Page())


def test_what_is_no_report_is_one_sentence_and_exit_2(saved: Path) -> None:
    (saved / "other.json").write_text(json.dumps({"schema": "picsc.audit/9"}), encoding="utf-8")
    for name, words in (("other.json", "picsc.audit/9"), ("none.json", "cannot read none.json")):
        code, out, err = view(name)
        assert (code, out) == (2, "")
        assert words in err
        assert len(err.splitlines()) == 1


def test_a_report_is_not_replaced_by_itself(saved: Path) -> None:
    before = (saved / "cv.json").read_bytes()
    code, _, err = view("cv.json", "--output", "html:cv.json")
    assert code == 2
    assert "it is read" in err
    assert (saved / "cv.json").read_bytes() == before


def test_a_format_that_the_report_does_not_have_is_refused(saved: Path) -> None:
    del saved
    code, _, err = view("cv.json", "--output", "svg:x.svg")
    assert code == 2
    assert "the format must be one of table, json, csv" in err


@pytest.mark.parametrize("name", [name for name in REPORTS if isinstance(REPORTS[name](), Drawn)])
@pytest.mark.parametrize("ending", ["png", "svg"])
def test_every_saved_report_that_can_be_drawn_is_drawn_whole_and_alike(name: str, ending: str, saved: Path) -> None:
    pytest.importorskip("matplotlib")
    for picture in ("one", "two"):
        _, _, err = view(f"{name}.json", "--plot", f"{picture}.{ending}", "--quiet")
        assert err == ""
    content = (saved / f"one.{ending}").read_bytes()
    assert content == (saved / f"two.{ending}").read_bytes()
    assert content.startswith(b"\x89PNG" if ending == "png" else b"<?xml")
    assert len(content) > 5_000


@pytest.mark.parametrize(
    ("name", "path", "words"),
    [
        ("cv", "x.pdf", "--plot x.pdf: the file must end in .png or .svg"),
        ("cv", "x.html", "--plot x.html: the file must end in .png or .svg"),
    ],
)
def test_pictures_of_another_kind_are_refused(name: str, path: str, words: str, saved: Path) -> None:
    code, out, err = view(f"{name}.json", "--plot", path)
    assert (code, out, err) == (2, "", f"picsc: {words}\n")
    assert not (saved / path).exists()
