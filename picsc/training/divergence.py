"""Divergence: a model whose loss is not finite, or beyond all reason, has failed, whatever numbers it still predicts.

A model may stay among the finite numbers long after it has stopped learning, and how long depends on the number of
steps alone. So the bound is one of the loss, and far below the largest number. Models that are trained one at a time
are checked after their run, many models at once (`picsc.training.batched`) while they are trained.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from picsc.equations.likelihood import Likelihood, log_likelihood
from picsc.errors import NumericsError
from picsc.training.predict import predict
from picsc.training.single_inputs import LabelledRows, OptimizerSettings

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


@dataclass(frozen=True, slots=True)
class TrainingRun:
    """What a message on a training run says of it."""

    steps: int
    """Updates."""
    per_epoch: int
    """Updates that make an epoch."""
    how: str
    """Lambda and learning rate, in words."""


def check_loss(
    losses: Tensor,
    model: nn.Module,
    rows: LabelledRows,
    settings: OptimizerSettings,
    run: TrainingRun,
    *,
    restored: bool,
) -> None:
    """Refuse a run whose loss is beyond all reason, before a step or after the last one.

    Args:
        losses: before each step.
        model: the trained model.
        rows: that it was trained on.
        settings: of its optimiser.
        run: for the message.
        restored: True where early stopping has brought an earlier epoch's parameters back.

    Raises:
        NumericsError: names epoch, lambda and learning rate.
    """
    some = min(settings.batch_size, len(rows))
    outputs = int(rows.y.max()) + 1 if rows.likelihood == "classes" else 1
    # one minibatch may hold all of the rows that are far away
    largest = largest_loss(rows.y, None, rows.likelihood, outputs) * (len(rows) / some)
    if not restored:
        predicted = predict(model, rows.x[:some], likelihood=rows.likelihood)
        last = -log_likelihood(predicted, rows.y[:some], rows.likelihood).mean()
        losses = torch.cat([losses, last[None].to(losses)])
    beyond = has_diverged(losses, largest.to(losses)).nonzero().flatten()
    if len(beyond):
        step = min(int(beyond[0]) + 1, run.steps)
        epoch = -(-step // run.per_epoch)
        raise NumericsError(
            f"the loss was {float(losses[beyond[0]]):.3g} nats per row at epoch {epoch} (step {step} of {run.steps}) "
            f"{run.how}, beyond {float(largest):g}: lower the learning rate, or look for unscaled inputs",
            epoch,
        )


def check_finite(losses: Tensor, parameters: list[nn.Parameter], run: TrainingRun) -> None:
    """Refuse a run that left the finite numbers.

    Args:
        losses: before each step.
        parameters: those that were trained, after the last step.
        run: for the message.

    Raises:
        NumericsError: names epoch, lambda and learning rate.
    """
    steps, per_epoch, how = run.steps, run.per_epoch, run.how
    broken = (~losses.isfinite()).nonzero().flatten()
    if len(broken):
        step = int(broken[0]) + 1
        epoch = -(-step // per_epoch)
        raise NumericsError(
            f"the loss stopped being finite at epoch {epoch} (step {step} of {steps}) {how}: "
            "lower the learning rate, or look for infinite, missing or unscaled inputs",
            epoch,
        )
    if not all(bool(parameter.isfinite().all()) for parameter in parameters):
        epoch = -(-len(losses) // per_epoch)
        raise NumericsError(
            f"parameters stopped being finite at epoch {epoch} (the last of {len(losses)} steps) {how}: "
            "lower the learning rate",
            epoch,
        )
