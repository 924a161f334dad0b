"""`picsc audit` as it is used: exit codes, streams, files, and help that answers at once."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import typer
from typer.testing import CliRunner

from picsc.errors import DataError, SettingsError
from picsc.settings import AuditSettings
from picsc_cli import gates
from picsc_cli.app import app
from picsc_cli.console import exits, streams
from picsc_cli.options import bind
from picsc_cli.output import destinations as outputs
from picsc_cli.output.publish import publish
from picsc_cli.text.page import page_of_stdout
from tests.factories.audit import audit_report

FOUR_ROWS = "a,label\n1.5,x\n2.5,y\n3.25,x\n4.5,y\n"
GREEK = "β→γ"  # noqa: RUF001 - Greek is meant
QUICK = ("--draws", "99", "--batches", "4", "--reference", "rest", "--target", "label")
GOLDEN = Path(__file__).parents[1] / "golden"
PICSC = (sys.executable, "-m", "picsc_cli")
ENVIRONMENT = {
    name: value
    for name, value in os.environ.items()
    if name not in ("PYTHONIOENCODING", "PYTHONUTF8", "COLUMNS", "FORCE_COLOR", "NO_COLOR", "CI")
}


def table(path: Path, *, moved: float) -> Path:
    """160 rows in file order; `moved` is added to the Greek column from row 120 on."""
    random = np.random.default_rng(5)
    greek, other = random.normal(size=(2, 160))
    label = random.permutation(np.repeat(["no", "yes"], 80))
    greek[120:] += moved
    lines = [f"{a:.6f},{b:.6f},{c}" for a, b, c in zip(greek, other, label, strict=True)]
    path.write_text("\n".join([f"{GREEK},other,label", *lines]) + "\n", encoding="utf-8")
    return path


@pytest.fixture(scope="session")
def shifted(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(table(tmp_path_factory.mktemp("data") / "shifted.csv", moved=4.0))


@pytest.fixture(scope="session")
def steady(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(table(tmp_path_factory.mktemp("data") / "steady.csv", moved=0.0))


def picsc(*arguments: str) -> tuple[int, str, str]:
    """Exit code, standard output and standard error of `picsc` in this process."""
    result = CliRunner().invoke(app, list(arguments))
    return result.exit_code, result.stdout, result.stderr


# Help and version


@pytest.mark.parametrize("arguments", [["--help"], ["audit", "--help"], ["--version"]])
def test_help_and_version_load_nothing_heavy(arguments: list[str]) -> None:
    program = (
        "import sys; from picsc_cli.app import main\ntry: main()\nfinally: print(*sorted(sys.modules), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", program, *arguments], capture_output=True, text=True, check=True)
    loaded = {name.partition(".")[0] for name in done.stderr.split()}
    assert done.stdout
    assert "picsc_cli" in loaded
    assert not loaded & {"torch", "sklearn", "pandas", "scipy", "numpy", "openml", "pyarrow", "pydantic", "jinja2"}


def test_every_option_has_one_line_of_help_at_80_columns() -> None:
    code, text, _ = picsc("audit", "--help")
    sections = text[text.index("\nData:\n") :]
    entries = [line for line in sections.splitlines() if line and not line.endswith(":")]
    assert code == 0
    command = typer.main.get_command(app).commands["audit"]  # type: ignore[attr-defined] # the app is a group
    known = [each for each in command.params if each.param_type_name == "option" and not each.hidden]
    assert len(known) > 50
    assert len(entries) == len(known) + 1  # and --help
    assert all(re.match(r"  -\S.*\s{2,}\S", entry) and len(entry) <= 80 for entry in entries)
    assert [line for line in sections.splitlines() if line.endswith(":")] == [
        "Data:",
        "Pieces:",
        "Clients:",
        "Verdict:",
        "Run:",
        "Output:",
        "Other:",
    ]


@pytest.mark.parametrize("name", ["level", "draws", "block", "seed"])
def test_defaults_in_help_are_those_of_the_settings(name: str) -> None:
    [line] = [line for line in picsc("audit", "--help")[1].splitlines() if f"--{name.replace('_', '-')} " in line]
    assert line.endswith(f"(default {AuditSettings.model_fields[name].default}).")


def test_unknown_option_exits_2() -> None:
    code, out, err = picsc("audit", "--fold", "3")
    assert (code, out) == (2, "")
    assert "--folds" in err


# Settings and outputs, before anything is read


def test_all_bad_settings_are_reported_at_once() -> None:
    code, out, err = picsc("audit", "x.csv", "--folds", "0", "--level", "3", "--task", "sorting")
    assert (code, out) == (2, "")
    assert err.startswith("picsc: ")
    assert err.count("\n") == 1
    assert all(option in err for option in ("--folds 0", "--level 3", "--task 'sorting'"))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("a.csv", "--dataset", "iris"), "not both"),
        (("--verbose", "--quiet"), "not both"),
        (("--output", "table", "--output", "json"), "both go to standard output"),
        (("--output", "yaml"), "must be one of table, json"),
        (("--output", "json:"), "a path must follow"),
        (("--output", "json:a", "--output", "table:a"), "written twice"),
        (("--reference", "previuos"), "none of the words rest, previous, first"),
    ],
)
def test_contradictions_exit_2_with_one_sentence(arguments: tuple[str, ...], words: str) -> None:
    code, out, err = picsc("audit", *arguments)
    assert (code, out) == (2, "")
    assert err.splitlines()[-1].startswith("picsc: ")
    assert words in err


def test_column_lists_are_repeatable_and_may_quote_commas() -> None:
    assert bind.names(["a, b", 'c,"d,e"', ""]) == ("a", "b", "c", "d,e")


def test_the_table_goes_to_stdout_unless_another_output_does() -> None:
    assert outputs.parse([]) == (outputs.Output("table", None),)
    assert outputs.parse(["json"]) == (outputs.Output("json", None),)
    assert outputs.parse(["json:a:b"]) == (outputs.Output("table", None), outputs.Output("json", Path("a:b")))
    assert outputs.parse(["table:-", "json:a"]) == (outputs.Output("table", None), outputs.Output("json", Path("a")))


def test_unwritable_paths_are_found_before_the_data_are_read(tmp_path: Path) -> None:
    code, out, err = picsc("audit", "no-such-table.csv", "--output", f"json:{tmp_path / 'no' / 'report.json'}")
    assert (code, out) == (2, "")
    assert err == f"picsc: cannot write {tmp_path}/no/report.json: the folder {tmp_path}/no does not exist\n"
    with pytest.raises(SettingsError, match="it is a folder"):
        outputs.check([outputs.Output("json", tmp_path)])
    with pytest.raises(SettingsError, match="cannot write"):
        outputs.check([outputs.Output("json", tmp_path / ("x" * 300))])


def test_checking_leaves_nothing_behind(tmp_path: Path) -> None:
    old = tmp_path / "old.json"
    old.write_text("old")
    outputs.check([outputs.Output("json", old), outputs.Output("table", tmp_path / "new.txt")])
    assert [path.name for path in tmp_path.iterdir()] == ["old.json"]
    assert old.read_text() == "old"


def test_a_report_replaces_the_file_behind_a_link(tmp_path: Path) -> None:
    real, link = tmp_path / "real.json", tmp_path / "link.json"
    link.symlink_to(real)
    outputs.write({link: "text"})
    assert link.is_symlink()
    assert real.read_text() == "text"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link.json", "real.json"]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no named pipes in folders")
def test_a_report_goes_through_a_named_pipe_and_does_not_replace_it(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDWR | os.O_NONBLOCK)
    outputs.check([outputs.Output("json", pipe)])
    outputs.write({pipe: "text"})
    assert os.read(reader, 100) == b"text"
    os.close(reader)
    assert [path.name for path in tmp_path.iterdir()] == ["pipe"]
    assert pipe.is_fifo()


# Exit codes


@pytest.mark.parametrize(
    ("verdict", "codes"),
    [("ok", [0, 0, 0]), ("inconclusive", [0, 1, 0]), ("error", [0, 1, 0]), ("shift", [1, 1, 0])],
)
def test_exit_code_of_a_verdict(verdict: exits.Verdict, codes: list[int]) -> None:
    assert [gates.code(verdict, fail_on) for fail_on in ("shift", "inconclusive", "never")] == codes


@pytest.mark.parametrize(
    ("error", "code", "last"),
    [
        (DataError("column 'a\nb' is empty"), 2, "picsc: column 'a\\nb' is empty"),
        (KeyboardInterrupt(), 130, "picsc: interrupted"),
        (ZeroDivisionError("x"), 3, "picsc: this is a bug in picsc; please report it"),
    ],
)
def test_what_goes_wrong_has_its_exit_code(
    error: BaseException, code: int, last: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(typer.Exit) as raised, exits.handle_errors():
        raise error
    out, err = capsys.readouterr()
    assert raised.value.exit_code == code
    assert out == ""
    assert err.splitlines()[-1].startswith(last)
    assert ("Traceback" in err) == (code == 3)


# The audit


def test_p17_a_shift_exits_1_after_its_files_are_written(shifted: str, tmp_path: Path) -> None:
    report, text = tmp_path / "report.json", tmp_path / "report.txt"
    code, out, err = picsc("audit", shifted, *QUICK, "--output", f"json:{report}", "--output", f"table:{text}")
    body = json.loads(report.read_text(encoding="utf-8"))
    assert (code, err) == (1, "")
    assert body["verdict"] == "shift"
    assert out.splitlines()[:3] == body["summary"]
    assert text.read_text(encoding="utf-8") == out
    assert sorted(path.name for path in tmp_path.iterdir()) == ["report.json", "report.txt"]
    assert GREEK in out


def test_no_shift_exits_0(steady: str) -> None:
    code, out, _ = picsc("audit", steady, *QUICK, "--verbose")
    assert code == 0
    assert " cut.batches = 4\n" in out
    assert re.search(rf"^ {GREEK} +numeric +0 ", out, re.MULTILINE)


def test_a_file_as_reference_and_never_failing(shifted: str, steady: str) -> None:
    code, out, err = picsc("audit", shifted, *QUICK, "--reference", steady, "--output", "json", "--fail-on", "never")
    body = json.loads(out)
    assert (code, err) == (0, "")
    assert body["verdict"] == "shift"
    assert [piece["verdict"] for piece in body["fragments"]] == ["ok", "ok", "ok", "shift"]


def test_without_data_it_is_a_demonstration_that_exits_0() -> None:
    code, out, err = picsc("audit", "--draws", "99", "--folds", "2")
    assert code == 0
    assert "breast_cancer, 569 rows" in out
    assert err.startswith("picsc: no DATA given, so this is a demonstration")


@pytest.mark.parametrize(
    ("content", "name", "arguments", "words"),
    [
        ("", "missing.csv", (), "missing.csv"),
        ("", "data.csv", (), "data.csv"),
        (FOUR_ROWS, "data.csv", ("--target", "nothing"), "nothing"),
        (FOUR_ROWS, "data.csv", ("--by", "site"), "site"),
        (FOUR_ROWS, "data.csv", ("--folds", "5"), "5"),
    ],
)
def test_input_that_cannot_be_used_exits_2_and_leaves_no_file(
    content: str, name: str, arguments: tuple[str, ...], words: str, tmp_path: Path
) -> None:
    (tmp_path / "data.csv").write_text(content)
    code, out, err = picsc("audit", str(tmp_path / name), *arguments, "--output", f"json:{tmp_path / 'report.json'}")
    assert (code, out) == (2, "")
    assert err.startswith("picsc: ")
    assert err.count("\n") == 1
    assert words in err
    assert [path.name for path in tmp_path.iterdir()] == ["data.csv"]


# Streams


def published(output: str, encoding: str = "utf-8") -> subprocess.Popen[bytes]:
    """A process that writes a report built by hand to its standard output, as the command does."""
    program = (
        "import sys; from tests.factories.audit import audit_report\n"
        "from picsc_cli import gates; from picsc_cli.console import streams\n"
        "from picsc_cli.output import destinations as outputs; from picsc_cli.output.publish import publish\n"
        "streams.prepare()\n"
        "publish(audit_report(), outputs.parse(sys.argv[1:]))\n"
        "sys.exit(gates.code('shift', gates.FailOn.SHIFT))"
    )
    return subprocess.Popen(
        [sys.executable, "-c", program, output],
        env={**ENVIRONMENT, "PYTHONPATH": str(Path(__file__).parents[2]), "PYTHONIOENCODING": encoding},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


@pytest.mark.parametrize("encoding", ["ascii", "cp1252"])
def test_p21_streams_that_are_not_utf_8_get_ascii_rules_and_question_marks(encoding: str) -> None:
    with published("table", encoding) as process:
        out, err = process.communicate()
    assert (process.returncode, err) == (1, b"")
    assert out == (GOLDEN / "audit-table-ascii.txt").read_bytes()


def test_json_on_a_stream_that_is_not_utf_8_keeps_every_name() -> None:
    with published("json", "cp1252") as process:
        out, err = process.communicate()
    assert (process.returncode, err) == (1, b"")
    assert json.loads(out.decode("ascii"))["data"]["columns"][1]["name"] == GREEK


def test_a_closed_pipe_ends_quietly_with_the_verdict() -> None:
    with published("json") as process:
        process.stdout.close()
        err = process.stderr.read()
    assert (process.returncode, err) == (1, b"")


def test_the_whole_command_in_ascii(shifted: str) -> None:
    environment = {**ENVIRONMENT, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    done = subprocess.run([*PICSC, "audit", shifted, *QUICK], capture_output=True, env=environment, check=False)
    assert (done.returncode, done.stderr) == (1, b"")
    assert b"||dI||_F" in done.stdout
    assert b"mean of ??? " in done.stdout or b"mean of ?->? " in done.stdout


def test_quiet_prints_the_summary_and_leaves_files_whole(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    report, path = audit_report(), tmp_path / "table.txt"
    publish(report, outputs.parse([f"table:{path}"]), quiet=True)
    first, *others = report.summary
    assert capsys.readouterr().out.splitlines() == [f"{report.data.source}: {first}", *others]
    assert path.read_text(encoding="utf-8").count("\n") > 20


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no signal to send to one process")
def test_interrupting_ends_with_one_line() -> None:
    with subprocess.Popen(
        [*PICSC, "audit", "--draws", "1000000"],
        bufsize=0,  # so that nothing after the first line is read with it
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=ENVIRONMENT,
    ) as process:
        try:
            first = process.stderr.readline()  # written as the audit starts
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=60)
        finally:
            process.kill()
    assert first.startswith(b"picsc: no DATA given")
    # a shell shows both as 130: CPython ends by the signal itself when it came while source text was being run
    assert process.returncode in (130, -signal.SIGINT)
    assert (out, err) == (b"", b"picsc: interrupted\n")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="only Linux has a device that is always full")
def test_a_full_disk_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    with Path("/dev/full").open("w") as full, monkeypatch.context() as patch:
        patch.setattr(sys, "stdout", full)
        with pytest.raises(SettingsError, match="cannot write the report to standard output: No space left"):
            streams.write_stdout("report\n")


def test_no_color_is_respected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert page_of_stdout().colours is not None
    assert page_of_stdout().width == 80
    monkeypatch.setenv("NO_COLOR", "1")
    assert page_of_stdout().colours is None


def test_missing_words_are_chosen_on_the_command_line(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("x,target\n" + "1.5,None\nNA,cat\n2.5,dog\n" * 10)

    def classes_and_kind(*options: str) -> tuple[dict[str, int], str]:
        report = json.loads(picsc("data", "show", str(path), "--output", "json", *options)[1])
        return {each["name"]: each["rows"] for each in report["classes"]}, report["data"]["columns"][0]["kind"]

    assert classes_and_kind() == ({"None": 10, "cat": 10, "dog": 10}, "numeric")
    assert classes_and_kind("--missing-words", "dog, NA") == ({"None": 10, "cat": 10}, "numeric")
    assert classes_and_kind("--missing-words", "") == ({"None": 10, "cat": 10, "dog": 10}, "categorical")
