"""The .632+ bootstrap and its interval. Letters: b bootstrap samples, n rows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from picsc.evaluation.paired_tests import LEVEL, Paired
from picsc.reports.common import Interval

Floats = NDArray[np.float64]


def bootstrap_632_plus(wrong: Floats, counts: Floats, apparent: float, no_information: float) -> Paired:
    """Accuracy by the .632+ rule, and an interval from the infinitesimal jackknife.

    Source: Efron and Tibshirani, "Improvements on cross-validation: the .632+ bootstrap method", JASA 92, 1997:
        Equations 27 to 32 for the estimate, Section 5 for the standard error of the leave-one-out bootstrap, which is
        scaled by the ratio of the two estimates as they propose.
    Reading: the noise of finitely many bootstrap samples is taken off the squared standard error, which is at least
        that of independent rows; the article has few rows, for which it does not matter.

    Args:
        wrong: (b, n) error of each row by the model of each bootstrap sample.
        counts: (b, n) times of each row in it.
        apparent: error of the model of all rows on the same rows.
        no_information: error if labels had nothing to do with columns.
    """
    out = counts == 0
    n, times = wrong.shape[1], np.maximum(out.sum(0), 1)
    by_row = (wrong * out).sum(0) / times
    one_out = float(by_row.mean())
    capped = min(one_out, no_information)
    span = no_information - apparent
    overfit = (capped - apparent) / span if capped > apparent and span > 0 else 0.0
    weight = 0.632 / (1 - 0.368 * overfit)
    error = (1 - weight) * apparent + weight * capped
    rows_alone = (2 + 1 / (n - 1)) * (by_row - one_out) / n
    of_sample = (wrong * out / times).sum(1) / n
    models = ((counts - counts.mean(0)) * of_sample[:, None]).sum(0)
    noise = n * len(counts) * float(of_sample.var())  # sum over rows of the variance of `models` by finite b
    least = float((((by_row - one_out) / n) ** 2).sum())
    square = max(float(((rows_alone + models) ** 2).sum()) - noise, least)
    spread = float(np.sqrt(square)) * (error / one_out if one_out > 0 else 1.0)
    half = float(ndtri((1 + LEVEL) / 2)) * spread
    return Paired(1 - error, Interval(1 - error - half, 1 - error + half), None, "", half)
