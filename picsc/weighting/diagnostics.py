"""Diagnostics of weights: effective sample size, and overlap of training and target rows."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from picsc.errors import NumericsError, SettingsError
from picsc.runtime.devices import as_sums
from picsc.weighting.checks import ADVICE, FLOOR, normalised
from picsc.weighting.logistic import log_ratio

SEPARATED = 0.995
"""Area under the ROC curve above which no weights help; two Gaussians 3.6 standard deviations apart have it."""


@dataclass(frozen=True, slots=True)
class Diagnostics:
    """Spread of weights over n rows."""

    ess: float
    """Kish's effective sample size (sum w)^2 / sum w^2, in rows: n for equal weights, 1 if one row has all."""
    share: float
    """ess / n, a fraction."""
    largest: float
    """Largest weight in units of the mean."""


def diagnose(weights: Tensor) -> Diagnostics:
    """Effective sample size and largest weight.

    Args:
        weights: (n,), non-negative, not all 0; of any scale.

    Raises:
        NumericsError: the weights are all 0 or not finite.
    """
    w = as_sums(normalised(weights, name="weights"))
    ess = len(w) / float(w.square().mean())
    return Diagnostics(ess, ess / len(w), float(w.max()))


def separation(x: Tensor, z: Tensor, *, seed: int, ratios: tuple[Tensor, Tensor] | None = None) -> float:
    """Separation of target rows from training rows by a logistic regression that has not seen them.

    Args:
        x: training rows, (n, f), n >= 2.
        z: target rows, (m, f), m >= 2.
        seed: of the folds.
        ratios: `log_ratio` of both, where it is known already; None computes it.

    Returns:
        Area under the ROC curve: 0.5 if they are alike, 1 if the two do not overlap.

    Raises:
        DataError: rows that cannot be compared.
    """
    of_x, of_z = log_ratio(x, z, seed=seed) if ratios is None else ratios
    ordered = of_x.sort().values
    below, not_above = (torch.searchsorted(ordered, of_z, right=right).sum() for right in (False, True))
    return int(below + not_above) / (2 * len(x) * len(z))


def refuse(weights: Tensor, *, floor: float = FLOOR, name: str, auc: float | None = None) -> None:
    """Refuse weights that rest on too few rows for a model trained with them to be trusted.

    Args:
        weights: (n,), non-negative.
        floor: least effective sample size, as a share of n.
        name: name of the weighting, for the message.
        auc: the result of `separation`; None without it. Bounded weights such as RuLSIF's stay even without overlap.

    Raises:
        NumericsError: the effective sample size is below the floor, or the rows are separated.
    """
    if auc is not None and auc > SEPARATED:
        raise NumericsError(
            f"{name}: a classifier tells target rows from training rows with an AUC of {auc:.4f} (need at most "
            f"{SEPARATED:g}): {ADVICE}"
        )
    found = diagnose(weights)
    if found.share < floor:
        carrying = max(1, round(found.ess))
        verb = "carry" if carrying > 1 else "carries"
        raise NumericsError(
            f"{name}: {carrying:,} of {len(weights):,} training rows {verb} the weights "
            f"(effective sample size {100 * found.share:.2g} %, need {100 * floor:g} %): {ADVICE}"
        )


def flattened(weights: Tensor, exponent: float) -> Tensor:
    """Weights to a power, of mean 1 again: less variance for more bias.

    Source: Shimodaira 2000, Section 5 (his lambda).

    Args:
        weights: (n,), non-negative.
        exponent: in [0, 1]; 1 leaves them as they are, 0 makes all alike.

    Returns:
        (n,).

    Raises:
        SettingsError: the exponent is out of range.
        NumericsError: the weights are all 0 or not finite.
    """
    if not 0 <= exponent <= 1:
        raise SettingsError(f"flattening exponent {exponent} is out of range: need 0 <= exponent <= 1")
    return normalised(weights**exponent, name="weights")
