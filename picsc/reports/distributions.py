"""The columns that an audit names first: sizes in every piece, and counts of a piece and its reference, never a row."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PieceCounts:
    """One piece and its reference, counted into the same bins or levels of one column."""

    piece: str
    """Name of the piece."""
    counts: tuple[int, ...]
    """Rows of the piece in each bin or level."""
    missing: int
    """Rows of the piece without a value."""
    reference_counts: tuple[int, ...]
    """Rows of the reference in each bin or level."""
    reference_missing: int
    """Rows of the reference without a value."""


@dataclass(frozen=True, slots=True)
class ColumnDistribution:
    """The distribution of one column in the pieces where it moved most."""

    name: str
    """Name of the column."""
    kind: str
    """Kind of its values: numeric, categorical, boolean, datetime or text; for the target, classes or numbers."""
    edges: tuple[float, ...]
    """Inner edges of the bins of numbers, increasing, one fewer than there are bins: the first bin holds all values up
    to and including the first edge, the last one all above the last. Seconds since 1970 for dates, characters for
    texts. Empty for levels."""
    levels: tuple[str, ...]
    """Names of the levels, the most frequent first; empty for numbers."""
    other: int
    """Number of further levels, which the last count holds together; 0 where there are none, and for numbers."""
    pieces: tuple[PieceCounts, ...]
    """The pieces, the one with the largest difference first."""


@dataclass(frozen=True, slots=True)
class ColumnEffects:
    """The size of one column's difference in every piece, moved or not."""

    name: str
    """Name of the column."""
    kind: str
    """Side of the column that is compared, as in `ColumnShift.kind`."""
    sizes: tuple[float | None, ...]
    """KS distance, total variation distance or difference of missing rates of each piece and its reference, in [0, 1],
    in the order of `AuditReport.fragments`; of numbers to within 0.001. None without a reference or values."""
