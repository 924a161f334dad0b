"""Covariate KL between two parts of some rows, for many ways to divide them at once (paper, Eq. 8).

Letters: n rows, f encoded features, b ways to divide.
"""

from __future__ import annotations

from typing import Protocol

import torch
from torch import Tensor

from picsc.equations.divergence import categorical_kl, gaussian_kl, smoothed_variance


class Covariates(Protocol):
    """Kinds of the encoded features, by position."""

    @property
    def numeric(self) -> tuple[int, ...]:
        """Positions of numbers."""
        ...

    @property
    def flags(self) -> tuple[int, ...]:
        """Positions of indicators of missing values."""
        ...

    @property
    def levels(self) -> tuple[tuple[int, int], ...]:
        """First position of each one-hot block, and the position after its last."""
        ...


def part_kl(x: Tensor, first: Tensor, covariates: Covariates) -> Tensor:
    """KL(first part || other part), summed over columns, in nats.

    Source: Eq. 8; numbers as Gaussians, levels and missing values as discrete distributions with +1/2.

    Args:
        x: encoded features, (n, f).
        first: 1 where a row belongs to the first part, else 0, (b, n), in x's precision.
        covariates: kinds of the features.

    Returns:
        (b,), non-negative.
    """
    n, sizes = len(x), first.sum(1, keepdim=True)
    sums = first @ x
    rest = x.sum(0) - sums
    total = x.new_zeros(len(first))
    if covariates.numeric:
        columns = list(covariates.numeric)
        z = x[:, columns]
        squares = first @ z.square()
        pooled = z.var(0, correction=0).clamp(min=torch.finfo(x.dtype).eps)
        others = z.square().sum(0) - squares
        means = sums[:, columns] / sizes, rest[:, columns] / (n - sizes)
        raw = squares / sizes - means[0].square(), others / (n - sizes) - means[1].square()
        first_var, other_var = (
            smoothed_variance(each.clamp(min=0), sizes.clamp(max=n - sizes), pooled) for each in raw
        )
        varies = z.amax(0) > z.amin(0)  # the pseudo-values of a constant would differ with the parts' sizes
        total = total + (gaussian_kl(means[0], first_var, means[1], other_var) * varies).sum(1)
    for j in covariates.flags:
        here, there = sums[:, j : j + 1], rest[:, j : j + 1]
        total = total + categorical_kl(torch.cat([here, sizes - here], 1), torch.cat([there, n - sizes - there], 1))
    for start, stop in covariates.levels:
        total = total + categorical_kl(sums[:, start:stop], rest[:, start:stop])
    return total
