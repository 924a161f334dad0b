"""Objectives of one training step and their gradients: the task's loss, and the penalties of Algorithm 1 and Eq. 16.

They serve `picsc.training.single`, which trains any model. The same objectives for many small networks at once are
written out in `picsc.training.batched.mlp` and `picsc.training.batched.diw`, because a graph costs more than such a
network's arithmetic; tests/training/batched/test_train.py holds both equal.

Nothing here waits for the device. Shape letters: n rows, d trainable parameters, q values matched per row.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import count

import torch
from torch import Tensor, nn

from picsc.equations.likelihood import Likelihood, log_likelihood
from picsc.equations.penalties import Anchor, Penalty, cramer_rao, cramer_rao_gradient, risen
from picsc.errors import DataError, SettingsError
from picsc.fisher.row_gradients import make_plan
from picsc.runtime.devices import forward_pass
from picsc.settings import Precision
from picsc.training.algorithm_1 import Shares, penalised_gradient
from picsc.training.minibatches import minibatches
from picsc.training.predict import pixels_together
from picsc.training.single_inputs import LabelledRows, OptimizerSettings
from picsc.weighting.diw import BLOCK, Match, TargetData, dynamic_weights, random_blocks


@dataclass(frozen=True, slots=True)
class StepResult:
    """Loss, penalties and gradients of one step, without a graph."""

    loss: Tensor
    """Mean negative log-likelihood per row, nats; weighted where rows are."""
    task: Tensor
    """Gradient of `loss`, (d,)."""
    value: Tensor | None = None
    """Penalties added to the loss, lambda included, nats; None without penalty."""
    penalty: Tensor | None = None
    """Gradient of `value`, (d,), apart from that of an anchor; None without another penalty."""
    pull: Tensor | None = None
    """Gradient of Eq. 16's anchor, (d,), which no step follows, because the optimiser solves the anchor exactly; None
    without one."""

    @property
    def gradient(self) -> Tensor:
        """Gradient that a step follows: of the loss and the penalties apart from the anchor, (d,)."""
        return self.task if self.penalty is None else self.task + self.penalty

    @property
    def share(self) -> Tensor:
        """Norm of the penalties' gradient over that of the task's plus the penalties', in [0, 1]."""
        penalties = [each for each in (self.penalty, self.pull) if each is not None]
        if not penalties:
            return torch.zeros_like(self.loss)
        norm: Tensor = torch.linalg.vector_norm(torch.stack(penalties).sum(0))
        task: Tensor = torch.linalg.vector_norm(self.task)
        return norm / (norm + task).clamp(min=torch.finfo(norm.dtype).tiny)


Objective = Callable[[Tensor | None, Tensor], StepResult]
"""Maps row numbers of a minibatch (None is all rows) and the trainable parameters (d,) to the step's result."""


def task_loss(
    model: nn.Module, x: Tensor, y: Tensor, likelihood: Likelihood, precision: Precision = "float32"
) -> Tensor:
    """Mean negative log-likelihood per row, nats; differentiable."""
    return _losses(model, x, y, likelihood, precision).mean()


def plain(model: nn.Module, data: LabelledRows, precision: Precision) -> Objective:
    """The task's loss alone; with weights it is sum(w loss) / sum(w) over a step's rows, and 0 where all are 0.

    Args:
        model: as in `picsc.training.single.train`.
        data: the training rows.
        precision: of the forward pass.
    """
    parameters, weight = trainable(model), data.weight

    def step(rows: Tensor | None, _theta: Tensor) -> StepResult:
        x, y = (data.x, data.y) if rows is None else (data.x[rows], data.y[rows])
        if weight is None:
            loss = task_loss(model, pixels_together(x), y, data.likelihood, precision)
        else:
            losses = _losses(model, pixels_together(x), y, data.likelihood, precision)
            loss = _weighted_mean(losses, weight if rows is None else weight[rows])
        return StepResult(loss.detach(), flat(torch.autograd.grad(loss, parameters)))

    return step


