"""Importance weights: from training and target covariates to one weight per training row, of mean 1.

- `checks`: what goes into every weighting and what comes out of it
- `diagnostics`: what weights are worth: how many rows carry them, and whether training and target rows overlap at all
- `diw`: weights of the rows of one training step, from their losses or hidden units beside those of rows of the target
- `kernels`: Gaussian kernels between rows
- `kmm`: kernel mean matching: weights under which the training rows have the targets' mean in a kernel's feature space
- `logistic`: density ratios from a logistic regression that tells target rows from training rows
- `memory`: how much memory a weighting takes, known before it runs
- `ulsif`: density ratios by least squares: uLSIF and its bounded relative RuLSIF
"""

from __future__ import annotations

from collections.abc import Callable

from torch import Tensor

from picsc.weighting.diagnostics import Diagnostics, diagnose, flattened, refuse, separation
from picsc.weighting.kmm import kmm
from picsc.weighting.logistic import logistic
from picsc.weighting.memory import estimated_bytes
from picsc.weighting.ulsif import rulsif, ulsif

WEIGHTINGS: dict[str, Callable[..., Tensor]] = {"iw": logistic, "ulsif": ulsif, "rulsif": rulsif, "kmm": kmm}
"""Weightings by name: (x (n, f), z (m, f), *, seed) to (n,) weights of mean 1."""

__all__ = ["WEIGHTINGS", "Diagnostics", "diagnose", "estimated_bytes", "flattened", "refuse", "separation"]
