"""Where the report of an audit goes, in every format: streams, files, pipes that close, and the summary of a job."""

from __future__ import annotations

import csv
import io
import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from junitparser import JUnitXml

from picsc.errors import SettingsError
from picsc.reports import CvReport, DataReport, FedReport
from picsc.reports.audit import AuditReport, AuditReports
from picsc_cli.console import streams
from picsc_cli.output import destinations as outputs
from picsc_cli.output.destinations import STEP_SUMMARY, Output
from picsc_cli.output.publish import LONGEST_SUMMARY, publish, shortened
from picsc_cli.output.registry import Report, as_text
from picsc_cli.text.page import Page, page_of_stdout
from tests.factories.audit import SHIFTED, audit_report, audit_reports, column_shift, file_report, fragment

GOLDEN = Path(__file__).parents[2] / "golden"
GREEK = "β→γ"  # noqa: RUF001 - Greek is meant
GREEK_PIECE = file_report(
    "a.csv", fragment(GREEK, "shift", reason=f"{GREEK} moved", columns=(column_shift(GREEK, 0.5),))
)
FORMATS = {"json": "json", "csv": "csv", "markdown": "md", "junit": "xml", "github": "github.txt"}
UNWANTED = ("PYTHONIOENCODING", "PYTHONUTF8", "GITHUB_WORKSPACE", STEP_SUMMARY, "FORCE_COLOR", "NO_COLOR", "CI", "TERM")


@pytest.fixture(autouse=True)
def nowhere_special(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in UNWANTED:
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def streamed(monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], bytes]:
    """The bytes that `publish` writes to a standard output of some encoding."""

    def written(output: str, encoding: str) -> bytes:
        stream = io.TextIOWrapper(io.BytesIO(), encoding=encoding, newline="")
        with monkeypatch.context() as patch:
            patch.setattr(sys, "stdout", stream)
            streams.prepare()
            publish(GREEK_PIECE, outputs.parse([output]))
        stream.flush()
        return stream.buffer.getvalue()  # type: ignore[attr-defined] # typeshed knows no BytesIO here

    return written


def as_rows(report: Report) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(as_text(report, "csv", Page()), newline="")))


# Formats


@pytest.mark.parametrize(("name", "report"), [("audit", audit_report()), ("audits", audit_reports())])
@pytest.mark.parametrize("format_", FORMATS)
def test_every_format_is_the_golden_one(format_: str, name: str, report: AuditReport | AuditReports) -> None:
    expected = (GOLDEN / f"{name}.{FORMATS[format_]}").read_bytes()
    assert as_text(report, format_, Page()).encode("utf-8") == expected


def test_tables_of_several_files_are_the_golden_ones() -> None:
    expected = (GOLDEN / "audits-table.txt").read_text(encoding="utf-8")
    assert as_text(audit_reports(), "table", Page(), verbose=True) == expected
    plain = as_text(audit_reports(), "table", Page(ascii_only=True)).encode("ascii", "replace")
    assert plain == (GOLDEN / "audits-table-ascii.txt").read_bytes()


def test_csv_has_the_same_columns_whatever_was_found() -> None:
    some, none = as_text(audit_report(), "csv", Page()), as_text(AuditReports((), ()), "csv", Page())
    assert some.split("\r\n")[0] == none.removesuffix("\r\n")
    assert none.startswith("file,piece,rows,verdict,reason,cell,fisher_gap,")


def test_csv_keeps_numbers_in_full_and_apart_from_names() -> None:
    piece = fragment(
        "-3", "shift", kl=-1.25e-17, tau=1 / 3, first_row=7, columns=(column_shift("=1+1", 0.1234567890123),)
    )
    [row] = as_rows(file_report("@a.csv", piece, fragment("+x", reason="-")))[:1]
    assert (row["file"], row["piece"], row["column"]) == ("'@a.csv", "-3", "'=1+1")
    assert [float(row[name]) for name in ("kl", "tau", "column_statistic")] == [-1.25e-17, 1 / 3, 0.1234567890123]
    assert row["first_row"] == "7"
    assert row["standing"] == ""


