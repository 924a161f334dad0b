"""Every setting of every verb can be given on the command line, in a recipe, in pyproject.toml and from Python."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

import pytest
import yaml
from typer.testing import CliRunner

from picsc.recipes.load import load_recipes
from picsc.settings import KINDS, REFERENCES, Settings
from picsc.settings.by_keyword import from_keywords
from picsc.settings.option import Setting, settings_of
from picsc_cli.app import app

NEEDS: Mapping[str, Mapping[str, Any]] = {
    "cut.every": {"cut.time": "when"},
    "cut.cuts": {"cut.time": "when"},
    "cut.gap": {"cut.time": "when"},
    "cut.mix_time": {"cut.time": "when"},
    "cut.group_missing": {"cut.group": "person"},
    "clients.partition": {"clients.clients": 3},
    "clients.concentration": {"clients.clients": 3, "clients.partition": "dirichlet"},
    "clients.classes": {"clients.clients": 3, "clients.partition": "classes"},
    "clients.noise": {"clients.clients": 3, "clients.partition": "noise"},
    "clients.min_rows": {"clients.clients": 3},
    "train.model_options": {"train.model": "sklearn:ensemble.RandomForestClassifier"},
    "model_options": {"model": "own.py:make"},
    "batch_shift": {"cut.batches": 3},
    "backwards": {"cut.batches": 3},
    "penalty.strength": {"algorithm": 2},
    "train_on": {"cut.by": "site"},
    "test_on": {"cut.by": "site"},
    "bias_strength": {"bias": "age"},
    "strict_schema": {"reference": "/data/old.csv"},
    "weigh.relative": {"methods": ["st-cv", "rulsif"]},
    "weigh.bound": {"methods": ["st-cv", "kmm"]},
    "weigh.ridge": {"methods": ["st-cv", "kmm"]},
    "weigh.match": {"methods": ["st-cv", "diw"]},
    "deploy_interval": {"deploy": "same"},
    "labelled": {"methods": ["st-cv", "diw"]},
}
"""Settings that a setting does not go without."""
SAMPLES: Mapping[str, Any] = {
    "cut.every": "30d",
    "engine": "dask:tcp://10.0.0.1:8786",
    "min_effect_of": ["age=0.2"],
    "cut.gap": "7d",
    "reference": REFERENCES[2],
    "methods": ["st-cv"],
    "cut.split_column": "part",
    "train.model": "sklearn:ensemble.RandomForestClassifier",
    "train.model_options": ["max_depth=3", "max_features=[1,2]"],
    "model_options": ["hidden=3"],
    "metrics": ["roc_auc", "f1_macro"],
    "read.date_format": ["one=%d.%m.%Y", "epoch"],
}
CASES = [(verb, each) for verb, kind in KINDS.items() for each in settings_of(kind, verb)]
EVERY = pytest.mark.parametrize(("verb", "setting"), CASES, ids=[f"{verb}:{each.name}" for verb, each in CASES])


def sample(verb: str, setting: Setting) -> Any:
    """A value that is allowed and is not the default."""
    default, annotation = setting.info.default, setting.info.annotation
    choices = [option for part in (annotation, *get_args(annotation)) for option in literals(part)]
    if setting.name == "model" and verb == "audit":
        return "own.py:make"
    if setting.name == "methods" and verb == "fed":
        return ["fedavg"]
    if setting.name in SAMPLES:
        return SAMPLES[setting.name]
    if isinstance(default, bool):
        return not default
    if setting.is_list:
        return ["one", "two"]
    others = [choice for choice in choices if choice != default and choice != "auto"]
    if others:
        return others[0]
    numbers = {part for part in flat(annotation) if part in (int, float)}
    if numbers == {int}:
        return 4321 if setting.path[-1] == "draws" else 12
    return 0.25 if numbers else "words"


def flat(annotation: Any) -> list[Any]:
    inner = get_args(annotation)
    return [annotation] if not inner else [found for part in inner for found in flat(part)]


def literals(annotation: Any) -> tuple[Any, ...]:
    return get_args(annotation) if get_origin(annotation) is Literal else ()


def wanted(verb: str, setting: Setting) -> dict[str, Any]:
    value = sample(verb, setting)
    needed = dict(NEEDS.get(setting.name, {}))
    if setting.name == "weigh.bound":
        value = 12.5
    if setting.name == "cut.shuffle" and verb != "audit":
        needed, value = {}, False
    return {**needed, setting.name: value}


def nested(values: Mapping[str, Any]) -> dict[str, Any]:
    tables: dict[str, Any] = {}
    for name, value in values.items():
        *path, last = name.split(".")
        into = tables
        for part in path:
            into = into.setdefault(part, {})
        into[last] = value
    return tables


def words(verb: str, values: Mapping[str, Any]) -> list[str]:
    """The values as options."""
    by_name = {each.name: each for each in settings_of(KINDS[verb], verb)}
    found: list[str] = []
    for name, value in values.items():
        option = by_name[name].option
        found.append(option.opposite if option.opposite and value is not option.turns else by_name[name].flag)
        if not by_name[name].is_switch:
            found.append(",".join(value) if isinstance(value, list) else str(value))
    return found


def held(settings: Settings, name: str) -> Any:
    value: Any = settings
    for part in name.split("."):
        value = getattr(value, part)
    return list(value) if isinstance(value, tuple) else value


def shown(arguments: list[str]) -> dict[str, Any]:
    done = CliRunner().invoke(app, ["config", *arguments, "--output", "json"])
    assert done.exit_code == 0, done.output
    settings: dict[str, Any] = json.loads(done.stdout)["settings"]
    return settings


@EVERY
def test_command_line(verb: str, setting: Setting, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    values = wanted(verb, setting)
    found = shown([verb, "data.csv", *words(verb, values)])
    assert {name: found[name]["value"] for name in values} == values
    assert found[setting.name]["from"] == "flag"


@EVERY
def test_recipe(verb: str, setting: Setting, tmp_path: Path) -> None:
    values = wanted(verb, setting)
    path = tmp_path / "recipe.yaml"
    path.write_text(yaml.safe_dump({"title": "t", "verb": verb, "data": ["iris"], **nested(values)}), encoding="utf-8")
    [loaded] = load_recipes([path], with_data=False)
    assert {name: held(loaded.tasks[0].settings, name) for name in values} == values


@EVERY
def test_pyproject(verb: str, setting: Setting, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    values = wanted(verb, setting)
    lines = [f"{name} = {json.dumps(value)}" for name, value in values.items()]
    (tmp_path / "pyproject.toml").write_text("\n".join([f"[tool.picsc.{verb}]", *lines]), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    found = shown([verb, "data.csv"])
    assert {name: found[name]["value"] for name in values} == values
    assert found[setting.name]["from"] == "pyproject.toml"


@EVERY
def test_python(verb: str, setting: Setting) -> None:
    values = wanted(verb, setting)
    by_name = {each.name: each.keyword for each in settings_of(KINDS[verb], verb)}
    settings = from_keywords(KINDS[verb], verb, {by_name[name]: value for name, value in values.items()})
    assert {name: held(settings, name) for name in values} == values
