"""`picsc cv` and `picsc run` as they are used: options, contradictions, exit codes, and what an interruption says."""

from __future__ import annotations

import csv
import json
import re
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import typer
from typer.testing import CliRunner

from picsc.errors import RecipeError, SettingsError
from picsc.reports import CvReport, RecipeReport
from picsc.settings import CvSettings, validated
from picsc_cli.app import app
from picsc_cli.console import exits
from picsc_cli.console.exits import interrupted_line
from picsc_cli.output import destinations as outputs
from picsc_cli.output.publish import publish
from tests.factories.cv import cv_report, method_report
from tests.factories.recipes import recipe_report

PICSC = (sys.executable, "-m", "picsc_cli")
RECIPES = Path(__file__).parents[3] / "recipes"


def picsc(*arguments: str) -> tuple[int, str, str]:
    """Exit code, standard output and standard error of `picsc` in this process."""
    result = CliRunner().invoke(app, list(arguments))
    return result.exit_code, result.stdout, result.stderr


# Help


@pytest.mark.parametrize("command", ["cv", "run"])
def test_help_loads_nothing_heavy(command: str) -> None:
    program = (
        "import sys; from picsc_cli.app import main\ntry: main()\nfinally: print(*sorted(sys.modules), file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, command, "--help"], capture_output=True, text=True, check=True
    )
    loaded = {name.partition(".")[0] for name in done.stderr.split()}
    assert done.stdout
    assert not loaded & {"torch", "sklearn", "pandas", "scipy", "numpy", "openml", "pyarrow", "pydantic", "yaml"}


@pytest.mark.parametrize(
    ("command", "sections"),
    [
        ("cv", ["Data:", "Pieces:", "Methods:", "Training:", "Run:", "Output:", "Other:"]),
        ("run", ["Data:", "Run:", "Output:", "Other:"]),
    ],
)
def test_every_option_has_one_line_of_help_at_80_columns(command: str, sections: list[str]) -> None:
    _, text, _ = picsc(command, "--help")
    listed = text[text.index("\nData:\n") :]
    entries = [line for line in listed.splitlines() if line and not line.endswith(":")]
    assert all(re.match(r"  -\S.*\s{2,}\S", entry) and len(entry) <= 80 for entry in entries)
    assert [line for line in listed.splitlines() if line.endswith(":")] == sections


@pytest.mark.parametrize(
    ("option", "default"),
    [
        ("--validation", CvSettings().validation),
        ("--penalty", CvSettings().penalty.kind),
        ("--lambda", CvSettings().penalty.strength),
        ("--merge", CvSettings().penalty.evaluated),
        ("--alpha", CvSettings().penalty.alpha),
        ("--when-quiet", CvSettings().penalty.when_quiet),
        ("--optimizer", CvSettings().train.optimizer),
        ("--device", CvSettings().train.device),
        ("--precision", CvSettings().train.precision),
        ("--seed", CvSettings().seed),
    ],
)
def test_defaults_in_help_are_those_of_the_settings(option: str, default: object) -> None:
    [line] = [line for line in picsc("cv", "--help")[1].splitlines() if f"{option} " in line]
    assert re.search(rf"\(default {re.escape(str(default))}\b", line)


# Settings


