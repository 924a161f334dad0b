"""Training of one model at a time: the loop for any torch module, by automatic differentiation.

Its twin is `picsc.training.batched.train`, which trains many of the paper's small networks for tables at once. There
are two because automatic differentiation works for every model but costs more than the arithmetic of a network with
four hidden units, while gradients written out by hand are fast but fit that network alone. Both minimise the same
objectives; tests/training/batched/test_train.py holds their results equal.

Shape letters here: n rows, d parameters. Losses stay on the device until the loop is over; the host waits for the
device only where early stopping has to decide, once per epoch. The objective of a step is in
`picsc.training.objectives`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from itertools import repeat

import torch
from torch import Tensor, nn

from picsc.errors import DataError, NumericsError, SettingsError
from picsc.runtime.devices import precision as products_in
from picsc.runtime.devices import sum_dtype
from picsc.settings import Precision
from picsc.training.algorithm_1 import Shares, all_rows, checked_fragments
from picsc.training.divergence import TrainingRun, check_finite, check_loss
from picsc.training.early_stopping import EarlyStopping
from picsc.training.jobs import TrainingRecipe
from picsc.training.minibatches import epoch_steps, held_out, minibatches, shared_minibatches
from picsc.training.objectives import (
    Objective,
    anchored,
    between_fragments,
    flat,
    held_parameters,
    matched_to_target,
    plain,
    trainable,
)
from picsc.training.optimizers import AdamState, Pull, SgdState, adam_step, sgd_step
from picsc.training.single_inputs import PLAIN, Correction, LabelledRows, OptimizerSettings
from picsc.weighting.diw import TargetData

Update = Callable[[Tensor, Tensor], None]
"""Changes parameters (d,) in place by their gradient (d,)."""


@dataclass(frozen=True, slots=True)
class TrainLog:
    """Losses and penalties of a training run."""

    loss: tuple[float, ...]
    """Mean negative log-likelihood per row of the minibatch before each step, nats; without penalties, with weights."""
    penalty: tuple[float, ...] = ()
    """Penalties added to it before each step, lambda included, nats; empty without penalty."""
    penalty_share: float = 0.0
    """Norm of the penalties' gradient over that of the task's plus the penalties', mean over steps, in [0, 1]."""
    held_out: tuple[float, ...] = ()
    """Mean negative log-likelihood of the rows held out, after each epoch, nats; empty without early stopping."""


