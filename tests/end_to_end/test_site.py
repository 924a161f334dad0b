"""The site shows every page once, every public name, and nothing that comes from elsewhere."""

import re
import tomllib
from pathlib import Path
from typing import Any

import yaml

import picsc

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / ".mkdocs.yml").read_text(encoding="utf-8")
CONFIG: dict[str, Any] = yaml.safe_load(re.sub(r"!!python/\S+", "", TEXT))


def pages(entry: Any) -> list[str]:
    """The pages below one entry of the navigation."""
    if isinstance(entry, str):
        return [entry]
    return [page for each in (entry.values() if isinstance(entry, dict) else entry) for page in pages(each)]


def test_every_page_is_in_the_navigation_once() -> None:
    written = sorted(str(page.relative_to(ROOT / "docs")) for page in (ROOT / "docs").rglob("*.md"))
    assert sorted(pages(CONFIG["nav"])) == written


def test_newcomers_come_first() -> None:
    shown = pages(CONFIG["nav"])
    assert shown[0] == "index.md"
    assert shown.index("how-to.md") < shown.index("settings.md") < shown.index("method.md")
    assert shown[-2:] == ["ARCHITECTURE.md", "CONTRIBUTING.md"]


def test_the_reference_has_the_public_names_and_no_others() -> None:
    named = re.findall(r"^::: picsc\.(\w+)$", (ROOT / "docs/api.md").read_text(encoding="utf-8"), re.M)
    assert sorted(named) == sorted(picsc.__all__)


def test_nothing_comes_from_elsewhere() -> None:
    assert CONFIG["theme"]["font"] is False
    assert "://" not in TEXT
    assert not {"extra_css", "extra_javascript", "repo_url"} & set(CONFIG)


def test_the_extra_has_what_the_configuration_names() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["optional-dependencies"]["docs"] == ["mkdocs-material>=9.5", "mkdocstrings[python]>=0.25"]
    tested = (ROOT / "constraints.txt").read_text(encoding="utf-8")
    assert all(re.search(rf"^{name}==", tested, re.M) for name in ("mkdocs", "mkdocs-material", "mkdocstrings"))
