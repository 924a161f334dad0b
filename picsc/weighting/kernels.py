"""Distances and Gaussian kernels between rows.

Letters: n and m rows, f columns.
"""

from __future__ import annotations

import torch
from torch import Tensor

from picsc.runtime.devices import as_sums

SAMPLED = 1000
"""Most rows of each side that the median distance is taken from."""


def squared_distances(x: Tensor, z: Tensor) -> Tensor:
    """(n, m) squared distances of rows (n, f) and (m, f). Rows should be centred, since large ones cancel badly."""
    products = x @ z.mT
    return products.mul_(-2).add_(x.square().sum(1)[:, None]).add_(z.square().sum(1)).clamp_(min=0)


def gaussian(x: Tensor, z: Tensor, sigma: float) -> Tensor:
    """exp(-d^2 / (2 sigma^2)), (n, m), of centred rows."""
    return squared_distances(x, z).mul_(-0.5 / sigma**2).exp_()


def centred(x: Tensor, z: Tensor) -> tuple[Tensor, Tensor]:
    """Rows less the mean of all, which changes no distance but keeps its digits."""
    mean = (as_sums(x.mean(0)) * len(x) + as_sums(z.mean(0)) * len(z)) / (len(x) + len(z))
    mean = mean.to(x.dtype).to(x.device)
    return x - mean, z - mean


def median_distance(x: Tensor, z: Tensor, *, seed: int) -> float:
    """Median distance between different rows of both sides together, of at most 1,000 random rows from each.

    Args:
        x: (n, f), centred.
        z: (m, f), centred.
        seed: of the draw.

    Returns:
        Above 0: the mean distance where the median is 0, and 1 where all rows are equal.
    """
    generator = torch.Generator().manual_seed(seed)
    chosen = [torch.randperm(len(rows), generator=generator)[:SAMPLED].to(rows.device) for rows in (x, z)]
    rows = torch.cat([x[chosen[0]], z[chosen[1]]])
    above = torch.triu_indices(len(rows), len(rows), 1, device=rows.device)
    distances = squared_distances(rows, rows)[above[0], above[1]].sqrt()
    for scale in (float(distances.median()), float(distances.mean())):
        if scale > 0:
            return scale
    return 1.0
