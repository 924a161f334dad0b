from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import sklearn
from hypothesis import assume, given, reject, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst
from sklearn.model_selection import GroupKFold, KFold, StratifiedGroupKFold, StratifiedKFold

from picsc.datasets.table import Column, Dataset, Target
from picsc.errors import DataError, SettingsError
from picsc.fragments import Cut, cut
from picsc.settings import CutSettings, validated

FEW = settings(max_examples=40, deadline=None)
DAY = np.timedelta64(1, "D")


def table(n: int, *, y: Any = None, kind: str = "classes", **keys: Any) -> Dataset:
    """A table without covariates: cutting never looks at them."""
    target = None
    if y is not None:
        levels = tuple(str(code) for code in range(max(y) + 1)) if kind == "classes" else ()
        target = Target("y", kind, np.asarray(y), levels, "--target")  # type: ignore[arg-type]
    return Dataset("t", "memory", n, (), (), target, keys)


def words(*values: object) -> np.ndarray:
    return np.array(values, dtype=object)


def rows(made: Cut) -> list[list[int]]:
    return [fragment.rows.tolist() for fragment in made.fragments]


def names(made: Cut) -> list[str]:
    return [fragment.name for fragment in made.fragments]


def sizes(made: Cut) -> list[int]:
    return [len(fragment.rows) for fragment in made.fragments]


def check_partition(made: Cut, n: int) -> None:
    """Disjoint, increasing, int64, not empty, and with the unassigned rows they are all rows."""
    for fragment in made.fragments:
        assert fragment.rows.dtype == np.int64
        assert len(fragment.rows) > 0
        assert (np.diff(fragment.rows) > 0).all()
    assert len(set(names(made))) == len(made.fragments)
    everything = np.concatenate([*(fragment.rows for fragment in made.fragments), made.unassigned])
    np.testing.assert_array_equal(np.sort(everything), np.arange(n))


codes = npst.arrays(np.int64, st.integers(4, 60), elements=st.integers(-1, 3))
seeds = st.integers(0, 2**32 - 1)


# Folds


@FEW
@given(n=st.integers(2, 60), k=st.integers(2, 12), shuffle=st.booleans(), seed=seeds)
def test_plain_folds_partition_the_rows_evenly(n: int, k: int, shuffle: bool, seed: int) -> None:
    assume(k <= n)
    made = cut(table(n), CutSettings(folds=k, shuffle=shuffle), seed=seed)
    check_partition(made, n)
    assert len(made.fragments) == k
    assert max(sizes(made)) - min(sizes(made)) <= 1
    assert made.contiguous is not shuffle
    assert (made.ordered, made.units, made.strata) == (False, None, None)


@FEW
@given(y=codes, k=st.integers(2, 5), shuffle=st.booleans(), seed=seeds)
def test_stratified_folds_spread_every_class_and_the_unlabelled(
    y: np.ndarray, k: int, shuffle: bool, seed: int
) -> None:
    stratum = np.where(y < 0, y.max() + 1, y)
    assume(k <= len(y) and np.bincount(stratum).max() >= k)
    made = cut(table(len(y), y=y.tolist()), CutSettings(folds=k, shuffle=shuffle), seed=seed)
    check_partition(made, len(y))
    np.testing.assert_array_equal(made.strata, stratum)
    counts = np.array([np.bincount(stratum[fragment.rows], minlength=5) for fragment in made.fragments])
    assert np.ptp(counts, axis=0).max() <= 1
    assert len(made.fragments) == k


@FEW
@given(group=npst.arrays(np.int64, st.integers(6, 60), elements=st.integers(0, 9)), shuffle=st.booleans(), seed=seeds)
def test_group_folds_never_divide_a_group(group: np.ndarray, shuffle: bool, seed: int) -> None:
    k = 3
    assume(len(np.unique(group)) >= k)
    asked = CutSettings(folds=k, splitter="group", group="g", shuffle=shuffle)
    made = cut(table(len(group), g=group.astype(object)), asked, seed=seed)
    check_partition(made, len(group))
    owners = [set(group[fragment.rows].tolist()) for fragment in made.fragments]
    assert sum(len(owner) for owner in owners) == len(np.unique(group))
    assert made.units is not None
    np.testing.assert_array_equal(made.units, np.unique(group, return_inverse=True)[1])


