"""Divergence: a model whose loss is not finite, or beyond all reason, has failed, whatever numbers it still predicts.

A model may stay among the finite numbers long after it has stopped learning, and how long depends on the number of
steps alone. So the bound is one of the loss, and far below the largest number.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from picsc.equations.likelihood import Likelihood

ABSURD = 100.0
"""Loss of a model that has diverged, in losses of a model that has learned nothing, and in nats where that is less."""
CHECKED_FIRST, CHECK_EVERY = 10, 20
"""Steps from the start after each of which many models at once are checked, and steps between two checks later on."""


def largest_loss(
    y: Tensor, weight: Tensor | None, likelihood: Likelihood, outputs: int, dim: int | tuple[int, ...] = -1
) -> Tensor:
    """The largest mean loss of a model that has not diverged, in nats per row.

    Args:
        y: numbers scaled to the mean 0 of the training rows, (..., n); not used for classes.
        weight: share of each row in the loss, which sum to 1; None is equal shares.
        likelihood: of the targets.
        outputs: classes, whose uninformed loss is the logarithm of their number.
        dim: of the rows.

    Returns:
        `ABSURD` times the loss of a model that always predicts 0, or the same probability for every class.
    """
    if likelihood == "classes":
        return y.new_tensor(ABSURD * max(1.0, math.log(max(outputs, 1))), dtype=torch.float32)
    squares = y.float().square() / 2
    uninformed = squares.mean(dim) if weight is None else (squares * weight).sum(dim)
    return ABSURD * uninformed.clamp(min=1.0)


def has_diverged(loss: Tensor, largest: Tensor) -> Tensor:
    """True where a loss is beyond the largest one, or not a number."""
    return ~(loss <= largest)


def is_checked(step: int, steps: int, per_epoch: int) -> bool:
    """True after the steps, counted from 0, that many models at once are checked after; the last is one of them."""
    ends_epoch = per_epoch > 1 and (step + 1) % per_epoch == 0
    return step < CHECKED_FIRST or ends_epoch or step % CHECK_EVERY == CHECK_EVERY - 1 or step + 1 == steps
