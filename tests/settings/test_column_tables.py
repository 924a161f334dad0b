"""The table `columns` of pyproject.toml and of recipes stands for the settings of single columns."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest
from typer.testing import CliRunner

from picsc.errors import RecipeError
from picsc.recipes.load import load_recipes
from picsc.settings import AuditSettings, CvSettings
from picsc.settings.column_tables import column_settings
from picsc.settings.recipe_schema import recipe_schema
from picsc_cli.app import app

PROJECT = """
[tool.picsc.audit]
monitor = ["site"]
[tool.picsc.audit.columns.age]
min-effect = 0.2
[tool.picsc.audit.columns."ward-*"]
role = "monitor"
[tool.picsc.audit.columns.notes]
role = "ignore"
"""


def shown(folder: Path, monkeypatch: pytest.MonkeyPatch, *arguments: str) -> tuple[int, dict[str, object], str]:
    monkeypatch.chdir(folder)
    done = CliRunner().invoke(app, ["config", "audit", *arguments, "--output", "json"])
    held = json.loads(done.stdout)["settings"] if done.exit_code == 0 else {}
    settings = {name: each["value"] for name, each in held.items()}
    return done.exit_code, settings, done.stderr


def test_a_project_says_it_by_column(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "pyproject.toml").write_text(PROJECT, encoding="utf-8")
    code, settings, _ = shown(tmp_path, monkeypatch)
    assert code == 0
    assert settings["min_effect_of"] == ["age=0.2"]
    assert settings["monitor"] == ["site", "ward-*"]  # a hyphen in a name stays one
    assert settings["read.drop"] == ["notes"]
    code, settings, _ = shown(tmp_path, monkeypatch, "--monitor", "bmi")
    assert settings["monitor"] == ["bmi"]  # a flag takes the place of the list, as everywhere


def test_a_recipe_says_it_by_column(tmp_path: Path) -> None:
    file = tmp_path / "r.yaml"
    file.write_text(
        "title: t\nverb: audit\ndata: [iris]\ncut: {folds: 5}\ncolumns:\n  petal*: {min_effect: 0.3, role: monitor}\n",
        encoding="utf-8",
    )
    [loaded] = load_recipes([file])
    settings = loaded.tasks[0].settings
    assert isinstance(settings, AuditSettings)
    assert (settings.min_effect_of, settings.monitor) == (("petal*=0.3",), ("petal*",))
    jsonschema.validate(
        {"title": "t", "verb": "audit", "data": ["iris"], "columns": {"a": {"role": "ignore"}}}, recipe_schema()
    )


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ("columns: 3", "columns = 3: must be a table with one table per column"),
        ("columns: {a: 3}", "columns.a = 3: must be a table with min-effect, role, or both"),
        ("columns: {a: {min_effect: 2}}", "columns.a.min_effect = 2: must be a number of at least 0 and less than 1"),
        ("columns: {a: {min_effect: true}}", "columns.a.min_effect = true: must be a number of at least 0"),
        ("columns: {a: {role: warn}}", "columns.a.role = 'warn': must be 'test', 'monitor' or 'ignore'"),
        ("columns: {a: {roles: test}}", "columns.a.roles: known: min-effect, role"),
    ],
)
def test_what_is_wrong_is_named(table: str, said: str, tmp_path: Path) -> None:
    file = tmp_path / "r.yaml"
    file.write_text(f"title: t\nverb: audit\ndata: [iris]\ncut: {{folds: 5}}\n{table}\n", encoding="utf-8")
    with pytest.raises(RecipeError) as caught:
        load_recipes([file])
    assert said in str(caught.value)


def test_other_verbs_have_no_such_table() -> None:
    values = {"columns": {"a": {"role": "ignore"}}}
    assert column_settings(values, CvSettings) == (values, [])
