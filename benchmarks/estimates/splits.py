"""Splits of a sample, as test folds of every row, and the counts that train their models. Letters: n rows, k folds."""

from __future__ import annotations

import warnings
from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import KFold, StratifiedGroupKFold, StratifiedKFold

from picsc.fragments.dob_scv import balanced_folds

Folds = NDArray[np.int64]
K = 10
"""Folds of every cross-validation."""


def shuffled(n: int, seed: int) -> Folds:
    return _of(KFold(K, shuffle=True, random_state=seed).split(np.zeros(n)), n)


def stratified(y: NDArray[np.int64], seed: int) -> Folds:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # classes rarer than folds
        return _of(StratifiedKFold(K, shuffle=True, random_state=seed).split(np.zeros(len(y)), y), len(y))


def contiguous(order: NDArray[np.int64], y: NDArray[np.int64] | None = None) -> Folds:
    """Folds of a file in some order that is not shuffled; with classes they are stratified."""
    n = len(order)
    fold = np.empty(n, np.int64)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        cut = KFold(K).split(order) if y is None else StratifiedKFold(K).split(order, y[order])
        fold[order] = _of(cut, n)
    return fold


def dob(x: NDArray[np.float32], y: NDArray[np.int64], seed: int) -> Folds:
    return balanced_folds(y, x.astype(np.float64), K, seed=seed)


def whole_groups(y: NDArray[np.int64], group: NDArray[np.int64], seed: int) -> Folds:
    k = min(K, len(np.unique(group)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return _of(StratifiedGroupKFold(k, shuffle=True, random_state=seed).split(y, y, group), len(y))


def _of(cut: object, n: int) -> Folds:
    fold = np.empty(n, np.int64)
    for i, (_, test) in enumerate(cut):  # type: ignore[arg-type, var-annotated]
        fold[test] = i
    return fold


def without_two(fold: Folds) -> tuple[NDArray[np.float64], list[tuple[int, int]]]:
    """Counts of the models that leave out two folds each, and the folds."""
    pairs = list(combinations(range(fold.max() + 1), 2))
    return np.stack([((fold != a) & (fold != b)).astype(np.float64) for a, b in pairs]), pairs
