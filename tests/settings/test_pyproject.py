"""`[tool.picsc]` of pyproject.toml: where it is looked for, what it may say, and what wins over it."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import BaseModel

from picsc.errors import RecipeError, SettingsError
from picsc.recipes.load import load_recipes
from picsc.settings import AuditSettings, CompareSettings, CvSettings, FedSettings, Settings
from picsc.settings.layers import FLAG, Layer, resolved
from picsc.settings.pyproject import ProjectFile, project_file


def project(folder: Path, text: str) -> ProjectFile:
    (folder / "pyproject.toml").write_text(text, encoding="utf-8")
    found = project_file(folder)
    assert found is not None
    return found


def problems(folder: Path, text: str) -> tuple[str, ...]:
    with pytest.raises(RecipeError) as raised:
        project(folder, text)
    return raised.value.problems


def joined(kind: type[Settings], *values: dict[str, object]) -> Settings:
    """Settings of several files, and of flags on top."""
    layers = [Layer(f"file {i}", each) for i, each in enumerate(values[:-1])]
    return resolved(kind, [*layers, Layer(FLAG, values[-1])]).settings


# Where it is looked for


def test_the_first_with_a_table_of_ours_from_the_working_folder_upward_holds(tmp_path: Path) -> None:
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    (tmp_path / "pyproject.toml").write_text("[tool.picsc]\nseed = 1\n")
    (tmp_path / "a" / "pyproject.toml").write_text("[tool.ruff]\nline-length = 9\n")
    found = project_file(inner)
    assert found is not None
    assert (found.path, found.shown) == (tmp_path / "pyproject.toml", str(tmp_path / "pyproject.toml"))
    (tmp_path / "a" / "pyproject.toml").write_text("[tool.picsc]\n")
    nearer = project_file(inner)
    assert nearer is not None
    assert nearer.layers("audit")[0].values == {}


def test_without_a_table_of_ours_there_is_none_even_if_the_file_is_broken(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[[[")
    assert project_file(tmp_path) is None


# What it may say


def test_general_keys_hold_for_every_verb_that_has_them(tmp_path: Path) -> None:
    found = project(
        tmp_path,
        "[tool.picsc]\nseed = 7\nmin-effect = 0.1\n[tool.picsc.read]\ntarget = 'y'\n"
        "[tool.picsc.cv]\nlambda = 0.2\nseed = 8\n[tool.picsc.audit.cut]\nfolds = 4\n",
    )
    audit, cv = (resolved(kind, found.layers(verb)) for kind, verb in ((AuditSettings, "audit"), (CvSettings, "cv")))
    assert audit.settings == AuditSettings(read={"target": "y"}, cut={"folds": 4}, min_effect=0.1, seed=7)
    assert cv.settings == CvSettings(read={"target": "y"}, penalty={"strength": 0.2}, seed=8)
    assert cv.origins == dict.fromkeys([("read", "target"), ("seed",), ("penalty", "strength")], "pyproject.toml")


def test_reports_and_exit_codes_of_audit(tmp_path: Path) -> None:
    found = project(
        tmp_path,
        "[tool.picsc.audit]\nfail-on = 'inconclusive'\noutput = 'junit:x'\nbaseline = 'b.json'\nexit_zero = true",
    )
    assert found.outcome.model_dump() == {
        "output": "junit:x",
        "fail_on": "inconclusive",
        "baseline": tmp_path / "b.json",
        "exit_zero": True,
    }
    assert found.outcome.outputs == ["junit:x"]
    assert found.layers("audit")[1].values == {}


def test_a_file_of_reference_is_beside_it(tmp_path: Path) -> None:
    found = project(tmp_path, "[tool.picsc.audit]\nreference = 'old.csv'\n")
    assert found.layers("audit")[1].values == {"reference": str(tmp_path / "old.csv")}
    assert project(tmp_path, "[tool.picsc]\nreference = 'rest'\n").layers("audit")[0].values == {"reference": "rest"}


def test_all_problems_are_told_at_once_with_lines(tmp_path: Path) -> None:
    text = (
        "[tool.picsc]\nlevle = 1\nseed = -1\n[tool.picsc.train]\nepochs = 0\n[tool.picsc.audit]\nfail-on = 'now'\n"
        "[tool.picsc.audit.cut]\nfoldz = 3\n[tool.picsc.cv]\nmin-rows = 3\nkeep-rare = true\nkeep_rare = false\n"
    )
    assert problems(tmp_path, text) == (
        "pyproject.toml:2: tool.picsc.levle: unknown key; did you mean level?",
        "pyproject.toml:3: tool.picsc.seed = -1: must be greater than or equal to 0",
        "pyproject.toml:5: tool.picsc.train.epochs = 0: must be greater than or equal to 1",
        "pyproject.toml:7: tool.picsc.audit.fail-on = 'now': must be 'shift', 'inconclusive' or 'never'",
        "pyproject.toml:9: tool.picsc.audit.cut.foldz: unknown key; did you mean folds?",
        problems(tmp_path, text)[5],
        "pyproject.toml:13: tool.picsc.cv.keep_rare: is the same setting as keep-rare; give one of them",
    )
    assert problems(tmp_path, text)[5].startswith("pyproject.toml:11: tool.picsc.cv.min-rows: unknown key")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[tool]\npicsc = 3\n", "tool.picsc must be a table"),
        ("[tool.picsc.audit]\noutput = [1]\n", "tool.picsc.audit.output = 1: must be text; put it in quotes"),
        ("[tool.picsc]\ncv = 3\n", "tool.picsc.cv = 3: must be a table: [tool.picsc.cv]"),
        ("[tool.picsc]\nseed = \n", "is no TOML: Invalid value (at line 2, column 8); --isolated leaves it out"),
        ("[tool.picsc]\ncut = 3\n", "tool.picsc.cut = 3: must be a table of keys and values"),
        ("[tool.picsc.audit]\nlambda = 3\n", "tool.picsc.audit.lambda: unknown key; a penalty of this name"),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, text: str, said: str) -> None:
    [problem] = problems(tmp_path, text)
    assert said in problem
    assert problem.startswith("pyproject.toml:")


def test_bytes_that_are_no_text_are_named(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_bytes(b"[tool.picsc]\n# \xff\n")
    with pytest.raises(RecipeError, match=r"pyproject\.toml: is not UTF-8 at byte 16; --isolated"):
        project_file(tmp_path)


# Who wins


@pytest.mark.parametrize(
    ("kind", "below", "above", "expected"),
    [
        (AuditSettings, {"cut": {"folds": 4}}, {"cut": {"batches": 3}}, {"cut": {"batches": 3}}),
        (
            AuditSettings,
            {"cut": {"folds": 4, "splitter": "dob-scv"}},
            {"cut": {"folds": 3}},
            {"cut": {"folds": 3, "splitter": "dob-scv"}},
        ),
        (AuditSettings, {"cut": {"splitter": "dob-scv"}}, {"cut": {"time": "t"}}, {"cut": {"time": "t"}}),
        (AuditSettings, {"cut": {"time": "t", "gap": "1d"}}, {"clients": {"clients": 3}}, {"clients": {"clients": 3}}),
        (AuditSettings, {"clients": {"clients": 3, "partition": "iid"}}, {"cut": {"by": "x"}}, {"cut": {"by": "x"}}),
        (
            AuditSettings,
            {"cut": {"time": "t", "cuts": 3}},
            {"cut": {"every": "1d"}},
            {"cut": {"time": "t", "every": "1d"}},
        ),
        (AuditSettings, {"read": {"no_target": True}}, {"read": {"target": "y"}}, {"read": {"target": "y"}}),
        (AuditSettings, {"read": {"target": "y"}}, {"read": {"no_target": True}}, {"read": {"no_target": True}}),
        (AuditSettings, {"read": {"drop": ["a"]}}, {"read": {"drop": ("b",)}}, {"read": {"drop": ("b",)}}),
        (
            AuditSettings,
            {"read": {"numeric": ["a", "b"]}},
            {"read": {"categorical": ("a",)}},
            {"read": {"numeric": ("b",), "categorical": ("a",)}},
        ),
        (FedSettings, {"clients": {"clients": 3}}, {"clients": {"by": "x"}}, {"clients": {"by": "x"}}),
        (
            FedSettings,
            {"clients": {"clients": 3, "partition": "dirichlet", "concentration": 9}},
            {"clients": {"partition": "iid"}},
            {"clients": {"clients": 3, "partition": "iid"}},
        ),
        (FedSettings, {"steps": 5}, {"epochs": 3}, {"epochs": 3}),
        (CvSettings, {"cut": {"batches": 4}}, {"cut": {"folds": 5}}, {"cut": {"folds": 5, "shuffle": True}}),
        (CvSettings, {"cut": {"folds": 4}}, {"cut": {"batches": 5}}, {"cut": {"batches": 5}}),
        (CvSettings, {"cut": {"shuffle": False}}, {"cut": {"folds": 5}}, {"cut": {"folds": 5, "shuffle": False}}),
        (CompareSettings, {"bias": "auto", "bias_strength": 2}, {"cut": {"by": "x"}}, {"cut": {"by": "x"}}),
        (CompareSettings, {"cut": {"by": "x"}, "test_on": ["a"]}, {"bias": "auto"}, {"bias": "auto"}),
        (CompareSettings, {"bias": "auto"}, {"test_on": ("new.csv",)}, {"test_on": ("new.csv",)}),
    ],
)  # fmt: skip
def test_what_stands_higher_wins_and_takes_the_place_of_what_contradicts_it(
    kind: type[Settings], below: dict[str, object], above: dict[str, object], expected: dict[str, object]
) -> None:
    assert joined(kind, below, above) == kind.model_validate(expected)


def test_what_does_not_go_together_names_the_files() -> None:
    with pytest.raises(SettingsError, match=r"--every and --cuts need --time COL$"):  # which the flags do alone
        joined(AuditSettings, {"seed": 1}, {"cut": {"every": "1d"}})
    with pytest.raises(SettingsError, match=r"--gap needs --time COL \(settings of file 0 took part\)"):
        joined(AuditSettings, {"cut": {"gap": "1d"}}, {"seed": 1})
    with pytest.raises(SettingsError, match=r"--level 7: must be less than 1$"):
        joined(AuditSettings, {"seed": 1}, {"level": 7})


# Under a recipe


@pytest.mark.parametrize(
    ("below", "recipe", "cut"),
    [
        ("[tool.picsc.cv.cut]\nbatches = 4\n", "grids: {folds: [2]}", {"folds": 2, "shuffle": True}),
        (
            "[tool.picsc.cv.cut]\nfolds = 4\nsplitter = 'kfold'\n",
            "grids: {folds: [2]}",
            {"folds": 2, "splitter": "kfold", "shuffle": True},
        ),
        ("[tool.picsc.cv.cut]\nfolds = 4\n", "seed: 3", {"folds": 4, "shuffle": True}),
        ("[tool.picsc.cv.cut]\nfolds = 4\n", "cut: {by: x}", {"by": "x"}),
    ],
)
def test_a_project_lies_under_recipes(tmp_path: Path, below: str, recipe: str, cut: dict[str, object]) -> None:
    path = tmp_path / "x.yaml"
    path.write_text(f"title: t\nverb: cv\ndata: [iris]\n{recipe}\n")
    [loaded] = load_recipes([path], project(tmp_path, f"[tool.picsc]\nrepeats = 9\n{below}"))
    settings = loaded.tasks[0].settings
    assert isinstance(settings, BaseModel)
    assert settings == CvSettings.model_validate({"cut": cut, "repeats": 9, "seed": settings.seed})
    assert loaded.origins["repeats",] == "pyproject.toml"


def test_clients_of_a_project_give_way_to_those_of_a_recipe(tmp_path: Path) -> None:
    path = tmp_path / "x.yaml"
    path.write_text("title: t\nverb: fed\ndata: [{data: iris, by: x}]\n")
    below = project(tmp_path, "[tool.picsc.clients]\nclients = 4\npartition = 'iid'\n")
    assert load_recipes([path], below)[0].tasks[0].settings == FedSettings(clients={"by": "x"})
