"""Recipes: those in the tree are sound, and a bad one says all that is wrong with it before anything slow starts."""

from __future__ import annotations

import pickle
import subprocess
import sys
from pathlib import Path

import pytest

from picsc.errors import RecipeError
from picsc.recipes.load import load_recipes
from picsc.settings import METHODS, AuditSettings, CompareSettings, CvSettings, FedSettings
from tests.recipe_lines import unnumbered

RECIPES = sorted((Path(__file__).parents[2] / "recipes").glob("*.yaml"))
EXPERIMENTS = ("e1-batchwise", "e2-batchwise", "e3-image", "e3-keel", "e4-image", "e4-keel")
UNKNOWN = ("appendicitis", "bupa", "monk-2")
GOOD = "title: t\nverb: cv\ndata: [wdbc]\n"


def written(folder: Path, text: str, name: str = "x.yaml") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def problems_of(*paths: Path) -> tuple[str, ...]:
    with pytest.raises(RecipeError) as raised:
        load_recipes(paths)
    return raised.value.problems


@pytest.mark.parametrize("path", RECIPES, ids=lambda path: path.stem)
def test_recipe_is_valid_and_says_which_data_it_uses(path: Path) -> None:
    [loaded] = load_recipes([path])
    assert loaded.tasks
    assert loaded.recipe.version
    assert loaded.recipe.title


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_every_experiment_has_a_smoke_twin_and_prints_every_number_of_the_paper(name: str) -> None:
    full, smoke = load_recipes([RECIPES[0].parent / f"{name}{ending}.yaml" for ending in ("", "-smoke")])
    counts = {*full.recipe.grids.folds, *full.recipe.grids.batches}
    assert set(full.recipe.printed) == set(full.recipe.names)
    assert all(set(numbers) == counts for numbers in full.recipe.printed.values())
    assert len(smoke.tasks) <= 2
    assert all(task.settings.train.epochs <= 5 for task in smoke.tasks)
    assert {task.settings.penalty.strength for task in full.tasks} == {0.1}


@pytest.mark.parametrize("kind", ["keel", "image"])
def test_both_tables_of_an_experiment_come_from_the_same_models(kind: str) -> None:
    e3, e4 = load_recipes([RECIPES[0].parent / f"{name}-{kind}.yaml" for name in ("e3", "e4")])
    assert e3.tasks == e4.tasks
    assert (e3.recipe.paper.method, e4.recipe.paper.method) == ("st-cv", "picsc")


def test_the_tables_are_27_of_which_24_count() -> None:
    [loaded] = load_recipes([RECIPES[0].parent / "e4-keel.yaml"])
    assert len(loaded.recipe.data) == 27
    assert loaded.recipe.unknown_version == UNKNOWN
    counted = [numbers for name, numbers in loaded.recipe.printed.items() if name not in UNKNOWN]
    assert len(counted) == 24
    for pieces, mean in ((2, 81.9), (5, 82.0), (10, 81.9)):
        printed = [numbers[pieces] for numbers in loaded.recipe.printed.values()]
        assert round(sum(printed) / 27, 1) == mean  # a slip in one number would show here


def test_grids_make_one_task_per_number_of_pieces(tmp_path: Path) -> None:
    text = f"{GOOD}grids: {{batches: [4, 2]}}\nrepeats: 3\ntrain: {{lr: 1e-3}}\n"
    [loaded] = load_recipes([written(tmp_path, text)])
    settings = [task.settings for task in loaded.tasks]
    assert [one.cut.batches for one in settings] == [4, 2]
    assert not any(one.cut.shuffle for one in settings)
    assert {(one.repeats, one.train.lr, one.methods) for one in settings} == {(3, 0.001, METHODS)}


def test_folds_of_a_recipe_are_shuffled_as_on_the_command_line(tmp_path: Path) -> None:
    [loaded] = load_recipes([written(tmp_path, f"{GOOD}grids: {{folds: [3]}}\ncut: {{splitter: kfold}}\n")])
    assert loaded.tasks[0].settings.cut.shuffle
    assert loaded.tasks[0].settings.cut.folds == 3


def test_an_audit_keeps_its_own_settings() -> None:
    [loaded] = load_recipes([RECIPES[0].parent / "audit-breast-cancer.yaml"])
    assert loaded.tasks[0].settings == AuditSettings(
        read={"target": "target"}, cut={"folds": 10, "splitter": "stratified"}, reference="rest"
    )


def test_files_are_relative_to_the_recipe(tmp_path: Path) -> None:
    written(tmp_path, "a,b\n1,2\n", "table.csv")
    [loaded] = load_recipes([written(tmp_path, "title: t\nverb: cv\ndata: [table.csv, iris]\n")])
    assert [(task.data, task.is_file) for task in loaded.tasks] == [
        (str(tmp_path / "table.csv"), True),
        ("iris", False),
    ]