def test_all_bad_settings_are_reported_at_once_by_their_options() -> None:
    code, out, err = picsc(
        "cv", "x.csv", "--folds", "1", "--lambda", "-2", "--penalty", "kll", "--method", "picsc,stcv", "--epochs", "0",
        "--algorithm", "3", "--lr", "0",
    )  # fmt: skip
    assert (code, out) == (2, "")
    assert err.count("\n") == 1
    said = ("--folds 1", "--lambda '-2': must be greater than or equal to 0, or 'auto'", "--penalty 'kll'")
    assert all(words in err for words in (*said, "--method 'stcv'", "--epochs 0", "--algorithm 3", "--lr 0"))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("cv", "a.csv", "--dataset", "iris"), "not both"),
        (("cv", "--verbose", "--quiet"), "not both"),
        (("cv", "--batches", "3", "--no-shuffle"), "--no-shuffle goes with --folds, not with --batches"),
        (("cv", "--folds", "3", "--by", "a"), "choose one way to cut, not 2: --folds, --by"),
        (("cv", "--output", "xml"), "must be one of table, json, csv"),
        (("cv", "--output", "svg"), "must be one of table, json, csv"),
        (("audit", "--output", "xml"), "must be one of table, json,"),
        (("run", "x.yaml", "--output", "xml"), "must be one of table, json, csv, markdown"),
        (("run", "x.yaml", "--verbose", "--quiet"), "not both"),
        (("run", "no-such.yaml"), "no-such.yaml: cannot be read"),
        (("cv", "no-such.csv"), "no-such.csv"),
    ],
)
def test_contradictions_exit_2_with_one_sentence(arguments: tuple[str, ...], words: str) -> None:
    code, out, err = picsc(*arguments)
    assert (code, out) == (2, "")
    assert err.startswith("picsc: ")
    assert err.count("\n") == 1
    assert words in err


def test_folds_are_shuffled_and_pieces_with_an_order_are_not() -> None:
    assert validated(CvSettings).cut.shuffle
    assert validated(CvSettings, cut={"folds": 3}).cut.shuffle
    assert not validated(CvSettings, cut={"folds": 3, "shuffle": False}).cut.shuffle
    assert not validated(CvSettings, cut={"batches": 3}).cut.shuffle
    with pytest.raises(SettingsError, match="--splitter and --shuffle go with --folds"):
        validated(CvSettings, cut={"batches": 3, "shuffle": True})


def test_columns_that_cut_or_weigh_are_kept_aside() -> None:
    assert validated(CvSettings, cut={"folds": 3, "group": "person"}, weights="w").keys == ("person", "w")


def test_every_problem_of_a_recipe_has_a_line_of_its_own(tmp_path: Path) -> None:
    recipe = tmp_path / "x.yaml"
    recipe.write_text("title: t\nverb: cv\ndata: [wdbc]\ncut: {folds: 1}\nfoo: 1\n")
    code, out, err = picsc("run", str(recipe))
    assert (code, out) == (2, "")
    assert err.splitlines()[0] == f"picsc: {recipe}:4: cut: --folds 1: must be 2 or more"
    assert err.splitlines()[1].startswith(f"picsc: {recipe}:5: foo: unknown key (known: ")


# Outputs and exit codes


