"""A report of a recipe with targets, built by hand, for tests of what reads reports."""

from __future__ import annotations

from picsc.evaluation.holm import with_holm
from picsc.reports.common import Difference, Interval
from picsc.reports.compare import Delta, Risk
from picsc.reports.recipes import (
    CompareScore,
    Comparison,
    Foretold,
    OverSets,
    PairedDifference,
    RecipeReport,
    RecipeRow,
    RecipeTable,
    Score,
)
from tests.factories.recipes import recipe_row

REFUSED = "refused: the effective sample size is 3.1 % of 617 rows, below --floor 0.05"
ACCURACY = {"st-cv": 0.7, "iw": 0.71, "kmm": None, "diw": 0.72, "picsc": 0.7, "pooled": 0.75, "weight-decay": 0.71}
"""Scores of the methods that are run; kmm is refused."""
IN_TURN, BIASED = "each piece in turn", "selection bias"


def compare_recipe_row(data: str, target: str, gain: float, **changes: object) -> RecipeRow:
    """Seven methods on one data set; picsc is `gain` above st-cv, kmm is refused."""
    accuracy = {name: None if value is None else value + gain * (name == "picsc") for name, value in ACCURACY.items()}
    mine = {
        "scores": tuple(Score(name, value, None if value is None else 1 - value) for name, value in accuracy.items()),
        "printed": None,
        "difference": None,
        "target": target,
        "comparison": compare_run(gain),
    }
    return recipe_row(data, 4, gain, **{**mine, **changes})


def compare_run(gain: float, *, printed: float | None = None, **changes: object) -> Comparison:
    """The comparison of `compare_recipe_row`; the paper is `printed` above us."""
    scores = tuple(
        CompareScore(
            method=name,
            interval=None if value is None else Interval(value - 0.02, value + 0.02),
            ess={"iw": 0.412}.get(name),
            models=40,
            failed=40 if value is None else 0,
            reason=REFUSED if value is None else "",
            printed=None if printed is None else (value or 0.018) + printed,
            difference=None if printed is None or value is None else -printed,
        )
        for name, value in ACCURACY.items()
    )
    deltas = (
        Delta("Δ1", "picsc", "st-cv", gain, gain / 0.8, "picsc"),
        Delta("Δ2", "picsc", "diw", gain - 0.02, (gain - 0.02) / 0.72, "diw"),
    )
    fine = {
        "words": "4 pieces by site, each the target of a model of all others",
        "repeats": 10,
        "separation": 0.8125,
        "scores": scores,
        "differences": with_holm(
            difference(name, gain + 0.7 - value) for name, value in ACCURACY.items() if value and name != "picsc"
        ),
        "deltas": deltas,
        "printed_deltas": () if printed is None else deltas[:1],
        "risks": (),
        "test": "corrected resampled t-test over targets",
    }
    return Comparison(**{**fine, **changes})


def difference(against: str, gain: float) -> Difference:
    return Difference(against, gain, Interval(gain - 0.0213, gain + 0.0213), 0.0312, -gain, 0.25)


def risks(unweighted: float, iw: float) -> tuple[Risk, ...]:
    """With these errors of the log-loss; those of the accuracy are a tenth."""
    return tuple(
        Risk(by, 0.8, 0.4, None if error is None else error / 10, error, 0.01, 0.1)
        for by, error in (("unweighted", unweighted), ("iw", iw), ("true ratio", None))
    )


def compare_recipe_report() -> RecipeReport:
    """Two ways to have a target; the paper's numbers next to one data set, and one that was not run."""
    missing = {"rows": None, "scores": (), "sha256": "", "comparison": None, "counted": False}
    rows = (
        compare_recipe_row("heart-disease", IN_TURN, 0.02, comparison=compare_run(0.02, printed=0.1)),
        compare_recipe_row("a_long|name_of_data", IN_TURN, 0.01),
        compare_recipe_row("elec2", IN_TURN, 0.0, **missing, reason="there is no data set of that name"),
        compare_recipe_row("pima", BIASED, 0.03, comparison=compare_run(0.03, risks=risks(0.2, 0.1))),
        compare_recipe_row("wdbc", BIASED, 0.01, comparison=compare_run(0.01, risks=risks(0.1, 0.3))),
    )
    interval = Interval(-0.03, 0.08)
    tests = with_holm(
        PairedDifference(name, 2, 0.7 + 0.015 - value, interval, 0.5, -0.025, interval, 0.5)
        for name, value in ACCURACY.items()
        if value and name != "picsc"
    )
    scores = compare_recipe_row("", "", 0.015).scores
    estimates = (
        Foretold("unweighted", "error", 2, 0.15, 0, 0.015, 0),
        Foretold("iw", "error", 2, 0.2, 1, 0.02, 1),
        Foretold("unweighted", "bias", 2, 0.1, 0, 0.01, 0),
        Foretold("iw", "bias", 2, 0.1, 0, 0.01, 0),
    )
    table = RecipeTable(
        title="Weights and PIcsC under shift",
        recipe="e5-shift.yaml",
        sha256="4" * 64,
        verb="compare",
        paper="state of the art",
        method="picsc",
        version="as their authors distribute them",
        rows=rows,
        over_sets=(
            OverSets(4, 2, scores, None, None, tests, target=IN_TURN),
            OverSets(4, 2, scores, None, None, tests[:1], target=BIASED, foretold=estimates),
        ),
        settings={"penalty": {"strength": "auto"}, "seed": 0},
    )
    return RecipeReport((table,), "signed-rank over data sets", {"versions": {"python": "3.12.0", "picsc": "0.1.0"}})
