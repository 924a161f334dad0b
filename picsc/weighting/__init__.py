"""Importance weights: from training and target covariates to one weight per training row, of mean 1.

- `logistic`: weights from a logistic regression that separates target rows from training rows
- `ulsif`: density ratios by least squares: uLSIF, and RuLSIF, whose weights are bounded
- `kmm`: kernel mean matching: weights under which training and target rows have the same mean in a kernel's feature
  space
- `diw`: dynamic importance weighting: weights of a training step's rows that match their losses or hidden units to
  those of target rows
- `by_name`: one weighting by its name, with the settings that it has
- `standardised`: covariates of two sets of rows in the units of the first
- `diagnostics`: effective sample size, overlap of training and target rows, and refusal of weights that are useless
- `checks`: checks of the rows before weighting, and weights scaled to mean 1
- `kernels`: distances and Gaussian kernels between rows
- `memory`: estimates of a weighting's memory before it runs
"""

from __future__ import annotations

from picsc.weighting.by_name import WEIGHTINGS, WeightingOptions, weights_by
from picsc.weighting.diagnostics import Diagnostics, diagnose, flattened, refuse, separation
from picsc.weighting.memory import estimated_bytes

__all__ = [
    "WEIGHTINGS",
    "Diagnostics",
    "WeightingOptions",
    "diagnose",
    "estimated_bytes",
    "flattened",
    "refuse",
    "separation",
    "weights_by",
]
