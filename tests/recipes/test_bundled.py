"""Recipes that come with picsc are found by name, from any folder; a file of that name goes first."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from picsc.errors import RecipeError
from picsc.recipes import bundled as module
from picsc.recipes.bundled import bundled, located
from picsc.recipes.load import load_recipes
from picsc_cli.app import app

FOLDER = Path(__file__).parents[2] / "recipes"


def test_every_recipe_of_the_project_is_there() -> None:
    assert {name: path.read_bytes() for name, path in bundled().items()} == {
        path.stem: path.read_bytes() for path in FOLDER.glob("*.yaml")
    }


def test_a_wheel_has_them_inside_the_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a wheel there is no folder `recipes` beside the package."""
    inside = tmp_path / "files"
    inside.mkdir()
    (inside / "mine.yaml").write_text("title: t\n", encoding="utf-8")
    monkeypatch.setattr(module, "_FOLDERS", (inside, tmp_path / "none"))
    assert bundled() == {"mine": inside / "mine.yaml"}
    monkeypatch.setattr(module, "_FOLDERS", (tmp_path / "none",))
    assert bundled() == {}


def test_a_name_means_the_same_as_the_path() -> None:
    [by_name], [by_path] = load_recipes([Path("e4-keel")]), load_recipes([FOLDER / "e4-keel.yaml"])
    assert (by_name.sha256, by_name.tasks, by_name.file.name) == (by_path.sha256, by_path.tasks, by_path.file.name)
    assert by_name.path == "e4-keel"


def test_a_file_hides_the_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert located(Path("e4-keel")) == bundled()["e4-keel"]
    Path("e4-keel").write_text("title: mine\n", encoding="utf-8")
    assert located(Path("e4-keel")) == Path("e4-keel")
    assert located(Path("sub/e4-keel")) == Path("sub/e4-keel")
    assert located(Path("e4-keel.yaml")) == Path("e4-keel.yaml")


def test_an_unknown_name_is_told_of_the_nearest() -> None:
    with pytest.raises(RecipeError, match=r"e4-kele: there is no file .*did you mean e4-keel\?"):
        located(Path("e4-kele"))


def test_from_another_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    listed = CliRunner().invoke(app, ["recipe", "list"])
    assert listed.exit_code == 0
    assert [line.split()[0] for line in listed.stdout.splitlines()] == ["NAME", *bundled()]
    ran = CliRunner().invoke(app, ["run", "audit-dob-scv", "--quiet", "--jobs", "1"])
    assert ran.exit_code == 0, ran.stderr
    unknown = CliRunner().invoke(app, ["audit", "--recipe", "nowhere"])
    assert unknown.exit_code == 2
    assert "nowhere: there is no file of this name, and no recipe" in unknown.stderr