def test_csv_has_a_line_for_a_file_that_could_not_be_audited() -> None:
    last = as_rows(audit_reports())[-1]
    assert (last["file"], last["piece"], last["verdict"]) == ("data/a,b|c.csv", "", "error")
    assert last["reason"] == "data/a,b|c.csv: no such file"


def test_markdown_has_every_piece_and_obeys_no_name() -> None:
    evil = "<img src=x>|`a`*b*[c](d)\n# e"
    pieces = [fragment(f"p{k}") for k in range(60)]
    text = as_text(file_report(evil, *pieces, fragment(evil, "shift", reason=evil)), "markdown", Page())
    rows = [line for line in text.splitlines() if line.startswith("| ")]
    assert len(rows) == 2 + 61
    assert all(row.replace("\\|", "").count("|") == 10 for row in rows)
    assert "<img" not in text
    assert "\n# e" not in text
    assert "\\[c\\](d)\\\\n# e" in text


# Streams


def test_annotations_go_to_standard_error_unless_they_get_a_place_of_their_own() -> None:
    table, stderr = Output("table", None), Output("github", None, to_stderr=True)
    assert outputs.parse(["github"]) == (table, stderr)
    assert outputs.parse(["github", "json"]) == (stderr, Output("json", None))
    assert outputs.parse(["github:-"]) == (Output("github", None),)
    assert outputs.parse(["github:a"]) == (table, Output("github", Path("a")))
    with pytest.raises(SettingsError, match="github is given twice"):
        outputs.parse(["github", "github"])
    with pytest.raises(SettingsError, match="--output github and --output csv both go to standard output"):
        outputs.parse(["github:-", "csv"])


def test_annotations_go_to_standard_error_and_the_table_to_standard_output(capsys: pytest.CaptureFixture[str]) -> None:
    publish(audit_report(), outputs.parse(["github"]))
    out, err = capsys.readouterr()
    assert err == (GOLDEN / "audit.github.txt").read_text(encoding="utf-8")
    assert out == as_text(audit_report(), "table", Page())


@pytest.mark.parametrize("encoding", ["ascii", "cp1252"])
@pytest.mark.parametrize("format_", ["csv", "markdown", "github"])
def test_a_stream_that_is_not_utf_8_gets_question_marks(
    format_: str, encoding: str, streamed: Callable[[str, str], bytes]
) -> None:
    expected = as_text(GREEK_PIECE, format_, Page())
    assert GREEK in expected
    assert streamed(f"{format_}:-", encoding) == expected.encode(encoding, "replace")


def test_junit_on_a_stream_that_is_not_utf_8_keeps_every_name(streamed: Callable[[str, str], bytes]) -> None:
    [suite] = JUnitXml.fromstring(streamed("junit", "cp1252"))
    assert [case.name for case in suite] == [GREEK]


@pytest.mark.parametrize("format_", FORMATS)
def test_files_are_always_utf_8(format_: str, tmp_path: Path, streamed: Callable[[str, str], bytes]) -> None:
    path = tmp_path / "report"
    streamed(f"{format_}:{path}", "ascii")
    assert path.read_bytes() == as_text(GREEK_PIECE, format_, Page()).encode("utf-8")
    assert GREEK in path.read_text(encoding="utf-8")


@pytest.mark.parametrize("output", ["table", "json", "csv", "markdown", "junit", "github:-", "github"])
@pytest.mark.parametrize("name", ["stdout", "stderr"])
def test_a_closed_pipe_ends_quietly(output: str, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "w", encoding="utf-8") as stream, monkeypatch.context() as patch:
        patch.setattr(sys, name, stream)
        publish(audit_reports(), outputs.parse([output]))


