"""Importance weights: from training and target covariates to one weight per training row, of mean 1."""

from __future__ import annotations

from collections.abc import Callable

from torch import Tensor

from picsc.weighting.diagnostics import Diagnostics, diagnose, flattened, refuse, separation
from picsc.weighting.kmm import kmm, solve
from picsc.weighting.logistic import log_ratio, logistic
from picsc.weighting.memory import estimated_bytes
from picsc.weighting.ulsif import rulsif, ulsif

WEIGHTINGS: dict[str, Callable[..., Tensor]] = {"iw": logistic, "ulsif": ulsif, "rulsif": rulsif, "kmm": kmm}
"""Weightings by name: (x (n, f), z (m, f), *, seed) to (n,) weights of mean 1."""

__all__ = [
    "WEIGHTINGS",
    "Diagnostics",
    "diagnose",
    "estimated_bytes",
    "flattened",
    "kmm",
    "log_ratio",
    "logistic",
    "refuse",
    "rulsif",
    "separation",
    "solve",
    "ulsif",
]
