"""What one training step minimises, and its gradient: the task's loss, and the penalties of Algorithm 1 and Eq. 16.

Nothing here waits for the device. Shape letters: n rows, d trainable parameters, c classes.
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
from picsc.weighting.diw import BLOCK, Match, TargetData, dynamic_weights, random_blocks


@dataclass(frozen=True, slots=True)
class Step:
    """One step's numbers, without a graph."""

    loss: Tensor
    """Mean negative log-likelihood per row, nats; weighted where rows are."""
    task: Tensor
    """Its gradient, (d,)."""
    value: Tensor | None = None
    """What the penalties add to the loss, lambda included; None without penalty."""
    penalty: Tensor | None = None
    """Gradient of `value`, (d,)."""

    @property
    def gradient(self) -> Tensor:
        """Of everything, (d,)."""
        return self.task if self.penalty is None else self.task + self.penalty

    @property
    def share(self) -> Tensor:
        """Norm of the penalties' gradient over that of the task's plus the penalties', in [0, 1]."""
        if self.penalty is None:
            return torch.zeros_like(self.loss)
        norm: Tensor = torch.linalg.vector_norm(self.penalty)
        task: Tensor = torch.linalg.vector_norm(self.task)
        return norm / (norm + task).clamp(min=torch.finfo(norm.dtype).tiny)


Objective = Callable[[Tensor | None, Tensor], Step]
"""Row numbers of a minibatch (None is all rows) and the trainable parameters (d,) to a step's numbers."""


def task_loss(
    model: nn.Module, x: Tensor, y: Tensor, likelihood: Likelihood, precision: Precision = "float32"
) -> Tensor:
    """Mean negative log-likelihood per row, nats; differentiable."""
    return _losses(model, x, y, likelihood, precision).mean()


def plain(
    model: nn.Module,
    x: Tensor,
    y: Tensor,
    likelihood: Likelihood,
    precision: Precision,
    weight: Tensor | None = None,
) -> Objective:
    """The task's loss alone; with weights (n,) it is sum(w loss) / sum(w) over a step's rows, and 0 where all are 0."""
    parameters = trainable(model)

    def step(rows: Tensor | None, _theta: Tensor) -> Step:
        x_b, y_b = (x, y) if rows is None else (x[rows], y[rows])
        if weight is None:
            loss = task_loss(model, pixels_together(x_b), y_b, likelihood, precision)
        else:
            losses = _losses(model, pixels_together(x_b), y_b, likelihood, precision)
            loss = _weighted_mean(losses, weight if rows is None else weight[rows])
        return Step(loss.detach(), flat(torch.autograd.grad(loss, parameters)))

    return step


def guided_by(
    model: nn.Module,
    x: Tensor,
    y: Tensor,
    guided: TargetData,
    *,
    likelihood: Likelihood,
    precision: Precision,
    weight: Tensor | None,
    batch_size: int,
    steps: int,
    warmup: int,
    seed: int,
) -> Objective:
    """The task's loss, in which every step's rows are weighed by rows of the target: dynamic importance weighting.

    Source: Fang et al. 2020, "Rethinking importance weighting for deep learning under distribution shift", Algorithm 1.
    Reading: a step of more than 256 rows is matched in random blocks; features are matched without their labels. A
        step's weights start from those that its rows had an epoch before. Layers that mix rows see the target's rows
        by themselves, in the mode in which the model is trained.

    Args:
        model: as in `picsc.training.single.train`; an `nn.Sequential` where features are matched.
        x: inputs (n, ...).
        y: targets (n,).
        guided: the rows of the target; as many as a step has, at most 256, are drawn for it.
        likelihood: of y.
        precision: of the forward passes.
        weight: that rows have anyway, (n,); multiplied.
        batch_size: rows of a step.
        steps: at most.
        warmup: steps before rows are weighed.
        seed: of the target's rows and of the blocks.

    Raises:
        DataError: there are no rows of the target.
        SettingsError: features of a model that is no `nn.Sequential` of two layers or more.
    """
    if len(guided.x) == 0 or len(guided.x) != len(guided.y):
        raise DataError(
            f"cannot weigh rows by {len(guided.x)} rows of the target and {len(guided.y)} labels: need equally many, "
            "at least one"
        )
    if guided.match == "features" and not (isinstance(model, nn.Sequential) and len(model) > 1):
        raise SettingsError(
            f"features are the activations before the last layer, but the model is a {type(model).__name__}: match "
            "losses, or use an nn.Sequential"
        )
    parameters = trainable(model)
    before = plain(model, x, y, likelihood, precision, weight)
    generator = torch.Generator().manual_seed(seed)
    # another seed than the step's rows have, lest equally many rows of both come in the same order
    draws = minibatches(len(guided.x), min(batch_size, BLOCK), steps, seed=seed + 1, device=x.device)
    taken = count()
    dynamic = torch.ones(len(x), dtype=parameters[0].dtype, device=x.device)

    def step(rows: Tensor | None, theta: Tensor) -> Step:
        if next(taken) < warmup:
            return before(rows, theta)
        x_b, y_b, start = (x, y, dynamic) if rows is None else (x[rows], y[rows], dynamic[rows])
        losses, values = _matched(model, x_b, y_b, guided.match, likelihood, precision)
        drawn = next(draws)
        with torch.no_grad():
            x_g, y_g = (guided.x, guided.y) if drawn is None else (guided.x[drawn], guided.y[drawn])
            _, target = _matched(model, x_g, y_g, guided.match, likelihood, precision)
            found = _weights_in_blocks(values, target, start, len(guided.x), generator)
        dynamic[slice(None) if rows is None else rows] = found
        if weight is not None:
            found = found * (weight if rows is None else weight[rows])
        loss = _weighted_mean(losses, found)
        return Step(loss.detach(), flat(torch.autograd.grad(loss, parameters)))

    return step


