"""The bad inputs of this folder as calls of `picsc`, and what each call says."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from typer.testing import CliRunner

from picsc_cli.app import app
from tests.bad_inputs.contents import content

HERE = Path(__file__).parent
SENTENCES = HERE / "sentences.txt"


@dataclass(frozen=True)
class Case:
    """One call of picsc that must be refused."""

    name: str
    """`text: empty file`: the file that the case stands in, and its name there."""
    files: dict[str, bytes]
    args: tuple[str, ...]
    stdin: bytes
    env: dict[str, str]


@dataclass(frozen=True)
class Outcome:
    """What came of a call."""

    exit_code: int
    stdout: str
    stderr: str
    left: dict[str, bytes | None]
    """Files and folders (None) that are there afterwards."""


def cases() -> list[Case]:
    return [
        _case(file.stem, values)
        for file in sorted(HERE.glob("*.toml"))
        for values in tomllib.loads(file.read_text(encoding="utf-8"))["case"]
    ]


def _case(group: str, values: dict[str, object]) -> Case:
    known = {"name", "files", "args", "stdin", "env"}
    assert set(values) <= known, f"{group}: {values['name']}: unknown keys {set(values) - known}"
    files = {name: content(written) for name, written in values.get("files", {}).items()}  # type: ignore[attr-defined]
    args = values.get("args") or ["audit", next(iter(files))]
    stdin = content(values.get("stdin", ""))
    return Case(f"{group}: {values['name']}", files, tuple(args), stdin, values.get("env", {}))  # type: ignore[arg-type]


def called(case: Case, folder: Path) -> Outcome:
    """Make the call in a folder of its own."""
    for name, held in case.files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(held)
    with _inside(folder):
        result = CliRunner().invoke(app, list(case.args), input=case.stdin, env=case.env)
    left = {
        path.relative_to(folder).as_posix(): path.read_bytes() if path.is_file() else None
        for path in sorted(folder.rglob("*"))
    }
    return Outcome(result.exit_code, result.stdout, result.stderr.replace(str(folder), "."), left)


@contextmanager
def _inside(folder: Path) -> Iterator[None]:
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


def sentences() -> dict[str, str]:
    """What each case is expected to say, by its name."""
    paragraphs = SENTENCES.read_text(encoding="utf-8").strip("\n").split("\n\n")
    return {name: said for name, _, said in (paragraph.partition("\n") for paragraph in paragraphs)}
