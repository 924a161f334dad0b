"""t-interval of a mean over rows of groups, each of which is one observation. Letters: r repeats, n rows, g groups."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from picsc.evaluation.paired_tests import Paired, rows_t

Floats = NDArray[np.float64]


def grouped_t(scores: Floats, groups: NDArray[np.int64], k: int) -> Paired | None:
    """Mean over rows, and its 95 % interval where rows of one group go together.

    The variance is that of a ratio of sums over groups; training sets of k folds overlap, so that it counts
    k/(k - 1) times: the correction of Nadeau and Bengio, Machine Learning 52, 2003, without a share for repeats, over
    which the mean of every row is taken first.

    Args:
        scores: (r, n) score of each row; NaN without one.
        groups: (n,) group of each row.
        k: folds.

    Returns:
        None when fewer than two groups have a score.
    """
    tested = np.isfinite(scores).any(0)
    if not tested.any():
        return None
    rows = np.nanmean(scores[:, tested], axis=0)
    codes = np.unique(groups[tested], return_inverse=True)[1].ravel()
    size, total = np.bincount(codes), np.bincount(codes, rows)
    mean = float(rows.mean())
    away = (total - mean * size) / size.mean() * np.sqrt(k / (k - 1))
    return rows_t(mean + away, np.zeros_like(away))