def test_all_problems_of_all_files_are_told_at_once(tmp_path: Path) -> None:
    first = written(
        tmp_path,
        "title: t\nverb: cvv\ndata: [a]\nfolds: 3\ncut: {foldz: 3}\ngrids: {folds: [1, 2]}\n"
        "penalty: {strength: -1, kind: kll}\nprinted: {a: {3: 120}}\n",
    )
    second = written(tmp_path, "a: [", "y.yaml")
    found = problems_of(first, second, tmp_path / "z.yaml")
    assert found[:8] == (
        f"{first}:2: verb = 'cvv': must be 'audit', 'cv', 'compare' or 'fed'",
        f"{first}:4: folds: unknown key; did you mean cut.folds?",
        f"{first}:5: cut.foldz: unknown key; did you mean folds?",
        f"{first}:6: grids.folds[1] = 1: must be greater than or equal to 2",
        f"{first}:7: penalty.kind = 'kll': must be 'kl', 'frobenius' or 'trace'",
        f"{first}:7: penalty.strength = -1: must be greater than or equal to 0, or 'auto' or 'posterior'",
        f"{first}:8: printed.a.3 = 120: must be less than or equal to 100",
        found[7],
    )
    assert found[7].startswith(f"{second}:1: is no YAML: ")
    assert found[8].startswith(f"{tmp_path / 'z.yaml'}: cannot be read (")
    assert len(found) == 9


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("- 1\n", "must hold keys and values"),
        ("", "is empty; it must hold keys and values"),
        ("verb: cv\ndata: [a]\n", "title: must be given"),
        ("title: t\nverb: cv\ndata: []\n", "data = []: must be "),
        ("title: t\nverb: cv\ndata: [no.csv]\n", "data[1] = 'no.csv': must be a name, or a file in "),
        (f"{GOOD}grids: {{folds: [2], batches: [2]}}\n", "grids = 'folds and batches': must be one of the two"),
        (f"{GOOD}grids: {{folds: [2]}}\ncut: {{batches: 3}}\n", "cut.batches = 3: must be left out"),
        (f"{GOOD}grids: {{batches: [2]}}\ncut: {{splitter: kfold}}\n", "cut.splitter = 'kfold': must be left out"),
        (
            f"{GOOD}grids: {{strength: [1]}}\npenalty: {{strength: 2}}\n",
            "penalty.strength = 2.0: must be left out, since grids.strength gives it",
        ),
        (f"{GOOD}grids: {{strength: [-1]}}\n", "grids.strength[1] = -1: must be greater than or equal to 0"),
        (
            "title: t\nverb: fed\ndata: [wdbc]\ngrids: {clients: [2], strength: [1]}\n",
            "grids.strength = [1.0]: must be left out, since only verb: cv has it",
        ),
        (f"{GOOD}cut: {{folds: 3, by: a}}\n", "cut: choose one way to cut, not 2: --folds, --by"),
        (f"{GOOD}unknown_version: [iris]\n", "unknown_version = 'iris': must be a data set in data: wdbc"),
        (f"{GOOD}paper: {{table: E3, method: cv}}\n", "paper.method = 'cv': must be 'st-cv', 'picsc'"),
        (f"{GOOD}paper: {{tabel: E3}}\n", "paper.tabel: unknown key; did you mean table?"),
        (f"{GOOD}cut: {{folds: 3}}\nprinted: {{wdbc: {{3: 9}}}}\n", "paper: must be given where printed is"),
        (
            f"{GOOD}cut: {{folds: 3}}\nprinted: {{wdbc: {{4: 9}}}}\npaper: {{table: E3, method: picsc}}\n",
            "printed.wdbc = [4]: must be of a number of pieces that is run: 3",
        ),
        (
            f"{GOOD}cut: {{folds: 3}}\nprinted: {{iris: {{3: 9}}}}\npaper: {{table: E3, method: picsc}}\n",
            "printed.iris = {3: 9.0}: must be of a data set in data: wdbc",
        ),
    ],
)
def test_what_is_wrong_is_named_with_its_bound(tmp_path: Path, text: str, expected: str) -> None:
    path = written(tmp_path, text)
    assert any(unnumbered(problem).startswith(f"{path}: {expected}") for problem in problems_of(path))


def test_a_recipe_error_survives_the_way_between_processes() -> None:
    assert pickle.loads(pickle.dumps(RecipeError(("a", "b")))).problems == ("a", "b")  # noqa: S301 - our own bytes


def test_reading_recipes_loads_nothing_heavy() -> None:
    program = (
        "import sys; from pathlib import Path; from picsc.recipes.load import load_recipes\n"
        "load_recipes([Path(path) for path in sys.argv[1:]])\n"
        "assert not {'torch', 'sklearn', 'pandas', 'scipy', 'numpy'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", program, *map(str, RECIPES)], check=True)


def test_settings_of_the_recipes_are_those_of_their_verb() -> None:
    kinds = {loaded.recipe.verb: type(loaded.tasks[0].settings) for loaded in load_recipes(RECIPES)}
    assert kinds == {"audit": AuditSettings, "cv": CvSettings, "fed": FedSettings, "compare": CompareSettings}
