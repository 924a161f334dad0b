"""Drift: the verdict and the words of columns that move steadily over the batches.

No single batch is far from the one before, so the last one, which is furthest from where the stream began, gets the
verdict.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from picsc.phrases import counted, listed
from picsc.reports.common import Finding

if TYPE_CHECKING:
    from collections.abc import Sequence

    from picsc.auditing.streams.trend import Trend, Trending
    from picsc.auditing.verdict import Rule
    from picsc.datasets.table import Dataset
    from picsc.reports.audit import Cell, FragmentReport

Reports = tuple["FragmentReport", ...]


def with_drift(
    reports: Reports, trend: Trend | None, rule: Rule, dataset: Dataset
) -> tuple[Reports, tuple[Finding, ...]]:
    """Call the last piece shifted where a column moves steadily to it.

    A jump makes a trend, too: where a shifted piece names the column, its jump is known.

    Args:
        reports: verdicts of all pieces, each compared with the one before.
        trend: the test of a steady move; None where there is none.
        rule: level, smallest effects.
        dataset: the rows, for the names of levels.

    Returns:
        The reports, and a finding `drift` where there is a drift.
    """
    if trend is None or trend.p_adjusted > rule.level or rule.gamma is not None or rule.too_short:
        return reports, ()
    shifted = [each for each in reports if each.verdict == "shift"]
    named = {column.name for each in shifted for column in each.columns if column.moved(rule.level)}
    found = [each for each in trend.found if _large(each, rule) and not (each.jumps and each.column in named)]
    if not found:
        return reports, ()
    names = list(dict.fromkeys(each.column for each in found))
    words = _in_words(found[0], trend, [each.name for each in reports], dataset)
    others = f"; {counted(len(names) - 1, 'more column')} too" if len(names) > 1 else ""
    last = reports[-1]
    target = "" if dataset.target is None else dataset.target.name
    cares, moves = target in names, any(name != target for name in names)
    alone = last.verdict != "shift"
    called = replace(
        last,
        verdict="shift",
        reason="; ".join([*([] if alone else [last.reason]), f"{words}{others}"]),
        cell=_cell(last.cell, moves=moves, cares=cares),
        p_adjusted=_smaller(last.p_adjusted, trend.p_adjusted),
    )
    if moves:
        effect = max(each.effect for each in found if each.column != target)
        called = replace(
            called,
            p_data_adjusted=_smaller(last.p_data_adjusted, trend.p_adjusted),
            effect_data=max(last.effect_data or 0.0, effect),
            statistic_data="trend" if alone else last.statistic_data,
        )
    if cares:
        effect = max(each.effect for each in found if each.column == target)
        called = replace(
            called,
            p_model_adjusted=_smaller(last.p_model_adjusted, trend.p_adjusted),
            effect_model=max(last.effect_model or 0.0, effect),
            statistic_model="trend" if alone else last.statistic_model,
        )
    advice = f"look at {listed(names, 3)} over all pieces: later rows are no longer like the first ones"
    return (*reports[:-1], called), (Finding("drift", "warning", f"{words}{others}", advice),)


def _smaller(p: float | None, other: float) -> float:
    return other if p is None else min(p, other)


def _cell(cell: Cell | None, *, moves: bool, cares: bool) -> Cell:
    """The answers to both questions, those of the piece by itself included."""
    moves, cares = moves or cell in ("data only", "both"), cares or cell in ("model only", "both")
    return "both" if moves and cares else "data only" if moves else "model only"


def _large(each: Trending, rule: Rule) -> bool:
    return each.effect >= rule.smallest.of_column(each.column, each.kind)


def _in_words(each: Trending, trend: Trend, pieces: Sequence[str], dataset: Dataset) -> str:
    """`x moves steadily over the batches: +0.1 sd per batch, +0.9 sd from batch 1 to batch 10, p 0.001`."""
    piece = "batch" if all(name.startswith("batch ") for name in pieces) else "piece"
    over = "batches" if piece == "batch" else "pieces"
    what = {"values": "", "missing": "missing rate of ", "level": ""}[each.kind] + each.column
    if each.kind == "level":
        what = f"share of {_levels(each.column, dataset)[each.code]!r} in {each.column}"
    step, total = (_move(size, each) for size in (each.per_batch, each.total))
    p = max(each.p_adjusted, trend.p_adjusted)
    way = f"from {pieces[each.first]} to {pieces[-1]}"
    how = "moves" if each.jumps else "moves steadily"
    return f"{what} {how} over the {over}: {step} per {piece}, {total} {way}, p {p:.3g}"


def _move(size: float, each: Trending) -> str:
    return f"{size:+.2g} sd" if each.kind == "values" else f"{100 * size:+.2g} points"


def _levels(name: str, dataset: Dataset) -> Sequence[str]:
    target = () if dataset.target is None else (dataset.target,)
    return next(column.levels for column in (*dataset.columns, *target) if column.name == name)
