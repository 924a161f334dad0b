"""One step of an optimiser, in place.

Written out because the first use of torch.optim imports torch's compiler, which takes seconds.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

BETA_1, BETA_2, EPSILON = 0.9, 0.999, 1e-8
"""Adam's customary constants."""


@dataclass(slots=True)
class AdamState:
    """Running moments of the gradient, one tensor per parameter."""

    mean: list[Tensor]
    square: list[Tensor]
    steps: int = 0
    """Steps taken so far."""


@dataclass(slots=True)
class SgdState:
    """Running sums of gradients, one tensor per parameter."""

    velocity: list[Tensor]


@torch.no_grad()
def adam_step(
    parameters: Sequence[Tensor],
    gradients: Sequence[Tensor],
    state: AdamState,
    *,
    lr: float,
    weight_decay: float = 0.0,
) -> None:
    """One update of Adam with bias correction, in place; equals `torch.optim.Adam`.

    Args:
        parameters: to be changed.
        gradients: of the loss, one per parameter.
        state: running moments, changed too; zeros at the start.
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


@torch.no_grad()
def sgd_step(
    parameters: Sequence[Tensor],
    gradients: Sequence[Tensor],
    state: SgdState,
    *,
    lr: float,
    momentum: float = 0.0,
    weight_decay: float = 0.0,
) -> None:
    """One update of gradient descent with momentum, in place; equals `torch.optim.SGD`.

    Args:
        parameters: to be changed.
        gradients: of the loss, one per parameter.
        state: running sums, changed too; zeros at the start.
        lr: learning rate.
        momentum: share of the running sum that is kept, in [0, 1).
        weight_decay: added to the gradient as weight_decay * parameter.
    """
    for parameter, gradient, velocity in zip(parameters, gradients, state.velocity, strict=True):
        g = gradient.add(parameter, alpha=weight_decay) if weight_decay else gradient
        velocity.mul_(momentum).add_(g)
        parameter.add_(velocity, alpha=-lr)
