"""Whitening: linear map of inputs to uncorrelated columns of unit second moment ("natural coordinates"); f features.

The Fisher information of a dense layer is about the Kronecker product of its inputs' second moments and its outputs'
derivatives (Martens and Grosse, 2015). Gradient steps on inputs that are multiplied with the inverse root of the first
factor are natural-gradient steps as far as that factor goes. For the first layer it does not depend on parameters, so
that clients send it once. Reports, and the name of the method `scaffold-natural`, call whitened inputs natural
coordinates.
"""

from __future__ import annotations

import torch
from torch import Tensor

DAMPING = 1e-2
"""Added to every eigenvalue, as a share of their mean, so that directions without variance are not blown up."""


def whitening_matrix(moments: Tensor) -> Tensor:
    """Inverse square root of the inputs' second moments.

    Reading: the paper keeps the diagonal of the Fisher information, which does not see that columns are correlated.

    Args:
        moments: mean of x x' over all clients' training rows, (f, f), symmetric and non-negative.

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
