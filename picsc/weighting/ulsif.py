"""Density ratios by least squares: uLSIF and its bounded relative RuLSIF.

The ratio is modelled as a non-negative mixture of Gaussian bumps centred at target rows. Letters: n_de training rows x
(denominator) and n_nu target rows z (numerator), b centres, f columns, s left-out pairs.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from picsc.runtime.devices import as_sums
from picsc.runtime.threads import solve
from picsc.weighting.checks import FLOOR, checked, normalised
from picsc.weighting.kernels import centred, median_distance, squared_distances

CENTRES = 100
"""Bumps at most."""
WIDTHS = (0.2, 0.35, 0.6, 1.0, 1.7, 3.0)
"""Candidates for the bumps' sigma, in median distances."""
RIDGES = (1e-3, 1e-2, 1e-1, 1.0)
"""Candidates for the ridge, lambda."""
CHUNK = 20_000
"""Rows whose distances to the centres are computed at once."""


class KernelMoments(NamedTuple):
    """Means of kernel values that a fit depends on."""

    gram_nu: Tensor
    """Mean over all target rows of the outer products of their kernel values, (b, b)."""
    gram_de: Tensor
    """H, the same mean over all training rows, (b, b)."""
    mean: Tensor
    """h, mean kernel values of all target rows, (b,)."""
    n_nu: int
    """Target rows, > 1."""
    n_de: int
    """Training rows, > 1."""


class LeaveOneOut(NamedTuple):
    """The fits without one training and one target row each."""

    thetas: Tensor
    """Coefficients of the bumps, (b, s), non-negative."""
    scores: Tensor
    """(s,) squared-error criterion of the pair left out; smaller is better."""


def ulsif(x: Tensor, z: Tensor, *, seed: int) -> Tensor:
    """Weights by unconstrained least-squares importance fitting, sigma and ridge chosen by leaving one out.

    Source: paper, "vs. state of the art"; Kanamori, Hido and Sugiyama 2009.

    Args:
        x: training rows, (n_de, f), at least 2, in comparable units.
        z: target rows, (n_nu, f), at least 2.
        seed: of centres and of the pairs left out.

    Returns:
        (n_de,) weights, non-negative, of mean 1.

    Raises:
        DataError: rows that cannot be weighted.
        NumericsError: the training rows do not cover the targets.
    """
    return _fitted(x, z, 0.0, "ulsif", seed)


def rulsif(x: Tensor, z: Tensor, *, seed: int, alpha: float = 0.5) -> Tensor:
    """Weights in proportion to p_te / (alpha p_te + (1 - alpha) p_tr), which never exceeds 1 / alpha.

    Source: Yamada et al. 2011.

    Args:
        x: training rows, (n_de, f), at least 2, in comparable units.
        z: target rows, (n_nu, f), at least 2.
        seed: of centres and of the pairs left out.
        alpha: in [0, 1); 0 is uLSIF.

    Returns:
        (n_de,) weights, non-negative, of mean 1.

    Raises:
        DataError: rows that cannot be weighted.
        NumericsError: the training rows do not cover the targets.
    """
    return _fitted(x, z, alpha, "rulsif", seed)


