"""The trend's share of the level."""

from __future__ import annotations

import math

import pytest
import torch

from picsc.auditing.streams.trend import SHARE, Trend, Trending, with_share


@pytest.mark.parametrize("hypotheses", [3, 18])
def test_the_trend_has_its_share_of_the_level(hypotheses: int) -> None:
    generator = torch.Generator().manual_seed(0)
    draws = -torch.rand(200_000, hypotheses + 1, generator=generator, dtype=torch.float64).log()
    every = with_share(draws[:, :-1], Trend(draws[:, -1], ()))
    beyond = torch.quantile(every[:100_000].amax(1), 0.95)
    alarms = every.amax(1) >= beyond
    of_trend = every[:, -1] >= beyond
    assert float(alarms.double().mean()) == pytest.approx(0.05, abs=0.003)
    assert float(of_trend.double().mean() / alarms.double().mean()) == pytest.approx(SHARE, abs=0.015)


def test_nothing_changes_without_a_trend() -> None:
    draws = torch.ones(5, 3)
    assert with_share(draws, None) is draws


def test_the_effect_of_a_move_is_the_distance_of_two_normals_or_of_two_shares() -> None:
    mean = Trending("x", "values", -1, 0.25, 2, 4, jumps=False, p_adjusted=0.01)
    assert mean.total == 1.0
    assert mean.effect == pytest.approx(2 * 0.6914625 - 1)
    assert Trending("x", "level", 0, -0.05, 2, 4, jumps=False, p_adjusted=0.01).effect == pytest.approx(0.2)
    assert math.isclose(Trending("x", "missing", -1, 0.05, 0, 4, jumps=False, p_adjusted=0.01).effect, 0.2)
