"""The training loop that every verb shares for single models, and what a trained model predicts.

Shape letters here: n rows, f features, d parameters. Losses stay on the device until the loop is over; the host waits
for the device only where early stopping has to decide, once per epoch. What a step minimises is in
`picsc.training.objectives`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import repeat
from typing import Literal

import torch
from torch import Tensor, nn

from picsc.equations.likelihood import Likelihood
from picsc.equations.penalties import Anchor, Penalty
from picsc.errors import DataError, NumericsError, SettingsError
from picsc.runtime.devices import precision as products_in
from picsc.runtime.devices import sum_dtype
from picsc.settings import Precision
from picsc.training.algorithm_1 import Shares, all_rows, checked_fragments
from picsc.training.early_stopping import Watch
from picsc.training.minibatches import epoch_steps, held_out, minibatches, shared_minibatches
from picsc.training.objectives import Objective, anchored, between_fragments, flat, guided_by, plain, trainable
from picsc.training.objectives import task_loss as task_loss
from picsc.training.optimizers import AdamState as AdamState
from picsc.training.optimizers import SgdState, sgd_step
from picsc.training.optimizers import adam_step as adam_step
from picsc.training.predict import predict as predict
from picsc.weighting.diw import TargetData

Update = Callable[[Tensor, Tensor], None]
"""Changes parameters (d,) by their gradient (d,)."""


@dataclass(frozen=True, slots=True)
class TrainLog:
    """How a training run went."""

    loss: tuple[float, ...]
    """Mean negative log-likelihood per row of the minibatch before each step, nats; without penalties, with weights."""
    penalty: tuple[float, ...] = ()
    """What the penalties added to it, lambda included, nats; empty without penalty."""
    penalty_share: float = 0.0
    """Norm of the penalties' gradient over that of the task's plus the penalties', mean over steps, in [0, 1]."""
    held_out: tuple[float, ...] = ()
    """Mean negative log-likelihood of the rows held out, after each epoch, nats; empty without early stopping."""


