"""Algorithm 2's trigger: tau of a fragment and its calibrated threshold (paper, Eq. 14).

Letters: n rows of two fragments together, b random ways to divide them, d parameters.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import NamedTuple, TypeVar

import torch
from torch import Tensor

from picsc.equations.divergence import fisher_gap

DRAWS = 99
"""Random halves behind a threshold; (1 + 99) * 0.05 is a whole number, so that the level is met exactly."""
LEVEL = 0.05
"""Probability that the trigger fires when consecutive fragments come from one distribution."""


Number = TypeVar("Number", float, Tensor)


class TriggerDecision(NamedTuple):
    """Tau and its threshold; the fragment is shifted where tau > gamma."""

    tau: float
    """Fisher gap times covariate KL, of the fragment against the one before."""
    gamma: float
    """Quantile of tau between random halves of both fragments' rows, at their sizes."""


def tau(fisher_gap: Number, covariate_kl: Number) -> Number:
    """The shift of a fragment against its reference.

    Source: Eq. 14: tau = ||I_t - I_ref||_F * KL(P_t || P_ref).

    Args:
        fisher_gap: Frobenius norm of the difference of the two Fisher informations at the same parameters; one number,
            or a tensor of them.
        covariate_kl: KL divergence of the covariates in nats, of the same shape.

    Returns:
        Their product, in nats times the unit of the Fisher information; 0 where one of them is 0.
    """
    return fisher_gap * covariate_kl


def random_halves(n_first: int, n: int, *, seed: int, draws: int = DRAWS) -> Tensor:
    """The fragments themselves, then random sets of rows of the same size.

    Args:
        n_first: rows of the new fragment, which come first.
        n: rows of both fragments.
        seed: of the draws.
        draws: random sets, b.

    Returns:
        float32 (1 + b, n): 1 where a row belongs to the first part.
    """
    generator = torch.Generator().manual_seed(seed)
    parts = torch.zeros(1 + draws, n)
    parts[0, :n_first] = 1
    chosen = torch.rand(draws, n, generator=generator).argsort(1)[:, :n_first]
    return parts.index_put_((torch.arange(1, 1 + draws)[:, None], chosen), torch.tensor(1.0))


def part_gaps(squared_scores: Iterable[Tensor], parts: Tensor) -> Tensor:
    """Fisher gap between both parts, for every way to divide the rows.

    Source: Eq. 14, first factor, with Eq. 1 on both parts.

    Args:
        squared_scores: squared gradients of log p(y | x; theta) of consecutive rows, (n_c, d) each, n in all.
        parts: 1 where a row belongs to the first part, (b, n).

    Returns:
        (b,), nats per squared parameter unit.
    """
    first: Tensor | float = 0.0
    total: Tensor | float = 0.0
    start = 0
    for chunk in squared_scores:
        first = first + parts[:, start : start + len(chunk)] @ chunk
        total = total + chunk.sum(0)
        start += len(chunk)
    assert isinstance(first, Tensor)  # noqa: S101 - for the type checker: there is at least one chunk
    return summed_gaps(first, total, parts)


def summed_gaps(first: Tensor, total: Tensor | float, parts: Tensor) -> Tensor:
    """Fisher gap between both parts, from sums of squared scores.

    Args:
        first: sums of squared scores over the first part, (b, d).
        total: over all rows, (d,).
        parts: 1 where a row belongs to the first part, (b, n).
    """
    sizes = parts.sum(1, keepdim=True)
    return fisher_gap(first / sizes, (total - first) / (parts.shape[1] - sizes))


def calibrated_threshold(taus: Tensor, *, level: float = LEVEL) -> TriggerDecision:
    """The observed tau and the threshold that it exceeds with probability `level` if nothing is shifted.

    Source: Eq. 14, "a calibrated threshold gamma".
    Reading: gamma is the quantile at this size and these parameters, because tau falls with the number of rows.

    Args:
        taus: (1 + b,), the observed one first; b = 0 leaves the threshold open, NaN.
        level: share of false alarms.
    """
    null = taus[1:].sort().values
    if not len(null):
        return TriggerDecision(float(taus[0]), math.nan)
    rank = min(len(null), math.ceil(round((len(null) + 1) * (1 - level), 6)))
    return TriggerDecision(float(taus[0]), float(null[rank - 1]))