def matched_to_target(
    model: nn.Module, data: LabelledRows, target: TargetData, settings: OptimizerSettings, *, warmup: int
) -> Objective:
    """The task's loss with every step's rows weighted to match rows of the target: dynamic importance weighting.

    Source: Fang et al. 2020, "Rethinking importance weighting for deep learning under distribution shift", Algorithm 1.
    Reading: a step of more than 256 rows is matched in random blocks; features are matched without their labels. A
        step's weights start from those that its rows had an epoch before. Layers that mix rows see the target's rows
        by themselves, in the mode in which the model is trained.

    Args:
        model: as in `picsc.training.single.train`; an `nn.Sequential` where features are matched.
        data: the training rows; the weights that they have anyway are multiplied.
        target: the rows of the target; as many as a step has, at most 256, are drawn for it.
        settings: steps, rows of a step, precision of the forward passes, and the seed of the target's rows and blocks.
        warmup: steps of plain training before rows are matched.

    Raises:
        DataError: there are no rows of the target.
        SettingsError: features of a model that is no `nn.Sequential` of two layers or more.
    """
    if len(target.x) == 0 or len(target.x) != len(target.y):
        raise DataError(
            f"cannot weight rows by {len(target.x)} rows of the target and {len(target.y)} labels: need equally many, "
            "at least one"
        )
    if target.match == "features" and not (isinstance(model, nn.Sequential) and len(model) > 1):
        raise SettingsError(
            f"features are the activations before the last layer, but the model is a {type(model).__name__}: match "
            "losses, or use an nn.Sequential"
        )
    parameters, weight, precision = trainable(model), data.weight, settings.precision
    before = plain(model, data, precision)
    generator = torch.Generator().manual_seed(settings.seed)
    # another seed than the step's rows have, lest equally many rows of both come in the same order
    size, seed = min(settings.batch_size, BLOCK), settings.seed + 1
    draws = minibatches(len(target.x), size, settings.steps, seed=seed, device=data.x.device)
    taken = count()
    dynamic = torch.ones(len(data), dtype=parameters[0].dtype, device=data.x.device)

    def step(rows: Tensor | None, theta: Tensor) -> StepResult:
        if next(taken) < warmup:
            return before(rows, theta)
        x, y, start = (data.x, data.y, dynamic) if rows is None else (data.x[rows], data.y[rows], dynamic[rows])
        losses, values = _matched(model, x, y, target.match, data.likelihood, precision)
        drawn = next(draws)
        with torch.no_grad():
            x_t, y_t = (target.x, target.y) if drawn is None else (target.x[drawn], target.y[drawn])
            _, of_target = _matched(model, x_t, y_t, target.match, data.likelihood, precision)
            found = _weights_in_blocks(values, of_target, start, len(target.x), generator)
        dynamic[slice(None) if rows is None else rows] = found
        if weight is not None:
            found = found * (weight if rows is None else weight[rows])
        loss = _weighted_mean(losses, found)
        return StepResult(loss.detach(), flat(torch.autograd.grad(loss, parameters)))

    return step


def between_fragments(
    model: nn.Module, data: LabelledRows, shares: Shares, penalty: Penalty, *, strength: float, rising: float = 0.0
) -> Objective:
    """The task's loss plus lambda times a penalty between fragments.

    Source: Algorithm 1.

    Args:
        model: as in `picsc.fisher.diagonal.empirical_fisher`.
        data: the training rows.
        shares: of the fragments in every step's rows, which come sorted by fragment.
        penalty: the divergence between fragments.
        strength: lambda.
        rising: steps over which lambda rises linearly from 0.

    Raises:
        NumericsError: a layer mixes rows or is random; named.
    """
    plan = make_plan(model, data.x[:2], data.likelihood)
    steps = count()

    def step(rows: Tensor | None, _theta: Tensor) -> StepResult:
        x, y = (data.x, data.y) if rows is None else (data.x[rows], data.y[rows])
        now = penalised_gradient(plan, x, y, shares, penalty)
        weight = risen(strength, next(steps), rising)
        return StepResult(now.loss, flat(now.task), now.value * weight, flat(now.penalty) * weight)

    return step