def train(
    model: nn.Module,
    rows: LabelledRows,
    settings: OptimizerSettings,
    *,
    correction: Correction = PLAIN,
    target_rows: TargetData | None = None,
) -> TrainLog:
    """Minimise the mean negative log-likelihood, plus lambda times the penalties of the correction, in place.

    Source: "Model architectures" (Adam); Algorithm 1 with a penalty; Eq. 16 with an anchor; with `target_rows` dynamic
        importance weighting, see `picsc.training.objectives.matched_to_target`.
    Reading: an anchor is no part of the gradient: it is solved exactly after every step
        (`picsc.training.optimizers.proximal_step`), so that no lambda diverges.
        With a penalty, every fragment has the same share of each minibatch; a row of a small fragment, which comes
        more often, weighs less for it, so that the task's loss stays the mean over the training rows. The same
        seed gives the same bytes on the same kind of processor, and strength 0 the bytes of plain training.

    Args:
        model: in the mode that it shall be trained in; its frozen parameters stay as they are.
        rows: the training rows. Rows held out for early stopping count by their weights too. Weights do not go together
            with a penalty between fragments.
        settings: steps, minibatches and optimiser.
        correction: the penalty between fragments or the anchor.
        target_rows: rows of the target, from which each step's rows get new weights after one epoch of plain training.
            They do not go together with a penalty between fragments. None leaves the weights as they are.

    Returns:
        Losses before each step, and the penalties.

    Raises:
        DataError: there are no rows, or x, y, fragments, weights, anchor and the model's output do not fit together.
        NumericsError: the loss is beyond all reason (`picsc.training.divergence`), or it or a parameter stopped being
            finite; names epoch, lambda and learning rate. Or the penalty meets a layer that mixes rows or is random.
        SettingsError: weights together with a penalty between fragments.
    """
    if len(rows.x) == 0 or len(rows.x) != len(rows.y):
        raise DataError(
            f"cannot train on {len(rows.x)} rows of x and {len(rows.y)} of y: need equally many, at least one"
        )
    if correction.strength == 0:
        correction = PLAIN if correction.fragment is None else Correction(fragment=correction.fragment)
    _check_weights(rows, with_target=target_rows is not None, penalised=correction.penalty is not None)
    early: EarlyStopping | None = None
    if settings.patience is not None:
        rows, correction, early = _hold_out(model, rows, settings, correction)
    steps, per_epoch = settings.steps, epoch_steps(len(rows), settings.batch_size)
    draws: Iterable[Tensor | None]
    if correction.penalty is None:
        draws = minibatches(len(rows), settings.batch_size, steps, seed=settings.seed, device=rows.x.device)
        if target_rows is None:
            objective = plain(model, rows, settings.precision)
        else:
            objective = matched_to_target(model, rows, target_rows, settings, warmup=per_epoch)
    else:
        rows, shares, draws = _by_fragment(rows, settings, correction)
        rising = correction.warmup * steps
        objective = between_fragments(
            model, rows, shares, correction.penalty, strength=correction.strength, rising=rising
        )
    pull = None
    if correction.anchor is not None:
        held = held_parameters(model, correction.anchor)
        objective = anchored(objective, held, correction.strength)
        pull = Pull(held.mean, 2 * correction.strength * held.fisher)  # Eq. 16 has no factor 1/2
    theta = flat(trainable(model))
    with products_in(settings.precision):
        steps_taken = _Steps(theta, draws, _update(theta, settings, pull))
        losses, values, shares_of_gradient = _loop(model, steps_taken, objective, settings, early)
    if early is not None:
        early.restore()
    penalised = correction.anchor is not None or correction.penalty is not None
    how = f"with learning rate {settings.lr:g}"
    if penalised:
        how = f"with lambda {correction.strength:g} and learning rate {settings.lr:g}"
    run = TrainingRun(steps, per_epoch, how)
    check_finite(losses, trainable(model), run)
    check_loss(losses, model, rows, settings, run, restored=early is not None)
    return TrainLog(
        tuple(losses.tolist()),
        tuple(values.tolist()) if penalised else (),
        float(shares_of_gradient.mean()) if penalised and len(shares_of_gradient) else 0.0,
        () if early is None else tuple(early.losses),
    )


