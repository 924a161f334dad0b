"""Completion in a real shell: the script that picsc shows, loaded by bash, and the values that it offers."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from picsc_cli.options.completion import columns, completion

INSTALLED = Path(sys.executable).parent / "picsc"


def offered(line: str, folder: Path) -> list[str]:
    """Values that the last word of a line may become, as the script of bash asks for them."""
    words = line.split(" ")
    asked = {"_PICSC_COMPLETE": "complete_bash", "COMP_WORDS": line, "COMP_CWORD": str(len(words) - 1)}
    done = subprocess.run(
        [INSTALLED], cwd=folder, env={**os.environ, **asked}, capture_output=True, text=True, timeout=60
    )
    return done.stdout.split()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "data.csv").write_bytes("\ufeffage;ward a;größe\n1;2;3\n".encode())
    return tmp_path


@pytest.mark.parametrize(
    ("line", "values"),
    [
        ("picsc aud", ["audit"]),
        ("picsc audit --task c", ["classification"]),
        ("picsc audit data.csv --by ", ["age", "ward", "a", "größe"]),
        ("picsc audit --target g data.csv", []),
        ("picsc cv data.csv --drop age,g", ["age,größe"]),
        ("picsc audit missing.csv --by a", []),
        ("picsc audit --dataset breast_", ["breast_cancer"]),
        ("picsc run audit-d", ["audit-dob-scv"]),
        ("picsc cv --method st-cv,pic", ["st-cv,picsc"]),
    ],
)
def test_values(line: str, values: list[str], folder: Path) -> None:
    assert offered(line, folder)[: len(values) or None] == values


def test_the_script_of_bash_completes(folder: Path) -> None:
    script = subprocess.run(
        [INSTALLED, "--show-completion", "bash"],
        env={**os.environ, "_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"},
        capture_output=True,
        text=True,
        timeout=60,
    ).stdout
    path = f"{INSTALLED.parent}{os.pathsep}{os.environ['PATH']}"
    lines = [
        script,
        "COMP_WORDS=(picsc audit --ta)",
        "COMP_CWORD=2",
        "_picsc_completion picsc",
        'echo "${COMPREPLY[@]}"',
    ]
    done = subprocess.run(
        ["bash", "-c", "\n".join(lines)],  # noqa: S607 - whatever bash the machine has
        cwd=folder,
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.stdout.split() == ["--target", "--task"], done.stderr


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_the_scripts_of_other_shells_load(shell: str) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"there is no {shell} here")
    script = subprocess.run(
        [INSTALLED, "--show-completion", shell],
        env={**os.environ, "_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"},
        capture_output=True,
        text=True,
        timeout=60,
    ).stdout
    before = "autoload -U compinit && compinit -D\n" if shell == "zsh" else ""
    done = subprocess.run([shell, "-c", before + script], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")


def test_columns_of_odd_files(tmp_path: Path) -> None:
    (tmp_path / "quoted.csv").write_text('"a,b",c\n', encoding="utf-8")
    (tmp_path / "latin.csv").write_bytes(b"gr\xf6\xdfe,b\n")
    (tmp_path / "empty.csv").write_bytes(b"")
    read = {name: columns([str(tmp_path / name)]) for name in ("quoted.csv", "latin.csv", "empty.csv")}
    assert read == {"quoted.csv": ["a,b", "c"], "latin.csv": [], "empty.csv": []}


def test_nothing_is_offered_where_nothing_is_known() -> None:
    assert completion((), "N") is None
    assert completion((), "COL=D,..") is None