def train(
    model: nn.Module,
    x: Tensor,
    y: Tensor,
    *,
    likelihood: Likelihood,
    steps: int,
    lr: float,
    batch_size: int,
    seed: int,
    weight_decay: float = 0.0,
    anchor: Anchor | None = None,
    penalty: Penalty | None = None,
    fragment: Tensor | None = None,
    fragments: int | None = None,
    strength: float = 0.0,
    warmup: float = 0.0,
    optimizer: Literal["adam", "sgd"] = "adam",
    momentum: float = 0.9,
    patience: int | None = None,
    precision: Precision = "float32",
    weight: Tensor | None = None,
    guided: TargetData | None = None,
) -> TrainLog:
    """Minimise the mean negative log-likelihood, plus lambda times whichever penalties are given, in place.

    Source: "Model architectures" (Adam); Algorithm 1 with `penalty`; Eq. 16 with `anchor`; with `guided` dynamic
        importance weighting, see `picsc.training.objectives.guided_by`.
    Reading: with `penalty`, every fragment has the same share of each minibatch, and so of the task's loss. The same
        seed gives the same bytes on the same machine, and strength 0 the bytes of plain training.

    Args:
        model: in the mode that it shall be trained in; its frozen parameters stay as they are.
        x: inputs (n, ...).
        y: int64 (n,) classes, or floats (n,).
        likelihood: of y.
        steps: updates, >= 0; with `patience` at most so many.
        lr: learning rate.
        batch_size: rows per step; all rows when n <= batch_size. An epoch is n // batch_size steps.
        seed: of the minibatches and of the rows held out, the only random draws.
        weight_decay: added to the gradient as weight_decay * parameter.
        anchor: of Eq. 16, (d,) in `parameters_to_vector` order.
        penalty: between fragments; its steps are in the model's own precision, whatever `precision` says.
        fragment: int64 (n,), the fragment of each row, in 0..fragments-1; for `penalty`.
        fragments: how many there are; None takes the highest number.
        strength: lambda of `anchor` and `penalty`, >= 0.
        warmup: share of the steps over which the lambda of `penalty` rises linearly from 0.
        optimizer: which.
        momentum: of sgd.
        patience: epochs without a lower loss on a tenth of the rows, held out, before training stops; the best epoch's
            parameters are restored. The rule and the rows are the same for every method. None trains to the end.
        precision: of the task's forward pass; tf32 and bfloat16 are faster on cuda.
        weight: of the rows, (n,), non-negative: a step's loss is the weighted mean of its rows'. Rows held out count by
            it too. None weighs all alike. Not with `penalty`.
        guided: rows of the target that weigh each step's rows anew after one epoch of plain training. Not with
            `penalty`.

    Returns:
        Losses before each step, and what the penalties did.

    Raises:
        DataError: there are no rows, or x, y, fragments, weights, anchor and the model's output do not fit together.
        NumericsError: the loss or a parameter stopped being finite; names epoch, lambda and learning rate. Or `penalty`
            meets a layer that mixes rows or is random.
        SettingsError: weights together with `penalty`.
    """
    if len(x) == 0 or len(x) != len(y):
        raise DataError(f"cannot train on {len(x)} rows of x and {len(y)} of y: need equally many, at least one")
    if strength == 0:
        anchor = penalty = None
    _check_weights(weight, len(x), weighs=weight is not None or guided is not None, penalised=penalty is not None)
    watch: Watch | None = None
    if patience is not None:
        if len(x) == 1:
            raise DataError("early stopping holds out a tenth of the rows: cannot train on 1 row, need at least 2")
        kept, out = (rows.to(x.device) for rows in held_out(len(x), fragment, seed=seed))
        watch = Watch(model, x[out], y[out], likelihood, patience)
        x, y, fragment = x[kept], y[kept], None if fragment is None else fragment[kept]
        if weight is not None:
            watch.weight = weight[out] if bool(weight[out].any()) else None
            weight = weight[kept]
    draws: Iterable[Tensor | None]
    if penalty is None:
        draws = minibatches(len(x), batch_size, steps, seed=seed, device=x.device)
        if guided is None:
            objective = plain(model, x, y, likelihood, precision, weight)
        else:
            objective = guided_by(
                model,
                x,
                y,
                guided,
                likelihood=likelihood,
                precision=precision,
                weight=weight,
                batch_size=batch_size,
                steps=steps,
                warmup=epoch_steps(len(x), batch_size),
                seed=seed,
            )
    else:
        fragment, k = checked_fragments(fragment, len(x), fragments)
        if len(x) <= batch_size:
            order, shares = all_rows(fragment, k)
            x, y, draws = x[order], y[order], repeat(None, steps)
        else:
            shares = Shares(k, max(1, batch_size // k))
            draws = shared_minibatches(fragment, k, batch_size, steps, seed=seed, device=x.device)
        objective = between_fragments(
            model, x, y, shares, penalty, likelihood=likelihood, strength=strength, rising=warmup * steps
        )
    if anchor is not None:
        objective = anchored(objective, model, anchor, strength)
    theta = flat(trainable(model))
    update = _adam(theta, lr, weight_decay) if optimizer == "adam" else _sgd(theta, lr, momentum, weight_decay)
    per_epoch = epoch_steps(len(x), batch_size)
    with products_in(precision):
        losses, values, gained = _loop(model, theta, draws, objective, update, steps, per_epoch, watch)
    if watch is not None:
        watch.restore()
    penalised = anchor is not None or penalty is not None
    how = f"with lambda {strength:g} and learning rate {lr:g}" if penalised else f"with learning rate {lr:g}"
    _check(losses, trainable(model), steps, per_epoch, how)
    return TrainLog(
        tuple(losses.tolist()),
        tuple(values.tolist()) if penalised else (),
        float(gained.mean()) if penalised and len(gained) else 0.0,
        () if watch is None else tuple(watch.losses),
    )


def _loop(
    model: nn.Module,
    theta: Tensor,
    draws: Iterable[Tensor | None],
    objective: Objective,
    update: Update,
    steps: int,
    per_epoch: int,
    watch: Watch | None,
) -> tuple[Tensor, Tensor, Tensor]:
    """Train; the losses, penalties and penalties' shares of the steps that were taken."""
    parameters = trainable(model)
    losses, values, gained = torch.zeros(3, steps, dtype=sum_dtype(theta.device), device=theta.device)
    for step, rows in enumerate(draws):
        now = objective(rows, theta)
        update(theta, now.gradient)
        _give(parameters, theta)
        losses[step] = now.loss
        if now.value is not None:
            values[step], gained[step] = now.value, now.share
        if watch is not None and ((step + 1) % per_epoch == 0 or step + 1 == steps) and watch.over():
            return losses[: step + 1], values[: step + 1], gained[: step + 1]
    return losses, values, gained


def _adam(theta: Tensor, lr: float, weight_decay: float) -> Update:
    state = AdamState([torch.zeros_like(theta)], [torch.zeros_like(theta)])
    return lambda theta, gradient: adam_step([theta], [gradient], state, lr=lr, weight_decay=weight_decay)


def _sgd(theta: Tensor, lr: float, momentum: float, weight_decay: float) -> Update:
    state = SgdState([torch.zeros_like(theta)])
    return lambda theta, gradient: sgd_step(
        [theta], [gradient], state, lr=lr, momentum=momentum, weight_decay=weight_decay
    )


@torch.no_grad()
def _give(parameters: list[nn.Parameter], theta: Tensor) -> None:
    """Copy a flat vector into parameters; views of it would be slower, because products want aligned memory."""
    parts = torch.split(theta, [parameter.numel() for parameter in parameters])
    for parameter, part in zip(parameters, parts, strict=True):
        parameter.copy_(part.view_as(parameter))


def _check_weights(weight: Tensor | None, n: int, *, weighs: bool, penalised: bool) -> None:
    """Refuse weights that do not fit n rows, or that a penalty does not know."""
    if weighs and penalised:
        raise SettingsError(
            "the penalty between fragments gives every fragment the same share of the loss, and cannot weigh rows as "
            "well: leave out the weights, or set lambda to 0"
        )
    if weight is None:
        return
    if weight.shape != (n,):
        raise DataError(f"cannot weigh {n} rows by weights of shape {tuple(weight.shape)}: need one per row")
    if not bool((weight >= 0).all()) or not 0 < float(weight.sum()) < float("inf"):
        raise DataError(
            f"the weights of {n} training rows run from {float(weight.min()):g} to {float(weight.max()):g}: need "
            "finite ones, none negative and not all 0"
        )


def _check(losses: Tensor, parameters: list[nn.Parameter], steps: int, per_epoch: int, how: str) -> None:
    """Refuse a run that left the finite numbers."""
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
