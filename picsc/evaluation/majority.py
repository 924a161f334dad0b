"""The majority class: the accuracy of a model that always predicts the most frequent class, which others must beat."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from picsc.reports.common import MajorityClass

_ROUNDING = 1e-9
"""Differences of means of shares that are none."""
IMBALANCED = 0.8
"""Share of the majority class from which an accuracy close to it says little."""


def majority_code(codes: NDArray[np.int64] | NDArray[np.float64], weights: NDArray[np.float64] | None = None) -> int:
    """Code of the most frequent class, the first of several; 0 without any label.

    Args:
        codes: class codes (n,), negative where missing.
        weights: how much each row counts, (n,); None is the same for all.
    """
    there = codes[codes >= 0].astype(np.int64)
    counts = None if weights is None else weights[codes >= 0]
    return int(np.bincount(there, weights=counts).argmax()) if len(there) else 0


def above_majority(majority: MajorityClass, accuracies: Sequence[float | None]) -> str:
    """A sentence for the advice where no accuracy is above the share of the majority class, or all are close to it.

    Args:
        majority: class and share.
        accuracies: of all methods.

    Returns:
        The sentence, with a semicolon in front; empty where accuracies say enough.
    """
    known = [accuracy for accuracy in accuracies if accuracy is not None]
    if not known:
        return ""
    share = f"{100 * majority.share:.1f} %, the share of class {majority.name}"
    if max(known) <= majority.share + _ROUNDING:
        return f"; no accuracy is above {share}: compare by log-loss, balanced accuracy and AUC"
    if majority.share >= IMBALANCED:
        return f"; an accuracy is measured against {share}: compare by log-loss, balanced accuracy and AUC as well"
    return ""
