"""`picsc recipe`: all problems with their lines and exit 2, and the schema that editors use."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest
from typer.testing import CliRunner

from picsc.recipes.yaml import read_yaml
from picsc.settings import KINDS
from picsc.settings.recipe import Recipe
from picsc.settings.recipe_schema import recipe_schema, schema_text
from picsc_cli.app import app

FOLDER = Path(__file__).parents[3] / "recipes"
RECIPES = sorted(FOLDER.glob("*.yaml"))
GOOD = "title: t\nverb: cv\ndata: [iris]\n"


def picsc(*arguments: str) -> tuple[int, str, str]:
    """Exit code, standard output and standard error of `picsc` in this process."""
    result = CliRunner().invoke(app, list(arguments))
    return result.exit_code, result.stdout, result.stderr


def written(folder: Path, text: str, name: str = "r.yaml") -> str:
    (folder / name).write_text(text, encoding="utf-8")
    return str(folder / name)


def test_p18_unknown_key_and_negative_lambda(tmp_path: Path) -> None:
    path = written(tmp_path, f"{GOOD}cut:\n  foldz: 10\nlambda: -1\n")
    said = (
        f"picsc: {path}:5: cut.foldz: unknown key; did you mean folds?\n"
        f"picsc: {path}:6: lambda = -1: must be greater than or equal to 0, or 'auto' or 'posterior'\n"
    )
    assert picsc("recipe", "check", path) == (2, "", said)
    assert picsc("run", path) == (2, "", said)


def test_good_ones_have_a_line_each_beside_the_problems_of_the_others(tmp_path: Path) -> None:
    good, grids = written(tmp_path, GOOD), written(tmp_path, f"{GOOD}grids: {{folds: [2, 5]}}\n", "g.yaml")
    bad, worse = written(tmp_path, "a: 1\na: 2\n", "b.yaml"), written(tmp_path, f"{GOOD}seed: x\n", "c.yaml")
    assert picsc("recipe", "check", good, grids) == (0, f"{good}: fine, 1 run of cv\n{grids}: fine, 2 runs of cv\n", "")
    code, out, err = picsc("recipe", "check", bad, good, worse)
    assert (code, out) == (2, f"{good}: fine, 1 run of cv\n")
    assert [line.split(": ")[1:3] for line in err.splitlines()] == [
        [f"{bad}:2", "the key 'a' stands here and on line 1; remove one of them"],
        [f"{worse}:4", "seed = 'x'"],
    ]


@pytest.mark.parametrize(
    ("verb", "key", "said"),
    [
        ("cv", "foldz: 3", "foldz: unknown key; did you mean cut.folds?"),
        ("cv", "target: no", "target: unknown key; did you mean read.target?"),
        ("audit", "lambda: 1", "lambda: unknown key; a penalty of this name is a setting of cv, compare and fed"),
        ("cv", "penalty: {lambda: 2}\nlambda: 1", "lambda: is the same setting as penalty.lambda; give one of them"),
        ("cv", "penalty: 3\nlambda: 1", "penalty = 3: must be a table of keys and values"),
        ("cv", "lambda: []", "lambda = []: must be a number, or 'auto'"),
        ("cv", "min-rows: 3", "min-rows: unknown key (known: algorithm, backwards, batch_shift, cut, data,"),
        ("cv", f"title: {'x' * 5000}", "the key 'title' stands here and on line 1"),
        ("cv", f"seed: {'x' * 5000}", f"seed = '{'x' * 56}...: must be a whole number"),
    ],
)
def test_what_was_meant_is_suggested(tmp_path: Path, verb: str, key: str, said: str) -> None:
    path = written(tmp_path, f"{GOOD.replace('cv', verb)}{key}\n")
    assert f": {said}" in picsc("recipe", "check", path)[2].splitlines()[0]


@pytest.mark.parametrize(
    ("text", "strength"),
    [("verb: cv\nlambda: 1e-1", 0.1), ("verb: compare\npenalty: {lambda: 1e-1}", 0.1), ("verb: fed\nlambda: 2", 2)],
)
def test_lambda_is_the_strength_of_the_penalty(tmp_path: Path, text: str, strength: float) -> None:
    path = written(tmp_path, f"title: t\ndata: [iris]\n{text}\n")
    verb = text.split()[1]
    code, out, _ = picsc("config", verb, "--isolated", "--recipe", path, "--output", "json")
    name = "strength" if verb == "fed" else "penalty.strength"
    assert code == 0
    assert json.loads(out)["settings"][name] == {"value": strength, "from": path}


def test_a_project_lies_under_what_is_checked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    written(tmp_path, "[tool.picsc.cv]\nseed = -1\n", "pyproject.toml")
    path = written(tmp_path, GOOD)
    assert picsc("recipe", "check", path)[0] == 2
    assert picsc("recipe", "check", path, "--isolated")[0] == 0


# The schema


def schema_errors(values: object) -> list[str]:
    """Messages of a validator that knows nothing of picsc."""
    checker = jsonschema.Draft202012Validator(recipe_schema())
    return [error.message for error in checker.iter_errors(json.loads(json.dumps(values)))]


def test_the_schema_in_the_tree_is_that_of_the_settings() -> None:
    assert (FOLDER / "recipe.schema.json").read_text(encoding="utf-8") == schema_text()
    assert picsc("recipe", "schema")[1] == schema_text()
    jsonschema.Draft202012Validator.check_schema(recipe_schema())


@pytest.mark.parametrize("path", RECIPES, ids=lambda path: path.stem)
def test_recipes_in_the_tree_satisfy_it(path: Path) -> None:
    assert schema_errors(read_yaml(path.read_bytes()).values) == []


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"verb": "cv", "foldz": 3}, "'foldz' was unexpected"),
        ({"verb": "cv", "lambda": -1}, "-1 is not valid"),
        ({"verb": "audit", "lambda": 1}, "'lambda' was unexpected"),
        ({"verb": "fed", "cut": {"folds": 3}}, "'cut' was unexpected"),
        ({"verb": "audit", "level": "high"}, "'high' is not of type 'number'"),
        ({"verb": "cvv"}, "'cvv' is not one of"),
    ],
)
def test_it_finds_what_the_command_finds(values: dict[str, object], said: str) -> None:
    [message] = schema_errors({"title": "t", "data": ["iris"], **values})
    assert said in message


@pytest.mark.parametrize("verb", KINDS)
def test_it_knows_every_key_of_every_verb(verb: str) -> None:
    known = set(recipe_schema()["$defs"][verb]["properties"]) - {"lambda", "columns"}
    assert known == {*Recipe.model_fields, *KINDS[verb].model_fields}
    assert schema_errors({"title": "t", "verb": verb, "data": ["a", {"data": "b", "train_on": [3]}]}) == []
