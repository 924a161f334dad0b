"""Eq. 14's tau, and the threshold that it is compared with."""

from __future__ import annotations

import math

import pytest
import torch

from picsc.equations.divergence import fisher_gap
from picsc.equations.trigger import calibrated_threshold, part_gaps, random_halves, tau


def test_tau_is_the_fisher_gap_times_the_covariate_kl() -> None:
    """Two Gaussians of one column: I = 1 / s^2, and KL of N(0, 1) against N(0, 2^2) is log 2 - 3/8."""
    gap = fisher_gap(torch.tensor([1.0], dtype=torch.float64), torch.tensor([0.25], dtype=torch.float64))
    kl = math.log(2) - 3 / 8
    assert float(tau(gap, torch.tensor(kl, dtype=torch.float64))) == pytest.approx(0.75 * kl, rel=1e-12)
    assert tau(0.75, kl) == pytest.approx(0.75 * kl, rel=1e-12)


@pytest.mark.parametrize(("gap", "kl"), [(0.0, 2.0), (2.0, 0.0)])
def test_tau_is_0_where_one_of_its_factors_is(gap: float, kl: float) -> None:
    assert tau(gap, kl) == 0.0


def test_the_threshold_is_the_quantile_that_the_level_asks_for() -> None:
    """The 95th smallest of 99 draws: of these and the observed value, 5 may lie above."""
    draws = torch.arange(1.0, 100.0).flip(0)
    found = calibrated_threshold(torch.cat([torch.tensor([7.0]), draws]), level=0.05)
    assert (found.tau, found.gamma) == (7.0, 95.0)


@pytest.mark.parametrize(("draws", "gamma"), [(19, 19.0), (39, 38.0), (199, 190.0), (30, 30.0), (5, 5.0)])
def test_the_threshold_is_exceeded_at_most_as_often_as_the_level_says(draws: int, gamma: float) -> None:
    """Observed and drawn taus are exchangeable: the share of the 1 + b places above gamma is at most the level."""
    found = calibrated_threshold(torch.cat([torch.tensor([0.0]), torch.arange(1.0, draws + 1.0)]), level=0.05)
    assert found.gamma == gamma
    if draws >= 19:  # with fewer no draw is large enough, and the largest stands for it
        assert (draws + 1 - gamma) / (draws + 1) <= 0.05
        assert (draws + 2 - gamma) / (draws + 1) > 0.05


def test_each_part_is_divided_by_its_own_number_of_rows() -> None:
    squared = torch.rand(10, 3, generator=torch.Generator().manual_seed(0))
    parts = random_halves(3, 10, seed=0, draws=4)
    found = part_gaps([squared[:4], squared[4:]], parts)
    for gap, part in zip(found, parts.bool(), strict=True):
        expected = (squared[part].mean(0) - squared[~part].mean(0)).norm()
        assert float(gap) == pytest.approx(float(expected), rel=1e-5)


def test_without_random_halves_tau_is_known_and_its_threshold_is_not() -> None:
    decision = calibrated_threshold(torch.tensor([3.0]))
    assert decision.tau == 3
    assert math.isnan(decision.gamma)
    assert random_halves(2, 5, seed=0, draws=0).tolist() == [[1, 1, 0, 0, 0]]
