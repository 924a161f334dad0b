"""Reports of recipes built by hand."""

from __future__ import annotations

from dataclasses import replace

from picsc.evaluation.holm import with_holm
from picsc.reports.common import Interval
from picsc.reports.recipes import OverSets, PairedDifference, RecipeReport, RecipeRow, RecipeTable, Score


def recipe_row(data: str, pieces: int, gain: float, **changes: object) -> RecipeRow:
    """Six methods; picsc is `gain` above st-cv and the paper 0.5 points above picsc."""
    names = ("picsc", "weight-decay", "carried", "average", "subsample")
    others = tuple(Score(name, 0.8 + gain / (i + 1), 0.5 - gain / (i + 1)) for i, name in enumerate(names))
    scores = (Score("st-cv", 0.8, 0.5), *others)
    fine = RecipeRow(
        data=data,
        rows=1000,
        pieces=pieces,
        sha256="1" * 64,
        scores=scores,
        printed=0.805 + gain,
        difference=-0.005,
        verdict=None,
        shifted=None,
        counted=True,
        failed=0,
        reason="",
    )
    return replace(fine, **changes)


def recipe_means(pieces: int) -> OverSets:
    scores = recipe_row("", pieces, 0.012).scores
    tests = with_holm(
        PairedDifference(score.method, 3, gain, Interval(gain - 0.01, gain + 0.01), 0.0312, -0.1, None, 0.0004)
        for score, gain in zip((scores[0], *scores[2:]), (0.012, 0.0, -0.004, 0.02, 0.03), strict=True)
    )
    return OverSets(pieces, 3, scores, 0.817, -0.005, tests)


def recipe_report(**changes: object) -> RecipeReport:
    """Two numbers of pieces, a data set that was not run and one that does not count."""
    unknown = "the paper's version of this data set is not known"
    rows = (
        *(recipe_row(name, 5, gain) for name, gain in (("mammographic", 0.02), ("sonar", 0.01), ("wdbc", -0.003))),
        recipe_row("bupa", 5, 0.1, counted=False, reason=unknown),
        *(recipe_row(name, 10, gain) for name, gain in (("mammographic", 0.01), ("sonar", 0.0), ("wdbc", 0.004))),
        recipe_row("bupa", 10, 0.1, counted=False, reason=unknown, printed=None, difference=None, failed=2),
        replace(
            recipe_row("a_very_long_name_of_data", 10, 0.0, counted=False, reason="there is no data set of that name"),
            rows=None,
            scores=(),
            printed=None,
            difference=None,
            sha256="",
        ),
    )
    over = tuple(recipe_means(pieces) for pieces in (5, 10))
    table = RecipeTable(
        title="Corrected cross-validation by folds",
        recipe="e4-tables.yaml",
        sha256="2" * 64,
        verb="cv",
        paper="E4, fold-wise",
        method="picsc",
        version="tables as OpenML has them",
        rows=rows,
        over_sets=over,
        settings={"penalty": {"strength": 0.1}, "seed": 0},
    )
    report = RecipeReport((table,), "signed-rank over data sets", {"versions": {"python": "3.12.0", "picsc": "0.1.0"}})
    return replace(report, **changes)
