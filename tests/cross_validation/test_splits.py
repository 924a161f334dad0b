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
from picsc.errors import SettingsError
from picsc.settings import CvSettings, ReadSettings, validated

NONE = np.empty(0, np.int64)


def made(n: int = 40, count: int = 2, *, rare: int = 0, official: np.ndarray = NONE, **options: object) -> list[Repeat]:
    """Repeats of a table with two classes of n / 2 rows, and one row of each rare class."""
    y = np.arange(n) % 2
    y[:rare] = np.arange(2, 2 + rare)
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(n, 2)), columns=["a", "b"]).assign(
        s=np.arange(n) // 10, t=np.arange(n, dtype=float), g=np.arange(n) * 7 % 10, target=y
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


@pytest.mark.parametrize("cut", [{"batches": 4}, {"time": "t", "cuts": 4, "mix_time": True}])
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


def test_pieces_of_time_are_tested_on_the_latest_rows() -> None:
    first, second = made(cut={"time": "t", "cuts": 4})
    for repeat in (first, second):
        assert repeat.validation.tolist() == list(range(32, 40))
        assert [piece.tolist() for piece in repeat.pieces] == [list(range(i, i + 8)) for i in range(0, 32, 8)]
        assert all(repeat.tested(i) is repeat.validation for i in range(4))
        assert repeat.words.endswith("; the latest 8 rows test all models")
    gap = made(cut={"time": "t", "cuts": 4, "gap": "3"})[0]
    assert gap.validation.tolist() == list(range(34, 40))  # 31 + 3 is the earliest


def test_rows_of_a_rare_class_are_no_latest_rows_either() -> None:
    settings = {"cut": {"time": "t", "cuts": 2}, "keep_rare": True}
    y = np.arange(40) % 2
    y[[3, 39]] = [2, 3]
    frame = pd.DataFrame({"a": np.arange(40.0) % 7, "t": np.arange(40.0), "target": y})
    dataset = from_frame(frame, ReadSettings(target="target"), keys=("t",))
    [repeat] = repeats(dataset, validated(CvSettings, **settings), 1, NONE)
    assert repeat.validation.tolist() == list(range(32, 39))


CUTS = [{"folds": 4}, {"folds": 4, "splitter": "group"}, {"batches": 4}]


@pytest.mark.parametrize("cut", [*CUTS, {"by": "s"}, {"time": "t", "cuts": 2, "mix_time": True}])
def test_no_model_is_tested_on_a_group_that_it_has_seen(cut: dict[str, object]) -> None:
    group = np.arange(40) * 7 % 10  # ten groups of four rows, each in all pieces of s
    if "by" in cut:
        group = np.arange(40) // 4  # two groups lie in two pieces
    y = np.arange(40) % 2
    frame = pd.DataFrame({"a": np.arange(40.0) % 7, "s": np.arange(40) // 10, "t": np.arange(40.0), "g": group})
    settings = validated(CvSettings, cut={**cut, "group": "g"})
    dataset = from_frame(frame.assign(target=y), ReadSettings(target="target"), keys=settings.keys)
    for repeat in repeats(dataset, settings, 2, NONE):
        assert not np.isin(group[repeat.whole()[0]], group[repeat.validation]).any()
        for each in (repeat, repeat.recut()):
            assert len(each.pieces) == len(repeat.pieces)
            for i, piece in enumerate(each.pieces):
                trained = each.training(i)[0] if each.foldwise else piece
                assert len(trained)
                assert not np.isin(group[trained], group[each.tested(i)]).any()
        if repeat.seed == 0:
            left = [finding.message for finding in repeat.findings if finding.code == "tested-groups-left-out"]
            assert bool(left) is ("by" in cut)


def test_a_random_fifth_of_whole_groups_tests_batches() -> None:
    frame = pd.DataFrame({"a": np.arange(200.0) % 7, "g": np.arange(200) // 10, "target": np.arange(200) % 2})
    settings = validated(CvSettings, cut={"batches": 4, "group": "g"})
    dataset = from_frame(frame, ReadSettings(target="target"), keys=settings.keys)
    for repeat in repeats(dataset, settings, 3, NONE):
        assert len(repeat.validation) == 40
        assert [len(piece) for piece in repeat.pieces] == [40, 40, 40, 40]


@pytest.mark.parametrize("cut", [{"batches": 4}, {"time": "t", "cuts": 4, "mix_time": True}])
def test_every_test_row_belongs_to_the_piece_around_it(cut: dict[str, object]) -> None:
    for repeat in made(cut=cut):
        own = repeat.tested_by_piece
        assert all_rows(iter(own)) == repeat.validation.tolist()
        for rows, piece, after in zip(own, repeat.pieces, [*repeat.pieces[1:], np.array([99])], strict=True):
            assert not len(rows) or rows.max() < after.min()
            assert not len(rows) or rows.min() > piece.min() - 5


@pytest.mark.parametrize("cut", [{"folds": 4}, {"time": "t", "cuts": 4}])
def test_folds_and_pieces_that_are_tested_later_have_no_test_rows_of_their_own(cut: dict[str, object]) -> None:
    assert [repeat.tested_by_piece for repeat in made(cut=cut)] == [(), ()]


def test_an_official_test_part_is_dealt_out_to_the_pieces() -> None:
    repeat = made(cut={"batches": 4}, official=np.arange(30, 40))[0]
    assert sorted(map(len, repeat.tested_by_piece)) == [2, 2, 3, 3]
    assert all_rows(iter(repeat.tested_by_piece)) == list(range(30, 40))


def test_with_a_made_shift_the_same_share_of_every_batch_tests_the_models() -> None:
    repeat, other = made(n=100, cut={"batches": 5}, batch_shift="noise")
    for i, rows in enumerate(repeat.tested_by_piece):
        assert len(rows) == 4
        assert sorted([*rows, *repeat.pieces[i]]) == list(range(20 * i, 20 * i + 20))
    assert not np.array_equal(repeat.validation, other.validation)


def test_backwards_is_the_same_batches_and_test_rows_from_the_last_one_on() -> None:
    [forwards], [back] = (made(count=1, cut={"batches": 4}, backwards=backwards) for backwards in (False, True))
    assert back.names == ("batch 4", "batch 3", "batch 2", "batch 1")
    for one, other in zip(forwards.pieces, reversed(back.pieces), strict=True):
        assert np.array_equal(one, other)
    for one, other in zip(forwards.tested_by_piece, reversed(back.tested_by_piece), strict=True):
        assert np.array_equal(one, other)
    assert np.array_equal(forwards.validation, back.validation)
    assert back.words == f"{forwards.words}, the last one first"


def test_an_order_is_one_of_batches() -> None:
    with pytest.raises(SettingsError, match="order of batches: add"):
        validated(CvSettings, backwards=True)
