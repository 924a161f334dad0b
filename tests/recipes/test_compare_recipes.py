"""Recipes with targets: what they may say, what a data set's row holds, means and tests, and the tables."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from picsc.errors import RecipeError
from picsc.recipes.across_datasets import across_datasets
from picsc.recipes.asked import asked_target
from picsc.recipes.load import Loaded, load_recipes
from picsc.recipes.rows import comparison
from picsc.recipes.run import run_recipes
from picsc.recipes.tasks import Place
from picsc.reports.recipes import RecipeReport, Score
from picsc.settings import COMPARE_METHODS, PAPERS_METHODS, WEIGHTINGS, CompareSettings
from picsc_cli.formats.table.recipes import recipes_summary
from picsc_cli.output.registry import as_text
from picsc_cli.text.page import Page
from tests.factories.compare import REFUSED, compare_report
from tests.factories.compare_recipes import (
    BIASED,
    IN_TURN,
    compare_recipe_report,
    compare_recipe_row,
    compare_run,
    difference,
    risks,
)
from tests.factories.fed_recipes import fed_recipe_report
from tests.factories.recipes import recipe_report
from tests.recipe_lines import unnumbered

FOLDER = Path(__file__).parents[2] / "recipes"
GOLDEN = Path(__file__).parents[1] / "golden"
EXPERIMENTS = ("printed", "natural", "reviews", "selection-bias", "folds", "label-noise")
PAPER = {
    "mnist": (94.8, 85.1, 76.9, 11.8, 98.0, 97.9),
    "fashion-mnist": (82.3, 80.2, 72.3, 10.3, 87.2, 88.4),
    "kmnist": (77.1, 78.3, 74.2, 10.2, 86.7, 89.2),
    "cifar10": (71.5, 79.8, 69.9, 9.61, 80.4, 87.7),
}
COMPARE = "title: t\nverb: compare\ndata: [wdbc]\n"
QUICK = "methods: [st-cv, iw, picsc]\npenalty: {strength: 0.1}\ntrain: {epochs: 2}\nrepeats: 1\n"


def loaded(name: str) -> Loaded:
    [one] = load_recipes([FOLDER / f"e5-{name}.yaml"])
    return one


def written(folder: Path, text: str) -> Path:
    path = folder / "x.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def with_data(entry: str, rest: str = "") -> str:
    return COMPARE.replace("[wdbc]", f"[{entry}]") + rest


# What a recipe may say


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_every_experiment_has_a_smoke_twin_with_the_same_kind_of_target(name: str) -> None:
    full, smoke = loaded(name), loaded(f"{name}-smoke")
    ways = [{(t.settings.cut.ways, bool(t.settings.bias), bool(t.settings.label_noise)) for t in one.tasks}
            for one in (full, smoke)]  # fmt: skip
    assert ways[1] <= ways[0]
    assert all(task.settings.train.epochs <= 5 and task.settings.penalty.strength != "auto" for task in smoke.tasks)
    assert set(smoke.tasks[0].settings.methods) <= set(full.tasks[0].settings.methods)
    assert len(smoke.tasks) <= 2


def test_the_papers_numbers_are_next_to_ours_with_its_six_methods() -> None:
    printed = loaded("printed")
    assert {data: tuple(numbers.values()) for data, numbers in printed.recipe.printed.items()} == PAPER
    assert all(tuple(numbers) == PAPERS_METHODS for numbers in printed.recipe.printed.values())
    [settings] = {task.settings for task in printed.tasks}
    assert (settings.penalty.strength, settings.fragments, settings.cut.ways) == (0.1, 10, ())


def test_natural_shift_is_run_with_lambda_chosen_on_training_rows() -> None:
    tasks = {task.data: task.settings for task in loaded("natural").tasks}
    assert [each.cut.by for each in tasks.values()] == ["site", "batch", "stretch", "subject"]
    assert {each.penalty.strength for each in tasks.values()} == {"auto"}
    assert tasks["heart-disease"].in_turn
    assert tasks["uci-har"].test_on[:3] == ("2", "4", "9")


def test_folds_of_a_grid_are_shuffled_unless_the_recipe_says_otherwise(tmp_path: Path) -> None:
    [one] = load_recipes([written(tmp_path, f"{COMPARE}grids: {{folds: [5, 10]}}\n")])
    assert [(task.settings.cut.folds, task.settings.cut.shuffle) for task in one.tasks] == [(5, True), (10, True)]
    [other] = load_recipes([written(tmp_path, f"{COMPARE}grids: {{folds: [5]}}\ncut: {{shuffle: false}}\n")])
    assert not other.tasks[0].settings.cut.shuffle


def test_a_data_set_says_what_its_own_target_is(tmp_path: Path) -> None:
    (tmp_path / "target.csv").write_text("a,y\n")
    entries = (
        "{data: a, by: site, train_on: [x], test_on: [3]}",
        "{data: b, bias: age}",
        "{data: c, test_on: [target.csv]}",
        "d",
    )
    tasks = load_recipes([written(tmp_path, with_data(", ".join(entries)))])[0].tasks
    first, second, third, fourth = (task.settings for task in tasks)
    assert (first.cut.by, first.train_on, first.test_on, first.keys) == ("site", ("x",), ("3",), ("site",))
    assert second.bias == "age"
    assert third.test_on == (str(tmp_path / "target.csv"),)
    assert fourth == CompareSettings()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"{COMPARE}grids: {{clients: [2]}}\n", "grids.clients = [2]: must be left out, since only verb: fed and"),
        (f"{COMPARE}grids: {{folds: [2], batches: [2]}}\n", "grids = 'folds and batches': must be one of the two"),
        (
            with_data("{data: a, by: b}", "grids: {folds: [2]}\n"),
            "data[1].by = 'b': must be left out, since grids says how to cut",
        ),
        (
            with_data("{data: a, bias: auto}", "grids: {folds: [2]}\n"),
            "data[1].bias = 'auto': must be left out, since grids says how to cut",
        ),
        (with_data("{data: a, by: b}", "cut: {folds: 3}\n"), "data[1]: choose one way to cut, not 2: --folds, --by"),
        (with_data("{data: a, by: b, bias: c}"), "data[1]: --bias selects training rows at random: leave out pieces"),
        (
            with_data("a, {data: b, by: c, train_on: [x], test_on: [x]}"),
            "data[2]: --train-on and --test-on both name x: the target must not be trained on",
        ),
        (with_data("{data: a, train_on: [x]}"), "data[1]: --train-on names pieces: give --by"),
        (with_data("{data: a, test_on: [no.csv]}"), "data[1].test_on = ['no.csv']: must be one file in "),
        (with_data("{data: a, test_on: [x, y]}"), "data[1].test_on = ['x', 'y']: must be one file in "),
        (f"{COMPARE}bias: auto\ngrids: {{folds: [2]}}\n", "data[1]: --bias selects training rows at random"),
        (
            f"{COMPARE}methods: [st-cv, picsc]\npaper: {{table: E5, method: iw}}\n",
            "paper.method = 'iw': must be a method that is run: st-cv, picsc",
        ),
        (
            f"{COMPARE}methods: [st-cv, picsc]\npaper: {{table: E5, method: picsc}}\nprinted: {{wdbc: {{kmm: 9}}}}\n",
            "printed.wdbc = ['kmm']: must be of a method that is run: st-cv, picsc",
        ),
        (
            with_data("{data: a, bias: b}").replace("compare", "fed"),
            "data[1].bias = 'b': must be left out, since only verb: compare has a target",
        ),
        (
            with_data("{data: a, test_on: [3]}").replace("compare", "cv"),
            "data[1].test_on = ['3']: must be left out, since only verb: compare has a target",
        ),
        (f"{COMPARE}weigh: {{flor: 0.1}}\n", "weigh.flor: unknown key; did you mean floor?"),
    ],
)
def test_what_is_wrong_is_named_with_its_bound(tmp_path: Path, text: str, expected: str) -> None:
    path = written(tmp_path, text)
    with pytest.raises(RecipeError) as raised:
        load_recipes([path])
    [problem] = raised.value.problems
    assert unnumbered(problem).startswith(f"{path}: {expected}")


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({}, "a part of the rows"),
        ({"bias": "auto"}, "selection bias"),
        ({"cut": {"folds": 10}}, "each of 10 folds"),
        ({"cut": {"batches": 4}}, "each of 4 batches"),
        ({"cut": {"by": "site"}}, "each piece in turn"),
        ({"cut": {"by": "site"}, "test_on": ("a",)}, "named pieces"),
        ({"test_on": ("target.csv",)}, "another file"),
    ],
)
def test_data_sets_whose_targets_came_about_alike_make_one_mean(settings: dict[str, object], expected: str) -> None:
    assert asked_target(CompareSettings.model_validate(settings)) == expected


# What a row holds, and means and tests over data sets


def test_a_row_holds_every_method_next_to_the_papers_number() -> None:
    run = comparison(compare_report(), {"st-cv": 0.9, "kmm": 0.1, "picsc": 0.95})
    kmm, ours, iw = (run.score(method) for method in ("kmm", "picsc", "iw"))
    assert (kmm.failed, kmm.models, kmm.reason) == (2, 6, REFUSED)
    assert (kmm.printed, kmm.difference) == (0.1, pytest.approx(0.75115 - 0.1, abs=1e-4))
    assert ours.difference == pytest.approx(0.8062 - 0.95, abs=1e-4)
    assert (iw.printed, iw.difference, iw.ess) == (None, None, 0.4123)
    assert run.separation == pytest.approx((0.9412 + 0.731) / 2)
    assert [each.against for each in run.differences] == ["st-cv", "iw", "kmm", "diw"]


def test_the_papers_differences_are_in_points_and_relative_to_its_own_accuracies() -> None:
    run = comparison(compare_report(), {"st-cv": 0.9, "picsc": 0.95})
    [delta] = run.printed_deltas  # without the paper's DIW there is no second one
    assert (delta.name, delta.base) == ("Δ1", "picsc")
    assert delta.points == pytest.approx(0.05)
    assert delta.relative == pytest.approx(0.05 / 0.95)
    assert comparison(compare_report(), {}).printed_deltas == ()


def test_a_refused_weighting_leaves_its_own_mean_and_tests_without_the_set() -> None:
    there = compare_recipe_row("b", IN_TURN, 0.04)
    scores = tuple(Score("kmm", 0.6, 0.4) if score.method == "kmm" else score for score in there.scores)
    differences = (*there.comparison.differences, difference("kmm", 0.14))
    there = replace(there, scores=scores, comparison=compare_run(0.04, differences=differences))
    over = across_datasets(
        [compare_recipe_row("a", IN_TURN, 0.02), there, compare_recipe_row("c", BIASED, 0.5)], IN_TURN
    )
    means = {score.method: score.accuracy for score in over.scores}
    tests = {test.against: test for test in over.tests}
    assert (over.sets, over.target, means["kmm"], means["picsc"]) == (2, IN_TURN, None, pytest.approx(0.73))
    assert (tests["st-cv"].sets, tests["st-cv"].accuracy) == (2, pytest.approx(0.03))
    assert (tests["kmm"].sets, tests["kmm"].accuracy, tests["kmm"].accuracy_p) == (1, pytest.approx(0.14), None)


def test_tests_take_the_paired_difference_of_a_set_not_that_of_its_means() -> None:
    row = compare_recipe_row("a", IN_TURN, 0.02, comparison=compare_run(0.02, differences=(difference("iw", 0.3),)))
    [test] = across_datasets([row, replace(row, data="b")], IN_TURN).tests
    assert (test.against, test.accuracy, test.log_loss) == ("iw", pytest.approx(0.3), pytest.approx(-0.3))


def test_data_sets_whose_target_weights_estimate_better_are_counted() -> None:
    errors = ((0.2, 0.1), (0.2, 0.3), (0.2, 0.15), (0.2, 0.2), (0.2, None))
    rows = [
        compare_recipe_row(str(i), BIASED, 0.0, comparison=compare_run(0.0, risks=risks(*both)))
        for i, both in enumerate(errors)
    ]
    unweighted, iw, *in_the_mean = across_datasets(rows, BIASED).foretold
    assert (unweighted.by, unweighted.sets, unweighted.log_loss_closer) == ("unweighted", 5, 0)
    assert (iw.by, iw.sets, iw.log_loss_closer, iw.accuracy_closer) == ("iw", 4, 2, 2)
    assert (iw.log_loss_error, iw.accuracy_error) == (pytest.approx(0.1875), pytest.approx(0.01875))
    assert [(one.by, one.measure) for one in in_the_mean] == [
        ("unweighted", "bias"),
        ("iw", "bias"),
        ("true ratio", "bias"),
    ]
    assert [one.log_loss_closer for one in in_the_mean] == [0, 0, 0]
    assert in_the_mean[1].accuracy_error == pytest.approx(0.01)


def test_a_mean_over_fewer_targets_has_a_star() -> None:
    report = compare_recipe_report()
    [table] = report.tables
    assert "71.0*" not in as_text(report, "table", Page())
    run = table.rows[0].comparison
    assert run is not None
    scores = tuple(replace(one, failed=1, reason="refused") if one.method == "iw" else one for one in run.scores)
    rows = (replace(table.rows[0], comparison=replace(run, scores=scores)), *table.rows[1:])
    text = as_text(replace(report, tables=(replace(table, rows=rows),)), "table", Page())
    assert text.count("71.0*") == 1
    assert "a star on a number" in text


# How recipes are run


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two tables with sites; run folders go to a cache of the test's own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    random = np.random.default_rng(3)
    for name, sites in (("two", 2), ("three", 3)):
        x = random.normal(size=(120, 2))
        lines = [f"{a:.4f},{b:.4f},s{i % sites},{'yes' if a > 0 else 'no'}" for i, (a, b) in enumerate(x)]
        (tmp_path / f"{name}.csv").write_text("\n".join(["a,b,site,label", *lines]) + "\n")
    return tmp_path


def run(folder: Path, text: str) -> RecipeReport:
    return run_recipes(load_recipes([written(folder, text)]), Place(None, folder / "runs", resume=False))


def test_pieces_in_turn_make_one_mean_whatever_their_number(folder: Path) -> None:
    entries = "{data: two.csv, by: site}, {data: three.csv, by: site}, {data: two.csv, by: nowhere}"
    paper = "paper: {table: E5, method: picsc}\nprinted: {two.csv: {st-cv: 50, picsc: 60}}\n"
    [table] = run(folder, with_data(entries, QUICK + paper)).tables
    two, three, nowhere = table.rows
    assert [(row.pieces, row.target, row.counted) for row in table.rows] == [
        (2, IN_TURN, True), (3, IN_TURN, True), (None, IN_TURN, False),
    ]  # fmt: skip
    assert [score.method for score in two.scores][:3] == ["st-cv", "iw", "picsc"]
    accuracy = {score.method: score.accuracy for score in two.scores}
    assert (two.printed, two.difference) == (0.6, pytest.approx(accuracy["picsc"] - 0.6))
    assert two.comparison.score("st-cv").difference == pytest.approx(accuracy["st-cv"] - 0.5)
    assert [delta.points for delta in two.comparison.printed_deltas] == [pytest.approx(0.1)]
    assert three.comparison.score("st-cv").printed is None
    assert "nowhere" in nowhere.reason
    [over] = table.over_sets
    assert (over.pieces, over.sets, over.target) == (None, 2, IN_TURN)
    assert {"st-cv", "iw"} <= {test.against for test in over.tests}
    assert "by" not in table.settings["cut"]


def test_a_file_is_the_target_of_another(folder: Path) -> None:
    drop = "read: {drop: [site]}\n"
    [table] = run(folder, with_data("{data: two.csv, test_on: [three.csv]}", QUICK + drop)).tables
    [row] = table.rows
    assert (row.reason, row.pieces, row.target) == ("", 1, "another file")
    assert "test_on" not in table.settings


# What is shown


@pytest.mark.parametrize(("format_", "suffix"), [("json", "json"), ("csv", "csv"), ("markdown", "md")])
def test_machine_formats_are_the_golden_ones(format_: str, suffix: str) -> None:
    expected = (GOLDEN / f"compare-recipes.{suffix}").read_bytes()
    assert as_text(compare_recipe_report(), format_, Page()).encode("utf-8") == expected


def test_tables_are_the_golden_ones_and_fit_the_page() -> None:
    expected = (GOLDEN / "compare-recipes-table.txt").read_text(encoding="utf-8")
    assert as_text(compare_recipe_report(), "table", Page(), verbose=True) == expected
    assert max(map(len, expected.splitlines())) <= 80
    in_ascii = (GOLDEN / "compare-recipes-table-ascii.txt").read_text(encoding="ascii")
    assert as_text(compare_recipe_report(), "table", Page(ascii_only=True)) == in_ascii


def test_all_methods_with_all_weights_fit_the_page() -> None:
    [table] = compare_recipe_report().tables
    row = replace(compare_recipe_row("a_long_name_of_data", IN_TURN, 0.3, rows=70_000), pieces=100)
    score = replace(row.comparison.scores[0], printed=1.0, difference=-1.0)
    weighted = dict.fromkeys((*WEIGHTINGS, "iwcv", "diw", "true-ratio", "cv-choice"), 1.0)
    run = replace(
        row.comparison,
        scores=tuple(replace(score, method=method, ess=weighted.get(method)) for method in COMPARE_METHODS),
        differences=tuple(difference(method, -0.4) for method in COMPARE_METHODS if method != "picsc"),
        risks=risks(0.123, 0.456),
    )
    scores = tuple(Score(method, 1.0, 0.5) for method in COMPARE_METHODS)
    wide = replace(table, rows=(replace(row, scores=scores, comparison=run),), over_sets=())
    text = as_text(RecipeReport((wide,), "", {}), "table", Page())
    assert "dob-" in text
    assert max(map(len, text.splitlines())) <= 80


def test_a_data_set_alone_is_compared_with_every_method_and_has_no_mean() -> None:
    [table] = compare_recipe_report().tables
    row = table.rows[0]
    alone = replace(table, rows=(row,), over_sets=(across_datasets([row], IN_TURN),))
    text = as_text(RecipeReport((alone,), "", {}), "table", Page())
    assert "mean, 1 set" not in text
    assert "On each data set" not in text
    tested = text.split("All methods\n")[1]
    assert all(f"\n {method} " in tested for method in ("st-cv", "iw", "diw", "pooled", "weight-decay"))


def test_the_summary_names_the_target_of_every_mean() -> None:
    first, second = recipes_summary(compare_recipe_report(), Page(400)).splitlines()
    assert first.startswith("e5-shift.yaml: each piece in turn, mean accuracy over 2 sets: st-cv 70.0, iw 71.0, kmm ")
    assert second.startswith("e5-shift.yaml: selection bias, mean accuracy over 2 sets: st-cv 70.0,")


def test_csv_of_all_verbs_has_one_header_for_all() -> None:
    tables = [report().tables[0] for report in (recipe_report, fed_recipe_report, compare_recipe_report)]
    text = as_text(RecipeReport(tuple(tables), "", {}), "csv", Page())
    rows = list(csv.DictReader(io.StringIO(text, newline="")))
    header = next(csv.reader(io.StringIO(text, newline="")))
    assert len(header) == len(set(header))
    first, last = rows[0], rows[-1]
    assert (first["st-cv accuracy"], first["kmm accuracy"], first["target"]) == ("0.8", "", "")
    assert (last["st-cv accuracy"], last["fedavg accuracy"], last["target"]) == ("0.7", "", BIASED)
    assert (last["iw ess"], last["kmm without_number"], last["st-cv picsc_minus_p"]) == ("0.412", "40", "0.0312")
    assert (last["foretold iw log_loss_error"], last["delta1 points"]) == ("0.3", "0.01")


def test_json_holds_what_comparisons_have_beyond_others() -> None:
    body = json.loads(as_text(compare_recipe_report(), "json", Page()))
    rows = body["tables"][0]["rows"]
    assert rows[0]["comparison"]["deltas"][0]["base"] == "picsc"
    assert rows[0]["comparison"]["scores"][2]["reason"].startswith("refused: ")
    assert rows[2]["comparison"] is None
    assert rows[4]["comparison"]["risks"][1]["log_loss_error"] == 0.3


def test_hostile_names_are_shown_as_they_are() -> None:
    [table] = compare_recipe_report().tables
    hostile = replace(table, rows=(compare_recipe_row("a|b<script>", IN_TURN, 0.0),), over_sets=())
    text = as_text(RecipeReport((hostile,), "", {}), "markdown", Page())
    assert "| a\\|b&lt;script> |" in text
    assert "<script>" not in text
