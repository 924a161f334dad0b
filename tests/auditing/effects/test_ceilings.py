"""Upper ends of effects hold with their probability, by an independent simulation of two samples."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy import stats

from picsc.auditing.effects.ceilings import Ceilings, rank_of
from picsc.errors import SettingsError


def test_rank_of_the_quantile() -> None:
    assert rank_of(0.05, 999, 1) == 50
    assert rank_of(0.05, 999, 10) == 5
    assert rank_of(0.05, 99, 5) == 1
    with pytest.raises(SettingsError, match="must be at least 199"):
        rank_of(0.05, 198, 10)


def test_the_largest_column_counts_and_empty_sides_say_nothing() -> None:
    draws = torch.arange(1.0, 20.0)[:, None, None] / 100  # 0.01 to 0.19
    observed = torch.tensor([[[0.1, 0.0], [0.3, float("nan")]]])  # two columns, two pieces
    effects = torch.cat([observed, draws.expand(19, 2, 2)])
    found = Ceilings.none(2).joined(effects, ["a", "b"], level=0.2, excess=4.0)
    # 0.2 over 2 pieces of 20 values: the second largest draw, 0.18, twice as far in a stream with excess 4
    assert found.bound.tolist() == pytest.approx([0.3 + 0.36, 1.0])
    assert found.name == ("b", "b")
    later = found.joined(torch.cat([torch.full((1, 1, 2), 0.9), draws.expand(19, 1, 2)]), ["c"], level=0.2, excess=1.0)
    assert later.name == ("c", "b")
    assert later.bound.tolist() == [1.0, 1.0]


def test_the_bound_covers_the_true_distance() -> None:
    """Two normals of KS distance 0.2, 150 rows each, permuted: the bound is below the truth in at most 5 %."""
    rng = np.random.default_rng(0)
    n, draws, sims, truth = 150, 99, 400, 0.2
    shift = 2 * stats.norm.ppf((1 + truth) / 2)
    missed = 0
    for _ in range(sims):
        rows = np.concatenate([rng.normal(size=n) + shift, rng.normal(size=n)])
        order = np.argsort(rows)
        first = np.arange(2 * n) < n
        labels = np.stack([first, *(rng.permutation(first) for _ in range(draws))])
        ks = np.abs(np.cumsum(np.where(labels[:, order], 1 / n, -1 / n), 1)).max(1)
        found = Ceilings.none(1).joined(torch.from_numpy(ks)[:, None, None], ["x"], level=0.05, excess=1.0)
        missed += bool(found.bound[0] < truth)
    assert missed / sims <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / sims)
    assert missed < sims / 20  # the triangle inequality is on the safe side
