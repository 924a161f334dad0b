"""One step of an optimiser, in place, and the exact step of a quadratic term that pulls parameters towards a centre.

Written out because the first use of torch.optim imports torch's compiler, which takes seconds.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

BETA_1, BETA_2, EPSILON = 0.9, 0.999, 1e-8
"""Adam's customary constants."""


class Pull(NamedTuple):
    """The term sum(stiffness / 2 * (theta - center)^2), which is solved exactly and not followed by its gradient."""

    center: Tensor
    """Parameters that the term pulls towards; of the parameters' shape, or one that broadcasts to it."""
    stiffness: Tensor
    """Second derivative of the term, at least 0; shaped like `center`."""


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
    steps: int = 0
    """Steps taken so far."""


@torch.no_grad()
def proximal_step(parameter: Tensor, pull: Pull, length: Tensor | float) -> None:
    """Solve a quadratic term exactly for a step of some length, in place.

    theta becomes (theta + h * center) / (1 + h) with h = length * stiffness, the minimum of the term plus
    (theta' - theta)^2 / (2 length). A step along the term's gradient diverges where h exceeds 2; this one never does,
    and is the same to first order where h is small.

    Args:
        parameter: after the optimiser's step on everything else.
        pull: the term.
        length: the optimiser's step per unit of a constant gradient, of every parameter or of all.
    """
    held = pull.stiffness * length
    parameter.lerp_(pull.center.expand_as(parameter), (held / (1 + held)).expand_as(parameter))


@torch.no_grad()
def adam_step(
    parameters: Sequence[Tensor],
    gradients: Sequence[Tensor],
    state: AdamState,
    *,
    lr: float,
    weight_decay: float = 0.0,
    pulls: Sequence[Pull] | None = None,
) -> None:
    """One update of Adam with bias correction, in place; equals `torch.optim.Adam` without pulls.

    Reading: a pull is no part of the gradient, whose moments Adam normalises by. It is solved exactly after the step,
        for the length that Adam gives to each parameter, so that where training ends the whole gradient is 0.

    Args:
        parameters: to be changed.
        gradients: of the loss, one per parameter.
        state: running moments, changed too; zeros at the start.
        lr: learning rate.
        weight_decay: added to the gradient as weight_decay * parameter.
        pulls: one per parameter; None is none.
    """
    state.steps += 1
    size = lr / (1 - BETA_1**state.steps)
    root = math.sqrt(1 - BETA_2**state.steps)
    moments = zip(parameters, gradients, state.mean, state.square, strict=True)
    for i, (parameter, gradient, mean, square) in enumerate(moments):
        g = gradient.add(parameter, alpha=weight_decay) if weight_decay else gradient
        mean.lerp_(g, 1 - BETA_1)
        square.mul_(BETA_2).addcmul_(g, g, value=1 - BETA_2)
        spread = square.sqrt().div_(root).add_(EPSILON)
        parameter.addcdiv_(mean, spread, value=-size)
        if pulls is not None:
            proximal_step(parameter, pulls[i], size * (1 - BETA_1**state.steps) / spread)


@torch.no_grad()
def sgd_step(
    parameters: Sequence[Tensor],
    gradients: Sequence[Tensor],
    state: SgdState,
    *,
    lr: float,
    momentum: float = 0.0,
    weight_decay: float = 0.0,
    pulls: Sequence[Pull] | None = None,
) -> None:
    """One update of gradient descent with momentum, in place; equals `torch.optim.SGD` without pulls.

    Reading: a pull is solved exactly after the step, for the length that momentum has given to a constant gradient.

    Args:
        parameters: to be changed.
        gradients: of the loss, one per parameter.
        state: running sums, changed too; zeros at the start.
        lr: learning rate.
        momentum: share of the running sum that is kept, in [0, 1).
        weight_decay: added to the gradient as weight_decay * parameter.
        pulls: one per parameter; None is none.
    """
    state.steps += 1
    for i, (parameter, gradient, velocity) in enumerate(zip(parameters, gradients, state.velocity, strict=True)):
        g = gradient.add(parameter, alpha=weight_decay) if weight_decay else gradient
        velocity.mul_(momentum).add_(g)
        parameter.add_(velocity, alpha=-lr)
        if pulls is not None:
            proximal_step(parameter, pulls[i], lr * sgd_length(momentum, state.steps))


def sgd_length(momentum: float, steps: int) -> float:
    """The sum of weights with which a step applies a constant gradient, in learning rates.

    Args:
        momentum: share of the running sum that is kept, in [0, 1).
        steps: steps taken, this one included.

    Returns:
        1 + momentum + ... + momentum^(steps - 1).
    """
    return (1 - momentum**steps) / (1 - momentum)
