"""How well the reference model predicts the rows of a piece, and those of its reference.

The model is trained once, on all rows, so its loss of a row does not depend on the labels of the pieces. It has
learned from the piece as well: each row's loss is a little smaller than that of a row which it has not seen, in the
piece and in its reference alike, so their difference hardly changes where nothing is shifted. Where a piece is shifted,
the model is a compromise that the piece had its share in, and the difference is understated, the more the larger the
piece is.

Letters: n rows, K pieces.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
import torch
from numpy.typing import NDArray

from picsc.auditing.effects.intervals import FEWEST_UNITS, Rate, of_difference, of_rates, scaled
from picsc.auditing.effects.sums import cells_of, sides_of
from picsc.equations.likelihood import Likelihood, log_likelihood
from picsc.reports.effects import ModelFit

if TYPE_CHECKING:
    from picsc.auditing.design import Design

Floats = NDArray[np.float64]
ROWS_AT_ONCE = 8_192
"""Rows per pass through the model; changes no number beyond the last bits."""


@dataclass(frozen=True, slots=True)
class RowFit:
    """The reference model's predictions of n rows; NaN in rows without a label."""

    metric: Literal["accuracy", "mean absolute error"]
    score: Floats
    """(n,) 1 where the class is right and 0 where it is wrong; or the absolute error in the target's own unit."""
    loss: Floats
    """(n,) -log p(y | x), nats."""


def row_fit(
    model: torch.nn.Module, inputs: NDArray[np.float32], y: torch.Tensor, labelled: NDArray[np.bool_], unit: float
) -> RowFit:
    """Predict every labelled row.

    Args:
        model: gives logits, or means of a numeric target, in float32.
        inputs: (n, ...) inputs of the model.
        y: (n,) int64 classes, or floats as the model predicts them.
        labelled: (n,) True where there is a label.
        unit: the difference of the target, in its own unit, that is 1 in `y`.
    """
    likelihood: Likelihood = "numbers" if y.is_floating_point() else "classes"
    score, loss = np.full(len(y), np.nan), np.full(len(y), np.nan)
    rows = np.flatnonzero(labelled)
    with torch.no_grad():
        for start in range(0, len(rows), ROWS_AT_ONCE):
            part = rows[start : start + ROWS_AT_ONCE]
            output, labels = model(torch.from_numpy(inputs[part])), y[torch.from_numpy(part)]
            loss[part] = -log_likelihood(output, labels, likelihood).double().numpy()
            if likelihood == "classes":
                score[part] = (output.reshape(len(part), -1).argmax(1) == labels).double().numpy()
            else:
                score[part] = unit * (output.reshape(len(part)) - labels).abs().double().numpy()
    return RowFit("accuracy" if likelihood == "classes" else "mean absolute error", score, loss)


def model_fits(fit: RowFit | None, design: Design) -> tuple[ModelFit | None, ...]:
    """The model's fit of every piece and of its reference, by the position of the piece.

    Args:
        fit: predictions of the n rows; None without a target.
        design: design of these rows.
    """
    if fit is None:
        return (None,) * len(design.contrast.pieces)
    cells = cells_of(design)
    fewest = 2 if cells is None else FEWEST_UNITS
    (score, score_unit), (loss, loss_unit) = (_in_deviations(values) for values in (fit.score, fit.loss))
    scores = sides_of(score, design, cells)
    score_here, score_there = (side.mean for side in scores)
    loss_here, loss_there = (side.mean for side in sides_of(loss, design, cells))

    def of_piece(k: int) -> ModelFit | None:
        here, there = (float(side.total[k, 1] / side.total[k, 0]) if side.total[k, 0] else math.nan for side in scores)
        if not math.isfinite(here - there):
            return None
        interval = scaled(of_difference(score_here, score_there, k, fewest=fewest), score_unit)
        if fit.metric == "accuracy" and cells is None:
            interval = of_rates(*(Rate(float(side.total[k, 1]), float(side.total[k, 0])) for side in scores))
        return ModelFit(
            metric=fit.metric,
            piece=here * score_unit,
            reference=there * score_unit,
            difference=(here - there) * score_unit,
            interval=interval,
            loss_difference=float(loss_here.value[k] - loss_there.value[k]) * loss_unit,
            loss_interval=scaled(of_difference(loss_here, loss_there, k, fewest=fewest), loss_unit),
        )

    return tuple(of_piece(k) for k in range(len(design.contrast.pieces)))


def _in_deviations(values: Floats) -> tuple[Floats, float]:
    """Values in a unit in which they are of the order of 1, and that unit; shares stay as they are."""
    present = values[~np.isnan(values)]
    largest = float(np.abs(present).max()) if len(present) else 0.0
    unit = 1.0 if largest <= 1 else float(np.sqrt(np.mean(present**2)))
    return values / unit, unit
