"""What one training step minimises, and its gradient: the task's loss, and the penalties of Algorithm 1 and Eq. 16.

Nothing here waits for the device. Shape letters: n rows, d trainable parameters, c classes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import count

import torch
from torch import Tensor, nn

from picsc.devices import forward_pass
from picsc.errors import DataError
from picsc.fragment_penalty import Shares, penalised_gradient
from picsc.likelihood import Likelihood, log_likelihood
from picsc.penalty import Anchor, Penalty, cramer_rao, cramer_rao_gradient, risen
from picsc.scores import make_plan
from picsc.settings import Precision


@dataclass(frozen=True, slots=True)
class Step:
    """One step's numbers, without a graph."""

    loss: Tensor
    """Mean negative log-likelihood per row, nats."""
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
    with forward_pass(precision, x.device):
        output = model(x)
    if precision == "bfloat16":  # logarithms and sums need more digits than products do
        output = output.float()
    return -log_likelihood(output, y, likelihood).mean()


def plain(model: nn.Module, x: Tensor, y: Tensor, likelihood: Likelihood, precision: Precision) -> Objective:
    """The task's loss alone."""
    parameters = trainable(model)

    def step(rows: Tensor | None, _theta: Tensor) -> Step:
        x_b, y_b = (x, y) if rows is None else (x[rows], y[rows])
        loss = task_loss(model, pixels_together(x_b), y_b, likelihood, precision)
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
        model: as in `picsc.fisher.empirical_fisher`.
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


def trainable(model: nn.Module) -> list[nn.Parameter]:
    """The parameters that training changes, in order."""
    return [parameter for parameter in model.parameters() if parameter.requires_grad]


def flat(tensors: Sequence[Tensor]) -> Tensor:
    """Tensors end to end, as one vector without a graph."""
    return torch.cat([tensor.detach().flatten() for tensor in tensors])


def pixels_together(x: Tensor) -> Tensor:
    """Grey images laid out by pixel, for which the CPU has a faster convolution; colour gains nothing from it."""
    grey = x.ndim == 4 and x.shape[1] == 1 and x.device.type == "cpu"
    return x.to(memory_format=torch.channels_last) if grey else x
