"""A hundred hostile names as columns, classes, pieces, words and files, through every command and every format."""

from __future__ import annotations

import csv
import json
import random
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner

from picsc_cli.app import app
from tests.hostile import CHECKS, IN_FILES, check_lines

ROWS = 160
CLASSES, PIECES, WORDS = IN_FILES[:4], IN_FILES[4:8], IN_FILES[8:12]
COLUMNS = IN_FILES[12:]
TARGET, BY = COLUMNS[0], COLUMNS[1]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a table whose names are hostile, and so is the file's."""
    made = tmp_path_factory.mktemp("hostile")
    draw = random.Random(5)  # noqa: S311 - no secret
    with (made / FILE).open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, quoting=csv.QUOTE_ALL)
        writer.writerow(COLUMNS)
        for i in range(ROWS):
            piece = i * len(PIECES) // ROWS
            numbers = [f"{draw.gauss(piece, 1):.4f}" for _ in COLUMNS[3:]]
            writer.writerow([CLASSES[i % 4], PIECES[piece], WORDS[draw.randrange(4)], *numbers])
    (made / SMALL).write_text("a,b\n1,x\n2,y\n" * 4, encoding="utf-8")
    return made


SMALL = "\x9b::warning::.csv"
FILE = "::error file=a::b\u202e##[error]\x1b[31m.csv"


@pytest.fixture
def inside(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Commands are started in the folder, so that messages begin with the name of the file."""
    monkeypatch.chdir(folder)
    monkeypatch.setenv("COLUMNS", "60")
    return folder


def picsc(*words: str) -> tuple[int, str, str]:
    """Exit code, standard output and standard error; no line of the latter is a command, and nothing is our bug."""
    done = CliRunner().invoke(app, list(words))
    assert done.exit_code in (0, 1, 2), ascii(done.output)
    return done.exit_code, done.stdout, done.stderr


SOME = ",".join(f'"{name.replace(chr(34), chr(34) * 2)}"' for name in COLUMNS[20:])
"""Columns that are left out where models are trained, to save time."""
FEW = ("--repeats", "2", "--target", TARGET, "--drop", SOME)
COMMANDS = {
    "audit": ("audit", FILE, "--target", TARGET, "--by", BY, "--draws", "99"),
    "audits": ("audit", FILE, f"./{FILE}x", "--target", TARGET, "--folds", "4", "--draws", "99"),
    "cv": ("cv", FILE, *FEW, "--by", BY),
    "compare": ("compare", FILE, *FEW, "--by", BY, "--method", "st-cv,iw,picsc"),
    "fed": ("fed", FILE, *FEW, "--by", BY, "--rounds", "2", "--method", "fedavg,picsc"),
    "fed-audit": ("fed", FILE, "--target", TARGET, "--by", BY, "--audit-only"),
}
FORMATS = ("json", "csv", "markdown", "html", "junit", "github", "sarif", "codequality")


@pytest.mark.parametrize("name", COMMANDS)
def test_no_report_is_obeyed(name: str, inside: Path) -> None:
    files = [word for each in FORMATS for word in ("--output", f"{each}:{name}.{each}")]
    code, out, err = picsc(*COMMANDS[name], *files, "--output", "table", "--verbose")
    check_lines(out)
    check_lines(err)
    assert code in ((2,) if name == "audits" else (0, 1)), err
    for each in FORMATS:
        CHECKS[each]((inside / f"{name}.{each}").read_bytes().decode("utf-8"))


def test_data_show_and_the_other_commands(inside: Path) -> None:
    code, out, _ = picsc("data", "show", FILE, "--target", TARGET)
    assert code == 0
    check_lines(out)
    _, out, _ = picsc("data", "show", FILE, "--target", TARGET, "--output", "json")
    CHECKS["json"](out)
    assert {column["name"] for column in json.loads(out)["data"]["columns"]} == set(COLUMNS) - {TARGET}
    code, out, _ = picsc("config", "audit", FILE, "--target", TARGET, "--by", BY)
    assert code == 0
    check_lines(out)
    _, out, _ = picsc("config", "audit", FILE, "--target", TARGET, "--output", "json")
    CHECKS["json"](out)
    del inside


def test_recipes(inside: Path) -> None:
    recipe = inside / "::warning::r\x9b.yaml"
    body = {
        "verb": "audit", "title": "::error::t", "data": [FILE], "version": "##[error]v",
        "read": {"target": TARGET}, "cut": {"by": BY}, "draws": 99,
    }  # fmt: skip
    recipe.write_text(yaml.safe_dump(body), encoding="utf-8")
    _, out, err = picsc("recipe", "check", recipe.name)
    check_lines(out + err)
    files = [word for each in FORMATS for word in ("--output", f"{each}:run.{each}")]
    _, out, err = picsc("run", recipe.name, *files, "--output", "table", "--verbose")
    check_lines(out)
    check_lines(err)
    assert out, err


@pytest.mark.parametrize(
    "start", [0, *(pytest.param(start, marks=pytest.mark.slow) for start in range(12, len(IN_FILES), 12))]
)
def test_messages(start: int, inside: Path) -> None:
    first = IN_FILES[start]
    calls = [
        ("data", "show", SMALL, "--target", first + "?"),
        ("audit", SMALL, "--output", first),
        ("recipe", "check", first + ".yaml"),
        ("data", "info", first + "?"),
        ("config", first + "?"),
        ("audit", SMALL, "--folds", first + "?"),
    ]
    for name in IN_FILES[start : start + 12]:
        calls += [("audit", name + "?"), (name + "?",)]
    for words in calls:
        code, out, err = picsc(*words)
        check_lines(out)
        check_lines(err)
        assert code == 2 or words[0] == "config", words  # config reads no file, so any path will do
        assert out or err
    del inside