def test_every_report_goes_to_its_files_and_streams(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    texts = [f"csv:{tmp_path / 'x.csv'}", f"json:{tmp_path / 'x.json'}"]
    publish(cv_report(), outputs.parse(texts, CvReport))
    assert capsys.readouterr().out.splitlines()[0] == cv_report().summary[0]
    assert (tmp_path / "x.csv").read_bytes() == (Path(__file__).parents[2] / "golden" / "cv.csv").read_bytes()
    publish(recipe_report(), outputs.parse([f"markdown:{tmp_path / 'x.md'}"], RecipeReport), quiet=True)
    assert capsys.readouterr().out.count("\n") < 10
    assert (tmp_path / "x.md").read_bytes() == (Path(__file__).parents[2] / "golden" / "recipes.md").read_bytes()


def test_a_failed_model_is_counted_for_the_exit_code() -> None:
    assert cv_report().failed == 1
    assert cv_report(methods=(method_report("st-cv", (0.5,)),)).failed == 0


# Interruption


def test_what_is_kept_is_said() -> None:
    kept = "interrupted; finished parts are kept in runs/a, and the same command with --resume goes on"
    assert interrupted_line(Path("runs/a")) == kept
    assert interrupted_line(None) == kept.replace(" in runs/a", "")


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no signal to send to one process")
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_signals_end_with_one_line_and_their_exit_code(number: signal.Signals, code: int) -> None:
    program = (
        "import time, typer\nfrom picsc_cli.console import exits\n"
        "try:\n"
        "    with exits.handle_errors('interrupted; kept'):\n"
        "        print('ready', flush=True); time.sleep(300)\n"
        "except typer.Exit as done: exits.leave(SystemExit(done.exit_code))"
    )
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout.readline() == b"ready\n"
        process.send_signal(number)
        _, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (code, b"picsc: interrupted; kept\n")


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such signal")
def test_the_signal_is_given_back(capsys: pytest.CaptureFixture[str]) -> None:
    before = signal.getsignal(signal.SIGTERM)
    with exits.handle_errors():
        assert signal.getsignal(signal.SIGTERM) is not before
    assert signal.getsignal(signal.SIGTERM) is before


def test_lines_of_a_recipe_error_are_told_one_by_one(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(typer.Exit) as raised, exits.handle_errors():
        raise RecipeError(("a", "b\nc"))
    assert raised.value.exit_code == 2
    assert capsys.readouterr().err == "picsc: a\npicsc: b\\nc\n"


@pytest.mark.parametrize(
    "arguments", [("cv", "--folds", "3", "--repeats", "1"), ("compare", "--folds", "3"), ("fed", "--clients", "3")]
)
def test_a_diverged_model_exits_1_and_is_told_in_the_three_lines_of_quiet(
    arguments: tuple[str, ...], tmp_path: Path
) -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(60, 2)), columns=["a", "b"]).assign(y=lambda frame: frame.a + 0.1 * frame.b)
    frame.to_csv(tmp_path / "data.csv", index=False)
    verb, *rest = arguments
    more = ("--optimizer", "sgd", "--epochs", "5") if verb != "fed" else ("--partition", "iid", "--rounds", "2")
    code, out, _ = picsc(verb, str(tmp_path / "data.csv"), "--target", "y", "--quiet", "--lr", "3", *rest, *more)
    assert code == 1
    assert out.count("\n") == 3
    assert "diverged" in out
    assert "learning rate 3" in out


# The estimate for deployment


def test_the_estimate_for_deployment_is_in_every_form(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(60, 2))
    frame = pd.DataFrame(x, columns=["a", "b"]).assign(y=(x[:, 0] > 0).astype(int))
    frame.to_csv(tmp_path / "data.csv", index=False)
    frame[["a", "b"]].to_csv(tmp_path / "new.csv", index=False)
    asked = ["cv", str(tmp_path / "data.csv"), "--epochs", "8", "--repeats", "1", "--folds", "3", "--isolated"]
    asked += ["--deploy", str(tmp_path / "new.csv")]
    outputs_ = [f"{name}:{tmp_path / f'report.{name}'}" for name in ("json", "csv", "markdown", "table")]
    code, quiet, error = picsc(*asked, "--quiet", *(word for each in outputs_ for word in ("--output", each)))
    assert code == 0, error
    report = json.loads((tmp_path / "report.json").read_text())
    line = report["deployment"]["line"]
    assert line.startswith("for rows like those of new trust accuracy ")
    for name in ("markdown", "table"):
        text = (tmp_path / f"report.{name}").read_text()
        assert sum(line in each for each in text.replace("\\", "").splitlines()) == 1
    rows = csv.DictReader((tmp_path / "report.csv").read_text().splitlines())
    (row,) = [each for each in rows if each["method"] == "deploy: new"]
    assert float(row["accuracy"]) == report["deployment"]["value"]
    assert row["reason"] == line
    assert quiet.splitlines()[3] == line
    assert len(quiet.splitlines()) == 4


def test_a_report_is_not_written_over_the_deployment_file(tmp_path: Path) -> None:
    for name in ("data.csv", "new.csv"):
        (tmp_path / name).write_text("a,y\n1,0\n2,1\n3,0\n4,1\n")
    new = tmp_path / "new.csv"
    code, _, error = picsc("cv", str(tmp_path / "data.csv"), "--deploy", str(new), "--output", f"csv:{new}")
    assert code == 2
    assert "new.csv" in error
    assert new.read_text().startswith("a,y")