def train_by_recipe(
    model: nn.Module,
    rows: LabelledRows,
    recipe: TrainingRecipe,
    precision: Precision,
    *,
    seed: int,
    updates: int | None = None,
    decay: float = 0.0,
    correction: Correction = PLAIN,
    target_rows: TargetData | None = None,
) -> tuple[int, float]:
    """Train in place; the epoch in which the model diverged, or 0, and the penalty's share of the gradient.

    Args:
        model: its parameters are NaN afterwards if it diverged.
        rows: the training rows.
        recipe: epochs, minibatches and optimiser.
        precision: of the task's forward pass.
        seed: of minibatches, and of dropout if the model has any.
        updates: number of them; None is that of the recipe.
        decay: weight decay.
        correction: the penalty between fragments or the anchor.
        target_rows: as in `train`.

    Raises:
        SettingsError: weights together with Algorithm 1's penalty.
    """
    settings = OptimizerSettings(
        steps=updates or updates_by_recipe(recipe, len(rows)),
        lr=recipe.lr,
        batch_size=recipe.batch_size or len(rows),
        seed=seed,
        weight_decay=decay,
        optimizer=recipe.optimizer,
        momentum=recipe.momentum,
        patience=recipe.patience,
        precision=precision,
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        try:
            log = train(model, rows, settings, correction=correction, target_rows=target_rows)
        except NumericsError as error:
            for parameter in model.parameters():
                parameter.data.fill_(torch.nan)
            return error.epoch or 1, 0.0
    return 0, log.penalty_share


def updates_by_recipe(recipe: TrainingRecipe, n: int) -> int:
    """Updates of a model that is trained on n rows as a recipe says."""
    return recipe.steps or recipe.epochs * epoch_steps(n, recipe.batch_size or n)


def _hold_out(
    model: nn.Module, rows: LabelledRows, settings: OptimizerSettings, correction: Correction
) -> tuple[LabelledRows, Correction, EarlyStopping]:
    """The rows that are left to train on, the correction for these, and early stopping by the rows held out."""
    n, device = len(rows), rows.x.device
    if n == 1:
        raise DataError("early stopping holds out a tenth of the rows: cannot train on 1 row, need at least 2")
    assert settings.patience is not None  # noqa: S101 - the caller asks
    kept, out = (part.to(device) for part in held_out(n, correction.fragment, seed=settings.seed))
    held = rows.take(out)
    if held.weight is not None and not bool(held.weight.any()):
        held = replace(held, weight=None)  # a few rows may all have weight 0: they count alike then
    per_epoch = epoch_steps(len(kept), settings.batch_size)
    early = EarlyStopping(model, held, settings.patience, per_epoch, settings.steps)
    if correction.fragment is not None:
        correction = replace(correction, fragment=correction.fragment[kept])
    return rows.take(kept), correction, early


def _by_fragment(
    rows: LabelledRows, settings: OptimizerSettings, correction: Correction
) -> tuple[LabelledRows, Shares, Iterable[Tensor | None]]:
    """The rows in an order that penalised steps can use, the fragments' shares of a step, and the steps' rows."""
    fragment, k = checked_fragments(correction.fragment, len(rows), correction.fragments)
    if len(rows) <= settings.batch_size:
        order, shares = all_rows(fragment, k)
        return rows.take(order), shares, repeat(None, settings.steps)
    draws = shared_minibatches(
        fragment, k, settings.batch_size, settings.steps, seed=settings.seed, device=rows.x.device
    )
    sizes = fragment.bincount(minlength=k)[:, None]
    times = None if bool((sizes == sizes[0]).all()) else sizes * (k / len(rows))
    return rows, Shares(k, max(1, settings.batch_size // k), times=times), draws


@dataclass(frozen=True, slots=True)
class _Steps:
    """The parameters that steps change, the rows of each, and how they change them."""

    theta: Tensor
    draws: Iterable[Tensor | None]
    update: Update


def _loop(
    model: nn.Module,
    steps: _Steps,
    objective: Objective,
    settings: OptimizerSettings,
    early: EarlyStopping | None,
) -> tuple[Tensor, Tensor, Tensor]:
    """Train; the losses, penalties and penalties' shares of the gradient in the steps that were taken."""
    parameters, theta = trainable(model), steps.theta
    losses, values, shares = torch.zeros(3, settings.steps, dtype=sum_dtype(theta.device), device=theta.device)
    for step, rows in enumerate(steps.draws):
        now = objective(rows, theta)
        steps.update(theta, now.gradient)
        _copy_into(parameters, theta)
        losses[step] = now.loss
        if now.value is not None:
            values[step], shares[step] = now.value, now.share
        if early is not None and early.over_after(step):
            return losses[: step + 1], values[: step + 1], shares[: step + 1]
    return losses, values, shares


def _update(theta: Tensor, settings: OptimizerSettings, pull: Pull | None) -> Update:
    """One step of the optimiser that the settings name, and of the pull of an anchor."""
    pulls = None if pull is None else [pull]
    lr, decay, momentum = settings.lr, settings.weight_decay, settings.momentum
    if settings.optimizer == "adam":
        adam = AdamState([torch.zeros_like(theta)], [torch.zeros_like(theta)])
        return lambda theta, gradient: adam_step([theta], [gradient], adam, lr=lr, weight_decay=decay, pulls=pulls)
    sgd = SgdState([torch.zeros_like(theta)])
    return lambda theta, gradient: sgd_step(
        [theta], [gradient], sgd, lr=lr, momentum=momentum, weight_decay=decay, pulls=pulls
    )


@torch.no_grad()
def _copy_into(parameters: list[nn.Parameter], theta: Tensor) -> None:
    """Copy a flat vector into parameters; views of it would be slower, because products want aligned memory."""
    parts = torch.split(theta, [parameter.numel() for parameter in parameters])
    for parameter, part in zip(parameters, parts, strict=True):
        parameter.copy_(part.view_as(parameter))


def _check_weights(rows: LabelledRows, *, with_target: bool, penalised: bool) -> None:
    """Refuse weights that do not fit the rows, or that do not go together with a penalty."""
    weight, n = rows.weight, len(rows)
    if penalised and (with_target or weight is not None):
        raise SettingsError(
            "the penalty between fragments compares them by all of their rows, and cannot weight rows as well: "
            "leave out the weights, or set lambda to 0"
        )
    if weight is None:
        return
    if weight.shape != (n,):
        raise DataError(f"cannot weight {n} rows by weights of shape {tuple(weight.shape)}: need one per row")
    if not bool((weight >= 0).all()) or not 0 < float(weight.sum()) < float("inf"):
        raise DataError(
            f"the weights of {n} training rows run from {float(weight.min()):g} to {float(weight.max()):g}: need "
            "finite ones, none negative and not all 0"
        )
