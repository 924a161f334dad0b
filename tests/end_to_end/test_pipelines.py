"""The pipelines in docs/pipeline.md do what the page says, as far as a machine without GitHub and GitLab can show."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import yaml
from junitparser import JUnitXml

from picsc.datasets.files.formats import BY_SUFFIX

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "pipeline.md").read_text(encoding="utf-8")
EXAMPLES = {block.splitlines()[0]: block for block in re.findall(r"```yaml\n(.*?)```", PAGE, re.S)}


def example(file: str) -> Any:
    [block] = [block for first, block in EXAMPLES.items() if first.startswith(f"# {file}:")]
    return yaml.safe_load(block)


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository with two tables: of the second, rows are sorted by one column."""
    folder = tmp_path_factory.mktemp("repository")
    (folder / "data").mkdir()
    random = np.random.default_rng(3)
    for name in ("steady", "sorted"):
        a, b = random.normal(size=(2, 200))
        frame = pd.DataFrame({"a": a if name == "steady" else np.sort(a), "b": b, "label": np.tile(["no", "yes"], 100)})
        frame.to_csv(folder / "data" / f"{name}.csv", index=False)
    run(folder, "picsc audit data/steady.csv --write-baseline baseline.json")
    return folder


@pytest.fixture
def project(repository: Path, tmp_path: Path) -> Path:
    """A checkout of it."""
    return Path(shutil.copytree(repository, tmp_path / "checkout"))


def run(folder: Path, script: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """A script as the runner of a pipeline starts it."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    everything = {**os.environ, "PATH": path, "CI": "true", **environment}
    return subprocess.run(
        ["bash", "-e", "-o", "pipefail", "-c", script],  # noqa: S607 - whatever bash the machine has
        cwd=folder,
        env=everything,
        capture_output=True,
        text=True,
        timeout=300,
    )


def scripts(steps: list[str]) -> list[str]:
    """The lines that are left to run where everything is installed."""
    return [step for step in steps if not step.startswith("pip install")]


def test_github(project: Path) -> None:
    steps = example(".github/workflows/data.yml")["jobs"]["audit"]["steps"]
    [script] = scripts([step["run"] for step in steps if "run" in step])
    summary = project / "summary.md"
    done = run(project, script, GITHUB_STEP_SUMMARY=str(summary), GITHUB_WORKSPACE=str(project))
    commands = [line for line in (done.stdout + done.stderr).splitlines() if line.startswith("::")]
    assert done.returncode == 1
    assert any(re.match(r"::error file=data/sorted\.csv,line=\d+,title=", line) for line in commands)
    assert not any("steady.csv" in line for line in commands if line.startswith("::error"))
    assert len(commands) <= 10
    assert "| piece" in summary.read_text(encoding="utf-8")
    [upload] = [step["with"]["path"] for step in steps if "upload-artifact" in step.get("uses", "")]
    assert {path.name for path in project.glob(upload)} == {"audit.xml", "audit.json"}


def test_gitlab(project: Path) -> None:
    job = example(".gitlab-ci.yml")["audit"]
    [script] = scripts(job["script"])
    done = run(project, script)
    suites = {suite.name: suite for suite in JUnitXml.fromfile(str(project / job["artifacts"]["reports"]["junit"]))}
    assert done.returncode == 1
    assert set(suites) == {"data/steady.csv", "data/sorted.csv"}
    assert suites["data/steady.csv"].failures == 0
    assert suites["data/sorted.csv"].failures > 0
    assert "shift" in done.stdout


def test_pre_commit(project: Path) -> None:
    [repository] = example(".pre-commit-config.yaml")["repos"]
    [hook] = repository["hooks"]
    files = [path for path in ("data/sorted.csv", "data/steady.csv", "other.csv") if re.search(hook["files"], path)]
    assert files == ["data/sorted.csv", "data/steady.csv"]
    assert run(project, " ".join([hook["entry"], *files])).returncode == 1
    assert run(project, " ".join([hook["entry"], files[1]])).returncode == 0
    [published] = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    assert {name: published[name] for name in ("id", "entry", "require_serial")} == {
        name: hook[name] for name in ("id", "entry", "require_serial")
    }
    (project / "data" / "lookup.csv").write_text("code,name\nDE,Germany\nFR,France\n", encoding="utf-8")
    skipped = run(project, " ".join([published["entry"], "data/lookup.csv"]))
    assert (skipped.returncode, skipped.stderr) == (0, "")
    assert "data/lookup.csv: 2 data rows, fewer than --min-table-rows 50" in skipped.stdout
    general = {".txt", ".data", ".dat", ".json"}  # seldom tables
    for suffix in set(BY_SUFFIX) - general:
        assert re.search(published["files"], f"data/a{suffix}"), suffix
        assert re.search(published["files"], f"data/a{suffix}.gz"), suffix
    assert not any(re.search(published["files"], f"data/a{suffix}") for suffix in general)
    assert not re.search(published["files"], "data/a.csv.bak")


def test_the_settings_of_the_example_are_settings(project: Path) -> None:
    [block] = re.findall(r"```toml\n(.*?)```", PAGE, re.S)
    (project / "pyproject.toml").write_text(block, encoding="utf-8")
    done = run(project, "picsc config")
    assert done.returncode == 0, done.stderr
    assert re.search(r'cut\.by\s+pyproject\.toml\s+"hospital"', done.stdout)


def test_the_action(project: Path) -> None:
    """Its script runs with the inputs as variables; the defaults of inputs that a job leaves out are empty."""
    action = yaml.safe_load((ROOT / ".github/actions/audit/action.yml").read_text(encoding="utf-8"))
    step = action["runs"]["steps"][-1]
    named = {variable: text.removeprefix("${{ inputs.").removesuffix(" }}") for variable, text in step["env"].items()}
    assert set(named.values()) | {"python-version"} == set(action["inputs"])
    defaults = {variable: action["inputs"][name].get("default", "") for variable, name in named.items()}
    given = {"DATA": "data/*.csv", "OPTIONS": "--folds 4 --draws 199", "JUNIT": "audit report.xml"}
    summary = str(project / "summary.md")
    done = run(project, step["run"], **{**defaults, **given, "GITHUB_STEP_SUMMARY": summary})
    assert done.returncode == 1, done.stderr
    assert {suite.name for suite in JUnitXml.fromfile(str(project / given["JUNIT"]))} == {
        "data/sorted.csv",
        "data/steady.csv",
    }
    assert "::error " in done.stderr
    steady = run(project, step["run"], **{**defaults, "DATA": "data/steady.csv", "GITHUB_STEP_SUMMARY": summary})
    assert steady.returncode == 0, steady.stderr


def test_the_example_of_the_action_gives_inputs_that_it_has() -> None:
    action = yaml.safe_load((ROOT / ".github/actions/audit/action.yml").read_text(encoding="utf-8"))
    workflow = yaml.safe_load((ROOT / ".github/workflows/audit-example.yml").read_text(encoding="utf-8"))
    [step] = [step for step in workflow["jobs"]["audit"]["steps"] if step.get("uses") == "./.github/actions/audit"]
    assert set(step["with"]) <= set(action["inputs"])
    assert {name for name, each in action["inputs"].items() if each.get("required")} <= set(step["with"])