@pytest.mark.parametrize("seed", [None, 7])
def test_folds_are_those_of_scikit_learn(seed: int | None) -> None:
    rng = np.random.default_rng(0)
    y, x = rng.integers(0, 3, 101), np.zeros(101)
    shuffle = seed is not None
    theirs = StratifiedKFold(5, shuffle=shuffle, random_state=seed).split(x, y)
    ours = cut(table(101, y=y.tolist()), CutSettings(folds=5, shuffle=shuffle), seed=seed or 0)
    assert rows(ours) == [test.tolist() for _, test in theirs]
    theirs = KFold(5, shuffle=shuffle, random_state=seed).split(x)
    ours = cut(table(101, y=y.tolist()), CutSettings(folds=5, splitter="kfold", shuffle=shuffle), seed=seed or 0)
    assert rows(ours) == [test.tolist() for _, test in theirs]


def test_group_folds_are_those_of_scikit_learn() -> None:
    group = np.random.default_rng(0).choice(["b", "a", "d", "c", "f", "e"], 101)
    theirs = GroupKFold(3).split(np.zeros(101), groups=group)
    ours = cut(table(101, g=group.astype(object)), CutSettings(folds=3, splitter="group", group="g"), seed=0)
    assert rows(ours) == [test.tolist() for _, test in theirs]


@pytest.mark.skipif(
    tuple(map(int, sklearn.__version__.split(".")[:2])) < (1, 6), reason="GroupKFold shuffles since scikit-learn 1.6"
)
def test_shuffled_group_folds_are_those_of_scikit_learn() -> None:
    group = np.random.default_rng(0).integers(0, 20, 101)
    theirs = GroupKFold(3, shuffle=True, random_state=5).split(np.zeros(101), groups=group)
    asked = CutSettings(folds=3, splitter="group", group="g", shuffle=True)
    ours = cut(table(101, g=group.astype(object)), asked, seed=5)
    assert rows(ours) == [test.tolist() for _, test in theirs]


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (table(50, y=[0, 1] * 25), "10 stratified folds, unshuffled"),
        (table(50, y=[0.5, 1.5] * 25, kind="numbers"), "10 folds, unshuffled"),
        (table(50), "10 folds, unshuffled"),
    ],
)
def test_without_settings_there_are_ten_folds_fit_for_the_target(data: Dataset, said: str) -> None:
    made = cut(data, CutSettings(), seed=0)
    assert made.words == said
    assert names(made) == [f"fold {i}" for i in range(1, 11)]


def test_a_seed_fixes_the_folds_and_only_shuffled_ones_depend_on_it() -> None:
    data = table(60, y=[0, 1, 2] * 20)
    shuffled = CutSettings(folds=4, shuffle=True)
    assert rows(cut(data, shuffled, seed=1)) == rows(cut(data, shuffled, seed=1))
    assert rows(cut(data, shuffled, seed=1)) != rows(cut(data, shuffled, seed=2))
    assert rows(cut(data, CutSettings(folds=4), seed=1)) == rows(cut(data, CutSettings(folds=4), seed=2))


def test_a_class_that_reaches_every_fold_keeps_the_fold_count() -> None:
    """Seven classes of 7 rows cannot be in all 8 folds, one of 8 rows can: 8 folds, not 7."""
    y = [*np.repeat(np.arange(8), 7).tolist(), 0]
    made = cut(table(57, y=y), CutSettings(folds=8), seed=0)
    assert len(made.fragments) == 8
    check_partition(made, 57)


