"""`picsc audit` over several files: the worst verdict wins, and a file that cannot be used never looks like a shift."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from junitparser import JUnitXml
from typer.testing import CliRunner

from picsc.datasets.description import encoding_guessed
from picsc.datasets.load import load
from picsc.errors import SettingsError
from picsc.reports.common import Reading
from picsc.settings import ReadSettings
from picsc_cli.app import app
from picsc_cli.commands import audit_files as audited_files
from picsc_cli.text.reading_words import reading_line
from tests.factories.audit import ODD, USUAL, reading

ODD_WORDS = "encoding cp1252 (not UTF-8), delimiter ';' (the first 20 lines agree), header no (told)"
QUICK = ("--draws", "99", "--batches", "4", "--reference", "rest", "--target", "label")
Outcome = tuple[int, str, str]


def table(path: Path, *, moved: float, rows: int = 160) -> str:
    """Rows in file order; `moved` is added to one column in the last quarter of them."""
    random = np.random.default_rng(5)
    first, other = random.normal(size=(2, rows))
    label = random.permutation(np.repeat(["no", "yes"], rows // 2))
    first[-rows // 4 :] += moved
    lines = [f"{a:.6f},{b:.6f},{c}" for a, b, c in zip(first, other, label, strict=True)]
    path.write_text("\n".join(["größe,other,label", *lines]) + "\n", encoding="utf-8")
    return str(path)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("data")


@pytest.fixture(scope="module")
def shifted(folder: Path) -> str:
    return table(folder / "shifted.csv", moved=6.0)


@pytest.fixture(scope="module")
def steady(folder: Path) -> str:
    return table(folder / "steady.csv", moved=0.0)


def picsc(*arguments: str) -> Outcome:
    """Exit code, standard output and standard error of `picsc audit` in this process."""
    result = CliRunner().invoke(app, ["audit", *arguments, *QUICK])
    return result.exit_code, result.stdout, result.stderr


@pytest.fixture(scope="module")
def alone(shifted: str) -> Outcome:
    return picsc(shifted, "--output", "json", "--exit-zero")


@pytest.fixture(scope="module")
def with_broken(shifted: str, steady: str, folder: Path) -> Outcome:
    """A file that is not there between a shifted and a steady one; the exit code may not be softened."""
    junit = f"junit:{folder / 'junit.xml'}"
    return picsc(shifted, str(folder / "gone.csv"), steady, "--output", "json", "--output", junit, "--exit-zero")


def test_one_file_is_a_report_of_its_own(alone: Outcome) -> None:
    code, out, err = alone
    body = json.loads(out)
    assert (code, err) == (0, "")  # a shift, but --exit-zero
    assert (body["schema"], body["verdict"]) == ("picsc.audit/1", "shift")


def test_a_broken_file_exits_2_and_the_others_are_reported(with_broken: Outcome, folder: Path, alone: Outcome) -> None:
    code, out, err = with_broken
    body = json.loads(out)
    gone = str(folder / "gone.csv")
    assert (code, err) == (2, f"picsc: {gone}: no such file\n")
    assert (body["schema"], body["verdict"]) == ("picsc.audits/1", "error")
    assert [report["verdict"] for report in body["reports"]] == ["shift", "ok"]
    assert body["unaudited"] == [{"source": gone, "reason": f"{gone}: no such file"}]
    assert body["reports"][0] == json.loads(alone[1])  # as if it had been alone
    suites = {
        Path(suite.name).name: (suite.failures > 0, suite.errors) for suite in JUnitXml.fromfile(folder / "junit.xml")
    }
    assert suites == {"shifted.csv": (True, 0), "steady.csv": (False, 0), "gone.csv": (False, 1)}


def test_files_that_all_cannot_be_used_leave_a_report_of_that(tmp_path: Path) -> None:
    code, out, err = picsc(
        str(tmp_path / "a.csv"), str(tmp_path / "b.csv"), "--output", f"csv:{tmp_path / 'report.csv'}"
    )
    assert (code, err.count("\n")) == (2, 2)
    assert out.startswith("error: 0 of 2 files shifted, 2 could not be audited\n")
    assert (tmp_path / "report.csv").read_text(encoding="utf-8").count(",error,") == 2


def test_p17_one_file_that_cannot_be_used_leaves_none(tmp_path: Path) -> None:
    code, out, _ = picsc(str(tmp_path / "a.csv"), "--output", f"csv:{tmp_path / 'report.csv'}", "--exit-zero")
    assert (code, out) == (2, "")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("files", [("a.csv", "b.csv", "./a.csv"), ("-", "a.csv", "-")])
def test_a_file_is_given_once(files: tuple[str, ...]) -> None:
    with pytest.raises(
        SettingsError, match=f"DATA {files[0]}|DATA ./a.csv, a.csv: the same file is given more than once"
    ):
        audited_files.each_once(files)
    assert audited_files.each_once(files[:2]) == files[:2]


def test_a_bug_in_one_file_ends_all(shifted: str, steady: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr("picsc.auditing.audit.audit_dataset", broken)
    code, out, err = picsc(shifted, steady, "--output", f"json:{tmp_path / 'report.json'}")
    assert (code, out) == (3, "")
    assert err.splitlines()[-1].startswith("picsc: this is a bug in picsc")
    assert not list(tmp_path.iterdir())


def test_a_baseline_lets_known_shifts_pass_and_no_others(shifted: str, tmp_path: Path) -> None:
    known = tmp_path / "known.json"
    assert picsc(shifted, "--write-baseline", str(known), "--quiet")[0] == 0
    before = known.read_bytes()
    code, out, _ = picsc(shifted, "--baseline", str(known), "--output", "json")
    assert code == 0
    assert {piece["standing"] for piece in json.loads(out)["fragments"]} == {None, "known"}
    other = table(tmp_path / "other.csv", moved=6.0)
    code, out, err = picsc(shifted, other, "--baseline", str(known), "--quiet")
    assert (code, err) == (1, "")
    first, second, third = out.splitlines()
    assert first == "shift: 2 of 2 files shifted, 1 beyond the baseline"
    assert second.startswith(f"{shifted}: shift: ")
    assert third.startswith(f"{other}: shift: ")
    gone = [str(tmp_path / name) for name in ("a.csv", "b.csv")]
    code, _, err = picsc(*gone, "--write-baseline", str(known), "--quiet")
    assert code == 2
    assert err.endswith(f"picsc: {known} is not written, since it would lack the files that could not be audited\n")
    assert known.read_bytes() == before


def test_a_file_that_is_not_utf_8_is_a_warning_with_a_way_out(shifted: str, tmp_path: Path) -> None:
    path = tmp_path / "old.csv"
    path.write_bytes(Path(shifted).read_text(encoding="utf-8").replace(",", ";").encode("cp1252"))
    _, out, _ = picsc(str(path))
    assert "read as csv: encoding cp1252 (not UTF-8), delimiter ';' (" in out
    [finding] = encoding_guessed(load(path, ReadSettings()), None)
    assert (finding.code, finding.severity) == ("encoding-guessed", "warning")
    assert finding.message.startswith(f"{path} is not UTF-8 and was read as cp1252")
    assert "--encoding cp1252" in finding.advice
    assert "".join(finding.message.split()) in "".join(out.split())
    assert encoding_guessed(load(path, ReadSettings(encoding="cp1252")), load(shifted, ReadSettings())) == []


@pytest.mark.parametrize(
    ("how", "verbose", "line"),
    [
        (USUAL, False, ""),
        (reading("parquet"), False, ""),
        (reading("parquet"), True, "read as parquet"),
        (reading("csv", "gzip", encoding="utf-8, the default"), False, "read as csv, gzip"),
        (reading(encoding="utf-8, the default"), True, "read as csv: encoding utf-8 (the default)"),
        (reading("tsv", delimiter="tab, of the format"), False, ""),
        (reading("libsvm", features="20, told"), False, "read as libsvm: features 20 (told)"),
        (ODD, False, f"read as csv, gzip: {ODD_WORDS}"),
    ],
)
def test_how_a_file_was_read_is_one_line_where_it_is_unusual(how: Reading, verbose: bool, line: str) -> None:
    assert reading_line(how, verbose=verbose) == line


def test_libsvm_files_of_one_call_have_one_width(tmp_path: Path) -> None:
    paths = [tmp_path / "wide.libsvm", tmp_path / "narrow.libsvm"]
    for path, width in zip(paths, (6, 5), strict=True):
        values = np.random.default_rng(0).normal(size=(40, width))
        rows = [" ".join(f"{j + 1}:{x:.4f}" for j, x in enumerate(row)) for row in values]
        path.write_text("".join(f"{i % 2} {row}\n" for i, row in enumerate(rows)))
    result = CliRunner().invoke(app, ["audit", *map(str, paths), "--draws", "99", "--folds", "2", "--output", "json"])
    readings = [report["data"]["reading"] for report in json.loads(result.stdout)["reports"]]
    choices = [{choice["name"]: choice["value"] for choice in each["choices"]} for each in readings]
    assert [(each["features"], each["zero-based"]) for each in choices] == [("6", "no"), ("6", "no")]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no signal to send to one process")
def test_interrupting_several_ends_with_one_line_and_no_file(shifted: str, tmp_path: Path) -> None:
    command = [
        sys.executable,
        "-m",
        "picsc_cli",
        "audit",
        str(tmp_path / "gone.csv"),
        shifted,
        *QUICK,
        "--draws",
        "1000000",
    ]
    command += ["--output", f"json:{tmp_path / 'report.json'}"]
    unwanted = ("CI", "GITHUB_STEP_SUMMARY")
    environment = {name: value for name, value in os.environ.items() if name not in unwanted}
    with subprocess.Popen(
        command, bufsize=0, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment
    ) as process:
        first = process.stderr.readline()  # the first file is done with, the second is in work
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert first.endswith(b"gone.csv: no such file\n")
    assert process.returncode in (130, -signal.SIGINT)
    assert (out, err) == (b"", b"picsc: interrupted\n")
    assert not list(tmp_path.iterdir())


def test_progress_names_the_file() -> None:
    lines: list[str] = []
    about = audited_files._about("a.csv (1 of 2)", lines.append)
    assert about is not None
    about("cutting")
    assert lines == ["a.csv (1 of 2): reading", "a.csv (1 of 2): cutting"]
    assert audited_files._about("a.csv", None) is None


@pytest.mark.parametrize(
    ("strict", "code"), [((), 0), (("--strict-schema",), 1), (("--strict-schema", "--exit-zero"), 0)]
)
def test_a_new_column_is_named_and_fails_a_strict_schema_only(
    strict: tuple[str, ...], code: int, steady: str, tmp_path: Path
) -> None:
    lines = Path(steady).read_text(encoding="utf-8").splitlines()
    wider = tmp_path / "wider.csv"
    rows = [f"{0.1 * (i % 7):.1f},{line}" for i, line in enumerate(lines[1:])]
    wider.write_text("\n".join([f"extra,{lines[0]}", *rows]) + "\n", encoding="utf-8")
    found = CliRunner().invoke(
        app, ["audit", str(wider), "--reference", steady, "--target", "label", "--draws", "99", *strict]
    )
    assert found.exit_code == code
    assert "note: 1 column not in file steady, and not compared: 'extra'" in found.stdout
    assert ("which --strict-schema fails" in found.stdout) is bool(strict)


def test_a_strict_schema_fails_the_row_of_a_recipe(steady: str, tmp_path: Path) -> None:
    narrow = tmp_path / "narrow.csv"
    lines = Path(steady).read_text(encoding="utf-8").splitlines()
    narrow.write_text("\n".join(line.partition(",")[2] for line in lines) + "\n", encoding="utf-8")
    recipe = tmp_path / "r.yaml"
    head = "title: t\nverb: audit\nread: {target: label}\ndraws: 99\nstrict_schema: true\n"
    recipe.write_text(f"{head}data: [{narrow}]\nreference: {steady}\n", encoding="utf-8")
    found = CliRunner().invoke(app, ["run", str(recipe)])
    assert found.exit_code == 1
    assert "--strict-schema" in found.stdout


def test_short_files_are_skipped_and_stop_nothing(tmp_path: Path, steady: str) -> None:
    """A look-up table is no data set: with a fewest number of rows it is named and counts for no verdict."""
    lookup = tmp_path / "lookup.csv"
    lookup.write_text("code,name\nDE,Germany\nFR,France\n", encoding="utf-8")
    why = f"{lookup}: 2 data rows, fewer than --min-table-rows 50"
    junit, rows, page = (tmp_path / name for name in ("junit.xml", "rows.csv", "page.md"))
    more = ("--output", f"junit:{junit}", "--output", f"csv:{rows}", "--output", f"markdown:{page}")
    code, out, err = picsc(str(lookup), steady, "--min-table-rows", "50", "--output", "json", *more)
    body = json.loads(out)
    assert (code, err) == (0, "")
    assert (body["verdict"], body["unaudited"]) == ("ok", [])
    assert body["skipped"] == [{"source": str(lookup), "reason": why}]
    suites = {Path(suite.name).name: (suite.skipped, suite.errors) for suite in JUnitXml.fromfile(junit)}
    assert suites == {"lookup.csv": (1, 0), "steady.csv": (0, 0)}
    assert f'{lookup},,,not tested,"{why}"' in rows.read_text(encoding="utf-8")
    assert "1 skipped" in page.read_text(encoding="utf-8")


def test_a_short_file_alone_is_skipped(tmp_path: Path) -> None:
    lookup = tmp_path / "lookup.csv"
    lookup.write_text("code,name\nDE,Germany\nFR,France\n", encoding="utf-8")
    code, out, err = picsc(str(lookup), "--min-table-rows", "3", "--quiet")
    said = f"not tested: {lookup}: 2 data rows, fewer than --min-table-rows 3\n"
    assert (code, out, err) == (0, f"not tested: 0 of 1 files shifted, 1 skipped\n{said}", "")
    code, out, err = picsc(str(lookup), "--quiet")
    assert (code, err) == (2, f"picsc: {lookup}: 2 data rows are too few; an audit needs at least 4\n")


def test_a_short_reference_is_an_error(tmp_path: Path, steady: str) -> None:
    """It is no file to be audited, so it cannot be skipped."""
    short = table(tmp_path / "short.csv", moved=0.0, rows=20)
    arguments = ["audit", steady, "--reference", short, "--min-table-rows", "50", "--target", "label"]
    result = CliRunner().invoke(app, arguments)
    assert (result.exit_code, result.stderr) == (2, f"picsc: {short}: 20 data rows, fewer than --min-table-rows 50\n")
