"""R^2 of the predictions of all pieces together, where no piece alone has one, as in leave-one-out cross-validation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from picsc.cross_validation.piece_scores import PieceScores

SCORE = "score"
"""Column of the score that means, intervals and tests are made of: the accuracy, or each piece's part of the R^2."""
WHOLE = ("whole", "whole-picsc", "whole-smaller", "equal-updates")
"""Models of the whole training set, which are tested on the validation rows."""
_OTHER_ROWS = ("subsample", "groups-divided", *WHOLE)
"""Methods that may be tested on other rows than all others."""
_CONSTANT = 1e-12
"""Variance of tested numbers, in squared deviations of the data set's, that is rounding and no variance."""


def with_scores(found: Mapping[str, PieceScores], *, numbers: bool) -> tuple[dict[str, PieceScores], bool]:
    """The scores of all methods with the column `SCORE`, and true where it is a part of an R^2 of all pieces.

    R^2 of one row, or of rows with one value, does not exist. Where that is so of every piece, the sums of squares of
    all pieces together have one: mean over pieces of `SCORE` in a repeat is one minus the sum of squared errors over
    that of distances from the mean of all rows that the repeat tested.

    Args:
        found: by method.
        numbers: true for a numeric target.
    """
    alike = [scores for name, scores in found.items() if name not in _OTHER_ROWS]
    pooled = numbers and not any(np.isfinite(scores.columns["accuracy"]).any() for scores in alike)
    return {
        name: replace(
            scores,
            columns={
                **scores.columns,
                SCORE: _parts(scores.columns) if pooled and name not in WHOLE else scores.columns["accuracy"],
            },
        )
        for name, scores in found.items()
    }, pooled


def _parts(columns: Mapping[str, NDArray[np.float64]]) -> NDArray[np.float64]:
    """Each piece's part of the R^2 of its repeat, (repeats, pieces); NaN without a model, and for a constant target."""
    error = 2 * columns["log_loss"]  # the log-loss of a number is half its squared error
    rows = np.where(np.isfinite(error), columns["tested"], 0.0)
    total, models = rows.sum(1, keepdims=True), (rows > 0).sum(1, keepdims=True)
    with np.errstate(invalid="ignore", divide="ignore"):
        centre = np.nansum(rows * columns["centre"], 1, keepdims=True) / total
        spread = columns["spread"] + (columns["centre"] - centre) ** 2
        variance = np.nansum(rows * spread, 1, keepdims=True) / total
        parts: NDArray[np.float64] = 1 - models * rows / total * error / variance
    return np.where((rows > 0) & (variance > _CONSTANT), parts, np.nan)