@pytest.mark.parametrize(
    ("data", "asked", "message"),
    [
        (table(3), CutSettings(folds=5), "cannot cut 3 rows into 5 folds: need 2 <= k <= 3"),
        (table(3), CutSettings(batches=5), "cannot cut 3 rows into 5 batches: need 2 <= k <= 3"),
        (table(1), CutSettings(), "cannot cut 1 row into 10 folds: need at least 2 rows"),
        (
            table(56, y=np.repeat(np.arange(8), 7).tolist()),
            CutSettings(folds=8),
            "largest class of 'y' has 7 rows; use --folds 7 or fewer, --splitter kfold --shuffle",
        ),
        (
            table(30, g=np.repeat(words("a", "b", "c"), 10)),
            CutSettings(folds=5, splitter="group", group="g"),
            r"3 groups < 5 folds: .* --by g \(one piece per group\) or --folds 3",
        ),
        (
            table(4, g=words("a", "a", "a", "a")),
            CutSettings(folds=2, splitter="group", group="g"),
            "1 group < 2 folds: .* choose another --group",
        ),
        (
            table(5, g=words(1, 2, 3, None, None)),
            CutSettings(folds=2, splitter="group", group="g"),
            r"'g' has no value in 2 of 5 rows \(rows 4, 5, the first data row being 1\); .* --group-missing own ",
        ),
        (
            table(9, g=words("a", None, "b", *[None] * 6)),
            CutSettings(folds=2, group="g"),
            r"'g' has no value in 7 of 9 rows \(rows 2, 4, 5, 6, 7, \.\.\.",
        ),
        (table(5, g=words(*"aaaaa")), CutSettings(by="h"), r"no column 'h' to cut by \(.*: g\)"),
        (table(5, g=words(*"aaaaa")), CutSettings(by="g"), "holds only the value 'a' in 5 rows"),
        (table(5, g=words(*[None] * 5)), CutSettings(by="g"), "holds no value in 5 rows"),
        (table(1001, g=np.arange(1001).astype(object)), CutSettings(by="g"), "1001 different values, .* 1000 pieces"),
    ],
)
def test_what_cannot_be_cut_says_what_would_work(data: Dataset, asked: CutSettings, message: str) -> None:
    with pytest.raises(DataError, match=message):
        cut(data, asked, seed=0)


@pytest.mark.parametrize(
    ("data", "held"),
    [(table(30, y=[0.5] * 30, kind="numbers"), "target 'y' holds numbers"), (table(30), "the table has no target")],
)
def test_stratifying_needs_classes(data: Dataset, held: str) -> None:
    with pytest.raises(SettingsError, match=held):
        cut(data, CutSettings(folds=3, splitter="stratified"), seed=0)


# Groups without a name, and classes of whole groups

NO_NAME = words(1, 2, 3, None, None, "b", np.nan, "b")
"""P26: numbers, strings and rows without a group."""


@pytest.mark.parametrize(("missing", "groups"), [("own", 7), ("together", 5)])
def test_rows_without_a_group_are_groups_of_their_own_or_one(missing: Any, groups: int) -> None:
    made = cut(table(8, g=NO_NAME), CutSettings(folds=2, splitter="group", group="g", group_missing=missing), seed=0)
    check_partition(made, 8)
    assert made.units is not None
    assert len(set(made.units.tolist())) == groups
    assert made.units[5] == made.units[7]
    assert len(set(made.units[[3, 4, 6]].tolist())) == {"own": 3, "together": 1}[missing]


def test_a_column_without_any_group_is_one_group_or_as_many_as_rows() -> None:
    data = table(4, g=words(*[None] * 4))
    made = cut(data, CutSettings(folds=4, splitter="group", group="g", group_missing="own"), seed=0)
    assert sizes(made) == [1, 1, 1, 1]
    with pytest.raises(DataError, match="1 group < 2 folds"):
        cut(data, CutSettings(folds=2, splitter="group", group="g", group_missing="together"), seed=0)


