"""Recipes as comma-separated values: numbers in full, empty fields for None."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from picsc_cli.formats.csv.writer import written

if TYPE_CHECKING:
    from picsc.reports.common import Interval
    from picsc.reports.recipes import Comparison, Federation, RecipeReport, RecipeRow

_PLAIN = ("data", "rows", "pieces", "sha256", "printed", "difference", "counted", "verdict", "shifted", "failed")
_OF_STRENGTHS = ("strength",)
_OF_CLIENTS = (
    "worst", "std_clients", "printed", "picsc_minus", "picsc_minus_low", "picsc_minus_high", "picsc_minus_p",
    "picsc_minus_p_holm",
)  # fmt: skip
_OF_TARGETS = (
    "interval_low", "interval_high", "ess", "models", "without_number", "printed", "minus_printed", "picsc_minus",
    "picsc_minus_low", "picsc_minus_high", "picsc_minus_p", "picsc_minus_p_holm",
)  # fmt: skip
_RISKS = ("accuracy", "log_loss", "accuracy_error", "log_loss_error", "accuracy_bias", "log_loss_bias")
_DELTAS = ("delta1", "delta2")


def recipes_csv(report: RecipeReport) -> str:
    """One row per recipe, data set and way to cut it; two columns per method. Accuracies are fractions.

    Where a recipe has clients, there are more columns: how they came about, each method's worst client and the paper's
    number of it, and the difference of PIcsC to it with the ends of its 95 % interval. Where it has targets: how they
    came about, each method's interval, weights and the same of the paper, the paper's differences in points and
    relative (ours, then those of its numbers), and how well cross-validation estimates the scores on the target.
    """
    from picsc.settings import COMPARE_METHODS, FED_METHODS, METHODS

    verbs = {table.verb for table in report.tables}
    methods = dict.fromkeys(
        (
            *(METHODS if verbs & {"audit", "cv"} or not verbs else ()),
            *(FED_METHODS if "fed" in verbs else ()),
            *(COMPARE_METHODS if "compare" in verbs else ()),
        )
    )
    header = ["recipe", "paper_method", *_PLAIN]
    header += [f"{method} {kind}" for method in methods for kind in ("accuracy", "log_loss")]
    if "fed" in verbs:
        header += ["clients", *(f"{method} {kind}" for method in FED_METHODS for kind in _OF_CLIENTS)]
    elif any(row.clients for table in report.tables for row in table.rows):
        header += ["clients"]
    if "compare" in verbs:
        header += ["target", "words", "repeats", "separation"]
        header += [f"{method} {kind}" for method in COMPARE_METHODS for kind in _OF_TARGETS]
        header += [f"{name} {kind}" for name in _DELTAS for kind in ("points", "relative")]
        header += [f"printed {name} {kind}" for name in _DELTAS for kind in ("points", "relative")]
        header += [f"foretold {by} {kind}" for by in _ways(report) for kind in _RISKS]
    if any(row.strength is not None for table in report.tables for row in table.rows):
        header += _OF_STRENGTHS
    header = [*dict.fromkeys(header), "reason"]
    rows = []
    for table in report.tables:
        for row in table.rows:
            cells = {"recipe": table.recipe, "paper_method": table.method, **dict(_cells(row))}
            rows.append([cells.get(name) for name in header])
    return written(header, rows)


def _ways(report: RecipeReport) -> list[str]:
    """All kinds of weights with which cross-validation estimates the scores on a target."""
    runs = (row.comparison for table in report.tables for row in table.rows)
    return list(dict.fromkeys(risk.by for run in runs if run is not None for risk in run.risks))


def _cells(row: RecipeRow) -> Iterator[tuple[str, object]]:
    """The values of a row, by column."""
    yield from ((name, getattr(row, name)) for name in (*_PLAIN, "clients", "target", *_OF_STRENGTHS, "reason"))
    for score in row.scores:
        yield f"{score.method} accuracy", score.accuracy
        yield f"{score.method} log_loss", score.log_loss
    if row.federation is not None:
        yield from _of_clients(row.federation)
    if row.comparison is not None:
        yield from _of_targets(row.comparison)


def _of_clients(run: Federation) -> Iterator[tuple[str, object]]:
    for score in run.scores:
        yield from ((f"{score.method} {kind}", getattr(score, kind)) for kind in ("worst", "std_clients", "printed"))
    for found in run.differences:
        yield from _minus(found.against, found.accuracy, found.interval, (found.p, found.p_holm))


def _of_targets(run: Comparison) -> Iterator[tuple[str, object]]:
    yield from (("words", run.words), ("repeats", run.repeats), ("separation", run.separation))
    for score in run.scores:
        ends = (None, None) if score.interval is None else (score.interval.low, score.interval.high)
        counts = (score.ess, score.models, score.failed, score.printed, score.difference)
        yield from zip((f"{score.method} {kind}" for kind in _OF_TARGETS), (*ends, *counts), strict=False)
    for found in run.differences:
        yield from _minus(
            found.against, found.accuracy, found.accuracy_interval, (found.accuracy_p, found.accuracy_p_holm)
        )
    for prefix, deltas in (("", run.deltas), ("printed ", run.printed_deltas)):
        for delta in deltas:
            name = delta.name.replace("Δ", "delta")
            yield f"{prefix}{name} points", delta.points
            yield f"{prefix}{name} relative", delta.relative
    for risk in run.risks:
        yield from ((f"foretold {risk.by} {kind}", getattr(risk, kind)) for kind in _RISKS)


def _minus(
    against: str, accuracy: float | None, interval: Interval | None, ps: tuple[float | None, float | None]
) -> Iterator[tuple[str, object]]:
    """PIcsC minus another method."""
    yield f"{against} picsc_minus", accuracy
    yield f"{against} picsc_minus_low", None if interval is None else interval.low
    yield f"{against} picsc_minus_high", None if interval is None else interval.high
    yield from zip((f"{against} picsc_minus_p", f"{against} picsc_minus_p_holm"), ps, strict=True)
