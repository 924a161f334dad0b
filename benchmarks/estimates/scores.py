"""One estimate of an accuracy, and the rows of results."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from picsc.evaluation.paired_tests import Paired, resampled_t, score_interval

Floats = NDArray[np.float64]
NAN = float("nan")


class Estimate(NamedTuple):
    """An accuracy with its 95 % interval; NaN where there is none."""

    value: float
    low: float = NAN
    high: float = NAN


class Result(NamedTuple):
    """One estimate of one model in one draw, beside the truth."""

    scenario: str
    table: str
    n: int
    draw: int
    model: str
    estimate: str
    value: float
    low: float
    high: float
    truth: float
    note: float = NAN


def within(of: Paired | None) -> Estimate:
    """The estimate of a test, with the interval that reports of picsc show."""
    if of is None:
        return Estimate(NAN)
    mean = min(1.0, max(0.0, of.mean))
    found = score_interval(None if of.half is None else Paired(mean, None, None, "", of.half), "accuracy")
    return Estimate(of.mean) if found is None else Estimate(of.mean, found.low, found.high)


def resampled(right: list[Floats], folds: list[NDArray[np.int64]]) -> Estimate:
    """Mean over folds and repeats, with the corrected resampled t-interval."""
    rows = []
    for each, fold in zip(right, folds, strict=True):
        k = int(fold.max()) + 1
        size = np.bincount(fold, minlength=k)
        means = np.bincount(fold, each, minlength=k) / np.maximum(size, 1)
        rows.append((np.where(size > 0, means, np.nan), size))
    most = max(len(means) for means, _ in rows)
    values = np.full((len(rows), most), np.nan)
    tested = np.ones((len(rows), most))
    for i, (means, size) in enumerate(rows):
        values[i, : len(means)], tested[i, : len(size)] = means, size
    return within(resampled_t(values, tested, len(right[0]) - tested))


def rows_only(right: Floats) -> Estimate:
    """Mean over rows, and the interval of rows that are taken for independent."""
    n, spread = len(right), float(right.std(ddof=1))
    return within(Paired(float(right.mean()), None, None, "", 1.96 * spread / math.sqrt(n)))
