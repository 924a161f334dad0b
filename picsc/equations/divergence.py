"""Divergences between a piece P and its reference Q (paper, Eq. 5, 8 and 14).

Letters: `...` any batch of (draw, piece), f columns, t levels, d parameters. Nats; 0 for equal arguments. Every
function works on a whole batch at once, so that a permutation null costs no loop.
"""

from __future__ import annotations

from torch import Tensor

PRIOR_PRECISION = 0.01
"""delta of J = I + delta: the precision a parameter has before any row is seen. Keeps a dead unit's KL finite."""


def fisher_gap(fisher: Tensor, reference: Tensor) -> Tensor:
    """Frobenius norm of the difference of two diagonal Fisher matrices.

    Source: Eq. 14, first factor.

    Args:
        fisher: I_F(theta), (..., d), nats per squared parameter unit.
        reference: I_ref(theta) at the same theta, (..., d).

    Returns:
        (...), same unit; 0 for equal matrices.
    """
    return (fisher - reference).square().sum(-1).sqrt()


def fisher_kl(fisher: Tensor, reference: Tensor, *, delta: float = PRIOR_PRECISION) -> Tensor:
    """KL(P || Q) of the two Gaussians that the Cramér-Rao bound gives at one theta, in nats.

    Source: Eq. 5 with the covariance of Eq. 2, both centred at the same theta.
    Reading: the paper leaves the inverse of a singular Fisher open; we add the prior precision delta to both.

    Args:
        fisher: I_P(theta), (..., d), non-negative.
        reference: I_Q(theta), (..., d), non-negative.
        delta: prior precision, > 0, in the unit of the Fisher.

    Returns:
        (...), non-negative.
    """
    ratio = (reference + delta) / (fisher + delta)
    return 0.5 * (ratio - 1 - ratio.log()).sum(-1)


def gaussian_kl(mean_p: Tensor, var_p: Tensor, mean_q: Tensor, var_q: Tensor) -> Tensor:
    """KL(P || Q) of univariate Gaussians, column by column, in nats.

    Source: Eq. 8, specialised to Gaussians.
    Reading: Eq. 8 prints log(Q / P), which is minus a divergence; we use log(P / Q).

    Args:
        mean_p: (..., f).
        var_p: (..., f), > 0; a variance of 0 must be smoothed before.
        mean_q: (..., f).
        var_q: (..., f), > 0.

    Returns:
        (..., f), non-negative.
    """
    ratio = var_p / var_q
    return 0.5 * (ratio - 1 - ratio.log() + (mean_p - mean_q).square() / var_q)


def categorical_kl(counts_p: Tensor, counts_q: Tensor, *, smoothing: float = 0.5) -> Tensor:
    """KL(P || Q) of two level distributions estimated from counts, in nats.

    Source: Eq. 8, discrete.
    Reading: +1/2 per level (Jeffreys), so that a level absent from the reference gives a finite number.

    Args:
        counts_p: (..., t), non-negative.
        counts_q: (..., t), non-negative.
        smoothing: pseudo-count per level, > 0.

    Returns:
        (...), non-negative; 0 for equal proportions of equal totals.
    """
    p, q = counts_p + smoothing, counts_q + smoothing
    p, q = p / p.sum(-1, keepdim=True), q / q.sum(-1, keepdim=True)
    return (p * (p / q).log()).sum(-1)


def smoothed_variance(variance: Tensor, n: Tensor, pooled: Tensor) -> Tensor:
    """Variance of n values with one pseudo-value of the pooled variance, so that n equal values have none of 0.

    Reading: of two sides that are compared, both take the n of the smaller one. With an n of its own, each side of
        another size would be smoothed by another amount, and equal variances far below the pooled one would differ.

    Args:
        variance: (..., f), population variance of the n values.
        n: broadcastable to variance, >= 0.
        pooled: broadcastable to variance, > 0.
    """
    return (n * variance + pooled) / (n + 1)
