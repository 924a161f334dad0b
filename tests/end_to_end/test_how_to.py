"""Every command of the pages for newcomers runs, on small tables of the names that the pages use."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from picsc_cli.app import app

ROOT = Path(__file__).parents[2]
PAGES = ("how-to", "faq", "findings", "index")
"""The pages whose console blocks are run."""
BLOCK = re.compile(r"```console\n(.*?)```", re.S)
SHORTER = {
    "audit": ("--draws", "99"),
    "cv": ("--repeats", "1", "--epochs", "1", "--lambda", "0.1"),
    "compare": ("--repeats", "1", "--epochs", "1", "--lambda", "0.1"),
    "fed": ("--repeats", "1", "--rounds", "1", "--lr", "0.1"),
}
"""Options that are added so that a command takes seconds; of an option that is given twice, the last holds."""


def lines() -> list[tuple[str, str]]:
    """Page and command of every line in a console block, without its remark."""
    found = []
    for page in PAGES:
        text = (ROOT / "docs" / f"{page}.md").read_text(encoding="utf-8")
        for block in BLOCK.findall(text):
            found += [(page, line) for line in block.splitlines() if line]
    return found


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the files that the pages name."""
    folder = tmp_path_factory.mktemp("tasks")
    random = np.random.default_rng(2)
    for name, rows in (("patients", 240), ("training", 240), ("production", 200)):
        age, pressure = random.normal(60, 9, rows), random.normal(130, 15, rows)
        sick = (age + random.normal(0, 9, rows) > 60).astype(int)
        frame = pd.DataFrame(
            {
                "hospital": random.choice(["north", "south", "east"], rows),
                "patient": random.integers(1, rows // 3, rows),
                "visit": pd.to_datetime("2024-01-01") + pd.to_timedelta(np.sort(random.integers(0, 150, rows)), "D"),
                "age": age.round(1),
                "blood_pressure": pressure.round(),
                "note": random.choice(["stable", "better", "worse"], rows),
                "readmitted": np.where(sick == 1, "yes", "no"),
            }
        )
        frame.to_csv(folder / f"{name}.csv", index=False)
    levels = random.normal(size=(300, 2))
    pd.DataFrame(levels, columns=["temperature", "load"]).to_csv(folder / "sensor.csv", index=False)
    (folder / "images").mkdir()
    pixels = random.integers(0, 255, (120, 28, 28), dtype=np.uint8)
    np.savez(folder / "images" / "fashion-mnist.npz", X=pixels, y=np.arange(120) % 10)
    return folder


@pytest.mark.parametrize(("page", "line"), lines())
def test_a_command_of_a_page_runs(page: str, line: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Exit codes 0 and 1: a table is read, the settings fit together, and the result is a verdict."""
    monkeypatch.chdir(folder)
    prompt, program, *words = shlex.split(line, comments=True)
    assert (prompt, program) == ("$", "picsc"), f"{page}: only commands of picsc can be run: {line}"
    verb = words[0]
    if verb == "run":  # trains for a while, and a full one may fetch data; its recipe is checked by another test
        recipe = ROOT / "recipes" / f"{words[1]}.yaml"
        words = ["recipe", "check", str(recipe)]
    elif verb == "cv" and "--dataset" in words:  # networks of images take long; its settings are checked
        words = ["config", *words]
    result = CliRunner().invoke(app, [*words, *SHORTER.get(words[0], ())])
    assert result.exit_code in (0, 1), f"{line}\n{result.output[-800:]}{result.exception!r}"


def test_all_console_lines_are_commands_and_there_are_many() -> None:
    assert len(lines()) > 20
    assert {line.split()[1] for _, line in lines()} == {"picsc"}
    assert {line.split()[2] for _, line in lines()} >= {"audit", "cv", "compare", "fed", "run", "recipe", "config"}
