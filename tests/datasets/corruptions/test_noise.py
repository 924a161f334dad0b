"""Noise has the moments of its definition."""

from __future__ import annotations

import numpy as np
import pytest

from picsc.datasets.corruptions.noise import gaussian_noise, impulse_noise, shot_noise

X = np.full((20, 3, 32, 32), 0.4, np.float32)
N = X.size


def test_gaussian_noise_has_its_deviation() -> None:
    added = gaussian_noise(X, 0.1, np.random.default_rng(0)) - X
    assert added.std() == pytest.approx(0.1, rel=5 / (2 * N) ** 0.5)
    assert abs(added.mean()) < 5 * 0.1 / N**0.5


def test_shot_noise_has_the_mean_and_the_variance_of_photons() -> None:
    found = shot_noise(X, 50, np.random.default_rng(0))
    assert found.mean() == pytest.approx(0.4, abs=5 * (0.4 / 50 / N) ** 0.5)
    assert found.var() == pytest.approx(0.4 / 50, rel=0.05)


def test_impulse_noise_sets_its_share_to_black_and_white_alike() -> None:
    found = impulse_noise(X, 0.2, np.random.default_rng(0))
    for value in (0, 1):
        assert (found == value).mean() == pytest.approx(0.1, abs=5 * (0.09 / N) ** 0.5)
    assert np.all((found == 0) | (found == 1) | (found == np.float32(0.4)))
