"""The training loop that every verb shares: Adam on the mean negative log-likelihood, in minibatches.

Shape letters here: n rows, f features. The loop is a ladder of small functions (`minibatches`, `task_loss`,
`adam_step`), so that a variant replaces one of them. Losses stay on the device until the loop is over.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from picsc.errors import DataError, NumericsError
from picsc.likelihood import Likelihood, check_labels, log_likelihood
from picsc.models import mlp

BETA_1, BETA_2, EPSILON = 0.9, 0.999, 1e-8
"""Adam's customary constants."""
REFERENCE_STEPS, REFERENCE_LR, REFERENCE_BATCH = 300, 0.02, 1024
"""How the audit's reference model is trained: the same work for any number of rows."""


@dataclass(frozen=True, slots=True)
class TrainLog:
    """How a training run went."""

    loss: tuple[float, ...]
    """Mean negative log-likelihood per row of the minibatch before each step, nats."""


@dataclass(slots=True)
class AdamState:
    """Running moments of the gradient, one tensor per parameter."""

    mean: list[Tensor]
    square: list[Tensor]
    steps: int = 0


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
) -> TrainLog:
    """Minimise the mean negative log-likelihood with Adam, in place.

    Source: "Model architectures" (Adam). The same seed gives the same bytes on the same machine.

    Args:
        model: in the mode that it shall be trained in; its frozen parameters stay as they are.
        x: inputs (n, ...).
        y: int64 (n,) classes, or floats (n,).
        likelihood: of y.
        steps: updates, >= 0.
        lr: learning rate.
        batch_size: rows per step; all rows, in order, when n <= batch_size.
        seed: of the minibatches, the only random draw.
        weight_decay: added to the gradient as weight_decay * parameter.

    Returns:
        The loss before each step.

    Raises:
        DataError: there are no rows, or x, y and the model's output do not fit together.
        NumericsError: the loss or a parameter stopped being finite; names the step and the learning rate.
    """
    if len(x) == 0 or len(x) != len(y):
        raise DataError(f"cannot train on {len(x)} rows of x and {len(y)} of y: need equally many, at least one")
    parameters = [parameter for parameter in model.parameters() if parameter.requires_grad]
    state = AdamState([torch.zeros_like(one) for one in parameters], [torch.zeros_like(one) for one in parameters])
    losses = torch.empty(steps, dtype=torch.float64, device=x.device)
    for step, rows in enumerate(minibatches(len(x), batch_size, steps, seed=seed, device=x.device)):
        x_b, y_b = (x, y) if rows is None else (x[rows], y[rows])
        loss = task_loss(model, x_b, y_b, likelihood)
        adam_step(parameters, torch.autograd.grad(loss, parameters), state, lr=lr, weight_decay=weight_decay)
        losses[step] = loss.detach()
    return _log(losses, parameters, lr)


def minibatches(
    n: int, batch_size: int, steps: int, *, seed: int, device: torch.device | str = "cpu"
) -> Iterator[Tensor | None]:
    """Row numbers of each step's minibatch; None stands for all rows.

    Every epoch is a fresh permutation cut into full minibatches; the few rows left over are others in the next epoch.
    Drawn on the CPU, so that every device trains on the same rows.

    Args:
        n: rows.
        batch_size: rows per minibatch.
        steps: minibatches.
        seed: of the permutations.
        device: where the row numbers go.

    Returns:
        int64 (batch_size,) or None, `steps` times.
    """
    if n <= batch_size:
        yield from [None] * steps
        return
    generator = torch.Generator().manual_seed(seed)
    per_epoch = n // batch_size
    for first in range(0, steps, per_epoch):
        order = torch.randperm(n, generator=generator)[: per_epoch * batch_size].to(device)
        yield from torch.split(order, batch_size)[: steps - first]


def task_loss(model: nn.Module, x: Tensor, y: Tensor, likelihood: Likelihood) -> Tensor:
    """Mean negative log-likelihood per row, nats; differentiable."""
    return -log_likelihood(model(x), y, likelihood).mean()


@torch.no_grad()
def adam_step(
    parameters: list[nn.Parameter],
    gradients: tuple[Tensor, ...],
    state: AdamState,
    *,
    lr: float,
    weight_decay: float = 0.0,
) -> None:
    """One update of Adam with bias correction, in place; equals `torch.optim.Adam`.

    Written out because the first use of torch.optim imports torch's compiler, which takes seconds.

    Args:
        parameters: to be changed.
        gradients: of the loss, one per parameter.
        state: running moments, changed too.
        lr: learning rate.
        weight_decay: added to the gradient as weight_decay * parameter.
    """
    state.steps += 1
    size = lr / (1 - BETA_1**state.steps)
    root = math.sqrt(1 - BETA_2**state.steps)
    for parameter, gradient, mean, square in zip(parameters, gradients, state.mean, state.square, strict=True):
        g = gradient.add(parameter, alpha=weight_decay) if weight_decay else gradient
        mean.lerp_(g, 1 - BETA_1)
        square.mul_(BETA_2).addcmul_(g, g, value=1 - BETA_2)
        parameter.addcdiv_(mean, square.sqrt().div_(root).add_(EPSILON), value=-size)


def fit_reference(x: Tensor, y: Tensor, *, likelihood: Likelihood, outputs: int, seed: int) -> nn.Module:
    """The audit's reference model: the paper's MLP trained on the pooled rows.

    Source: "Model architectures": four hidden ReLU units, Adam.

    Args:
        x: encoded, standardised features (n, f).
        y: int64 (n,) classes, or floats (n,) in units of their standard deviation.
        likelihood: of y.
        outputs: classes, or 1 for numbers.
        seed: of the initial weights and of the minibatches.

    Returns:
        The trained model, in x's precision and on its device. Its distribution does not depend on the order of rows.

    Raises:
        DataError: there are no rows, or the labels do not fit.
        NumericsError: training left the finite numbers.
    """
    if likelihood == "classes" and len(y):
        check_labels(y, outputs)
    model = mlp(x.shape[1], outputs, seed=seed, dtype=x.dtype, device=x.device)
    train(
        model,
        x,
        y,
        likelihood=likelihood,
        steps=REFERENCE_STEPS,
        lr=REFERENCE_LR,
        batch_size=REFERENCE_BATCH,
        seed=seed,
    )
    return model


def _log(losses: Tensor, parameters: list[nn.Parameter], lr: float) -> TrainLog:
    """The run's losses, if all went well."""
    broken = (~losses.isfinite()).nonzero().flatten()
    if len(broken):
        raise NumericsError(
            f"the loss stopped being finite at step {int(broken[0])} of {len(losses)} with learning rate {lr:g}: "
            "lower the learning rate, or look for infinite, missing or unscaled inputs"
        )
    if not all(bool(parameter.isfinite().all()) for parameter in parameters):
        raise NumericsError(
            f"parameters stopped being finite at the last of {len(losses)} steps with learning rate {lr:g}: "
            "lower the learning rate"
        )
    return TrainLog(tuple(losses.tolist()))