def test_rows_without_a_value_of_by_are_in_no_piece_or_one_of_their_own() -> None:
    data = table(6, g=words("a", None, "b", None, "a", "(missing)"))
    apart = cut(data, CutSettings(by="g"), seed=0)
    assert (names(apart), apart.unassigned.tolist()) == (["g=(missing)", "g=a", "g=b"], [1, 3])
    [told] = apart.findings
    assert (told.code, told.severity) == ("unassigned-rows", "warning")
    assert told.advice == "fill them in, or --group-missing together makes them a piece"
    one = cut(data, CutSettings(by="g", group_missing="together"), seed=0)
    assert (names(one)[3:], rows(one)[3], one.findings) == (["g=(no value)"], [1, 3], ())
    check_partition(one, 6)
    single = cut(table(3, g=words("a", None, "a")), CutSettings(by="g", group_missing="together"), seed=0)
    assert names(single) == ["g=a", "g=(missing)"]


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"group_missing": "own"}, "--group-missing own needs --group COL"),
        ({"group_missing": "own", "by": "g"}, "--group-missing own needs --group COL"),
        ({"group_missing": "together"}, "--group-missing together needs --group COL or --by COL"),
        ({"splitter": "stratified-group"}, "--splitter stratified-group needs --group COL"),
    ],
)
def test_what_groups_need(asked: dict[str, Any], message: str) -> None:
    with pytest.raises(SettingsError) as caught:
        validated(CutSettings, **asked)
    assert str(caught.value) == message


@FEW
@given(group=npst.arrays(np.int64, st.integers(12, 60), elements=st.integers(0, 12)), shuffle=st.booleans(), seed=seeds)
def test_stratified_group_folds_are_those_of_scikit_learn(group: np.ndarray, shuffle: bool, seed: int) -> None:
    assume(len(np.unique(group)) >= 3)
    y = np.arange(len(group)) % 2
    asked = CutSettings(folds=3, splitter="stratified-group", group="g", shuffle=shuffle)
    theirs = StratifiedGroupKFold(3, shuffle=shuffle, random_state=seed if shuffle else None)
    folds = [test.tolist() for _, test in theirs.split(np.zeros(len(group)), y, group)]
    assume(all(folds))
    made = cut(table(len(group), y=y.tolist(), g=group), asked, seed=seed)
    assert rows(made) == folds
    check_partition(made, len(group))
    assert made.strata is None
    np.testing.assert_array_equal(made.units, np.unique(group, return_inverse=True)[1].reshape(-1))
    assert made.words.startswith("3 stratified folds of whole groups of g, ")


def test_a_fold_that_unequal_groups_leave_empty_is_refused() -> None:
    group = np.array([2, 0, *[1] * 56])
    asked = CutSettings(folds=3, splitter="stratified-group", group="g")
    with pytest.raises(DataError, match=r"leave fold \d of 3 folds without rows: the groups of 'g' are too unequal"):
        cut(table(58, y=(np.arange(58) % 2).tolist(), g=group), asked, seed=0)


def cut_or_reject(data: Dataset, asked: CutSettings, seed: int) -> Cut:
    """What is refused must say how many folds were asked for."""
    try:
        return cut(data, asked, seed=seed)
    except DataError as error:
        if f"{asked.folds} " not in str(error):
            raise
        reject()


