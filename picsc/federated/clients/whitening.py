"""Whitening: linear map of inputs to uncorrelated columns of unit second moment; f features.

The Fisher information of a dense layer is about the Kronecker product of its inputs' second moments and its outputs'
derivatives (Martens and Grosse, 2015). Gradient steps on inputs that are multiplied with the inverse root of the first
factor are natural-gradient steps as far as that factor goes. For the first layer it does not depend on parameters, so
that clients send it once. It is a choice for the whole federation (`--whiten`), the same for every method: FedAvg gains
from it as much as any other.
"""

from __future__ import annotations

from collections.abc import Iterable

import torch
from torch import Tensor

DAMPING = 1e-2
"""Added to every eigenvalue, as a share of their mean, so that directions without variance are not blown up."""


def pooled_moments(sent: Iterable[tuple[Tensor, Tensor]]) -> Tensor:
    """Mean products of the features over all clients' rows, from what each client sends.

    Reading: a product is the mean over the clients that send it. One that no client sends is taken as 0, as if the two
        columns were uncorrelated, and a square that no client sends as the mean of the others.

    Args:
        sent: of each client, sums of products and the numbers of their rows, (f, f) each.

    Returns:
        float64 (f, f), symmetric.
    """
    sums, rows = (torch.stack(list(each)).sum(0) for each in zip(*sent, strict=True))
    moments = sums / rows.clamp(min=1)
    squares, known = moments.diagonal().clone(), rows.diagonal() > 0
    level = squares[known].mean() if bool(known.any()) else squares.new_ones(())
    return moments.diagonal_scatter(torch.where(known, squares, level))


def whitening_matrix(moments: Tensor) -> Tensor:
    """Inverse square root of the inputs' second moments.

    Reading: the paper keeps the diagonal of the Fisher information, which does not see that columns are correlated.
        Only columns of a table are whitened: pixels at the border are nearly constant, and unit variance blows up
        noise.

    Args:
        moments: mean of x x' over all clients' training rows, (f, f), symmetric. Negative eigenvalues, as there are
            where products are not sent, count as 0.

    Returns:
        float32 (f, f), symmetric: inputs times this have about unit, uncorrelated second moments.
    """
    values, vectors = torch.linalg.eigh(moments.double())
    values = values.clamp(min=0)
    level = values.mean()
    if not level > 0:
        return torch.eye(len(moments), device=moments.device)
    roots = (values + DAMPING * level).rsqrt()
    inverse_root: Tensor = (vectors * roots) @ vectors.T
    return inverse_root.float()