def _fitted(x: Tensor, z: Tensor, alpha: float, name: str, seed: int) -> Tensor:
    """Weights by RuLSIF, of which uLSIF is the case alpha = 0."""
    x, z = centred(*checked(x, z, least=2))
    generator = torch.Generator().manual_seed(seed)
    order_de, order_nu = (torch.randperm(len(rows), generator=generator).to(rows.device) for rows in (x, z))
    centres = z[order_nu[:CENTRES]]
    scale = median_distance(x, z, seed=seed)
    far_de, far_nu = (_distances(rows, centres) for rows in (x, z))
    pairs = min(len(x), len(z))
    best = None
    for width in WIDTHS:
        factor = -0.5 / (width * scale) ** 2
        de, nu = (far_de * factor).exp_(), (far_nu * factor).exp_()
        moments = KernelMoments(nu.mT @ nu / len(nu), de.mT @ de / len(de), nu.mean(0), len(nu), len(de))
        left_de, left_nu = de[order_de.to(de.device)[:pairs]], nu[order_nu.to(nu.device)[:pairs]]
        for ridge in RIDGES:
            left = leave_one_out(left_nu.mT, left_de.mT, moments, ridge=ridge, alpha=alpha)
            score = float(left.scores.mean())
            if best is None or score < best[0]:
                system = alpha * moments.gram_nu + (1 - alpha) * moments.gram_de
                system.diagonal().add_(ridge)
                theta = solve(system, moments.mean).clamp_(min=0)
                best = score, de @ theta, nu @ theta
    assert best is not None  # noqa: S101  # for the type checker: there are candidates
    # The mean of a ratio over the targets is that of its square over the training rows: large where they hardly meet.
    of_x, of_z = best[1], best[2].mean().clamp(min=torch.finfo(best[2].dtype).tiny)
    return normalised((of_x / of_z).to(x.device, x.dtype), name=name, floor=FLOOR)


def _distances(rows: Tensor, centres: Tensor) -> Tensor:
    """(rows, b) squared distances in the precision of sums."""
    return torch.cat([as_sums(squared_distances(part, centres)) for part in torch.split(rows, CHUNK)])


def leave_one_out(nu: Tensor, de: Tensor, moments: KernelMoments, *, ridge: float, alpha: float = 0.0) -> LeaveOneOut:
    """All fits without the i-th target and the i-th training row, from one factorisation.

    Source: Kanamori, Hido and Sugiyama 2009, Section 3.2, for alpha = 0.
    Reading: for alpha > 0 both rows are in the quadratic term, so leaving them out is a change of rank 2.

    Args:
        nu: kernel values of left-out target rows, X_nu, (b, s).
        de: kernel values of left-out training rows, X_de, (b, s).
        moments: of all rows.
        ridge: lambda > 0.
        alpha: in [0, 1).

    Returns:
        Each pair's coefficients, negative ones cut to 0, and its criterion
        alpha g(z)^2 / 2 + (1 - alpha) g(x)^2 / 2 - g(z).
    """
    gram_nu, gram_de, mean, n_nu, n_de = moments
    c_nu, c_de = alpha / (n_nu - 1), (1 - alpha) / (n_de - 1)
    system = n_nu * c_nu * gram_nu + n_de * c_de * gram_de
    system = system + ridge * torch.eye(len(system), dtype=system.dtype, device=system.device)
    width = nu.shape[1]
    solved = solve(system, torch.cat([nu, de, mean[:, None]], 1))
    of_nu, of_de = solved[:, :width], solved[:, width:-1]
    plain = (n_nu * solved[:, -1:] - of_nu) / (n_nu - 1)
    # (A - c_nu u u' - c_de v v')^-1 by Woodbury's identity, written so that c_nu may be 0.
    uu, uv, vv = (nu * of_nu).sum(0), (nu * of_de).sum(0), (de * of_de).sum(0)
    along_nu, along_de = (nu * plain).sum(0), (de * plain).sum(0)
    determinant = (1 - c_nu * uu) * (1 - c_de * vv) - c_nu * c_de * uv.square()
    add_nu = c_nu * ((1 - c_de * vv) * along_nu + c_de * uv * along_de) / determinant
    add_de = c_de * ((1 - c_nu * uu) * along_de + c_nu * uv * along_nu) / determinant
    thetas = (plain + of_nu * add_nu + of_de * add_de).clamp(min=0)
    at_nu, at_de = (thetas * nu).sum(0), (thetas * de).sum(0)
    return LeaveOneOut(thetas, alpha / 2 * at_nu.square() + (1 - alpha) / 2 * at_de.square() - at_nu)
