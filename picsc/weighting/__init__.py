"""Importance weights: from training and target covariates to one weight per training row, of mean 1.

- `logistic`: weights from a logistic regression that separates target rows from training rows
- `ulsif`: density ratios by least squares: uLSIF, and RuLSIF, whose weights are bounded
- `kmm`: kernel mean matching: weights under which training and target rows have the same mean in a kernel's feature
  space
- `diw`: dynamic importance weighting: weights of a training step's rows that match their losses or hidden units to
  those of target rows
- `diagnostics`: effective sample size, overlap of training and target rows, and refusal of weights that are useless
- `checks`: checks of the rows before weighting, and weights scaled to mean 1
- `kernels`: distances and Gaussian kernels between rows
- `memory`: estimates of a weighting's memory before it runs
"""

from __future__ import annotations

from collections.abc import Callable

from torch import Tensor

from picsc.weighting.diagnostics import Diagnostics, diagnose, flattened, refuse, separation
from picsc.weighting.kmm import kmm as _kmm
from picsc.weighting.logistic import logistic as _logistic
from picsc.weighting.memory import estimated_bytes
from picsc.weighting.ulsif import rulsif as _rulsif
from picsc.weighting.ulsif import ulsif as _ulsif

# a function of a module's name would hide the module
WEIGHTINGS: dict[str, Callable[..., Tensor]] = {"iw": _logistic, "ulsif": _ulsif, "rulsif": _rulsif, "kmm": _kmm}
"""Weightings by name: (x (n, f), z (m, f), *, seed) to (n,) weights of mean 1."""

__all__ = ["WEIGHTINGS", "Diagnostics", "diagnose", "estimated_bytes", "flattened", "refuse", "separation"]
