"""Importance-weighted scores: equal weights are plain cross-validation, and a few heavy rows widen the interval."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import t

from picsc.evaluation.weighted_risk import weighted_score

N, K = 200, 10
RIGHT = np.random.default_rng(0).integers(0, 2, (5, N)).astype(float)


def test_equal_weights_are_the_plain_mean_with_the_corrected_variance_of_rows() -> None:
    found = weighted_score(RIGHT, np.full(N, 3.0), K)
    variance = RIGHT.var(1).mean() / N * (1 / 5 + K / (K - 1))
    assert found.score is not None
    assert found.score.mean == pytest.approx(RIGHT.mean())
    assert found.score.half == pytest.approx(t.ppf(0.975, N - 1) * np.sqrt(variance))
    assert found.effective_rows == pytest.approx(N)


def test_the_weighted_mean_by_hand() -> None:
    found = weighted_score(np.array([[1.0, 0.0, 1.0, np.nan]]), np.array([1.0, 2.0, 1.0, 5.0]), 4)
    assert found.score is not None
    assert found.score.mean == pytest.approx(0.5)
    assert found.effective_rows == pytest.approx(16 / 6)
    square = (1 * 0.25 + 4 * 0.25 + 1 * 0.25) / 16 * (1 + 4 / 3)
    assert found.score.half == pytest.approx(t.ppf(0.975, 16 / 6 - 1) * np.sqrt(square))


def test_rows_without_weight_count_for_nothing_and_a_single_row_has_no_interval() -> None:
    weights = np.where(np.arange(N) < 50, 1.0, 0.0)
    found, part = weighted_score(RIGHT, weights, K), weighted_score(RIGHT[:, :50], np.ones(50), K)
    assert found == part
    alone = weighted_score(RIGHT, np.where(np.arange(N) == 3, 1.0, 0.0), K)
    assert alone.score is not None
    assert alone.score.interval is None
    assert alone.score.mean == RIGHT[:, 3].mean()
    assert weighted_score(RIGHT, np.zeros(N), K).score is None


def test_known_weights_cover_the_mean_of_the_target() -> None:
    rng, covered = np.random.default_rng(1), 0
    for _ in range(400):
        group = rng.random(N) < 0.8
        right = np.where(group, rng.random(N) < 0.9, rng.random(N) < 0.5).astype(float)
        found = weighted_score(right[None], np.where(group, 0.5 / 0.8, 0.5 / 0.2), K).score
        assert found is not None
        assert found.interval is not None
        covered += found.interval.low <= 0.7 <= found.interval.high
    assert covered >= 365  # at a coverage of 95 % fewer have a chance of 1 in 1000
