"""Running recipes: each task once, rows that could not be run, and the same report for any number of jobs."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from picsc.datasets.catalog.lookup import BUNDLED
from picsc.datasets.catalog.made_names import made_name
from picsc.recipes.load import load_recipes
from picsc.recipes.run import run_recipes
from picsc.recipes.tasks import Place
from picsc.reports.pages.recipes import recipes_contents
from picsc.reports.recipes import RecipeReport
from picsc_cli.app import app
from picsc_cli.formats.markdown.recipes import recipes_markdown
from picsc_cli.formats.table.recipes import recipes_summary, recipes_table
from picsc_cli.text.page import Page

SMOKE = load_recipes(sorted((Path(__file__).parents[2] / "recipes").glob("*-smoke.yaml")))
ALONE = [
    loaded
    for loaded in SMOKE
    if all((made.entry.base if (made := made_name(name)) else name) in BUNDLED for name in loaded.recipe.names)
]
"""Those that need no data beyond what comes with scikit-learn; no text does."""
CV = "title: t\nverb: cv\nrepeats: 1\ntrain: {epochs: 2}\npenalty: {strength: 0.1}\n"
PAPER = "paper: {table: E4, method: picsc}\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two tables of 40 rows, one without enough rows; run folders go to a cache of the test's own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    random = np.random.default_rng(3)
    for name, rows in (("one", 40), ("two", 40), ("short", 3)):
        x = random.normal(size=(rows, 2))
        lines = [f"{a:.4f},{b:.4f},{'yes' if a > 0 else 'no'}" for a, b in x]
        (tmp_path / f"{name}.csv").write_text("\n".join(["a,b,label", *lines]) + "\n")
    return tmp_path


def run(folder: Path, *texts: str, jobs: int = 1, lines: list[str] | None = None) -> RecipeReport:
    paths = []
    for i, text in enumerate(texts):
        paths.append(folder / f"r{i}.yaml")
        paths[-1].write_text(text, encoding="utf-8")
    progress = None if lines is None else lines.append
    return run_recipes(
        load_recipes(paths), Place(None, folder / f"runs{jobs}", resume=False), jobs=jobs, progress=progress
    )


def test_equal_tasks_of_two_recipes_are_run_once_and_shown_twice(folder: Path) -> None:
    lines: list[str] = []
    body = f"{CV}data: [one.csv]\ngrids: {{folds: [2]}}\nprinted: {{one.csv: {{2: 50}}}}\n"
    report = run(folder, body + PAPER, body + PAPER.replace("picsc", "st-cv"), lines=lines)
    first, second = (table.rows[0] for table in report.tables)
    scores = {score.method: score.accuracy for score in first.scores}
    assert lines == [f"1 of 1 done: {folder / 'one.csv'}, 2 folds"]
    assert first.scores == second.scores
    assert [score.method for score in first.scores] == [
        "st-cv", "picsc", "weight-decay", "carried", "average", "subsample",
    ]  # fmt: skip
    assert (first.difference, second.difference) == (scores["picsc"] - 0.5, scores["st-cv"] - 0.5)
    assert (first.rows, first.pieces, first.counted, first.failed) == (40, 2, True, 0)


def test_a_data_set_that_cannot_be_used_is_a_row_and_the_others_go_on(folder: Path) -> None:
    report = run(folder, f"{CV}data: [short.csv, one.csv]\ngrids: {{folds: [2]}}\n")
    short, one = report.tables[0].rows
    assert (short.rows, short.pieces, short.scores, short.counted) == (None, 2, (), False)
    assert "3 data rows are too few" in short.reason
    assert one.counted
    assert report.tables[0].over_sets[0].sets == 1
    assert report.failed == 1


def test_a_set_of_unknown_version_is_shown_and_does_not_count(folder: Path) -> None:
    text = f"{CV}data: [one.csv, two.csv]\nunknown_version: [two.csv]\ngrids: {{folds: [2]}}\n"
    [table] = run(folder, text).tables
    assert [row.counted for row in table.rows] == [True, False]
    assert table.rows[1].scores
    assert table.over_sets[0].scores == tuple(replace(score, whole=None) for score in table.rows[0].scores)


def test_accuracies_and_r2_have_no_mean_in_common(folder: Path) -> None:
    """Two tables of classes and one of numbers: each format names both scores, and says whose is which."""
    x = np.random.default_rng(4).normal(size=(40, 2))
    lines = [f"{a:.4f},{b:.4f},{2.5 * a - b:.6f}" for a, b in x]
    (folder / "amount.csv").write_text("\n".join(["a,b,amount", *lines]) + "\n")
    text = f"{CV}data: [one.csv, amount.csv, two.csv, short.csv]\ngrids: {{folds: [2]}}\n"
    report = run(folder, text)
    [table] = report.tables
    assert [row.metric for row in table.rows] == ["accuracy", "R2", "accuracy", "accuracy"]
    assert [(over.metric, over.sets) for over in table.over_sets] == [("accuracy", 2), ("R2", 1)]
    assert [each.accuracy for each in table.over_sets[1].scores] == [each.accuracy for each in table.rows[1].scores]
    shown = recipes_table(report, Page())
    assert "Δ accuracy or R²" in shown
    assert "The scores of amount.csv are R² in percent" in shown
    assert "2 pieces, mean R² over 1 set" in recipes_summary(report, Page())
    assert "**mean R²**" in recipes_markdown(report)
    [content] = recipes_contents(report)
    titles = [section.title for section in content.sections]
    assert titles[:2] == ["Data sets, 2 pieces", "Data sets, 2 pieces with a numeric target"]


@pytest.mark.slow  # cv and fed have their own, and processes take seconds to start
def test_the_number_of_jobs_changes_nothing(folder: Path) -> None:
    text = f"{CV}data: [one.csv, two.csv]\ngrids: {{batches: [2]}}\n"
    one, two = (run(folder, text, jobs=jobs) for jobs in (1, 2))
    assert one.as_dict() == two.as_dict()
    assert [(row.data, row.pieces) for row in one.tables[0].rows] == [
        ("one.csv", 2), ("two.csv", 2),
    ]  # fmt: skip


def test_an_audit_runs_as_a_recipe(folder: Path) -> None:
    text = "title: t\nverb: audit\ndata: [one.csv, short.csv]\ndraws: 99\ngrids: {folds: [2]}\n"
    [table] = run(folder, text).tables
    assert (table.rows[0].rows, table.rows[0].pieces, table.rows[0].scores) == (40, 2, ())
    assert table.rows[0].verdict in ("ok", "inconclusive", "shift")
    assert (table.rows[1].verdict, table.over_sets) == (None, ())


def test_a_reference_is_read_like_the_data(folder: Path) -> None:
    """Features that are 0 throughout a libsvm file do not occur in it, and are no change of the schema all the same."""
    for name, width in (("wide", 6), ("narrow", 5)):
        values = np.random.default_rng(0).normal(size=(40, width))
        rows = [" ".join(f"{j + 1}:{x:.4f}" for j, x in enumerate(row)) for row in values]
        (folder / f"{name}.libsvm").write_text("".join(f"{i % 2} {row}\n" for i, row in enumerate(rows)))
    text = "title: t\nverb: audit\nreference: narrow.libsvm\ndraws: 99\nstrict_schema: true\ndata: [wide.libsvm]\n"
    [row] = run(folder, text).tables[0].rows
    assert (row.rows, row.pieces, row.reason) == (40, 1, "")  # read by itself, the reference would have no column 'f6'


def test_the_command_writes_every_format_and_exits_1_when_a_set_was_not_run(folder: Path) -> None:
    recipe, results = folder / "r.yaml", folder / "out.json"
    recipe.write_text(f"{CV}data: [short.csv, one.csv]\ngrids: {{folds: [2]}}\n")
    arguments = ["run", str(recipe), "--jobs", "1", "--output", f"json:{results}", "--output", "markdown"]
    done = CliRunner().invoke(app, arguments)
    body = json.loads(results.read_text(encoding="utf-8"))
    assert done.exit_code == 1
    assert "| short.csv | – | 2 |" in done.stdout  # noqa: RUF001 - the dash that stands for None
    assert "picsc: 2 of 2 done: " in done.stderr
    assert body["schema"] == "picsc.recipes/1"
    assert body["tables"][0]["rows"][0]["reason"]


def test_several_strengths_are_several_rows_and_means(folder: Path) -> None:
    lines: list[str] = []
    text = CV.replace("penalty: {strength: 0.1}\n", "")
    text += "data: [one.csv, two.csv]\ngrids: {folds: [2], strength: [0, 1.5]}\n"
    [table] = run(folder, text, lines=lines).tables
    assert [(row.data, row.pieces, row.strength, row.cut) for row in table.rows] == [
        ("one.csv", 2, 0, "2 folds"),
        ("two.csv", 2, 0, "2 folds"),
        ("one.csv", 2, 1.5, "2 folds"),
        ("two.csv", 2, 1.5, "2 folds"),
    ]
    assert [(over.sets, over.strength, over.block) for over in table.over_sets] == [
        (2, 0, "2, lambda 0"),
        (2, 1.5, "2, lambda 1.5"),
    ]
    none, some = table.rows[0], table.rows[2]
    assert none.score("st-cv") == some.score("st-cv")
    assert none.score("picsc").log_loss != some.score("picsc").log_loss
    assert some.against("st-cv").accuracy == pytest.approx(some.score("picsc").accuracy - some.score("st-cv").accuracy)
    assert "strength" not in table.settings["penalty"]
    assert lines[0] == f"1 of 4 done: {folder / 'one.csv'}, 2 folds, lambda 0.0"


HEAVY = ("e6-benchmarks-smoke.yaml", "e6-images-smoke.yaml")
"""Twenty seconds each, and e6-anchor and e6-femnist train the same models on the same kind of data."""


@pytest.mark.parametrize("heavy", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_every_smoke_recipe_runs(folder: Path, heavy: bool) -> None:
    recipes = [loaded for loaded in ALONE if (Path(loaded.path).name in HEAVY) is heavy]
    report = run_recipes(recipes, Place(None, folder / "runs", resume=False))
    assert len(ALONE) == len(SMOKE) - 3 >= 18
    assert len(report.tables) == len(recipes) > 0
    assert report.failed == 0
    assert all(row.counted for table in report.tables for row in table.rows)