def between_fragments(
    model: nn.Module,
    x: Tensor,
    y: Tensor,
    shares: Shares,
    penalty: Penalty,
    *,
    likelihood: Likelihood,
    strength: float,
    rising: float = 0.0,
) -> Objective:
    """The task's loss plus lambda times a penalty between fragments.

    Source: Algorithm 1.

    Args:
        model: as in `picsc.fisher.diagonal.empirical_fisher`.
        x: inputs (n, ...).
        y: targets (n,).
        shares: of the fragments in every step's rows, which come sorted by fragment.
        penalty: which divergence.
        likelihood: of y.
        strength: lambda.
        rising: steps over which lambda rises linearly from 0.

    Raises:
        NumericsError: a layer mixes rows or is random; named.
    """
    plan = make_plan(model, x[:2], likelihood)
    steps = count()

    def step(rows: Tensor | None, _theta: Tensor) -> Step:
        x_b, y_b = (x, y) if rows is None else (x[rows], y[rows])
        now = penalised_gradient(model, plan, x_b, y_b, shares, penalty, likelihood=likelihood)
        weight = risen(strength, next(steps), rising)
        return Step(now.loss, flat(now.task), now.value * weight, flat(now.penalty) * weight)

    return step


def anchored(objective: Objective, model: nn.Module, anchor: Anchor, strength: float) -> Objective:
    """An objective plus lambda times Eq. 16's quadratic form.

    Source: Eq. 16.

    Args:
        objective: to be added to.
        model: whose parameters are held.
        anchor: mean and Fisher, one entry per parameter, frozen ones included.
        strength: lambda.

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
    held = Anchor(
        *(
            torch.cat([one for one, is_free in zip(torch.split(part, sizes), free, strict=True) if is_free]).to(first)
            for part in anchor
        )
    )

    def step(rows: Tensor | None, theta: Tensor) -> Step:
        now = objective(rows, theta)
        value, slope = cramer_rao(theta, held) * strength, cramer_rao_gradient(theta, held) * strength
        if now.value is not None and now.penalty is not None:
            value, slope = now.value + value, now.penalty + slope
        return replace(now, value=value, penalty=slope)

    return step


def _output(model: nn.Module, x: Tensor, precision: Precision) -> Tensor:
    """Of the task's forward pass."""
    with forward_pass(precision, x.device):
        output: Tensor = model(x)
    # logarithms and sums need more digits than products do
    return output.float() if precision == "bfloat16" else output


def _losses(model: nn.Module, x: Tensor, y: Tensor, likelihood: Likelihood, precision: Precision) -> Tensor:
    """Negative log-likelihood of every row, (n,), nats; differentiable."""
    return -log_likelihood(_output(model, x, precision), y, likelihood)


def _matched(
    model: nn.Module, x: Tensor, y: Tensor, on: Match, likelihood: Likelihood, precision: Precision
) -> tuple[Tensor, Tensor]:
    """Losses (n,), differentiable, and what is matched, (n, q), without a graph; from one forward pass."""
    x = pixels_together(x)
    if on == "losses":
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
    into = torch.where(mask, at, n)  # what is padded is written behind the last row
    return found.new_zeros(n + 1).index_put_((into,), found)[:-1]


def _weighted_mean(losses: Tensor, weight: Tensor) -> Tensor:
    """sum(w loss) / sum(w), and 0 where all weights are."""
    weight = weight.to(losses.dtype)
    return (weight * losses).sum() / weight.sum().clamp(min=torch.finfo(losses.dtype).tiny)


def trainable(model: nn.Module) -> list[nn.Parameter]:
    """The parameters that training changes, in order."""
    return [parameter for parameter in model.parameters() if parameter.requires_grad]


def flat(tensors: Sequence[Tensor]) -> Tensor:
    """Tensors end to end, as one vector without a graph."""
    return torch.cat([tensor.detach().flatten() for tensor in tensors])
