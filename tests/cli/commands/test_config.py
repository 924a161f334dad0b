"""`picsc config` and `--recipe`, `--isolated`: flags over a recipe over pyproject.toml over defaults."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from picsc_cli.app import app

RECIPE = "title: t\nverb: {verb}\ndata: [{data}]\n"


def picsc(*arguments: str) -> tuple[int, str, str]:
    """Exit code, standard output and standard error of `picsc` in this process."""
    result = CliRunner().invoke(app, list(arguments))
    return result.exit_code, result.stdout, result.stderr


def given(*arguments: str) -> dict[str, tuple[object, str]]:
    """Values and origins of `picsc config` that are no defaults."""
    code, out, err = picsc("config", *arguments, "--output", "json")
    assert (code, err) == (0, "")
    settings = json.loads(out)["settings"]
    return {name: (one["value"], one["from"]) for name, one in settings.items() if one["from"] != "default"}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with settings of its own, as the working folder."""
    (tmp_path / "pyproject.toml").write_text(
        "[tool.picsc]\nseed = 5\nread.target = 'label'\n[tool.picsc.audit]\ncut.folds = 4\nlevel = 0.01\n"
    )
    rows = [f"{i % 7}.{i % 10},{i % 3},{'ab'[i % 2]}" for i in range(60)]
    (tmp_path / "x.csv").write_text("\n".join(["u,v,label", *rows]) + "\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def recipe(folder: Path, rest: str = "", *, verb: str = "audit", data: str = "x.csv") -> str:
    (folder / "r.yaml").write_text(RECIPE.format(verb=verb, data=data) + rest)
    return "r.yaml"


# What is shown


def test_every_setting_says_where_it_comes_from(folder: Path) -> None:
    file = recipe(folder, "level: 0.02\ndraws: 199\n")
    assert given("audit", "--recipe", file, "--draws", "99") == {
        "read.target": ("label", "pyproject.toml"),
        "cut.folds": (4, "pyproject.toml"),
        "level": (0.02, "r.yaml"),
        "draws": (99, "flag"),
        "seed": (5, "pyproject.toml"),
    }


def test_a_way_to_cut_takes_the_place_of_another(folder: Path) -> None:
    assert given("x.csv", "--batches", "3")["cut.batches"] == (3, "flag")
    assert "cut.folds" not in given("x.csv", "--batches", "3")


def test_isolated_leaves_the_project_out(folder: Path) -> None:
    assert given("--isolated") == {}


def test_the_verb_is_audit_unless_it_is_named(folder: Path) -> None:
    assert given()["cut.folds"] == (4, "pyproject.toml")
    assert given("cv", "--lambda", "3") == {
        "read.target": ("label", "pyproject.toml"),
        "penalty.strength": (3.0, "flag"),
        "seed": (5, "pyproject.toml"),
    }


@pytest.mark.parametrize("verb", ["audit", "cv", "compare", "fed"])
def test_the_table_is_aligned_and_shows_every_setting(folder: Path, verb: str) -> None:
    code, out, err = picsc("config", verb, "--seed", "3")
    assert (code, err) == (0, "")
    head, blank, names, *rows = out.splitlines()
    assert (head, blank) == (f"picsc {verb}, pyproject.toml", "")
    column = names.index("FROM")
    assert all(row[column - 1] == " " and row[column] != " " for row in rows)
    assert [row.split() for row in rows if row.startswith("seed")] == [["seed", "flag", "3"]]
    assert len(rows) > 25


def test_what_a_project_says_of_exit_codes_is_shown(folder: Path) -> None:
    (folder / "pyproject.toml").write_text("[tool.picsc.audit]\nfail-on = 'never'\n")
    assert given() == {"fail_on": ("never", "pyproject.toml")}


def test_numbers_of_every_verb_are_those_of_its_own_options(folder: Path) -> None:
    code, _, err = picsc("config", "fed", "--folds", "3")
    assert code == 2
    assert "--folds" in err
    assert picsc("config", "--level", "7") == (2, "", "picsc: --level 7.0: must be less than 1\n")
    assert "--level" in picsc("config", "audit", "--help")[1]


def test_a_broken_project_is_told_and_nothing_runs(folder: Path) -> None:
    (folder / "pyproject.toml").write_text("[tool.picsc]\nlevel = 7\nfoldz = 3\n")
    said = (
        "picsc: pyproject.toml:2: tool.picsc.level = 7: must be less than 1\n"
        "picsc: pyproject.toml:3: tool.picsc.foldz: unknown key; did you mean cut.folds?\n"
    )
    assert picsc("config", "cv") == (2, "", said)
    assert picsc("audit", "x.csv") == (2, "", said)
    assert picsc("cv", "x.csv") == (2, "", said)


def test_config_helps_without_loading_anything_heavy() -> None:
    program = (
        "import sys; from picsc_cli.app import main\ntry: main()\nfinally: print(*sorted(sys.modules), file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, "config", "--help"], capture_output=True, text=True, check=True
    )
    loaded = {name.partition(".")[0] for name in done.stderr.split()}
    assert not loaded & {"torch", "sklearn", "pandas", "numpy", "pydantic", "yaml", "tomllib"}


# What is run


def test_an_audit_takes_the_settings_and_the_data_of_a_recipe(folder: Path) -> None:
    file = recipe(folder, "cut: {folds: 2}\ndraws: 99\n")
    code, out, err = picsc("audit", "--recipe", file, "--output", "json", "--seed", "9", "--fail-on", "never")
    body = json.loads(out)
    assert code == 0
    assert err.splitlines()[0] == "picsc: settings from pyproject.toml: read.target, level"
    settings = body["settings"]
    assert (settings["seed"], settings["level"], settings["draws"], settings["cut"]["folds"]) == (9, 0.01, 99, 2)
    assert body["data"]["rows"] == 60


def test_quiet_says_nothing_of_the_project(folder: Path) -> None:
    code, _, err = picsc("audit", "x.csv", "--draws", "99", "--quiet", "--fail-on", "never")
    assert (code, err) == (0, "")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("cv", "--recipe", "r.yaml"), "--recipe r.yaml is for picsc audit, not picsc cv; use `picsc run r.yaml`"),
        (("audit", "--recipe", "two.yaml"), "--recipe two.yaml names 2 data sets; give DATA or --dataset, or use"),
        (("audit", "--recipe", "grids.yaml"), "--recipe grids.yaml has grids; say how to cut on the command line"),
        (("audit", "--recipe", "no.yaml"), "no.yaml: cannot be read ("),
        (("audit", "--recipe", "gone.yaml"), "gone.yaml:3: data[1] = 'gone.csv': must be a name, or a file in "),
    ],
)
def test_a_recipe_must_be_one_run_of_the_verb(folder: Path, arguments: tuple[str, ...], said: str) -> None:
    recipe(folder)
    for name, data, rest in (
        ("two", "x.csv, iris", ""),
        ("grids", "x.csv", "grids: {folds: [2]}\n"),
        ("gone", "gone.csv", ""),
    ):
        (folder / f"{name}.yaml").write_text(RECIPE.format(verb="audit", data=data) + rest)
    code, out, err = picsc(*arguments)
    assert (code, out) == (2, "")
    assert err.startswith(f"picsc: {said}")
    assert err.count("\n") == 1


