"""What README and the pages in docs say is what the tool does."""

import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.main import get_command

from picsc_cli.app import app

ROOT = Path(__file__).parents[2]
PAGES = {
    str(page.relative_to(ROOT)): page.read_text(encoding="utf-8")
    for page in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
}
README = PAGES["README.md"]
ARCHITECTURE = PAGES["docs/ARCHITECTURE.md"]
EXAMPLE, CODE = re.compile(r"^\$ (?:.*\| )?picsc (.*)", re.M), re.compile(r"```python\n(.*?)```", re.S)
COMMANDS = [(page, line) for page, text in PAGES.items() for line in EXAMPLE.findall(text)]
PYTHON = [(page, code) for page, text in PAGES.items() for code in CODE.findall(text)]
NUMBER = re.compile(r"[\d.]+")


def prose(text: str) -> str:
    """A page without its blocks of code."""
    return re.sub(r"^```.*?^```", "", text, flags=re.M | re.S)


def anchors(text: str) -> set[str]:
    """The headings of a page, as GitHub makes anchors of them."""
    headings = re.findall(r"^#+ (.*)", prose(text), re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def links() -> Iterator[tuple[str, str, str]]:
    """Page, path from the root, and anchor of every link to a file."""
    for page, text in PAGES.items():
        for target, anchor in re.findall(r"\]\((?!https?:)([^)#]*)#?([^)]*)\)", prose(text)):
            to = (ROOT / page).parent / target if target else ROOT / page
            yield page, str(to.resolve().relative_to(ROOT)), anchor


@pytest.mark.parametrize(("page", "line"), COMMANDS)
def test_options_in_examples_exist(page: str, line: str) -> None:
    words = line.partition("#")[0].split()
    words = words[words[0] == "config" :]  # whose options are those of the verb behind it
    command = get_command(app)
    while hasattr(command, "commands"):
        command = command.commands[words.pop(0)]
    known = {option for parameter in command.params for option in parameter.opts}
    assert {word for word in words if re.fullmatch(r"--?[a-z][a-z-]*", word)} <= known


@pytest.mark.parametrize("line", [line for _, line in COMMANDS if "recipes/" in line])
def test_recipes_in_examples_exist(line: str) -> None:
    for path in re.findall(r"recipes/[\w.-]+", line):
        assert (ROOT / path).is_file()


def test_every_command_has_an_example() -> None:
    commands = get_command(app).commands  # type: ignore[attr-defined]
    assert {line.split()[0] for _, line in COMMANDS} == set(commands)
    assert {line.split()[0] for page, line in COMMANDS if page == "README.md"} == {
        *("audit", "cv", "compare", "fed", "fed-app", "predict")
    }


def test_first_two_commands_install_with_the_tested_versions() -> None:
    first, second = re.findall(r"```bash\n(.*?)\n```", README, re.S)[:2]
    assert first == "pip install -c constraints.txt . && picsc audit"
    assert second == 'pip install -c constraints.txt ".[dev]" && pytest -n auto --dist worksteal'
    assert "torch==2.13.0" in (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()


def test_the_report_in_readme_is_the_one_that_picsc_prints() -> None:
    """Word for word; of the table's numbers, the last digits are those of one kind of processor."""
    [shown] = re.findall(r"```text\n(.*?)```", README, re.S)
    printed = subprocess.run(
        [sys.executable, "-m", "picsc_cli", "audit"], capture_output=True, encoding="utf-8", check=True, cwd=ROOT,
        env={"PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "utf-8"},
    ).stdout  # fmt: skip
    summaries = [report.splitlines()[:3] for report in (shown, printed)]
    assert summaries[0] == summaries[1]
    without_numbers = [NUMBER.sub("0", report).split() for report in (shown, printed)]
    assert without_numbers[0] == without_numbers[1]


@pytest.mark.parametrize(("page", "code"), PYTHON)
def test_python_examples_run(page: str, code: str) -> None:
    exec(compile(code, page, "exec"), {})  # noqa: S102 - our own pages


def test_every_verb_has_a_python_example() -> None:
    examples = "".join(code for _, code in PYTHON)
    assert all(f"picsc.{verb}(" in examples for verb in ("audit", "cross_validate", "compare", "federate"))


@pytest.mark.parametrize("page", PAGES)
def test_files_that_a_page_names_exist(page: str) -> None:
    named = re.findall(
        r"`((?:picsc|picsc_cli|tests|benchmarks|recipes|docs|\.ci|\.github)/[^`\s]*)`", prose(PAGES[page])
    )
    missing = {path for path in named if not list(ROOT.glob(path.partition("::")[0]))}
    assert not missing


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_somewhere(page: str) -> None:
    for _, path, anchor in [link for link in links() if link[0] == page]:
        assert (ROOT / path).exists(), path
        assert not anchor or anchor in anchors(PAGES[path]), f"{path}#{anchor}"


@pytest.mark.parametrize("page", [page for page in PAGES if "/results/" not in page])
def test_every_page_is_linked(page: str) -> None:
    assert page == "README.md" or page in {path for _, path, _ in links()}


@pytest.mark.parametrize(
    ("page", "most"), [("README.md", 165), ("docs/ARCHITECTURE.md", 150), ("docs/CONTRIBUTING.md", 100)]
)
def test_pages_that_are_read_first_are_short(page: str, most: int) -> None:
    assert len(PAGES[page].splitlines()) <= most


def test_the_floors_are_those_of_the_contract() -> None:
    [floors] = re.findall(r"^picsc\n(.*?)^```", ARCHITECTURE, re.M | re.S)
    shown = [re.split(r" {2,}", line.strip())[0] for line in floors.splitlines()]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = project["tool"]["importlinter"]["contracts"]
    [layers] = [contract["layers"] for contract in contracts if contract.get("containers") == ["picsc"]]
    assert shown == layers


def test_stable_modules_are_packages() -> None:
    stable = ARCHITECTURE.partition("## Stable modules")[2]
    named = re.findall(r"`picsc\.(\w+)`", stable)
    assert len(named) == 7
    assert all((ROOT / "picsc" / name / "__init__.py").is_file() for name in named)
