"""Splits of whole groups."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from picsc.datasets.table import Dataset, Target
from picsc.errors import DataError
from picsc.fragments.groups import (
    batches_of_groups,
    dealt_out,
    groups_of,
    inner_folds_of_groups,
    of_other_groups,
    random_groups,
)
from picsc.fragments.holdout import random_part
from picsc.settings import CutSettings

groups = npst.arrays(np.int64, st.integers(6, 80), elements=st.integers(0, 12))
seeds = st.integers(0, 2**32 - 1)


def whole(group: np.ndarray, part: np.ndarray) -> bool:
    """True if every group has one part only."""
    return len(np.unique(np.stack([group, part]), axis=1).T) == len(np.unique(group))


@given(groups, st.integers(2, 5))
def test_batches_have_whole_groups_in_the_order_of_their_first_rows(group: np.ndarray, k: int) -> None:
    assume(len(np.unique(group)) >= k)
    batch = batches_of_groups(group, k)
    assert whole(group, batch)
    assert np.unique(batch).tolist() == list(range(k))
    first = np.unique(group, return_index=True)[1]
    assert (np.diff(batch[np.sort(first)]) >= 0).all()


def test_batches_are_as_equal_as_whole_groups_allow() -> None:
    group = np.repeat(np.arange(12), 40)
    assert np.bincount(batches_of_groups(group, 4)).tolist() == [120, 120, 120, 120]
    shuffled = np.random.default_rng(0).permutation(group)
    assert np.bincount(batches_of_groups(shuffled, 4)).tolist() == [120, 120, 120, 120]


@given(groups, seeds)
def test_random_pieces_have_whole_groups_and_are_never_empty(group: np.ndarray, seed: int) -> None:
    assume(len(np.unique(group)) >= 3)
    sizes = np.array([len(group) // 3, len(group) // 3, len(group) - 2 * (len(group) // 3)])
    piece = dealt_out(group, sizes, np.random.default_rng(seed))
    assert whole(group, piece)
    assert np.bincount(piece, minlength=3).min() > 0


@given(groups, st.floats(0.05, 0.95), seeds)
def test_a_random_part_has_whole_groups_on_both_sides(group: np.ndarray, share: float, seed: int) -> None:
    assume(len(np.unique(group)) >= 2)
    inside = random_groups(group, share, seed)
    assert whole(group, inside.astype(np.int64))
    assert 0 < inside.sum() < len(group)


def test_a_random_part_has_about_its_share_of_rows_and_classes() -> None:
    rng = np.random.default_rng(0)
    group = rng.integers(0, 60, 1200)
    classes = group % 3
    inside = random_groups(group, 0.2, 3, classes)
    assert inside.mean() == pytest.approx(0.2, abs=0.02)
    assert np.bincount(classes[inside]) / np.bincount(classes) == pytest.approx([0.2] * 3, abs=0.08)
    assert random_groups(group, 0.2, 3, classes).tolist() == inside.tolist()
    assert random_groups(group, 0.2, 4, classes).tolist() != inside.tolist()


@given(groups, seeds)
def test_inner_folds_have_whole_groups_and_none_has_all_rows(group: np.ndarray, seed: int) -> None:
    assume(len(np.unique(group)) >= 2)
    fold = inner_folds_of_groups(group, np.arange(len(group)) % 4, 3, np.random.default_rng(seed))
    assert whole(group, fold)
    assert np.bincount(fold, minlength=3).max() < len(group)


def test_inner_folds_take_groups_of_every_fragment() -> None:
    fragment = np.repeat(np.arange(4), 60)
    group = np.arange(240) // 20  # three in every fragment
    fold = inner_folds_of_groups(group, fragment, 3, np.random.default_rng(0))
    for j in range(3):
        assert np.bincount(fragment[fold == j]).tolist() == [20, 20, 20, 20]


def test_rows_of_other_groups() -> None:
    group = np.array([0, 0, 1, 1, 2, 2])
    assert of_other_groups(np.array([0, 2, 4]), group, np.array([3, 5])).tolist() == [0]
    assert of_other_groups(np.array([0, 2, 4]), None, np.array([3, 5])).tolist() == [0, 2, 4]


def test_the_groups_of_a_table() -> None:
    data = Dataset("t", "memory", 4, (), (), None, {"g": np.array(["b", "a", None, "b"], dtype=object)})
    assert groups_of(data, CutSettings(group="g", group_missing="own")).tolist() == [1, 0, 2, 1]  # type: ignore[union-attr]
    assert groups_of(data, CutSettings()) is None
    with pytest.raises(DataError, match="no value in 1 of 4 rows"):
        groups_of(data, CutSettings(group="g"))


def test_a_part_of_one_group_is_refused() -> None:
    target = Target("y", "classes", np.array([0, 1] * 5), ("u", "v"), "--target")
    data = Dataset("t", "memory", 10, (), (), target, {})
    with pytest.raises(DataError, match="of one group"):
        random_part(data, np.arange(10), 0.2, 0, np.zeros(10, np.int64))
    part = random_part(data, np.arange(10), 0.2, 0, np.arange(10) // 2)
    assert part.tolist() in [[0, 1], [2, 3], [4, 5], [6, 7], [8, 9]]
