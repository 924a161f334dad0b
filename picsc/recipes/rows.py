"""Rows of a recipe's table: what the report of one task adds to a row, next to the paper's numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from picsc.reports.audit import AuditReport
from picsc.reports.compare import CompareMethodReport, CompareReport, Delta, TargetInfo
from picsc.reports.cv import CvReport
from picsc.reports.fed import FedReport
from picsc.reports.recipes import ClientScore, CompareScore, Comparison, Federation, RecipeRow, Score
from picsc.settings import METHODS
from picsc.settings.recipe import Recipe

OURS = "picsc"
"""The method that is compared with all others."""
_SHOWN = (*METHODS, "picsc, algorithm 1")
"""Methods of a cross-validation that a recipe's table shows."""
_NO_NUMBER = "a method has no number"


def audited(row: RecipeRow, recipe: Recipe, report: AuditReport) -> RecipeRow:
    """The row with an audit's verdict; it takes part in no mean."""
    del recipe
    return replace(row, pieces=len(report.fragments), verdict=report.verdict, shifted=len(report.shifted))


def cross_validated(row: RecipeRow, recipe: Recipe, report: CvReport) -> RecipeRow:
    """The row with the mean accuracy of every method; the paper's number is that of so many pieces."""
    pieces = len(report.fragments)
    scores = tuple(
        Score(m.method, m.mean, m.log_loss, m.interval, m.whole, m.lifelong)
        for m in report.methods
        if m.method in _SHOWN
    )
    ours = report.method(OURS)
    missing = [m for m in report.methods if m.mean is None]
    reasons = [f"{m.method}: {unit.reason}" for m in missing for unit in m.units if unit.reason]
    row = replace(
        row,
        pieces=pieces,
        scores=scores,
        failed=report.failed,
        metric=report.data.metric,
        differences=() if ours is None else ours.differences,
        names=report.fragments,
    )
    return _scored(row, recipe, pieces, reasons)


def federated(row: RecipeRow, recipe: Recipe, report: FedReport) -> RecipeRow:
    """The row with every method's accuracy, its spread over clients, and the paper's number of it."""
    scores = []
    for m in report.methods:
        paper = _printed(recipe, row.data, m.method)
        scores.append(
            ClientScore(m.method, m.std_clients, m.std_seeds, m.worst, m.worst_client, paper, _minus(m.accuracy, paper))
        )
    ours = report.method(OURS)
    differences = () if ours is None else ours.differences
    federation = Federation(report.partition, report.model, report.repeats, tuple(scores), differences, report.test)
    reasons = [f"{m.method}: {m.failures[0].reason}" for m in report.methods if m.accuracy is None and m.failures]
    row = replace(
        row,
        pieces=len(report.clients),
        scores=tuple(Score(m.method, m.accuracy, m.log_loss, m.interval) for m in report.methods),
        failed=report.failed,
        federation=federation,
        metric=report.data.metric,
    )
    return _scored(row, recipe, _papers_method(recipe), reasons)


def compared(row: RecipeRow, recipe: Recipe, report: CompareReport) -> RecipeRow:
    """The row with every method's accuracy on the targets, how sure it is, and the paper's number of it.

    It takes part in means when any method has a number: a refused weighting is an answer.
    """
    paper = {m.method: _printed(recipe, row.data, m.method) for m in report.methods}
    missing = [m for m in report.methods if m.accuracy is None]
    reasons = [f"{m.method}: {unit.reason}" for m in missing for unit in m.units if unit.reason]
    row = replace(
        row,
        pieces=len(report.targets),
        scores=tuple(Score(m.method, m.accuracy, m.log_loss, m.interval) for m in report.methods),
        failed=report.failed,
        comparison=comparison(report, {method: value for method, value in paper.items() if value is not None}),
        metric=report.data.metric,
    )
    return _scored(row, recipe, _papers_method(recipe), reasons, enough=any)


def _scored(
    row: RecipeRow,
    recipe: Recipe,
    key: str | int,
    reasons: list[str],
    *,
    enough: Callable[[Iterable[bool]], bool] = all,
) -> RecipeRow:
    """The row with the paper's number, and with the reason for leaving it out of means.

    Args:
        row: with its scores.
        recipe: whose paper's numbers are shown.
        key: of the paper's number among those of the data set: a number of pieces, or a method.
        reasons: for which methods have no number.
        enough: which scores must have numbers for the row to take part in means: all of them, or any.
    """
    printed = _printed(recipe, row.data, key)
    ours = next((score.accuracy for score in row.scores if score.method == _papers_method(recipe)), None)
    known = row.data not in recipe.unknown_version
    complete = enough(score.accuracy is not None and score.log_loss is not None for score in row.scores)
    reason = "" if complete else next(iter(reasons), _NO_NUMBER)
    return replace(
        row,
        printed=printed,
        difference=_minus(ours, printed),
        counted=known and complete,
        reason=reason if known else "the paper's version of this data set is not known",
    )


def _papers_method(recipe: Recipe) -> str:
    """The method of the paper's numbers; empty without any."""
    return recipe.paper.method if recipe.paper else ""


def _printed(recipe: Recipe, entry: str, key: str | int) -> float | None:
    """The paper's number as a fraction; None where it has none."""
    printed = next((value for name, value in recipe.printed.get(entry, {}).items() if name == key), None)
    return None if printed is None else printed / 100


def _minus(ours: float | None, printed: float | None) -> float | None:
    return None if ours is None or printed is None else ours - printed


def comparison(report: CompareReport, printed: Mapping[str, float]) -> Comparison:
    """The part of a row that only a comparison has.

    Args:
        report: of the data set.
        printed: the paper's accuracies by method, fractions.
    """
    ours = report.method(OURS)
    return Comparison(
        words=report.words,
        repeats=report.repeats,
        separation=_separation(report.targets),
        scores=tuple(_score(method, printed.get(method.method)) for method in report.methods),
        differences=() if ours is None else ours.differences,
        deltas=report.deltas,
        printed_deltas=tuple(
            _printed_delta(delta, printed)
            for delta in report.deltas
            if {delta.ours, delta.against, delta.base} <= set(printed)
        ),
        risks=report.risks,
        test=report.test,
    )


def _separation(targets: Iterable[TargetInfo]) -> float | None:
    """The mean over the targets that have one."""
    import numpy as np  # takes longer to import than a recipe to check

    known = [target.separation for target in targets if target.separation is not None]
    return float(np.mean(known)) if known else None


def _score(method: CompareMethodReport, printed: float | None) -> CompareScore:
    reasons = [unit.reason for unit in method.units if unit.accuracy is None]
    return CompareScore(
        method=method.method,
        interval=method.interval,
        ess=None if method.weights is None else method.weights.ess,
        models=len(method.units),
        failed=len(reasons),
        reason=reasons[0] if reasons else "",
        printed=printed,
        difference=_minus(method.accuracy, printed),
    )


def _printed_delta(delta: Delta, printed: Mapping[str, float]) -> Delta:
    """The paper's difference, in points and as a share of the accuracy of the same method as ours."""
    points, base = printed[delta.ours] - printed[delta.against], printed[delta.base]
    return Delta(delta.name, delta.ours, delta.against, points, points / base if base else None, delta.base)