@pytest.mark.parametrize("splitter", ["kfold", "stratified", "group", "stratified-group", "dob-scv", "ms-scv"])
@settings(max_examples=25, deadline=None)
@given(y=npst.arrays(np.int64, st.integers(4, 40), elements=st.integers(0, 5)), k=st.integers(2, 12), seed=seeds)
def test_a_fold_count_is_kept_or_refused(splitter: Any, y: np.ndarray, k: int, seed: int) -> None:
    """P28, for every way to make folds: never fewer folds than asked for, and none of them empty."""
    data = replace(
        table(len(y), y=y.tolist(), g=np.arange(len(y)) // 2),
        columns=(Column("x", "numeric", np.arange(len(y), dtype=np.float64)),),
    )
    group = {"group": {"group": "g"}, "stratified-group": {"group": "g"}}.get(splitter, {})
    made = cut_or_reject(data, CutSettings(folds=k, splitter=splitter, shuffle=True, **group), seed)
    assert len(made.fragments) == k
    check_partition(made, len(y))


# Batches and values of a column


@FEW
@given(n=st.integers(2, 200), k=st.integers(2, 30))
def test_batches_are_contiguous_and_even(n: int, k: int) -> None:
    assume(k <= n)
    made = cut(table(n), CutSettings(batches=k), seed=0)
    check_partition(made, n)
    assert np.concatenate([fragment.rows for fragment in made.fragments]).tolist() == list(range(n))
    assert max(sizes(made)) - min(sizes(made)) <= 1
    assert len(made.fragments) == k
    assert made.ordered
    assert made.contiguous


values = st.sampled_from(["x", "y", "z", 1, 2.0, None, float("nan")])


@FEW
@given(column=st.lists(values, min_size=2, max_size=40))
def test_a_piece_per_value_covers_all_rows_with_a_value(column: list[object]) -> None:
    known = {value for value in column if value is not None and value == value}
    assume(len(known) >= 2)
    made = cut(table(len(column), g=words(*column)), CutSettings(by="g"), seed=0)
    check_partition(made, len(column))
    assert len(made.fragments) == len(known)
    assert all(len({column[row] for row in fragment.rows}) == 1 for fragment in made.fragments)
    assert len(made.unassigned) == sum(value is None or value != value for value in column)


@pytest.mark.parametrize(
    ("column", "expected"),
    [
        (words("north", "east", "north", "west"), ["g=east", "g=north", "g=west"]),
        (words("10", "9", "10", "-1"), ["g=-1", "g=9", "g=10"]),
        (np.array([2.5, 1.0, np.nan, 1.0]), ["g=1", "g=2.5"]),
        (
            np.array(["2024-05-01", "2024-03-01", "NaT", "2024-03-01"], "datetime64[ns]"),
            ["g=2024-03-01", "g=2024-05-01"],
        ),
        (words("week 10", "week 2", "day", "week 2"), ["g=day", "g=week 2", "g=week 10"]),
        (words(1.0, "1", 2, None), ["g=1", "g=2"]),
    ],
)
def test_pieces_are_named_by_value_in_order_of_size_or_spelling(column: np.ndarray, expected: list[str]) -> None:
    assert names(cut(table(4, g=column), CutSettings(by="g"), seed=0)) == expected


# Time


@FEW
@given(
    times=st.lists(st.one_of(st.none(), st.integers(0, 15)), min_size=2, max_size=60),
    k=st.integers(2, 6),
    dates=st.booleans(),
)
def test_time_cuts_keep_ties_together_and_run_forward(times: list[int | None], k: int, dates: bool) -> None:
    assume(len(set(times) - {None}) >= k)
    number = np.array([np.nan if time is None else time for time in times])
    day = np.array(["NaT" if time is None else np.datetime64("2024-01-01") + time * DAY for time in times], "M8[ns]")
    made = cut(table(len(times), t=[number, day][dates]), CutSettings(time="t", cuts=k), seed=0)
    check_partition(made, len(times))
    assert len(made.fragments) == k
    spans = [(number[fragment.rows].min(), number[fragment.rows].max()) for fragment in made.fragments]
    assert all(before[1] < after[0] for before, after in pairwise(spans))
    np.testing.assert_array_equal(made.unassigned, np.flatnonzero(np.isnan(number)))
    assert made.ordered
    assert made.contiguous


@FEW
@given(order=st.permutations(range(23)), k=st.integers(2, 23))
def test_time_cuts_of_distinct_times_are_even(order: list[int], k: int) -> None:
    made = cut(table(23, t=np.array(order, float)), CutSettings(time="t", cuts=k), seed=0)
    assert max(sizes(made)) - min(sizes(made)) <= 1


def test_a_large_tie_takes_the_piece_it_fills() -> None:
    made = cut(table(10, t=np.array([1.0, 2, 3, 3, 3, 3, 3, 3, 3, 4])), CutSettings(time="t", cuts=3), seed=0)
    assert rows(made) == [[0, 1], [2, 3, 4, 5, 6, 7, 8], [9]]
    assert names(made) == ["1..2", "3", "4"]
    made = cut(table(10, t=np.array([1.0, 2, 3, *[4] * 7])), CutSettings(time="t", cuts=4), seed=0)
    assert sizes(made) == [1, 1, 1, 7]


@FEW
@given(
    hours=st.lists(st.integers(0, 24 * 400), min_size=2, max_size=40),
    every=st.sampled_from(["12h", "30d", "30D", "2W", "W-MON", "MS", "1M", "QE", "3h30min"]),
)
def test_intervals_of_time_partition_the_rows_in_order(hours: list[int], every: str) -> None:
    assume(max(hours) - min(hours) > 24 * 200)
    times = np.datetime64("2023-11-05T07:00", "ns") + np.array(hours) * np.timedelta64(1, "h")
    made = cut(table(len(hours), t=times), CutSettings(time="t", every=every), seed=0)
    check_partition(made, len(hours))
    spans = [(times[fragment.rows].min(), times[fragment.rows].max()) for fragment in made.fragments]
    assert all(before[1] < after[0] for before, after in pairwise(spans))


def daily(first: str, *offsets: int) -> np.ndarray:
    return np.datetime64(first, "ns") + np.array(offsets) * DAY


@pytest.mark.parametrize(
    ("every", "expected"),
    [
        ("30d", ["2024-01-15..2024-02-13", "2024-02-14..2024-03-14"]),
        ("30 D", ["2024-01-15..2024-02-13", "2024-02-14..2024-03-14"]),
        ("1M", ["2024-01-01..2024-01-31", "2024-02-01..2024-02-29", "2024-03-01..2024-03-31"]),
        ("MS", ["2024-01-01..2024-01-31", "2024-02-01..2024-02-29", "2024-03-01..2024-03-31"]),
        ("2MS", ["2024-01-01..2024-02-29", "2024-03-01..2024-04-30"]),
        ("W-SUN", ["2024-01-14..2024-01-20", "2024-02-11..2024-02-17", "2024-03-10..2024-03-16"]),
        (
            "36h",
            [
                "2024-01-15 00:00..<2024-01-16 12:00",
                "2024-02-12 12:00..<2024-02-14 00:00",
                "2024-02-14 00:00..<2024-02-15 12:00",
                "2024-03-13 12:00..<2024-03-15 00:00",
            ],
        ),
    ],
)
def test_names_show_the_interval_of_dates(every: str, expected: list[str]) -> None:
    times = daily("2024-01-15", 59, 0, 29, 30)  # 03-14, 01-15, 02-13, 02-14
    assert names(cut(table(4, t=times), CutSettings(time="t", every=every), seed=0)) == expected


@pytest.mark.parametrize(
    ("times", "every", "expected"),
    [
        ([1.0, 10, 11, 20], "10", ["1..10", "11..20"]),
        ([0.0, 0.1, 0.2, 0.3], "0.1", ["0..<0.1", "0.1..<0.2", "0.2..<0.3", "0.3..<0.4"]),
        ([0.5, 1.0, 2.5], "1", ["0.5..<1.5", "2.5..<3.5"]),
    ],
)
def test_numbers_are_cut_by_a_plain_length_from_the_smallest(
    times: list[float], every: str, expected: list[str]
) -> None:
    assert names(cut(table(len(times), t=np.array(times)), CutSettings(time="t", every=every), seed=0)) == expected


def test_a_month_is_a_calendar_month_and_includes_its_last_evening() -> None:
    times = np.array(["2024-01-01", "2024-01-31T23:59", "2024-02-01"], "datetime64[ns]")
    for every in ("M", "ME", "1MS"):
        assert rows(cut(table(3, t=times), CutSettings(time="t", every=every), seed=0)) == [[0, 1], [2]]


def test_lengths_count_from_midnight_of_the_first_day() -> None:
    times = np.array(["2024-01-01T22:00", "2024-01-02T02:00"], "datetime64[ns]")
    made = cut(table(2, t=times), CutSettings(time="t", every="1D"), seed=0)
    assert names(made) == ["2024-01-01", "2024-01-02"]


def test_dates_are_named_no_finer_than_needed() -> None:
    times = np.datetime64("2024-01-01T00:00:07.123", "ns") + np.arange(4) * np.timedelta64(6, "h")
    assert names(cut(table(4, t=times), CutSettings(time="t", cuts=2), seed=0)) == [
        "2024-01-01 00:00..2024-01-01 06:00",
        "2024-01-01 12:00..2024-01-01 18:00",
    ]


def test_time_without_a_length_gives_ten_pieces() -> None:
    made = cut(table(40, t=np.arange(40.0)), CutSettings(time="t"), seed=0)
    assert sizes(made) == [4] * 10
    assert made.words == "10 pieces of about equal size in order of t"


@pytest.mark.parametrize("every", ["5x", "abc", "", "-3D", "0D", "nat", "-1MS", "1.5MS", "h5"])
def test_a_length_pandas_cannot_read_is_a_settings_error(every: str) -> None:
    with pytest.raises(SettingsError, match="is no positive length of time; write a number of days such as 30"):
        cut(table(4, t=daily("2024-01-15", 0, 1, 2, 3)), CutSettings(time="t", every=every), seed=0)


@pytest.mark.parametrize(
    ("every", "same"),
    [("30", "30D"), ("2 weeks", "14D"), ("1 week", "7D"), ("1mo", "MS"), ("2 months", "2MS"), ("1 Quarter", "QS")],
)
def test_lengths_as_people_write_them(every: str, same: str) -> None:
    data = table(200, t=daily("2024-01-15", *range(200)))
    found, wanted = (cut(data, CutSettings(time="t", every=text), seed=0) for text in (every, same))
    assert rows(found) == rows(wanted)
    assert found.words == f"{len(rows(found))} pieces of {'30 days' if every == '30' else every} in order of t"


@pytest.mark.parametrize("every", ["30d", "0", "-1", "nan", "inf"])
def test_numbers_need_a_positive_number_as_length(every: str) -> None:
    with pytest.raises(SettingsError, match="'t' holds numbers, so write a positive number such as 7"):
        cut(table(4, t=np.arange(4.0)), CutSettings(time="t", every=every), seed=0)


@pytest.mark.parametrize(
    ("times", "asked", "message"),
    [
        (np.array([1.0, 1, 2, 3]), {"cuts": 4}, "3 distinct times, too few for 4 pieces; use --cuts 3 or fewer"),
        (np.array([1.0, 1, 1, 1]), {}, "1 distinct time, too few for 10 pieces; choose another column"),
        (np.full(4, np.nan), {}, "time column 't' is empty"),
        (np.array([1.0, np.inf, 1, 1]), {"every": "1"}, "infinite values in 1 rows"),
        (words("a", "b", "c", "d"), {}, "neither dates nor numbers"),
        (daily("2024-01-15", 0, 1, 2, 3), {"every": "1000D"}, "one interval of 1000D holds all times"),
        (np.arange(1001.0), {"every": "1"}, "1001 intervals of 1, more than the 1000 pieces"),
    ],
)
def test_times_that_do_not_fit_the_pieces_say_so(times: np.ndarray, asked: dict[str, Any], message: str) -> None:
    with pytest.raises(DataError, match=message):
        cut(table(len(times), t=times), CutSettings(time="t", **asked), seed=0)


@pytest.mark.parametrize(
    "permute",
    [lambda n: np.arange(n)[::-1], lambda n: np.random.default_rng(3).permutation(n)],
    ids=["reversed", "shuffled"],
)
def test_pieces_of_time_do_not_depend_on_row_order(permute: Callable[[int], np.ndarray]) -> None:
    times, order = np.repeat(np.arange(20.0), 3), permute(60)
    plain = cut(table(60, t=times), CutSettings(time="t", cuts=4), seed=0)
    moved = cut(table(60, t=times[order]), CutSettings(time="t", cuts=4), seed=0)
    assert [sorted(order[fragment.rows].tolist()) for fragment in moved.fragments] == rows(plain)
