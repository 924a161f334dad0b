"""Means over rows of groups: a group is one observation, however many rows it has."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import t

from picsc.evaluation.grouped_rows import grouped_t


def test_groups_of_equal_size_have_the_interval_of_their_means() -> None:
    rng = np.random.default_rng(0)
    means = rng.random(12)
    rows = np.repeat(means, 5)[None]
    found = grouped_t(rows, np.repeat(np.arange(12), 5), 10)
    assert found is not None
    assert found.mean == pytest.approx(means.mean())
    error = np.sqrt(means.var(ddof=1) / 12 * 10 / 9)
    assert found.half == pytest.approx(t.ppf(0.975, 11) * error)


def test_more_copies_of_the_rows_do_not_narrow_the_interval_and_repeats_are_means() -> None:
    rng = np.random.default_rng(1)
    scores, groups = rng.random((2, 30)), np.arange(30) % 6
    found = grouped_t(scores, groups, 5)
    copies = grouped_t(np.tile(scores, 4), np.tile(groups, 4), 5)
    once = grouped_t(scores.mean(0)[None], groups, 5)
    assert found is not None
    assert copies is not None
    assert copies.half == pytest.approx(found.half)
    assert once == found


def test_rows_without_a_score_are_left_out_and_one_group_has_no_interval() -> None:
    scores, groups = np.array([[1.0, 0.0, 1.0, np.nan, 0.0, 1.0]]), np.array([0, 0, 1, 1, 2, 2])
    found = grouped_t(scores, groups, 3)
    assert found is not None
    assert found.mean == pytest.approx(0.6)
    assert grouped_t(scores, np.zeros(6, np.int64), 3) is None
    assert grouped_t(np.full((1, 6), np.nan), groups, 3) is None