def test_a_dumb_terminal_gets_no_escape_sequences(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    assert page_of_stdout().colours is not None
    monkeypatch.setenv("TERM", "dumb")
    assert page_of_stdout().colours is None


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no pseudo-terminals")
def test_progress_is_for_a_terminal_that_somebody_watches(monkeypatch: pytest.MonkeyPatch) -> None:
    leader, follower = os.openpty()
    with os.fdopen(follower, "w") as terminal, monkeypatch.context() as patch:
        patch.setattr(sys, "stderr", terminal)
        patch.setenv("TERM", "xterm")
        assert watched(quiet=False)
        assert not watched(quiet=True)
        patch.setenv("CI", "true")
        assert not watched(quiet=False)
        patch.delenv("CI")
        patch.setenv("TERM", "dumb")
        assert not watched(quiet=False)
    os.close(leader)
    with Path(os.devnull).open("w") as nothing, monkeypatch.context() as patch:
        patch.setattr(sys, "stderr", nothing)
        assert not watched(quiet=False)


def watched(*, quiet: bool) -> bool:
    with streams.progress(quiet=quiet) as progress:
        return progress is not None


# Files


def test_a_baseline_is_one_more_file_of_the_report(tmp_path: Path) -> None:
    path = tmp_path / "known.json"
    wanted = outputs.with_baseline(outputs.parse([f"json:{tmp_path / 'a.json'}"]), path)
    assert wanted[-1] == Output("baseline", path)
    assert outputs.with_baseline(wanted, None) == wanted
    with pytest.raises(SettingsError, match=r"--write-baseline: .*known\.json would be written twice"):
        outputs.with_baseline(wanted, path)


@pytest.mark.parametrize("output", ["github", "github:{}/annotations"])
def test_the_summary_of_the_job_is_added_to(output: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    summary = tmp_path / "summary.md"
    summary.write_text("# before\n", encoding="utf-8")
    monkeypatch.setenv(STEP_SUMMARY, str(summary))
    publish(audit_report(), outputs.parse([output.format(tmp_path)]))
    expected = "# before\n" + (GOLDEN / "audit.md").read_text(encoding="utf-8")
    assert summary.read_text(encoding="utf-8") == expected
    publish(audit_report(), outputs.parse([]))
    assert summary.read_text(encoding="utf-8") == expected


def test_a_long_summary_is_cut_with_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    summary = tmp_path / "summary.md"
    summary.write_bytes(b"x" * 1000)
    monkeypatch.setenv(STEP_SUMMARY, str(summary))
    pieces = [fragment(f"{GREEK} {k}", reason="why " * 100) for k in range(3000)]
    publish(file_report("a.csv", *pieces, SHIFTED), outputs.parse(["github"]), quiet=True)
    text = summary.read_bytes()
    assert LONGEST_SUMMARY - 2000 < len(text) <= LONGEST_SUMMARY
    *_, row, _, last = text.decode("utf-8").removesuffix("\n").split("\n")
    assert row.endswith(" |")
    assert last == "The rest is left out: GitHub shows 1 MiB at most; `--output json:FILE` has all of it."


def test_a_summary_that_cannot_be_written_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(STEP_SUMMARY, str(tmp_path))
    with pytest.raises(SettingsError, match=f"cannot write {tmp_path}, which GITHUB_STEP_SUMMARY names: "):
        publish(audit_report(), outputs.parse(["github"]))


@given(
    lines=st.lists(st.text(st.characters(exclude_categories=["Cs", "Cc", "Zl", "Zp"]), max_size=30)),
    room=st.integers(-5, 400),
)
def test_what_is_cut_has_whole_lines_and_the_room(lines: list[str], room: int) -> None:
    text = "".join(f"{line}\n" for line in lines)
    cut = shortened(text, room)
    assert len(cut.encode("utf-8")) <= max(0, room)
    kept = cut.partition("\n\nThe rest is left out")[0].split("\n")
    assert cut == text or not any(kept) or all(line in lines for line in kept)


def test_a_picture_without_matplotlib_is_refused_before_anything_is_computed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outputs, "find_spec", lambda name: None)
    with pytest.raises(SettingsError, match=r"--plot x\.png: pictures need matplotlib: pip install 'picsc\[plots\]'"):
        outputs.with_plot((), Path("x.png"), CvReport)
    curves = outputs.with_plot((), Path("x.svg"), FedReport)  # needs none
    assert curves == (Output("svg", Path("x.svg")),)


def test_a_report_without_a_picture_says_so() -> None:
    with pytest.raises(SettingsError, match=r"a report of picsc\.data/1 has no picture; leave --plot out"):
        outputs.with_plot((), Path("x.png"), DataReport)
