"""Finding on pieces whose Fisher information is a mean of too few rows for Algorithm 1 to compare it with others."""

from __future__ import annotations

import numpy as np

from picsc.cross_validation.splits import Repeat
from picsc.phrases import counted, listed
from picsc.reports.common import Finding

FEWEST = 20
"""Rows from which a mean of squared scores is known to within a third: of normal scores its relative standard error is
the root of 2/n, and that of others is larger."""
FEW = 50
"""The same for a fifth; fewer rows distort a comparison with pieces that are far larger."""
FAR_SMALLER = 0.1
"""Share of the median piece's rows below which a piece is far smaller than the others."""


def small_pieces(repeat: Repeat) -> list[Finding]:
    """Pieces that are too small for their Fisher information to mean much, as one finding; empty without any.

    Args:
        repeat: the pieces between which Algorithm 1's penalty is.
    """
    sizes = np.array([len(piece) for piece in repeat.pieces])
    dwarfed = (sizes < FEW) & (sizes < FAR_SMALLER * np.median(sizes))
    small = np.flatnonzero(dwarfed | (sizes < FEWEST))
    if not len(small):
        return []
    names = [f"{repeat.names[i]} ({counted(int(sizes[i]), 'row')})" for i in small]
    least = int(sizes[small].min())
    error = f"{100 * np.sqrt(2 / least):.0f} %"
    message = (
        f"too few rows for a Fisher information, which algorithm 1 compares between pieces: {listed(names, 3)}; the "
        f"mean over {counted(least, 'row')} has a standard error of {error} or more, and what is chance in it moves "
        "the models of all pieces"
    )
    advice = "join small pieces with others, use fewer pieces, or compare with --lambda 0"
    return [
        Finding(
            "piece-too-small-for-fisher",
            "warning" if dwarfed.any() else "note",
            message,
            advice,
            tuple(repeat.names[i] for i in small),
        )
    ]
