"""Terms that corrected training adds to the loss: Algorithm 1's penalties, and Eq. 16's anchor with Eq. 15's smoothing.

Shape letters here: `...` any batch of models, k fragments, d parameters. Every penalty is a function of the fragments'
Fisher informations alone and comes with its gradient in them, so that training needs no graph through the penalty.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeVar

import torch
from torch import Tensor

from picsc.equations.divergence import PRIOR_PRECISION

Strength = TypeVar("Strength", float, Tensor)
OfFishers = Callable[[Tensor], Tensor]
"""A function of Fisher informations."""


@dataclass(frozen=True, slots=True)
class Penalty:
    """One reading of Eq. 7's penalty; a sum over parameters, so that layers may be treated one after another."""

    value: OfFishers
    """Maps Fisher informations (..., k, d) to the penalty, (...)."""
    gradient: OfFishers
    """Maps Fisher informations (..., k, d) to the penalty's derivative in them, (..., k, d)."""


class Anchor(NamedTuple):
    """Mean and precision of Eq. 16's quadratic form, which holds the parameters."""

    mean: Tensor
    """mu_{t-1}, the parameters after the fragment before, (..., d)."""
    fisher: Tensor
    """I_global of step t-1, (..., d), non-negative."""


def pairwise_kl(fishers: Tensor) -> Tensor:
    """Mean Fisher KL over ordered pairs of fragments at one theta, in nats; O(k d).

    Source: Algorithm 1, d_ij with Eq. 5 and Eq. 6.
    Reading: the sum over pairs is a mean, so that lambda means the same for any k; the logarithms of KL(i||j) and
        KL(j||i) cancel and sum_{i != j} J_j / J_i = (sum J)(sum 1/J) - k. Fragments have equal weight whatever
        their size.

    Args:
        fishers: I_i(theta), (..., k, d), k >= 2.

    Returns:
        (...), non-negative; 0 where all fragments agree.
    """
    k = fishers.shape[-2]
    precisions = fishers + PRIOR_PRECISION
    ratios = precisions.sum(-2) * precisions.reciprocal().sum(-2) - k * k
    return ratios.sum(-1) / (2 * k * (k - 1))


def pairwise_kl_gradient(fishers: Tensor) -> Tensor:
    """Derivative of `pairwise_kl` in the Fishers.

    Args:
        fishers: (..., k, d).

    Returns:
        (..., k, d).
    """
    k = fishers.shape[-2]
    precisions = fishers + PRIOR_PRECISION
    total = precisions.sum(-2, keepdim=True)
    inverse = precisions.reciprocal_()
    scale = 1 / (2 * k * (k - 1))
    inverses = inverse.sum(-2, keepdim=True).mul_(scale)
    return torch.addcmul(inverses, total, inverse.square_(), value=-scale)


def frobenius(fishers: Tensor) -> Tensor:
    """Mean squared Frobenius distance of the fragments' Fishers from their mean.

    Source: the Fisher gap of Eq. 14 in the place of Algorithm 1's d_ij; known as Fishr.

    Args:
        fishers: (..., k, d).

    Returns:
        (...), non-negative, squared nats per parameter unit to the fourth; 0 where all fragments agree.
    """
    return (fishers - fishers.mean(-2, keepdim=True)).square().sum((-2, -1)) / fishers.shape[-2]


def frobenius_gradient(fishers: Tensor) -> Tensor:
    """Derivative of `frobenius` in the Fishers, (..., k, d)."""
    return (fishers - fishers.mean(-2, keepdim=True)) * (2 / fishers.shape[-2])


def trace(fishers: Tensor) -> Tensor:
    """Trace of the fragments' mean Fisher information.

    Source: Eq. 7 taken literally: lambda times the Fisher information.
    Reading: fragments have equal weight whatever their size, as in the other penalties.

    Args:
        fishers: (..., k, d).

    Returns:
        (...), non-negative, nats per squared parameter unit.
    """
    return fishers.mean(-2).sum(-1)


def trace_gradient(fishers: Tensor) -> Tensor:
    """Derivative of `trace` in the Fishers, 1/k everywhere, (..., k, d)."""
    return fishers.new_tensor(1 / fishers.shape[-2]).expand_as(fishers)


PENALTIES: dict[Literal["kl", "frobenius", "trace"], Penalty] = {
    "kl": Penalty(pairwise_kl, pairwise_kl_gradient),
    "frobenius": Penalty(frobenius, frobenius_gradient),
    "trace": Penalty(trace, trace_gradient),
}
"""Readings of Algorithm 1's penalty by name."""


def risen(strength: Strength, step: int, rising: float) -> Strength:
    """Lambda at a step while it rises linearly from 0.

    Args:
        strength: lambda in the end; a number, or one per model.
        step: counted from 0.
        rising: steps that it rises for; 0 is a constant lambda.

    Returns:
        `strength` itself from step `rising` on.
    """
    return strength if step >= rising else strength * (step / rising)


def smooth(past: Tensor, fisher: Tensor, alpha: float) -> Tensor:
    """Mix the past and the new: alpha * I_global + (1 - alpha) * I_t.

    Source: Eq. 15.

    Args:
        past: I_global of step t-1, (..., d).
        fisher: I_t, (..., d).
        alpha: weight of the past, in [0, 1].

    Returns:
        I_global of step t, (..., d).
    """
    return alpha * past + (1 - alpha) * fisher


def cramer_rao(theta: Tensor, anchor: Anchor) -> Tensor:
    """The quadratic form (theta - mu)' I_global (theta - mu).

    Source: Eq. 16, second term, without lambda. No factor 1/2: the paper has none.

    Args:
        theta: (..., d).
        anchor: mean and Fisher, (..., d) each.

    Returns:
        (...), non-negative, nats; 0 at the anchor.
    """
    return ((theta - anchor.mean).square() * anchor.fisher).sum(-1)


def cramer_rao_gradient(theta: Tensor, anchor: Anchor) -> Tensor:
    """Derivative of `cramer_rao` in theta, (..., d)."""
    return (theta - anchor.mean) * anchor.fisher * 2
