"""Covariate KL of two sets of rows from their first two moments, as federated clients send them (paper, Eq. 8).

Letters: n rows, f encoded features; `...` any batch of sets. Sums are kept in float64.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from picsc.equations.covariate_kl import Covariates
from picsc.equations.divergence import categorical_kl, gaussian_kl, smoothed_variance

ROUNDING = 1e-9
"""Share of a feature's mean square below which its variance is rounding, so that the feature is a constant."""


class Moments(NamedTuple):
    """Sums over the rows of a set, which add up when sets are united."""

    n: Tensor
    """float64 (..., 1), number of rows; (..., f) where not every feature is known of the same rows."""
    sums: Tensor
    """float64 (..., f), sums of the features."""
    squares: Tensor
    """float64 (..., f), sums of their squares."""

    def plus(self, other: Moments) -> Moments:
        """Moments of both sets together."""
        return Moments(self.n + other.n, self.sums + other.sums, self.squares + other.squares)

    def minus(self, part: Moments) -> Moments:
        """Moments of the rows that are not in a part of this set."""
        return Moments(self.n - part.n, self.sums - part.sums, self.squares - part.squares)


def moments_kl(first: Moments, other: Moments, covariates: Covariates) -> Tensor:
    """KL(first || other), summed over features, in nats.

    Source: Eq. 8; numbers as Gaussians, levels and missing values as discrete distributions.
    Reading: both sets get one pseudo-row of the distribution of both together. `part_kl` adds 1/2 to every count, which
        pulls a small set towards equal shares and leaves a large one alone: a divergence that random halves never show,
        so that their scaled null would not hold for a small client against a large rest.

    Args:
        first: moments of P.
        other: moments of Q, sets disjoint from P's.
        covariates: kinds of the features.

    Returns:
        (...), non-negative; 0 for equal shares, means and variances.
    """
    first, other = (each._replace(n=each.n.expand_as(each.sums)) for each in (first, other))
    both = first.plus(other)
    share = both.sums / both.n
    total = share.new_zeros(share.shape[:-1])
    if covariates.numeric:
        at = list(covariates.numeric)
        pooled = _variance(both)[..., at]
        varies = pooled > ROUNDING * (both.squares / both.n)[..., at]
        pooled = torch.where(varies, pooled, pooled.new_ones(()))
        means = [each.sums[..., at] / each.n[..., at] for each in (first, other)]
        fewer = torch.minimum(first.n, other.n)[..., at]
        spread = [smoothed_variance(_variance(each)[..., at], fewer, pooled) for each in (first, other)]
        total = total + (gaussian_kl(means[0], spread[0], means[1], spread[1]) * varies).sum(-1)
    for j in covariates.flags:
        total = total + _discrete_kl(*(torch.stack([each[..., j], of[..., j] - each[..., j]], -1) for each, of in (
            (first.sums, first.n), (other.sums, other.n), (both.sums, both.n))))  # fmt: skip
    for start, stop in covariates.levels:
        total = total + _discrete_kl(*(each.sums[..., start:stop] for each in (first, other, both)))
    return total.clamp(min=0)  # equal sets may differ in the last bit


def _variance(of: Moments) -> Tensor:
    """Population variance of every feature."""
    return (of.squares / of.n - (of.sums / of.n).square()).clamp(min=0)


def _discrete_kl(first: Tensor, other: Tensor, both: Tensor) -> Tensor:
    """KL of counts, each with one more row of the shares in both."""
    share = both / both.sum(-1, keepdim=True).clamp(min=1)
    tiny = torch.finfo(share.dtype).eps  # a level that nobody has
    return categorical_kl(first + share, other + share, smoothing=tiny)
