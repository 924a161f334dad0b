"""One weighting by its name, with the settings that it has."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from torch import Tensor

from picsc.weighting.kmm import kmm
from picsc.weighting.logistic import logistic
from picsc.weighting.ulsif import rulsif, ulsif

WEIGHTINGS: dict[str, Callable[..., Tensor]] = {"iw": logistic, "ulsif": ulsif, "rulsif": rulsif, "kmm": kmm}
"""Weightings by name: (x (n, f), z (m, f), *, seed) to (n,) weights of mean 1."""


@dataclass(frozen=True, slots=True)
class WeightingOptions:
    """Settings of single weightings."""

    relative: float = 0.5
    """Share of the target in the denominator of rulsif, in (0, 1)."""
    bound: float = 1000.0
    """Largest weight of kmm."""
    ridge: float | None = None
    """Ridge that holds kmm's weights near 1; None is as much as the target rows' own noise allows."""


def weights_by(
    name: str, x: Tensor, z: Tensor, *, seed: int, options: WeightingOptions, ratio: Tensor | None = None
) -> Tensor:
    """Weights of training rows by one of `WEIGHTINGS`.

    Args:
        name: of the weighting.
        x: training rows, (n, f), in comparable units.
        z: target rows, (m, f).
        seed: of its draws.
        options: of single weightings.
        ratio: (n,) `picsc.weighting.logistic.log_ratio` of the training rows, where it is known already.

    Returns:
        (n,) weights, non-negative, of mean 1.
    """
    own: dict[str, dict[str, object]] = {
        "iw": {"ratio": ratio},
        "rulsif": {"alpha": options.relative},
        "kmm": {"bound": options.bound, "ridge": options.ridge},
    }
    return WEIGHTINGS[name](x, z, seed=seed, **own.get(name, {}))
