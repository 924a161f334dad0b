"""Sizes of the differences of an audit's leading columns in every piece, moved or not: columns by pieces.

A piece reports the columns with most evidence in it; side by side, pieces need the same columns. Sizes are KS and total
variation distances, and differences of missing rates, as in the tests, but of numbers in at most `STEPS` steps, so that
memory does not grow with rows.

Letters: n rows, L labels, t steps or levels.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from picsc.auditing.effects.counts import Ints, columns_and_target, counts_by_label, reference_counts
from picsc.auditing.long_tables.places import places
from picsc.reports.distributions import ColumnEffects

if TYPE_CHECKING:
    from picsc.auditing.design import Design
    from picsc.auditing.piece_tests import PieceTests
    from picsc.datasets.table import Column, Dataset, Target
    from picsc.reports.audit import FragmentReport

MOST_COLUMNS = 30
"""Columns at most; those that moved somewhere come first."""
STEPS = 1_000
"""Steps of a column of numbers: a KS distance differs by about 1 / STEPS at most."""
SAMPLE = 100_000
"""Rows, evenly spaced, that the steps of a longer column are found in."""
_NUMBERS = ("numeric", "datetime", "text", "numbers")


def column_effects(rows: Dataset, design: Design, tests: PieceTests, level: float) -> tuple[ColumnEffects, ...]:
    """The sizes of the columns with most evidence in some piece, by piece of the report.

    Args:
        rows: n rows, as the tests compared them.
        design: design of these rows.
        tests: results of all pieces, after attribution.
        level: family-wise level of the tests.
    """
    columns = columns_and_target(rows)
    found = []
    for name, side in _leading(tests.reports, level):
        if name not in columns or side in ("format", "new levels"):
            continue
        table, ordered = _counts(columns[name], design, missing=side == "missing")
        sizes = []
        for piece in design.pieces:
            k = piece.position
            sizes.append(None if k is None else _distance(*_both(table, k, design, tests), ordered=ordered))
        found.append(ColumnEffects(name, side, tuple(sizes)))
    return tuple(found)


def _leading(reports: Iterable[FragmentReport], level: float) -> list[tuple[str, str]]:
    """Names and sides of columns: those that moved somewhere first, then by their largest size."""
    best: dict[tuple[str, str], tuple[bool, float]] = {}
    for piece in reports:
        for column in piece.columns:
            key = column.name, column.kind
            best[key] = max(best.get(key, (False, -1.0)), (column.moved(level), column.statistic or 0.0))
    return sorted(best, key=lambda key: best[key], reverse=True)[:MOST_COLUMNS]


def _counts(column: Column | Target, design: Design, *, missing: bool) -> tuple[Ints, bool]:
    """Rows by label and code, (L, t), and whether codes are ordered."""
    gone = column.missing
    if missing:
        return counts_by_label(gone.astype(np.int64), 2, design), False
    if column.kind not in _NUMBERS:
        levels = np.where(gone, -1, column.values).astype(np.int64)
        return counts_by_label(levels, max(len(column.levels), 1), design), False
    values = np.asarray(column.ordered, dtype=np.float64)
    there = values[~gone] if gone.any() else values
    if not len(there):
        return counts_by_label(np.full(len(values), -1), 1, design), True
    some = np.sort(there if len(there) <= 2 * SAMPLE else there[:: len(there) // SAMPLE])
    edges = np.unique(np.quantile(some, np.linspace(0, 1, STEPS + 1), method="higher"))
    codes = places(edges, values)
    codes[gone] = -1
    return counts_by_label(codes, len(edges) + 1, design), True


def _both(table: Ints, k: int, design: Design, tests: PieceTests) -> tuple[Ints, Ints]:
    own: Ints = table[design.contrast.pieces[k]]
    return own, reference_counts(table, k, design, tests)


def _distance(own: Ints, other: Ints, *, ordered: bool) -> float | None:
    """KS distance of ordered codes, total variation distance of others; None where a side has no values."""
    if not own.sum() or not other.sum():
        return None
    apart = own / own.sum() - other / other.sum()
    return float(np.abs(np.cumsum(apart)).max() if ordered else np.abs(apart).sum() / 2)
