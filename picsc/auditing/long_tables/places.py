"""Places of numbers among increasing edges, as `numpy.searchsorted` finds them, several times as fast for long columns.

A binary search jumps through the edges for each value. Here the range of the edges is divided into cells of equal
width, so that a value's cell, which is one product, leaves no more than a few edges to compare it with.

Letters: n values, e edges, c cells.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

FEWEST_VALUES, FEWEST_EDGES = 20_000, 8
"""Fewer values, or edges, than these are searched for by halves: there is nothing to gain."""
CELLS_PER_EDGE = 16
"""Cells for each edge: most hold no edge, and few hold two."""
MOST_COMPARED = 3
"""Most edges of a cell that its values are compared with one by one; in cells with more, values are searched for by
halves."""
TAIL = 0.01
"""Share of the edges at either end that may lie outside the cells, so that a long tail does not widen them."""
MOST_CROWDED = 0.3
"""Share of the edges in such cells beyond which all values are searched for by halves."""
AT_ONCE = 16_384
"""Values at a time, which stay in the cache."""


def places(edges: Floats, values: Floats | NDArray[np.integer]) -> NDArray[np.integer]:
    """Number of edges below each value, (n,); e where a value is NaN.

    The cell of a value is a product that is rounded; it never falls as values rise, so edges in lower cells are below
    the value and edges in higher cells are not, whatever is lost in rounding.

    Args:
        edges: (e,) increasing, finite.
        values: (n,).
    """
    found: NDArray[np.integer] = np.empty(len(values), np.int16 if len(edges) < np.iinfo(np.int16).max else np.int32)
    cells = None if len(values) < FEWEST_VALUES else _Cells.of(edges)
    for start in range(0, len(values), AT_ONCE):
        part = values[start : start + AT_ONCE]
        out = found[start : start + AT_ONCE]
        out[:] = np.searchsorted(edges, part, side="left") if cells is None else cells.places(part)
    return found


class _Cells:
    """Edges by cell: of equal width in the numbers, or in the numbers' bits, which are about logarithms."""

    def __init__(self, edges: Floats, *, by_bits: bool) -> None:
        self.edges, self.by_bits, self.last = edges, by_bits, CELLS_PER_EDGE * len(edges)
        outside = int(TAIL * len(edges))
        self.low, self.scale = 0.0, 1.0
        low, high = self._scaled(edges[[outside, len(edges) - 1 - outside]])
        with np.errstate(over="ignore", divide="ignore"):
            self.low, self.scale = low, self.last / (high - low)
        self.usable = bool(np.isfinite(self.scale))
        held = np.bincount(self._cell(edges), minlength=self.last + 1) if self.usable else np.array([len(edges)])
        first = np.cumsum(held) - held
        self.below = first.astype(np.int32)
        self.compared = [np.full(len(held), np.inf) for _ in range(min(int(held.max()), MOST_COMPARED))]
        for i, edge in enumerate(self.compared):
            inside = held > i
            edge[inside] = edges[first[inside] + i]
        self.crowded = held > MOST_COMPARED
        self.crowd = int(held[self.crowded].sum())

    @classmethod
    def of(cls, edges: Floats) -> _Cells | None:
        """The cells of some edges; None where they would not help."""
        if len(edges) < FEWEST_EDGES:
            return None
        both = [cls(edges, by_bits=by_bits) for by_bits in (False, True)]
        best = min((each for each in both if each.usable), key=lambda each: each.crowd, default=None)
        return best if best is not None and best.crowd <= MOST_CROWDED * len(edges) else None

    def _scaled(self, values: Floats | NDArray[np.integer]) -> Floats:
        """The numbers, or their bits, from `low` and in cells."""
        found = np.add(values, 0.0, dtype=np.float64)  # turns -0 into 0, whose bits are others
        if self.by_bits:
            bits = found.view(np.int64)
            bits ^= (bits >> 63) & np.int64(np.iinfo(np.int64).max)  # in the order of the numbers
            found = bits.astype(np.float64)
        with np.errstate(over="ignore", invalid="ignore"):
            found -= self.low
            found *= self.scale
        return found

    def _cell(self, values: Floats | NDArray[np.integer]) -> NDArray[np.intp]:
        """Cell of each value; the outer ones hold all that is beyond them, and the first one NaN."""
        found = self._scaled(values)
        np.fmax(found, 0.0, out=found)
        np.minimum(found, self.last, out=found)
        return found.astype(np.intp)

    def places(self, values: Floats | NDArray[np.integer]) -> NDArray[np.int32]:
        """Number of edges below each value."""
        cell = self._cell(values)
        found: NDArray[np.int32] = self.below.take(cell)
        for edge in self.compared:
            found += values > edge.take(cell)
        if self.crowd:
            among = np.flatnonzero(self.crowded.take(cell))
            found[among] = np.searchsorted(self.edges, values[among], side="left")
        gone = np.isnan(values)
        if gone.any():
            found[gone] = len(self.edges)
        return found
