"""Measures of models that learn one piece after another, from their scores on every piece.

Source: Lopez-Paz and Ranzato 2017, and Chaudhry et al. 2018. Letters: k pieces.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from picsc.evaluation.means import nan_mean

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class LifelongScores:
    """Measures of one sequence of models; NaN where one cannot be computed."""

    all_pieces: float
    """Score of the last model, mean over all pieces."""
    seen: float
    """Score over the pieces seen so far, mean over these and over the models after each piece."""
    forgetting: float
    """Best score so far on a piece minus that of the last model, mean over all pieces but the last; below 0 where later
    pieces help with earlier ones."""
    forward: float
    """Score on the next piece before it is learned from, mean over pieces. Forward transfer is this minus the score of
    an untrained model, which is the same for all methods."""


def lifelong_scores(matrix: Floats) -> LifelongScores:
    """Measures of a matrix of scores.

    Args:
        matrix: (k, k), score of the model after piece t (row) on the test rows of piece j (column); NaN without one.
    """
    k = len(matrix)
    seen = [nan_mean(matrix[t, : t + 1]) for t in range(k)]
    lost = [_best(matrix[j : k - 1, j]) - matrix[k - 1, j] for j in range(k - 1)]
    return LifelongScores(
        all_pieces=nan_mean(matrix[k - 1]),
        seen=nan_mean(np.array(seen)),
        forgetting=nan_mean(np.array(lost)) if lost else float("nan"),
        forward=nan_mean(np.diagonal(matrix, 1)) if k > 1 else float("nan"),
    )


def _best(scores: Floats) -> float:
    """The largest number; NaN where there is none."""
    known = scores[np.isfinite(scores)]
    return float(known.max()) if len(known) else float("nan")
