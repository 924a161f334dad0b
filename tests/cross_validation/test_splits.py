"""Training rows and test rows: properties of every repeat."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from picsc.cross_validation.splits import Repeat, fragmented, repeats
from picsc.datasets.load import from_frame
from picsc.settings import CvSettings, ReadSettings, validated

NONE = np.empty(0, np.int64)


def made(n: int = 40, count: int = 2, *, rare: int = 0, official: np.ndarray = NONE, **options: object) -> list[Repeat]:
    """Repeats of a table with two classes of n / 2 rows, and one row of each rare class."""
    y = np.arange(n) % 2
    y[:rare] = np.arange(2, 2 + rare)
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(n, 2)), columns=["a", "b"]).assign(
        s=np.arange(n) // 10, t=np.arange(n, dtype=float), target=y
    )
    settings = validated(CvSettings, read={"target": "target"}, **options)
    dataset = from_frame(frame, ReadSettings(target="target"), keys=settings.keys)
    return list(repeats(dataset, settings, count, official))


def all_rows(parts: Iterator[np.ndarray]) -> list[int]:
    return sorted(np.concatenate(list(parts)).tolist())


@pytest.mark.parametrize("cut", [{"folds": 4}, {"folds": 4, "shuffle": False}, {"by": "s"}])
def test_foldwise_every_row_is_tested_once_and_trains_all_other_models(cut: dict[str, object]) -> None:
    for repeat in made(cut=cut):
        k = len(repeat.pieces)
        assert all_rows(repeat.tested(i) for i in range(k)) == list(range(40))
        for i in range(k):
            rows, fragment = repeat.training(i)
            assert all_rows([rows, repeat.tested(i)]) == list(range(40))
            assert sorted(set(fragment.tolist())) == list(range(k - 1))
            others = [set(piece.tolist()) for j, piece in enumerate(repeat.pieces) if j != i]
            assert [set(rows[fragment == j].tolist()) for j in range(k - 1)] == others


@pytest.mark.parametrize("cut", [{"batches": 4}, {"time": "t", "cuts": 4}])
def test_batchwise_validation_rows_are_in_no_piece(cut: dict[str, object]) -> None:
    first, second = made(cut=cut)
    for repeat in (first, second):
        assert all_rows([*repeat.pieces, repeat.validation]) == list(range(40))
        assert len(repeat.validation) == 8
        assert np.bincount(repeat.validation % 2).tolist() == [4, 4]
        assert all(repeat.tested(i) is repeat.validation for i in range(4))
        assert all(piece.max() < following.min() for piece, following in pairwise(repeat.pieces))
    assert first.validation.tolist() != second.validation.tolist()


def test_official_test_rows_are_the_validation_rows_and_never_trained_on() -> None:
    official = np.arange(30, 40)
    for cut in ({"batches": 3}, {"folds": 3}):
        (repeat, again) = made(cut=cut, official=official)
        assert repeat.validation.tolist() == again.validation.tolist() == official.tolist()
        assert all_rows(repeat.pieces) == list(range(30))


@pytest.mark.parametrize("cut", [{"folds": 4}, {"batches": 4}, {"by": "s"}])
def test_the_model_of_the_whole_set_is_never_trained_on_validation_rows(cut: dict[str, object]) -> None:
    for repeat in made(cut=cut):
        rows, fragment = repeat.whole()
        assert all_rows([rows, repeat.validation]) == list(range(40))
        kept = [set(piece.tolist()) - set(repeat.validation.tolist()) for piece in repeat.pieces]
        assert [set(rows[fragment == j].tolist()) for j in range(len(kept))] == kept


def test_two_folds_have_the_halves_of_the_other_one_as_fragments() -> None:
    repeat = made(cut={"folds": 2})[0]
    rows, fragment = repeat.training(0)
    assert set(rows.tolist()) == set(repeat.pieces[1].tolist())
    assert np.bincount(fragment).tolist() == [10, 10]


@pytest.mark.parametrize("cut", [{"folds": 4}, {"batches": 4}])
def test_random_pieces_keep_sizes_and_strata(cut: dict[str, object]) -> None:
    for repeat in made(n=41, cut=cut):
        again = repeat.recut()
        assert [len(piece) for piece in again.pieces] == [len(piece) for piece in repeat.pieces]
        assert all_rows(again.pieces) == all_rows(repeat.pieces)
        assert again.pieces[0].tolist() != repeat.pieces[0].tolist()
        assert all(np.all(np.diff(piece) > 0) for piece in again.pieces)
    strata = made(n=41, cut={"folds": 4})[0]
    classes = [[np.bincount(each.strata[piece]).tolist() for piece in each.pieces] for each in (strata, strata.recut())]
    assert classes[0] == classes[1]


@pytest.mark.parametrize("cut", [{"folds": 4}, {"batches": 4}])
def test_rows_of_rare_classes_are_trained_on_and_never_tested(cut: dict[str, object]) -> None:
    for repeat in made(cut=cut, rare=2, keep_rare=True, validation=0.5):
        assert np.flatnonzero(repeat.rare).tolist() == [0, 1]
        assert not np.isin([0, 1], repeat.validation).any()
        assert {0, 1} <= set(repeat.whole()[0].tolist())
        for i in range(4):
            assert not np.isin([0, 1], repeat.tested(i)).any()
    foldwise = made(cut={"folds": 4}, rare=2, keep_rare=True)[0]
    assert all({0, 1} <= set(foldwise.training(i)[0].tolist()) for i in range(4))
    assert all(not repeat.rare.any() for repeat in made(cut=cut, rare=2))


@given(st.lists(st.integers(1, 6), min_size=1, max_size=5), st.integers(0, 3))
def test_fragments_are_numbered_without_gaps_and_lose_no_row(sizes: list[int], more: int) -> None:
    edges = np.cumsum([0, *sizes])
    parts = [np.arange(start, stop) for start, stop in pairwise(edges)]
    extra = np.arange(100, 100 + more)
    rows, fragment = fragmented(parts, extra)
    assert sorted(rows.tolist()) == [*range(edges[-1]), *extra]
    assert sorted(set(fragment.tolist())) == list(range(fragment.max() + 1))


def test_seeds_move_folds_validation_rows_and_random_pieces() -> None:
    first, second = made(cut={"folds": 4})
    (other,) = made(cut={"folds": 4}, seed=1, count=1)
    assert first.pieces[0].tolist() != second.pieces[0].tolist()
    assert first.validation.tolist() != second.validation.tolist()
    assert [piece.tolist() for piece in other.pieces] == [piece.tolist() for piece in second.pieces]
    assert replace(first, seed=9).recut().pieces[0].tolist() != first.recut().pieces[0].tolist()


def test_halves_of_a_sorted_file_have_the_same_classes() -> None:
    rows, fragment = fragmented([np.arange(40)], np.empty(0, np.int64))
    labels = rows >= 20  # the first half of the file is one class
    assert [labels[fragment == j].mean() for j in (0, 1)] == [0.5, 0.5]
