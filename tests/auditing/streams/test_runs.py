"""Blocks: runs of rows or of whole times, none shorter than asked for, none across the border of a piece."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from picsc.auditing.streams.runs import blocks


def test_blocks_are_consecutive_stay_inside_a_piece_and_leave_no_rest() -> None:
    labels = np.repeat([0, 1], [7, 6]).astype(np.int64)
    ids = blocks(labels, 3, np.arange(13))
    np.testing.assert_array_equal(np.flatnonzero(np.diff(ids) != 0) + 1, [4, 7, 10])


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 1000), length=st.integers(1, 60))
def test_equal_times_stay_together_in_blocks_that_are_long_enough(seed: int, length: int) -> None:
    rng = np.random.default_rng(seed)
    tie = np.repeat(np.arange(40), rng.integers(1, 9, size=40))
    labels = tie // 20
    order = rng.permutation(len(labels))
    shuffled = np.empty_like(labels)
    shuffled[order] = labels
    ids = blocks(shuffled, length, order, tie)[order]
    assert all(len(np.unique(ids[tie == each])) == 1 for each in range(40))
    assert (np.diff(ids) >= 0).all()
    assert len(np.unique(np.stack([ids, labels]), axis=1).T) == len(np.unique(ids))
    sizes = np.bincount(ids)
    assert sizes.min() >= min(length, np.bincount(labels).min())


@pytest.mark.parametrize("tie", [None, np.arange(10)])
def test_blocks_of_one_row_are_rows(tie: np.ndarray | None) -> None:
    assert len(np.unique(blocks(np.repeat([0, 1], 5), 1, np.arange(10), tie))) == 10
