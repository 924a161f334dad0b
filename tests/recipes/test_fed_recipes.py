"""Recipes with clients: what they may say, how they are run, and the tables of what they found."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from picsc.errors import RecipeError
from picsc.recipes.across_datasets import across_datasets
from picsc.recipes.load import Loaded, load_recipes
from picsc.recipes.run import run_recipes
from picsc.recipes.tasks import Place
from picsc.reports.recipes import RecipeReport, Score
from picsc.settings import FED_METHODS
from picsc_cli.app import app
from picsc_cli.formats.table.recipes import recipes_summary
from picsc_cli.output.registry import as_text
from picsc_cli.text.page import Page
from tests.factories.fed_recipes import fed_recipe_report, fed_recipe_row
from tests.factories.recipes import recipe_report
from tests.recipe_lines import unnumbered

FOLDER = Path(__file__).parents[2] / "recipes"
GOLDEN = Path(__file__).parents[1] / "golden"
EXPERIMENTS = ("anchor", "benchmarks", "femnist", "images", "natural", "natural-numbers", "reviews", "shakespeare")
PAPER = {
    "femnist": (58.2, 60.1, 62.5, 64.8),
    "cifar10": (42.7, 45.3, 48.1, 49.5),
    "cifar100": (23.4, 25.1, 26.8, 28.3),
    "svhn": (61.5, 63.0, 65.2, 66.0),
    "emnist-digits": (84.6, 86.0, 87.5, 88.6),
    "amazon-reviews": (76.3, 78.1, 80.4, 81.9),
    "shakespeare": (52.8, 54.6, 56.3, 57.5),
}
FED = "title: t\nverb: fed\ndata: [wdbc]\n"
QUICK = "rounds: 1\nsteps: 2\nlr: 0.1\nhidden: 2\nmodel: mlp\nmethods: [fedavg, scaffold, picsc]\n"


def loaded(name: str) -> Loaded:
    [one] = load_recipes([FOLDER / f"e6-{name}.yaml"])
    return one


def written(folder: Path, text: str) -> Path:
    path = folder / "x.yaml"
    path.write_text(text, encoding="utf-8")
    return path


# What a recipe may say


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_every_experiment_has_a_smoke_twin_of_few_rounds_with_the_same_model(name: str) -> None:
    full, smoke = loaded(name), loaded(f"{name}-smoke")
    assert {task.settings.model for task in full.tasks} == {task.settings.model for task in smoke.tasks}
    assert all(task.settings.rounds <= 2 and task.settings.lr != "auto" for task in smoke.tasks)
    assert smoke.recipe.paper is None
    assert len(smoke.tasks) <= 2


def test_the_papers_seven_benchmarks_are_next_to_ours_with_all_four_methods() -> None:
    printed: dict[str, tuple[float, ...]] = {}
    for name in EXPERIMENTS:
        printed |= {data: tuple(numbers.values()) for data, numbers in loaded(name).recipe.printed.items()}
        assert all(
            tuple(numbers) == ("fedavg", "fedprox", "scaffold", "picsc")
            for numbers in loaded(name).recipe.printed.values()
        )
    assert printed == PAPER


def test_natural_clients_run_all_controls_over_five_seeds() -> None:
    [settings] = {task.settings for task in loaded("natural").tasks}
    assert (settings.rounds, settings.epochs, settings.batch_size, settings.hidden) == (30, 2, 32, 32)
    assert (settings.repeats, settings.lr, settings.methods) == (5, "auto", FED_METHODS)
    assert {"uci-har", "gas-sensor-drift", "heart-disease"} < set(loaded("natural").recipe.names)


def test_images_are_run_as_in_niid_bench_and_share_a_set_with_the_benchmarks() -> None:
    images, benchmarks = loaded("images"), loaded("benchmarks")
    one = images.tasks[0].settings
    assert (one.rounds, one.epochs, one.batch_size, one.lr, one.momentum) == (50, 10, 64, 0.01, 0.9)
    assert (one.weight_decay, one.clients.concentration) == (1e-5, 0.5)
    assert [task.data for task in images.tasks if task in benchmarks.tasks] == ["cifar10", "cifar10"]


def test_grids_make_one_task_per_partition_and_number_of_clients(tmp_path: Path) -> None:
    text = f"{FED}grids: {{partition: [iid, noise], clients: [3, 5]}}\nclients: {{noise: 2}}\n"
    [one] = load_recipes([written(tmp_path, text)])
    clients = [task.settings.clients for task in one.tasks]
    assert [(each.partition, each.clients) for each in clients] == [
        ("iid", 3), ("iid", 5), ("noise", 3), ("noise", 5),
    ]  # fmt: skip
    assert {each.noise for each in clients} == {2}


def test_a_data_set_may_name_the_column_of_its_clients(tmp_path: Path) -> None:
    (tmp_path / "table.csv").write_text("a,site,y\n")
    text = FED.replace("[wdbc]", "[{data: table.csv, by: site}, {data: iris, by: kind}, wine]")
    [one] = load_recipes([written(tmp_path, text)])
    assert [(task.is_file, task.settings.clients.by) for task in one.tasks] == [
        (True, "site"), (False, "kind"), (False, None),
    ]  # fmt: skip
    assert one.tasks[0].settings.keys == ("site",)


def test_a_folder_of_texts_is_data_for_clients_alone(tmp_path: Path) -> None:
    (tmp_path / "plays").mkdir()
    text = FED.replace("[wdbc]", "[plays/]")
    [one] = load_recipes([written(tmp_path, text)])
    assert one.tasks[0].is_file
    with pytest.raises(RecipeError, match="there is no such file"):
        load_recipes([written(tmp_path, text.replace("fed", "cv"))])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"{FED}grids: {{folds: [2]}}\n", "grids.folds = [2]: must be left out; grids of verb: fed are partition and"),
        (f"{FED}grids: {{partition: [iid]}}\n", "clients.clients: must be given, since grids.partition"),
        (f"{FED}grids: {{partition: [dir]}}\n", "grids.partition[1] = 'dir': must be 'iid', 'dirichlet',"),
        (f"{FED}grids: {{clients: [3]}}\nclients: {{by: a}}\n", "clients.by = 'a': must be left out, since grids"),
        (f"{FED}grids: {{clients: [3]}}\nclients: {{clients: 4}}\n", "clients.clients = 4: must be left out, since"),
        (
            f"{FED}grids: {{partition: [iid]}}\nclients: {{clients: 4, partition: noise}}\n",
            "clients.partition = 'noise': must be left out, since grids.partition gives it",
        ),
        (
            f"{FED}clients: {{clients: 3}}\n".replace("[wdbc]", "[{data: wdbc, by: a}]"),
            "data[1].by = 'a': must be left out, since clients are invented",
        ),
        (f"{FED}".replace("[wdbc]", "[{data: wdbc, site: a}]"), "data[1].site: unknown key (known: bias, by, data,"),
        (f"{FED}".replace("[wdbc]", "[{by: a}]"), "data[1]: {'by': 'a'} is neither a name or file nor"),
        (f"{FED}".replace("[wdbc]", "[wdbc, 5]"), "data[2]: 5 is neither a name or file nor {data: NAME, by: COL}"),
        (f"{FED}clients: {{partition: iid}}\n", "clients: --partition iid needs --clients N"),
        (f"{FED}clients: {{client: 3}}\n", "clients.client: unknown key; did you mean clients?"),
        (f"{FED}penalty: {{}}\n", "penalty: unknown key; it is a setting of cv, compare"),
        (
            f"{FED}paper: {{table: E6, method: st-cv}}\n",
            "paper.method = 'st-cv': must be a method that is run: fedavg, fedprox,",
        ),
        (
            f"{FED}methods: [picsc]\npaper: {{table: E6, method: picsc}}\nprinted: {{wdbc: {{fedavg: 9, picsc: 9}}}}\n",
            "printed.wdbc = ['fedavg']: must be of a method that is run: picsc",
        ),
        (f"{FED}printed: {{wdbc: {{fedavgg: 9}}}}\n", "printed.wdbc.fedavgg = 'fedavgg': must be a whole number,"),
        (FED.replace("fed", "cv") + "grids: {clients: [2]}\n", "grids.clients = [2]: must be left out, since only"),
        (
            FED.replace("fed", "audit").replace("[wdbc]", "[{data: wdbc, by: a}]"),
            "data[1].by = 'a': must be left out, since only verb: fed has clients",
        ),
        (
            FED.replace("fed", "cv") + "paper: {table: E4, method: scaffold}\n",
            "paper.method = 'scaffold': must be a method that is run: st-cv, picsc,",
        ),
    ],
)
def test_what_is_wrong_is_named_with_its_bound(tmp_path: Path, text: str, expected: str) -> None:
    path = written(tmp_path, text)
    with pytest.raises(RecipeError) as raised:
        load_recipes([path])
    [problem] = raised.value.problems
    assert unnumbered(problem).startswith(f"{path}: {expected}")


def test_all_problems_are_told_at_once(tmp_path: Path) -> None:
    path = written(
        tmp_path, f"{FED}rounds: 0\nmodel: cnn\nclients: {{clients: 1}}\nprinted: {{wdbc: {{picsc: 101}}}}\n"
    )
    with pytest.raises(RecipeError) as raised:
        load_recipes([path])
    assert [unnumbered(problem).removeprefix(f"{path}: ").split(" ")[0] for problem in raised.value.problems] == [
        "rounds", "model", "clients.clients", "printed.wdbc.picsc",
    ]  # fmt: skip


# How recipes are run


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two tables with sites, one without; run folders go to a cache of the test's own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    random = np.random.default_rng(3)
    for name, sites in (("two", 2), ("three", 3)):
        x = random.normal(size=(60, 2))
        lines = [f"{a:.4f},{b:.4f},s{i % sites},{'yes' if a > 0 else 'no'}" for i, (a, b) in enumerate(x)]
        (tmp_path / f"{name}.csv").write_text("\n".join(["a,b,site,label", *lines]) + "\n")
    return tmp_path


def run(folder: Path, text: str) -> RecipeReport:
    return run_recipes(load_recipes([written(folder, text)]), Place(None, folder / "runs", resume=False))


def test_sets_with_clients_of_their_own_make_one_mean_whatever_their_number(folder: Path) -> None:
    text = FED.replace("[wdbc]", "[two.csv, three.csv, {data: two.csv, by: nowhere}]")
    paper = "paper: {table: E6, method: picsc}\nprinted: {two.csv: {fedavg: 50, picsc: 60}}\n"
    [table] = run(folder, f"{text}{QUICK}{paper}clients: {{by: site}}\nrepeats: 2\n").tables
    two, three, nowhere = table.rows
    assert [(row.pieces, row.clients, row.counted) for row in (two, three)] == [
        (2, "natural clients", True), (3, "natural clients", True),
    ]  # fmt: skip
    assert [score.method for score in two.scores] == ["fedavg", "scaffold", "picsc"]
    accuracy = {score.method: score.accuracy for score in two.scores}
    printed = {score.method: (score.printed, score.difference) for score in two.federation.scores}
    assert printed["fedavg"] == (0.5, pytest.approx(accuracy["fedavg"] - 0.5))
    assert printed["scaffold"] == (None, None)
    assert (two.printed, two.difference) == (0.6, pytest.approx(accuracy["picsc"] - 0.6))
    assert [difference.against for difference in two.federation.differences] == ["fedavg", "scaffold"]
    assert two.federation.differences[0].accuracy == pytest.approx(accuracy["picsc"] - accuracy["fedavg"])
    assert "nowhere" in nowhere.reason
    [over] = table.over_sets
    assert (over.pieces, over.clients, over.sets) == (None, "natural clients", 2)
    assert [test.against for test in over.tests] == ["fedavg", "scaffold"]


def test_partitions_have_means_of_their_own(folder: Path) -> None:
    text = FED.replace("[wdbc]", "[two.csv, three.csv]") + QUICK + "read: {drop: [site]}\nrepeats: 1\n"
    grids = "grids: {partition: [iid, noise], clients: [4]}\n"
    [table] = run(folder, text + grids).tables
    assert [(over.clients, over.pieces, over.sets) for over in table.over_sets] == [
        ("4 clients, iid", 4, 2), ("4 clients, noise", 4, 2),
    ]  # fmt: skip
    assert table.settings["clients"] == {"concentration": 0.5, "classes": 2, "noise": 0.1, "min_rows": 10}


def test_a_named_table_knows_its_own_clients(folder: Path) -> None:
    data = folder / "data" / "heart-disease"
    data.mkdir(parents=True)
    random = np.random.default_rng(5)
    for site in ("cleveland", "hungarian"):
        rows = [[*random.integers(1, 4, 13), i % 2] for i in range(40)]
        (data / f"processed.{site}.data").write_text("\n".join(",".join(map(str, row)) for row in rows))
    recipe = load_recipes([written(folder, FED.replace("wdbc", "heart-disease") + QUICK + "repeats: 1\n")])
    [table] = run_recipes(recipe, Place(folder / "data", folder / "runs", resume=False)).tables
    assert (table.rows[0].reason, table.rows[0].pieces, table.rows[0].rows) == ("", 2, 80)


def test_the_command_shows_the_tables(folder: Path) -> None:
    path = written(folder, FED.replace("[wdbc]", "[two.csv]") + QUICK + "clients: {by: site}\nrepeats: 1\n")
    done = CliRunner().invoke(app, ["run", str(path), "--jobs", "1", "--run-dir", str(folder / "runs")])
    assert done.exit_code == 0
    assert "natural clients\n" in done.stdout
    assert "picsc: 1 of 1 done: " in done.stderr
    assert "two.csv, by site" in " ".join(done.stderr.split())


# What is shown


@pytest.mark.parametrize(("format_", "suffix"), [("json", "json"), ("csv", "csv"), ("markdown", "md")])
def test_machine_formats_are_the_golden_ones(format_: str, suffix: str) -> None:
    expected = (GOLDEN / f"fed-recipes.{suffix}").read_bytes()
    assert as_text(fed_recipe_report(), format_, Page()).encode("utf-8") == expected


def test_tables_are_the_golden_ones_and_fit_the_page() -> None:
    expected = (GOLDEN / "fed-recipes-table.txt").read_text(encoding="utf-8")
    assert as_text(fed_recipe_report(), "table", Page(), verbose=True) == expected
    assert max(map(len, expected.splitlines())) <= 80
    in_ascii = (GOLDEN / "fed-recipes-table-ascii.txt").read_text(encoding="ascii")
    assert as_text(fed_recipe_report(), "table", Page(ascii_only=True)) == in_ascii


def test_all_methods_fit_the_page() -> None:
    [table] = fed_recipe_report().tables
    row = fed_recipe_row("mnist", "natural clients", 0.0)
    scores = tuple(Score(method, 0.5, 0.5) for method in FED_METHODS)
    wide = replace(table, rows=(replace(row, scores=scores),), paper="", over_sets=())
    text = as_text(RecipeReport((wide,), "", {}), "table", Page())
    assert max(map(len, text.splitlines())) <= 80


def test_the_summary_names_the_clients_of_every_mean() -> None:
    assert recipes_summary(fed_recipe_report(), Page(400)).splitlines() == [
        "e6-images.yaml: 10 clients, dirichlet, mean accuracy over 2 sets: fedavg 70.0, scaffold 71.0, picsc 72.5",
        "e6-images.yaml: 10 clients, noise, mean accuracy over 1 set: fedavg 70.0, scaffold 71.0, picsc 71.0",
    ]


def test_csv_of_both_verbs_has_one_header_for_all() -> None:
    both = RecipeReport((*recipe_report().tables, *fed_recipe_report().tables), "", {})
    rows = list(csv.DictReader(io.StringIO(as_text(both, "csv", Page()), newline="")))
    first, last = rows[0], rows[-3]
    assert (first["st-cv accuracy"], first["fedavg accuracy"], first["clients"]) == ("0.8", "", "")
    assert (last["st-cv accuracy"], last["fedavg accuracy"], last["clients"]) == ("", "0.7", "10 clients, noise")
    assert (last["fedavg picsc_minus_p"], last["scaffold picsc_minus_low"], last["picsc worst"]) == ("0.04", "", "0.61")
    assert list(first)[-1] == "reason"


def test_hostile_names_are_shown_as_they_are() -> None:
    [table] = fed_recipe_report().tables
    row = fed_recipe_row("a|b<script>", "natural clients", 0.0)
    hostile = replace(table, rows=(row,), over_sets=())
    assert "| a\\|b&lt;script> |" in as_text(RecipeReport((hostile,), "", {}), "markdown", Page())


def test_json_holds_what_federations_have_beyond_others() -> None:
    body = json.loads(as_text(fed_recipe_report(), "json", Page()))
    run = body["tables"][0]["rows"][0]["federation"]
    assert run["differences"][0]["p_holm"] == 0.04
    given = {name: value for name, value in run["differences"][1].items() if value is not None}
    assert given == {"against": "scaffold", "accuracy": 0.01}
    assert run["scores"][0]["worst_client"] == "client|3"
    assert body["tables"][0]["rows"][4]["federation"] is None


def test_means_over_sets_take_rows_whose_clients_came_about_alike() -> None:
    rows = [
        replace(fed_recipe_row("a", "natural clients", 0.02), pieces=4),
        replace(fed_recipe_row("b", "natural clients", 0.04), pieces=9),
        fed_recipe_row("c", "10 clients, iid", 0.5),
    ]
    block = across_datasets(rows, "natural clients")
    assert (block.pieces, block.clients, block.sets) == (None, "natural clients", 2)
    assert block.scores[2].accuracy == pytest.approx(0.73)
    assert [test.accuracy for test in block.tests] == [pytest.approx(0.03), pytest.approx(0.02)]
