"""A report of a recipe with clients, built by hand, for tests of what reads reports."""

from __future__ import annotations

from picsc.evaluation.holm import with_holm, with_holm_over_seeds
from picsc.reports.common import Interval
from picsc.reports.fed import FedDifference
from picsc.reports.recipes import (
    ClientScore,
    Federation,
    OverSets,
    PairedDifference,
    RecipeReport,
    RecipeRow,
    RecipeTable,
    Score,
)
from tests.factories.recipes import recipe_row


def fed_recipe_row(data: str, clients: str, gain: float, **changes: object) -> RecipeRow:
    """Three methods on ten clients; picsc is `gain` above fedavg, and the paper 0.1 above us."""
    accuracy = {"fedavg": 0.7, "scaffold": 0.71, "picsc": 0.7 + gain}
    each = (
        ClientScore(name, 0.05, 0.01, value - 0.1, "client|3", value + 0.1, -0.1) for name, value in accuracy.items()
    )
    differences = with_holm_over_seeds(
        (
            FedDifference("fedavg", gain, Interval(gain - 0.02, gain + 0.02), 0.04),
            FedDifference("scaffold", gain - 0.01, None, None),
        )
    )
    run = Federation(f"10 {data} clients", "lenet of 44,426 parameters", 3, tuple(each), differences, "t over seeds")
    scores = tuple(Score(name, value, 1 - value) for name, value in accuracy.items())
    mine = {"scores": scores, "printed": 0.8 + gain, "difference": -0.1, "clients": clients, "federation": run}
    return recipe_row(data, 10, gain, **{**mine, **changes})


def fed_recipe_report() -> RecipeReport:
    """Two ways to invent clients; a data set that was not run, and one with a method that diverged."""
    noise, labels = "10 clients, noise", "10 clients, dirichlet"
    missing = {"rows": None, "scores": (), "printed": None, "difference": None, "sha256": "", "federation": None}
    diverged = fed_recipe_row("kmnist", noise, 0.0, counted=False, reason="scaffold: left the finite numbers", failed=3)
    rows = (
        fed_recipe_row("mnist", labels, 0.02),
        fed_recipe_row("cifar10", labels, 0.03),
        fed_recipe_row("mnist", noise, 0.01),
        diverged,
        fed_recipe_row("svhn", noise, 0.0, **missing, counted=False, reason="there is no data set of that name"),
    )
    interval = Interval(-0.03, 0.08)
    tests = with_holm(
        (
            PairedDifference("fedavg", 2, 0.025, interval, 0.5, -0.025, None, 0.5),
            PairedDifference("scaffold", 2, 0.015, interval, 0.5, -0.015, None, 0.5),
        )
    )
    over = (
        OverSets(10, 2, fed_recipe_row("", labels, 0.025).scores, None, None, tests, labels),
        OverSets(10, 1, fed_recipe_row("", noise, 0.01).scores, None, None, (), noise),
    )
    table = RecipeTable(
        title="Federations of images",
        recipe="e6-images.yaml",
        sha256="3" * 64,
        verb="fed",
        paper="federated benchmarks",
        method="picsc",
        version="as their authors distribute them",
        rows=rows,
        over_sets=over,
        settings={"rounds": 50, "seed": 0},
    )
    return RecipeReport((table,), "signed-rank over data sets", {"versions": {"python": "3.12.0", "picsc": "0.1.0"}})
