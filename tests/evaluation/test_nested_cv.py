"""Nested cross-validation against its article, computed once more with plain loops."""

from __future__ import annotations

import statistics
from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from picsc.evaluation.nested_cv import NestedScores, nested_cv

Rows = NDArray[np.int64]
N, K, REPEATS = 24, 4, 3


def learner(seed: int, noise: float) -> Callable[[Rows, int], float]:
    """Score of a row by a model of some rows: 1 where the nearer class mean is the row's class."""
    rng = np.random.default_rng(seed)
    y = np.arange(N) % 2
    x = y + noise * rng.normal(size=N)

    def score(train: Rows, row: int) -> float:
        means = [x[train[y[train] == c]].mean() for c in (0, 1)]
        return float(int(abs(x[row] - means[1]) < abs(x[row] - means[0])) == y[row])

    return score


def folds(seed: int) -> NDArray[np.int64]:
    rng = np.random.default_rng(seed)
    return np.stack([rng.permutation(np.arange(N) % K) for _ in range(REPEATS)])


def scored(score: Callable[[Rows, int], float], fold: NDArray[np.int64]) -> NestedScores:
    rows = np.arange(N)
    outer, inner = np.empty((REPEATS, N)), np.full((REPEATS, N, K), np.nan)
    for r in range(REPEATS):
        for i in rows:
            outer[r, i] = score(rows[fold[r] != fold[r, i]], i)
            for j in set(range(K)) - {fold[r, i]}:
                inner[r, i, j] = score(rows[(fold[r] != fold[r, i]) & (fold[r] != j)], i)
    return NestedScores(fold, outer, inner)


def by_the_article(score: Callable[[Rows, int], float], fold: NDArray[np.int64]) -> tuple[float, float]:
    """Estimate and half width: Algorithm 1 of Bates, Hastie and Tibshirani (2023), model by model."""
    rows, a, b, es, plain = np.arange(N), [], [], [], []
    for of_repeat in fold:
        for k in range(K):
            train = rows[of_repeat != k]
            e_out = [score(train, i) for i in rows[of_repeat == k]]
            e_in = [
                score(train[of_repeat[train] != j], i) for j in range(K) if j != k for i in train[of_repeat[train] == j]
            ]
            a.append((statistics.mean(e_in) - statistics.mean(e_out)) ** 2)
            b.append(statistics.variance(e_out) / len(e_out))
            es += e_in
            plain += e_out
    mse = (K - 1) / K * (statistics.mean(a) - statistics.mean(b))
    alone = statistics.variance(plain) / N
    mse = min(max(mse, alone), K * alone)
    bias = (1 + (K - 2) / K) * (statistics.mean(es) - statistics.mean(plain))
    return statistics.mean(es) - bias, statistics.NormalDist().inv_cdf(0.975) * mse**0.5


@pytest.mark.parametrize(("seed", "noise"), [(0, 0.6), (1, 1.0), (2, 2.0), (3, 5.0)])
def test_it_is_the_algorithm_of_the_article(seed: int, noise: float) -> None:
    score, fold = learner(seed, noise), folds(seed)
    found = nested_cv(scored(score, fold))
    mean, half = by_the_article(score, fold)
    assert found is not None
    assert found.interval is not None
    assert found.half == pytest.approx(half)
    assert found.mean == pytest.approx(mean)
    assert (found.interval.low, found.interval.high) == pytest.approx((mean - half, mean + half))
    assert found.p is None


def test_the_error_is_between_those_of_independent_rows_and_of_one_fold() -> None:
    fold = folds(0)
    rng = np.random.default_rng(0)
    outer = rng.integers(0, 2, (REPEATS, N)).astype(float)
    alone = 1.959964 * np.sqrt(outer.var(ddof=1) / N)
    apart = np.where(np.arange(K) == fold[:, :, None], np.nan, 9.0)
    close = np.stack([[outer[r, fold[r] == j].mean() for j in range(K)] for r in range(REPEATS)])
    near = np.where(np.arange(K) == fold[:, :, None], np.nan, close[:, None, :])
    most, least = (nested_cv(NestedScores(fold, outer, inner)) for inner in (apart, near))
    assert most is not None
    assert least is not None
    assert most.half == pytest.approx(alone * np.sqrt(K), rel=1e-5)
    assert least.half == pytest.approx(alone, rel=1e-5)


def test_two_folds_and_equal_scores_have_no_interval_and_failed_models_are_left_out() -> None:
    fold = folds(1) % 2
    assert nested_cv(NestedScores(fold, np.ones((REPEATS, N)), np.ones((REPEATS, N, 2)))) is None
    fold = folds(1)
    assert nested_cv(NestedScores(fold, np.ones((REPEATS, N)), np.ones((REPEATS, N, K)))) is None
    scores = scored(learner(1, 1.0), fold)
    whole = nested_cv(scores)
    outer, inner = scores.outer.copy(), scores.inner.copy()
    outer[0, fold[0] == 2] = np.nan
    found = nested_cv(NestedScores(fold, outer, inner))
    assert found is not None
    assert whole is not None
    assert np.isfinite(found.mean)
    assert found.mean == pytest.approx(whole.mean, abs=0.1)