def test_data_of_the_command_line_wins_over_those_of_the_recipe(folder: Path) -> None:
    file = recipe(folder, "grids: {folds: [2, 3]}\nlevel: 0.2\n", data="gone.csv, iris")
    found = given("x.csv", "--recipe", file, "--folds", "6")
    assert (found["level"], found["cut.folds"]) == ((0.2, "r.yaml"), (6, "flag"))


def test_flags_of_one_method_go_with_the_methods_of_a_recipe(folder: Path) -> None:
    file = recipe(folder, "methods: [rulsif]\nbias: u\n", verb="compare")
    found = given("compare", "--recipe", file, "--relative", "0.3", "--bias-strength", "2")
    assert found["weigh.relative"] == (0.3, "flag")
    assert picsc("compare", "x.csv", "--relative", "0.3")[2].endswith("--relative goes with --method rulsif\n")


def test_an_entry_of_a_recipe_says_who_the_clients_are(folder: Path) -> None:
    file = recipe(folder, verb="fed", data="{data: x.csv, by: v}")
    assert given("fed", "--recipe", file)["clients.by"] == ("v", "r.yaml")
    assert "clients.by" not in given("fed", "--recipe", file, "--clients", "3")


def test_a_recipe_that_is_run_has_the_project_under_it(folder: Path) -> None:
    file = recipe(folder, "cut: {folds: 2}\ndraws: 99\n")
    code, out, err = picsc("run", file, "--jobs", "1", "--output", "json")
    [table] = json.loads(out)["tables"]
    assert code == 0
    assert err.splitlines()[0] == "picsc: r.yaml: settings from pyproject.toml: seed, read.target, level"
    assert (table["settings"]["seed"], table["settings"]["level"]) == (5, 0.01)
    assert given("--isolated", "--recipe", file)["cut.folds"] == (2, "r.yaml")
    alone = json.loads(picsc("run", file, "--isolated", "--jobs", "1", "--output", "json")[1])["tables"][0]
    assert (alone["settings"]["seed"], alone["settings"]["level"]) == (0, 0.05)


def test_fail_on_of_the_project_decides_the_exit_code(folder: Path) -> None:
    rows = [f"{i * 37 % 100 + i // 100 * 90}.5,{'ab'[i % 2]}" for i in range(200)]
    (folder / "moved.csv").write_text("\n".join(["u,label", *rows]) + "\n")
    arguments = ("audit", "moved.csv", "--batches", "2", "--draws", "99", "--quiet")
    assert picsc(*arguments)[0] == 1
    (folder / "pyproject.toml").write_text("[tool.picsc.audit]\nfail-on = 'never'\noutput = 'json:out.json'\n")
    assert picsc(*arguments)[0] == 0
    assert json.loads((folder / "out.json").read_text(encoding="utf-8"))["verdict"] == "shift"
    assert picsc(*arguments, "--isolated")[0] == 1


def test_a_recipe_that_finds_a_shift_exits_1_unless_told_otherwise(tmp_path: Path) -> None:
    rows = "".join(f"{i * i % 17},{i * i % 31 + 50 * (i >= 150)},{'uv'[i % 2]}\n" for i in range(200))
    (tmp_path / "moved.csv").write_text("a,b,label\n" + rows, encoding="utf-8")
    recipe = tmp_path / "r.yaml"
    recipe.write_text(
        "title: t\nverb: audit\ndata: [moved.csv]\ndraws: 99\ncut: {batches: 4}\nreference: rest\n", encoding="utf-8"
    )
    calls = [("run", str(recipe), "--quiet", *more) for more in ((), ("--exit-zero",))]
    assert [picsc(*call)[0] for call in calls] == [1, 0]
