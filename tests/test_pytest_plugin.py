"""The plugin in a run of pytest by itself, as users have it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path

import pytest

TESTS = """
import numpy as np
import pandas as pd
import pytest


def table(moved):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(300, 2)), columns=["age", "bmi"])
    frame.loc[240:, "age"] += moved
    return frame


SETTINGS = dict(batches=5, reference="rest", block=1, draws=99, no_target=True)


def test_steady(picsc_audit):
    report = picsc_audit(table(0.0), **SETTINGS)
    assert report.verdict == "ok"


def test_moved(picsc_audit):
    picsc_audit(table(4.0), **SETTINGS)


def test_known(picsc_audit):
    picsc_audit(table(4.0), baseline="known.json", name="patients", **SETTINGS)
"""


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run pytest in a folder of its own; the plugin is loaded by hand where an older install does not name it."""
    there = any(point.value == "picsc.pytest_plugin" for point in entry_points(group="pytest11"))
    by_hand = [] if there else ["-p", "picsc.pytest_plugin"]
    quiet = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *by_hand, *arguments],
        cwd=folder,
        env=quiet,
        capture_output=True,
        text=True,
        timeout=300,
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("project")
    (folder / "test_data.py").write_text(TESTS, encoding="utf-8")
    (folder / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    return folder


def test_a_shift_fails_a_test_until_the_baseline_knows_it(folder: Path) -> None:
    done = run(folder)
    assert done.returncode == 1
    assert "1 passed" in done.stdout
    assert "2 failed" in done.stdout
    assert "picsc, test_moved:" in done.stdout
    assert "batch 5: mean of age" in done.stdout
    assert "baseline known.json cannot be read" in done.stdout.replace(f"{folder}{os.sep}", "")

    written = run(folder, "--picsc-write-baselines", "-k", "known")
    assert written.returncode == 0, written.stdout
    assert list(json.loads((folder / "known.json").read_text(encoding="utf-8"))["files"]) == ["patients"]
    assert run(folder, "-k", "known").returncode == 0

    another = "table(4.0).assign(bmi=lambda frame: -frame.age), baseline"
    moved_more = TESTS.replace("table(4.0), baseline", another)
    (folder / "test_data.py").write_text(moved_more, encoding="utf-8")
    worse = run(folder, "-k", "known")
    assert worse.returncode == 1
    assert "picsc, patients:" in worse.stdout


def test_it_costs_nothing_where_no_test_asks_for_it(tmp_path: Path) -> None:
    (tmp_path / "test_light.py").write_text(
        "import sys\n\ndef test_light():\n    assert not {'torch', 'pandas', 'sklearn'} & set(sys.modules)\n",
        encoding="utf-8",
    )
    (tmp_path / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    done = run(tmp_path)
    assert done.returncode == 0, done.stdout
