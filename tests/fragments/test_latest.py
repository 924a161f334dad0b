"""The latest rows in time."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from picsc.errors import DataError
from picsc.fragments.latest import Latest, latest_rows


def latest(values: np.ndarray, share: float = 0.2, gap: str | None = None) -> Latest:
    return latest_rows(values, "t", share=share, gap=gap, table="table")


@given(npst.arrays(np.float64, st.integers(4, 60), elements=st.sampled_from([*range(9), np.nan])))
def test_all_later_rows_are_later_than_all_earlier_ones(values: np.ndarray) -> None:
    assume(len(np.unique(values[~np.isnan(values)])) > 1)
    found = latest(values)
    assert sorted([*found.rows, *found.before]) == list(range(len(values)))
    assert np.isin(np.flatnonzero(np.isnan(values)), found.before).all()
    assert values[found.rows].min() > np.nanmax(values[found.before])


def test_the_share_is_met_as_nearly_as_equal_times_allow() -> None:
    order = np.random.default_rng(0).permutation(100).astype(float)
    assert sorted(order[latest(order).rows]) == list(range(80, 100))
    assert len(latest(np.repeat([1.0, 2.0, 3.0], [10, 60, 30])).rows) == 30


def test_rows_in_the_gap_are_on_neither_side() -> None:
    days = np.datetime64("2024-01-01", "ns") + np.arange(10) * np.timedelta64(1, "D")
    found = latest(days, 0.4, "2d")
    assert found.before.tolist() == [0, 1, 2, 3, 4, 5]
    assert found.rows.tolist() == [7, 8, 9]
    with pytest.raises(DataError, match="gap of 30d leaves piece 2 of 2 without rows"):
        latest(days, 0.4, "30d")


@pytest.mark.parametrize(
    ("values", "problem"),
    [(np.ones(9), "1 distinct times"), (np.array(["a"] * 9, dtype=object), "neither dates nor numbers")],
)
def test_columns_without_an_order_are_refused(values: np.ndarray, problem: str) -> None:
    with pytest.raises(DataError, match=problem):
        latest(values)
