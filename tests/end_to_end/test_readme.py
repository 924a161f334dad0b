"""README: its help texts, recipes and commands are those of the tool."""

import re
from pathlib import Path

import pytest
from typer.main import get_command

from picsc_cli.app import app

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["audit", "cv", "compare", "run", "data"])
def test_options_in_readme_exist(name: str) -> None:
    command = get_command(app).commands[name]  # type: ignore[attr-defined]
    known = {option for parameter in command.params for option in parameter.opts}
    lines = re.findall(rf"^\$ picsc {name}.*", README, re.M)
    assert lines
    assert set(re.findall(r"(?<=\s)--[a-z][a-z-]+", "\n".join(lines))) <= known


def test_first_two_commands_install_with_the_tested_versions() -> None:
    first, second = re.findall(r"```bash\n(.*?)\n```", README, re.S)[:2]
    assert first == "pip install -c constraints.txt . && picsc audit"
    assert second == 'pip install -c constraints.txt ".[dev]" && pytest'
    assert "torch==2.13.0" in (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()


@pytest.mark.parametrize("code", re.findall(r"```python\n(.*?)```", README, re.S))
def test_python_in_readme_runs(code: str) -> None:
    exec(compile(code, "README.md", "exec"), {})  # noqa: S102 - our own README


def test_files_that_readme_names_exist() -> None:
    for path in re.findall(r"`((?:picsc|picsc_cli|tests|benchmarks)/[\w/.]+)`", README) + re.findall(
        r"\]\((docs/[^)]+)\)", README
    ):
        assert (ROOT / path).exists(), path
