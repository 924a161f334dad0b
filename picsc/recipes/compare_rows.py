"""What a row of a recipe with `verb: compare` holds, from the report of its data set."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from picsc.recipes.across_datasets import OURS
from picsc.reports.compare import CompareMethodReport, CompareReport, Delta
from picsc.reports.recipes import CompareScore, Comparison
from picsc.settings import CompareSettings


def asked_target(settings: CompareSettings) -> str:
    """How the target was asked for; data sets with pieces of their own belong together, whatever the column."""
    if settings.bias is not None:
        return "selection bias"
    if settings.in_turn:
        for way in ("folds", "batches"):
            count = getattr(settings.cut, way)
            if count is not None:
                return f"each of {count} {way}"
        return "each piece in turn"
    if settings.cut.ways:
        return "named pieces"
    return "another file" if settings.test_on else "a part of the rows"


def comparison(report: CompareReport, printed: Mapping[str, float]) -> Comparison:
    """One data set's part of a recipe's table.

    Args:
        report: of the data set.
        printed: the paper's accuracies by method, fractions.
    """
    ours = report.method(OURS)
    told = [target.separation for target in report.targets if target.separation is not None]
    return Comparison(
        words=report.words,
        repeats=report.repeats,
        separation=float(np.mean(told)) if told else None,
        scores=tuple(_score(method, printed.get(method.method)) for method in report.methods),
        differences=() if ours is None else ours.differences,
        deltas=report.deltas,
        printed_deltas=tuple(
            _printed(delta, printed)
            for delta in report.deltas
            if {delta.ours, delta.against, delta.base} <= set(printed)
        ),
        risks=report.risks,
        test=report.test,
    )


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
        difference=None if method.accuracy is None or printed is None else method.accuracy - printed,
    )


def _printed(delta: Delta, printed: Mapping[str, float]) -> Delta:
    """The paper's difference, in points and as a share of the same method's accuracy as ours."""
    points, base = printed[delta.ours] - printed[delta.against], printed[delta.base]
    return Delta(delta.name, delta.ours, delta.against, points, points / base if base else None, delta.base)
