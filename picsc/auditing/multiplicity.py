"""Multiplicity: from many statistics to few decisions, by permutation maxima with a family-wise error rate.

Every statistic comes as its draws, the observed value first. A statistic is turned into evidence, minus the log of its
p-value, by its own draws; members of a family compete by their largest evidence, draw by draw, so that dependence
between columns, pieces and statistics is in the null and costs no power (Westfall and Young, 1993).

Letters: B draws, so axis 0 has B + 1 entries and entry 0 is the observed one.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

TAIL = 0.1
"""Share of the draws that the tail is fitted to, the largest ones."""


class Evidence(NamedTuple):
    """Draws of -log p, and the fit that gave them."""

    value: Tensor
    """(B + 1, ...), about exponential with mean 1 under the null; 0 where the statistic never varies."""
    start: Tensor
    """(...) statistic at the start of the fitted tail."""
    slope: Tensor
    """(...) mean excess over `start`, in units of the statistic, as all values but the largest show it."""

    def statistic_at(self, evidence: Tensor) -> Tensor:
        """The statistic that has this evidence; the inverse of the transform in its tail."""
        at_start = -torch.log(torch.tensor(TAIL, dtype=self.start.dtype))
        return self.start + (evidence - at_start).clamp(min=0) * self.slope


def evidence(draws: Tensor, excess: float = 1.0) -> Evidence:
    """-log p of each draw among all of them, continuous and beyond the largest draw.

    An empirical p-value stops at 1 / (B + 1), so the largest of many would nearly always be a tie. Quadratic statistics
    (KS squared, G, squared norms) have exponential tails, so the tail above the 90 % quantile is taken as exponential
    with its mean excess. The largest of all values takes no part in that mean, and what it is expected to add to it is
    allowed for: else a value far out would stretch the tail that it is measured by, and nothing would be further out
    than the number of draws lets it be. A hundred values know their mean excess to a tenth, which decides far out; so
    it is drawn towards that of the other pieces, on the last axis, as far as chance alone explains how they differ.
    The transform is increasing and treats the observed value like any draw, so whatever the fit, comparing the observed
    evidence with its draws is exact under the null.

    Args:
        draws: (B + 1, ...), non-negative, quadratic in the differences that they measure.
        excess: factor by which the observed value is larger than the draws when nothing moved, see
            `picsc.fragments.block_length`; it is divided by it.
    """
    if excess != 1:
        draws = torch.cat([draws[:1] / excess, draws[1:]])
    size = draws.shape[0]
    top = max(2, round(TAIL * size))
    upper = draws.topk(top + 1, dim=0).values
    start = upper[-1]
    # of `top` exponential values with mean 1, the largest is expected to be 1 + 1/2 + ... + 1/top
    slope = _shrunk((upper[1:-1] - start).sum(0) / (top - sum(1 / i for i in range(1, top + 1))), 1 / top)
    body = torch.where(start > 0, draws / start.clamp(min=torch.finfo(draws.dtype).tiny), draws.new_zeros(()))
    at_start = -torch.log(torch.tensor(top / size, dtype=draws.dtype))
    beyond = (draws - start) / slope.clamp(min=torch.finfo(draws.dtype).tiny)
    value = torch.where(draws > start, at_start + beyond, body.clamp(max=1) * at_start)
    # a null that never moves (a class's share under a stratified split) is no evidence about the observed value
    null = draws[1:]
    varies = (null.amax(0) - null.amin(0)) > 1e-9 * null.amax(0).abs()
    return Evidence(torch.where(varies, value, value.new_zeros(())), start, slope)


def _shrunk(slope: Tensor, variance: float) -> Tensor:
    """Slopes drawn towards their geometric mean over the last axis, by the share of their spread that is chance.

    Source: James and Stein, 1961, with the spread estimated.

    Args:
        slope: (..., K), at least 0; 0 where a statistic never varies, which takes no part.
        variance: of the log of a slope by chance.
    """
    if slope.ndim == 0 or slope.shape[-1] < 2:
        return slope
    known = slope > 0
    log = torch.where(known, slope, 1.0).log()
    count = known.sum(-1, keepdim=True)
    mean = log.sum(-1, keepdim=True) / count.clamp(min=1)
    spread = torch.where(known, (log - mean).square(), 0.0).sum(-1, keepdim=True) / (count - 1).clamp(min=1)
    by_chance = (variance / spread.clamp(min=torch.finfo(slope.dtype).tiny)).clamp(max=1)
    return torch.where(known, (log + by_chance * (mean - log)).exp(), slope)


def p_value(draws: Tensor) -> Tensor:
    """Share of draws that reach the observed value, the observed one counted: (1 + #) / (B + 1).

    Args:
        draws: (B + 1, ...); entry 0 is observed.

    Returns:
        (...) in [1 / (B + 1), 1].
    """
    return _reached(draws, draws[0]).sum(0).double() / draws.shape[0]


def p_among(observed: Tensor, largest: Tensor) -> Tensor:
    """Single-step adjusted p-values: how often the largest of a family reaches each observed member, itself counted.

    Args:
        observed: (K,) evidence of some members.
        largest: (B + 1,) largest evidence over the family, observed first.

    Returns:
        (K,) float64 in [1 / (B + 1), 1].
    """
    return (1 + _reached(largest[1:, None], observed).sum(0)).double() / len(largest)


def _reached(draws: Tensor, observed: Tensor) -> Tensor:
    """True where a draw reaches the observed value; equal ones may differ in the last bits, summed in another order."""
    return draws >= observed - 1e-5 * observed.abs()


def step_down(draws: Tensor) -> Tensor:
    """Holm's step-down over hypotheses, with the joint permutation maximum in place of Bonferroni's sum.

    Reading: Holm's bound multiplies by the number of hypotheses, which B draws cannot resolve for many pieces; the
    maximum of the same draws over the hypotheses not yet rejected controls the same error rate and is never larger in
    expectation (Westfall and Young, 1993, Algorithm 2.8).

    Args:
        draws: (B + 1, m) evidence of m hypotheses; column order does not matter.

    Returns:
        (m,) adjusted p-values, float64.
    """
    order = draws[0].argsort(descending=True)
    ranked = draws[:, order]
    remaining = ranked.flip(1).cummax(1).values.flip(1)  # maximum over this hypothesis and all weaker ones
    stepped = (_reached(remaining, ranked[0]).sum(0).double() / draws.shape[0]).cummax(0).values
    adjusted = torch.empty_like(stepped)
    adjusted[order] = stepped
    return adjusted
