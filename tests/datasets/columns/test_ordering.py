"""The measures of order: rows, and two tables one after the other."""

from __future__ import annotations

import numpy as np
import pytest

from picsc.datasets.columns.ordering import follows, orders_rows

RANDOM = np.random.default_rng(0)
ROWS = np.arange(400.0)


@pytest.mark.parametrize("way", [1, -1])
def test_ordered_rows(way: int) -> None:
    assert orders_rows(way * ROWS) == way
    assert orders_rows(way * np.floor(ROWS / 100)) == way  # four values only
    assert orders_rows(way * (ROWS + RANDOM.normal(0, 20, 400))) == way
    with_gaps = way * ROWS
    with_gaps[RANDOM.random(400) < 0.3] = np.nan
    assert orders_rows(with_gaps) == way
    with_strays = way * ROWS
    with_strays[[3, 200]] = [way * 399.5, 0]
    assert orders_rows(with_strays) == way


def test_other_rows() -> None:
    assert orders_rows(RANDOM.permutation(ROWS)) == 0
    assert orders_rows(ROWS + RANDOM.normal(0, 200, 400)) == 0
    assert orders_rows(ROWS % 100) == 0  # four runs, as of four shops
    assert orders_rows(np.full(400, 3.0)) == 0
    assert orders_rows(np.full(400, np.nan)) == 0
    assert orders_rows(ROWS[:9]) == 0


def test_random_rows_are_ordered_at_most_once_in_a_thousand() -> None:
    for values in (np.arange(10.0), np.repeat([0.0, 1.0], 5), np.repeat([0.0, 1.0], 7), np.append(np.zeros(13), 1.0)):
        found = [orders_rows(RANDOM.permutation(values)) != 0 for _ in range(4000)]
        assert sum(found) <= 14  # of a binomial with 4000 and 0.001, more once in 10,000


def test_one_table_after_another() -> None:
    assert follows(ROWS + 350, ROWS)
    assert not follows(ROWS, ROWS + 350)
    assert not follows(ROWS + 100, ROWS)
    assert not follows(ROWS[:9] + 1000, ROWS)
    assert not follows(np.full(400, np.nan), ROWS)
    assert not follows(np.arange(4.0) + 1000, np.arange(4.0))


@pytest.mark.parametrize("m", [10, 40])
def test_exchangeable_tables_do_not_follow_each_other(m: int) -> None:
    for _ in range(3000):
        mixed = RANDOM.permutation(np.arange(10.0 + m))
        assert not follows(mixed[:10], mixed[10:])
