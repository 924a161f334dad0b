"""Counts of the columns that an audit names first, in the pieces where they moved most and in the references of these.

Bins and levels are those of all rows together, so that they do not depend on the cut. Only counts leave this module.

Letters: n rows, L labels, t bins or levels.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from picsc.auditing.effects.counts import columns_and_target, counts_by_label, reference_counts
from picsc.auditing.long_tables.places import places
from picsc.reports.distributions import ColumnDistribution, PieceCounts

if TYPE_CHECKING:
    from picsc.auditing.design import Design
    from picsc.auditing.piece_tests import PieceTests
    from picsc.datasets.table import Column, Dataset, Target
    from picsc.reports.audit import FragmentReport
    from picsc.reports.columns import ColumnShift

MOST_COLUMNS, MOST_PIECES, CLOSEST = 10, 4, 3
"""Columns at most, pieces of each at most, and columns that are shown where none moved."""
BINS, LEVELS = 24, 10
"""Bins of a column of numbers, and levels that are counted one by one."""
OUTER = 0.01
"""Share of the values that each of the two outer bins holds at most before inner bins are as wide as they can be."""


_Codes = tuple[NDArray[np.integer], tuple[float, ...], tuple[str, ...], int]
"""Codes of (n,) values, -1 where missing; inner edges of bins, names of levels, and how many levels are pooled."""


def distributions(rows: Dataset, design: Design, tests: PieceTests, level: float) -> tuple[ColumnDistribution, ...]:
    """The distributions of the columns that moved most; where none moved, of those that are nearest to it.

    Args:
        rows: n rows, as the tests compared them.
        design: design of these rows.
        tests: results of all pieces, after attribution.
        level: family-wise level of the tests.
    """
    of_name = columns_and_target(rows)
    found = []
    for name, pieces in _leading(tests.reports, level).items():
        if name in of_name:
            found.append(_counted(of_name[name], pieces, design, tests))
    return tuple(each for each in found if each.pieces)


def _leading(reports: Iterable[FragmentReport], level: float) -> dict[str, list[str]]:
    """Names of the columns, the strongest first, each with the names of the pieces in which it moved most."""
    told = [(column, piece) for piece in reports for column in piece.columns if column.statistic is not None]
    moved = [each for each in told if each[0].moved(level)]
    most = MOST_COLUMNS if moved else CLOSEST

    def strength(each: tuple[ColumnShift, FragmentReport]) -> tuple[float, float]:
        column, _ = each
        p = column.p(level)
        return -column.effect(level), 1.0 if p is None else p

    names: dict[str, list[str]] = {}
    for column, piece in sorted(moved or told, key=strength):
        if column.name not in names and len(names) == most:
            continue
        pieces = names.setdefault(column.name, [])
        if piece.name not in pieces and len(pieces) < MOST_PIECES:
            pieces.append(piece.name)
    return names


def _counted(column: Column | Target, pieces: list[str], design: Design, tests: PieceTests) -> ColumnDistribution:
    """One column, counted in some pieces and in the reference of each."""
    coded = bool(column.levels)
    codes, edges, names, other = _of_levels(column) if coded else _of_numbers(column)
    bins = len(names) + bool(other) if coded else len(edges) + 1
    table = counts_by_label(codes, bins, design, with_missing=True)
    position = {piece.name: piece.position for piece in design.pieces}
    counts = []
    for name in pieces:
        k = position.get(name)
        if k is None:
            continue
        own, other_rows = table[design.contrast.pieces[k]], reference_counts(table, k, design, tests)
        counts.append(
            PieceCounts(
                name,
                tuple(map(int, own[:-1])),
                int(own[-1]),
                tuple(map(int, other_rows[:-1])),
                int(other_rows[-1]),
            )
        )
    return ColumnDistribution(column.name, column.kind, edges, names, other, tuple(counts))


def _of_levels(column: Column | Target) -> _Codes:
    """Codes of (n,) levels by frequency, -1 where missing; no edges, names, and how many levels are pooled."""
    values = np.asarray(column.values, dtype=np.int64)
    frequent = np.argsort(-np.bincount(values[values >= 0], minlength=len(column.levels)), kind="stable")
    shown = frequent if len(frequent) <= LEVELS + 1 else frequent[:LEVELS]
    new = np.full(len(column.levels) + 1, len(shown), dtype=np.int64)
    new[shown] = np.arange(len(shown))
    new[-1] = -1  # the code of missing values, -1, picks this last entry
    return new[values], (), tuple(column.levels[code] for code in shown), len(frequent) - len(shown)


def _of_numbers(column: Column | Target) -> _Codes:
    """Bins of (n,) numbers, -1 where missing; their inner edges, no names."""
    values = np.asarray(column.values, dtype=np.float64)
    there = np.isfinite(values)
    edges = _edges(values[there])
    codes = places(edges, values)
    codes[~there] = -1
    return codes, tuple(float(edge) for edge in edges), (), 0


def _edges(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Inner edges: between single values where there are few different ones, else of equal width within quantiles."""
    if not len(values):
        return np.zeros(0)
    distinct = np.unique(values)
    if len(distinct) <= BINS // 2:
        return distinct[:-1] + np.diff(distinct) / 2
    low, high = np.quantile(values, (OUTER, 1 - OUTER))
    if not (np.isfinite(high - low) and high > low):
        return np.unique(np.quantile(values, np.linspace(0, 1, BINS + 1)[1:-1]))
    return np.unique(np.linspace(low, high, BINS - 1))