def held_parameters(model: nn.Module, anchor: Anchor) -> Anchor:
    """The anchor of the parameters that training changes.

    Args:
        model: the model whose parameters are held.
        anchor: mean and Fisher, one entry per parameter, frozen ones included.

    Raises:
        DataError: the anchor has not one entry per parameter.
    """
    sizes = [parameter.numel() for parameter in model.parameters()]
    if any(part.shape != (sum(sizes),) for part in anchor):
        raise DataError(
            f"the anchor has shapes {[tuple(part.shape) for part in anchor]}: the model has {sum(sizes)} parameters, "
            "and needs one entry for each"
        )
    first = trainable(model)[0]
    free = [parameter.requires_grad for parameter in model.parameters()]
    return Anchor(
        *(
            torch.cat([one for one, is_free in zip(torch.split(part, sizes), free, strict=True) if is_free]).to(first)
            for part in anchor
        )
    )


def anchored(objective: Objective, held: Anchor, strength: float) -> Objective:
    """An objective plus lambda times Eq. 16's quadratic form, whose gradient stays apart from the others.

    Source: Eq. 16.

    Args:
        objective: to be added to.
        held: mean and Fisher of the parameters that training changes.
        strength: lambda.
    """

    def step(rows: Tensor | None, theta: Tensor) -> StepResult:
        now = objective(rows, theta)
        value = cramer_rao(theta, held) * strength
        if now.value is not None:
            value = value + now.value
        return replace(now, value=value, pull=cramer_rao_gradient(theta, held) * strength)

    return step


def _output(model: nn.Module, x: Tensor, precision: Precision) -> Tensor:
    """The output of the task's forward pass."""
    with forward_pass(precision, x.device):
        output: Tensor = model(x)
    # logarithms and sums need more digits than products do
    return output.float() if precision == "bfloat16" else output


def _losses(model: nn.Module, x: Tensor, y: Tensor, likelihood: Likelihood, precision: Precision) -> Tensor:
    """Negative log-likelihood of every row, (n,), nats; differentiable."""
    return -log_likelihood(_output(model, x, precision), y, likelihood)


def _matched(
    model: nn.Module, x: Tensor, y: Tensor, match: Match, likelihood: Likelihood, precision: Precision
) -> tuple[Tensor, Tensor]:
    """Losses (n,), differentiable, and the values to match, (n, q), without a graph; from one forward pass."""
    x = pixels_together(x)
    if match == "losses":
        losses = _losses(model, x, y, likelihood, precision)
        return losses, losses.detach()[:, None]
    assert isinstance(model, nn.Sequential)  # noqa: S101 - refused before
    features = _output(model[:-1], x, precision)
    return _losses(model[-1:], features, y, likelihood, precision), features.detach().flatten(1)


def _weights_in_blocks(
    values: Tensor, target: Tensor, start: Tensor, drawn_from: int, generator: torch.Generator
) -> Tensor:
    """`dynamic_weights` of one step's rows, (n,)."""
    n = len(values)
    if n <= BLOCK:
        return dynamic_weights(values, target, start=start, drawn_from=drawn_from)
    blocks, there, _ = random_blocks([torch.arange(n)], [generator])
    at, mask = blocks.clamp(min=0).to(values.device), there.to(values.device)
    found = dynamic_weights(
        values[at], target.expand(len(at), -1, -1), mask=mask, start=start[at], drawn_from=drawn_from
    )
    into = torch.where(mask, at, n)  # padding is written behind the last row
    return found.new_zeros(n + 1).index_put_((into,), found)[:-1]


def _weighted_mean(losses: Tensor, weight: Tensor) -> Tensor:
    """sum(w loss) / sum(w), and 0 where all weights are 0."""
    weight = weight.to(losses.dtype)
    return (weight * losses).sum() / weight.sum().clamp(min=torch.finfo(losses.dtype).tiny)


def trainable(model: nn.Module) -> list[nn.Parameter]:
    """The parameters that training changes, in order."""
    return [parameter for parameter in model.parameters() if parameter.requires_grad]


def flat(tensors: Sequence[Tensor]) -> Tensor:
    """Tensors end to end, as one vector without a graph."""
    return torch.cat([tensor.detach().flatten() for tensor in tensors])
