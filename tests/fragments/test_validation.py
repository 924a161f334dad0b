from __future__ import annotations

import re
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris

import picsc
from picsc.datasets.table import Column, Dataset, Target
from picsc.errors import DataError
from picsc.fragments import Cut, Fragment, cut, validate
from picsc.reports.common import Finding
from picsc.settings import CutSettings


def rng() -> np.random.Generator:
    return np.random.default_rng(0)


def numbers(**columns: Any) -> tuple[Column, ...]:
    return tuple(Column(name, "numeric", np.asarray(values, dtype=np.float64)) for name, values in columns.items())


def table(n: int, columns: tuple[Column, ...] = (), *, y: Any = None, **keys: np.ndarray) -> Dataset:
    target = None
    if y is not None:
        levels = tuple(f"class {code}" for code in range(max(y) + 1))
        target = Target("y", "classes", np.asarray(y, dtype=np.int64), levels, "--target")
    return Dataset("t", "memory", n, columns, (), target, keys)


def check(dataset: Dataset, **asked: Any) -> dict[str, Finding]:
    """The findings by code, after checking that no code comes twice."""
    made = cut(dataset, CutSettings(**asked), seed=0)
    return by_code(validate(dataset, made))


def by_code(findings: tuple[Finding, ...]) -> dict[str, Finding]:
    assert len({finding.code for finding in findings}) == len(findings)
    return {finding.code: finding for finding in findings}


def by_hand(*pieces: list[int], kind: Any = "client", ordered: bool = False) -> Cut:
    fragments = tuple(
        Fragment(kind, f"piece {i}", np.array(rows, dtype=np.int64)) for i, rows in enumerate(pieces, start=1)
    )
    return Cut(fragments, "by hand", ordered, False, None, None, np.empty(0, dtype=np.int64))


def test_an_ordinary_cut_has_no_findings() -> None:
    data = table(200, numbers(a=rng().normal(size=200), b=rng().normal(size=200)), y=[0, 1] * 100)
    assert check(data, folds=5) == {}
    assert check(data, batches=5) == {}
    assert check(table(200), folds=5) == {}


# Sizes


def test_empty_and_small_pieces_are_named() -> None:
    found = by_code(validate(table(30), by_hand(list(range(25)), [], [25, 26, 27, 28, 29])))
    assert found["empty-piece"].severity == "error"
    assert found["empty-piece"].fragments == ("piece 2",)
    assert found["sizes"].severity == "note"
    assert found["sizes"].message == "1 of 3 pieces below 20 rows: piece 3 (5)"


def test_rows_without_a_piece_are_counted() -> None:
    site = np.array(["a", "b", None, "a"] * 25, dtype=object)
    found = check(table(100, site=site), by="site")["unassigned-rows"]
    assert found.message == "25 of 100 (25.0 %) rows in no piece: column 'site' has no value there"


def test_skipped_intervals_of_time_are_named() -> None:
    day = np.datetime64("2024-01-01", "ns") + np.repeat([0, 1, 5], 30) * np.timedelta64(1, "D")
    found = check(table(90, when=day), time="when", every="1D")
    assert list(found) == ["empty-intervals"]
    assert found["empty-intervals"].message == "3 intervals hold no rows and are no pieces: 2024-01-03..2024-01-05"


# Classes


def test_iris_sorted_by_class_in_plain_folds_is_called_out() -> None:
    x, y = load_iris(return_X_y=True)
    data = table(150, numbers(**dict(zip("abcd", x.T, strict=True))), y=y)
    found = check(data, folds=3, splitter="kfold")
    sorted_rows = found["rows-sorted-by-class"]
    assert sorted_rows.severity == "error"
    assert "3 of 3 pieces hold one class only" in sorted_rows.message
    assert sorted_rows.advice == "shuffle (--shuffle) or stratify (--splitter stratified)"
    assert sorted_rows.fragments == ("fold 1", "fold 2", "fold 3")
    assert not {"one-class-piece", "class-missing-from-pieces", "lag1-autocorrelation"} & set(found)
    assert "rows-sorted-by-class" in check(data, folds=2, splitter="kfold")  # a class lacks although no fold has one


@pytest.mark.parametrize("asked", [{}, {"splitter": "kfold", "shuffle": True}])
def test_iris_stratified_or_shuffled_is_fine(asked: dict[str, Any]) -> None:
    x, y = load_iris(return_X_y=True)
    data = table(150, numbers(**dict(zip("abcd", x.T, strict=True))), y=y)
    assert set(check(data, folds=3, **asked)) <= {"duplicate-rows"}


def test_classes_sorted_in_time_are_called_out_whatever_the_row_order() -> None:
    order = np.random.default_rng(1).permutation(100)
    data = table(100, y=(order >= 50).astype(int).tolist(), t=order.astype(np.float64))
    assert check(data, time="t", cuts=2)["rows-sorted-by-class"].advice == "cut folds instead (--folds)"
    assert check(data, batches=2) == {}


def test_few_rows_in_class_order_may_be_chance() -> None:
    """Three rows with three classes are always in class order."""
    assert "rows-sorted-by-class" not in check(table(3, y=[0, 1, 2]), batches=3)


def test_a_piece_with_one_class_is_named_with_its_class() -> None:
    y = [0, 1] * 20 + [1] * 20
    site = np.repeat(np.array(["a", "b", "c"], dtype=object), 20)
    found = check(table(60, y=y, site=site), by="site")
    assert found["one-class-piece"].message == "1 of 3 pieces hold one class only: site=c (class 'class 1', 20 rows)"
    assert found["one-class-piece"].fragments == ("site=c",)
    missing = found["class-missing-from-pieces"]
    assert missing.message == "missing from some of 3 pieces, which is a label shift: class 'class 0' (20 rows) from 1"
    assert found["class-missing-from-pieces"].fragments == ("site=c",)


def test_unlabelled_rows_and_absent_classes_do_not_count_as_classes() -> None:
    y = [0, -1] * 20 + [0, 3] * 20
    found = check(table(80, y=y), batches=2)
    assert found["one-class-piece"].fragments == ("batch 1",)
    assert "rare-class" not in found
    assert check(table(40, y=[2, -1] * 20), batches=2) == {}


def test_a_single_row_of_a_class_is_listed() -> None:
    """y = 30 zeros, 30 ones, one two."""
    findings = check(table(61, y=[0] * 30 + [1] * 30 + [2]), folds=3)
    assert list(findings) == ["rare-class"]
    found = findings["rare-class"]
    assert found.message == "1 of 3 classes of 'y' have fewer rows than the 3 pieces: 'class 2' (1 row)"
    assert found.severity == "warning"


def test_many_rare_classes_keep_the_fold_count_and_are_listed() -> None:
    y = [*np.repeat(np.arange(8), 7).tolist(), 0]
    made = cut(table(57, y=y), CutSettings(folds=8), seed=0)
    assert len(made.fragments) == 8
    message = by_code(validate(table(57, y=y), made))["rare-class"].message
    assert message.startswith("7 of 8 classes of 'y' have fewer rows than the 8 pieces: 'class 1' (7 rows), ")
    assert message.endswith(" and 2 more")


def grouped(groups: list[str], y: list[int], **asked: Any) -> tuple[Cut, dict[str, Finding]]:
    data = table(len(y), y=y, patient=np.array(groups, dtype=object))
    made = cut(data, CutSettings(folds=2, group="patient", **asked), seed=0)
    return made, by_code(validate(data, made))


def test_p23_whole_groups_leave_classes_out_of_folds_unless_dealt_by_class() -> None:
    """Six rows, twenty times over: a has class 1, b both 1 and 0, c both 0 and 2, d class 2."""
    groups, y = list("abbccd") * 20, [1, 1, 0, 0, 2, 2] * 20
    missing = grouped(groups, y, splitter="group")[1]["class-missing-from-pieces"]
    assert missing.severity == "warning"
    assert missing.message == (
        "missing from some of 2 pieces, which is a label shift: class 'class 1' (40 rows) from 1, "
        "class 'class 2' (40 rows) from 1"
    )
    assert missing.advice == "deal whole groups out by class (--splitter stratified-group), or cut fewer folds"
    assert grouped(groups, y, splitter="stratified-group")[1] == {}


def test_where_no_folds_of_whole_groups_have_all_classes_the_advice_is_another() -> None:
    found = grouped(["a"] * 30 + ["b"] * 30, [0, 1] * 15 + [0] * 30, splitter="stratified-group")[1]
    advice = "whole groups go no more evenly: cut fewer folds, or add groups that have these classes"
    assert {found[code].advice for code in ("one-class-piece", "class-missing-from-pieces")} == {advice}


def test_stratified_groups_are_more_even_where_that_can_be() -> None:
    """Twelve groups of five rows and one class each, the classes one after the other."""
    groups, y = list(np.repeat(list("abcdefghijkl"), 5)), np.repeat([0, 0, 1, 0, 1, 0, 0, 0, 1, 0, 1, 0], 5).tolist()
    made, found = grouped(groups, y, splitter="stratified-group")
    assert found == {}
    share = [np.mean([y[row] for row in fragment.rows]) for fragment in made.fragments]
    assert share == [1 / 3, 1 / 3]


def test_p25_a_class_with_one_row_is_listed_and_kept_in_training_by_cv() -> None:
    y = ["a"] * 30 + ["b"] * 30 + ["c"]
    report = picsc.audit(pd.DataFrame({"x": rng().normal(size=61), "y": y}), folds=3, draws=99)
    [rare] = [finding for finding in report.findings if finding.code == "rare-class"]
    assert rare.message == "1 of 3 classes of 'y' have fewer rows than the 3 pieces: 'c' (1 row)"
    assert rare.advice.endswith("; picsc cv --keep-rare always learns from them and never tests them")


def test_p27_groups_of_one_class_are_called_before_anything_is_trained() -> None:
    """Four groups of 10, 10, 10 and 2 rows; only the first has both classes."""
    groups, y = ["w"] * 10 + ["x"] * 10 + ["y"] * 10 + ["z"] * 2, [1] * 8 + [0] * 2 + [1] * 10 + [0] * 12
    alone = check(table(32, y=y, patient=np.array(groups, dtype=object)), by="patient")["one-class-piece"]
    assert alone.message.startswith("3 of 4 pieces hold one class only: patient=x (class 'class 1', 10 rows), ")
    assert alone.advice == "a model cannot be evaluated there on the classes that the piece lacks"
    made, found = grouped(groups, y, splitter="group")
    assert [{y[row] for row in fragment.rows} for fragment in made.fragments] == [{0, 1}, {0, 1}]
    assert list(found) == ["sizes"]


def test_p28_eight_classes_of_seven_rows_are_refused_and_one_of_eight_keeps_the_count() -> None:
    seven = np.repeat(np.arange(8), 7).tolist()
    with pytest.raises(DataError, match="into 8 stratified folds: the largest class of 'y' has 7 rows; use --folds 7"):
        cut(table(56, y=seven), CutSettings(folds=8), seed=0)
    assert len(cut(table(57, y=[*seven, 7]), CutSettings(folds=8), seed=0).fragments) == 8


def test_p10_a_column_without_values_in_one_batch_fails_alone() -> None:
    generator = rng()  # batches of the same rows, a little moved: no chance makes them differ
    frame = pd.DataFrame(np.tile(generator.normal(size=(100, 2)), (4, 1)), columns=["x1", "x2"])
    frame += 0.01 * generator.normal(size=(400, 2))
    frame["y"] = np.tile(generator.integers(0, 2, 100), 4)
    frame.loc[:99, "x1"] = np.nan
    report = picsc.audit(frame, target="y", batches=4, reference="rest", draws=199)
    first = {(column.name, column.kind): column for column in report.fragments[0].columns}
    gone = first["x1", "numeric"]
    assert (gone.statistic, gone.p_adjusted, gone.kl, gone.note) == (None, None, None, "no values")
    assert first["x1", "missing"].statistic == 1.0
    assert first["x2", "numeric"].p_adjusted is not None
    assert [piece.verdict for piece in report.fragments] == ["shift", "ok", "ok", "ok"]
    assert all(piece.p_data is not None and piece.p_model is not None for piece in report.fragments)


# Duplicates


def test_duplicates_across_pieces_are_counted_exactly() -> None:
    x = np.arange(100.0)
    x[[60, 61, 62]] = 0.0  # four equal rows over both batches
    x[99] = x[98]  # a pair inside one batch
    found = check(table(100, numbers(x=x)), batches=2)["duplicate-rows"]
    assert found.message == "4 of 100 rows (4.0 %) have an equal row in another piece (1 distinct row)"
    assert found.severity == "warning"
    assert found.fragments == ("batch 1", "batch 2")
    assert "--splitter group" in found.advice


def test_rows_that_differ_in_target_or_in_one_column_are_no_duplicates() -> None:
    half = rng().normal(size=50)
    twice = np.concatenate([half, half])
    assert "duplicate-rows" in check(table(100, numbers(x=twice)), batches=2)
    torn = check(table(100, numbers(x=twice), y=[0, 1] * 25 + [1, 0] * 25), batches=2)
    assert set(torn) == {"conflicting-labels"}
    assert check(table(100, numbers(x=twice, z=np.repeat([1.0, np.nan], 50))), batches=2) == {}


def test_rows_in_no_piece_are_no_duplicates() -> None:
    site = np.array(["a"] * 40 + ["b"] * 40 + [None] * 20, dtype=object)
    x = np.concatenate([np.arange(80.0), np.arange(20.0)])
    assert set(check(table(100, numbers(x=x), site=site), by="site")) == {"unassigned-rows"}


def test_twins_are_expected_where_columns_take_few_values() -> None:
    level = Column("c", "categorical", rng().integers(0, 3, 400).astype(np.int32), ("a", "b", "c"))
    found = check(table(400, (level, *numbers(x=rng().integers(0, 4, 400)))), folds=4)["duplicate-rows"]
    assert found.severity == "note"
    assert "expected here" in found.message


@pytest.mark.parametrize("half", [15, 200])
def test_a_table_copied_twice_is_a_warning_although_all_rows_have_a_twin(half: int) -> None:
    level = Column("c", "categorical", np.tile(rng().integers(0, 3, half), 2).astype(np.int32), ("a", "b", "c"))
    copied = np.tile(rng().normal(size=half), 2)
    assert check(table(2 * half, (level, *numbers(x=copied))), batches=2)["duplicate-rows"].severity == "warning"


def test_all_combinations_of_few_values_are_no_copies() -> None:
    """Rounded values and levels: most rows have a twin, and no twin is a copy."""
    random = rng()
    columns = numbers(**{f"x{j}": np.round(random.normal(size=3000)) for j in range(5)})
    found = check(table(3000, columns), folds=4)["duplicate-rows"]
    assert (found.severity, found.advice) == ("note", "")
    assert "as many rows coincide as these values explain" in found.message


def test_copies_among_coincidences_are_a_warning_that_says_how_many_are_explained() -> None:
    random = rng()
    columns = numbers(**{f"x{j}": np.tile(np.round(random.normal(size=1500) * 6), 2) for j in range(3)})
    found = check(table(3000, columns), folds=4)["duplicate-rows"]
    assert found.severity == "warning"
    assert "coincidence explains" in found.message


def test_labels_that_contradict_each_other_are_counted_where_rows_are_copies() -> None:
    random = rng()
    x = random.normal(size=(200, 3))
    x[150:180] = x[:30]
    y = random.integers(2, size=200)
    y[150:180] = np.where(np.arange(30) < 12, 1 - y[:30], y[:30])
    found = check(table(200, numbers(a=x[:, 0], b=x[:, 1], c=x[:, 2]), y=y.tolist()), folds=4)["conflicting-labels"]
    said = "24 of 200 (12.0 %) rows equal another row in every covariate but differ in y"
    assert (found.severity, found.message) == ("warning", said)


def test_rows_of_few_values_may_differ_in_their_label() -> None:
    random = rng()
    columns = numbers(**{f"x{j}": random.integers(3, size=400) for j in range(3)})
    assert "conflicting-labels" not in check(table(400, columns, y=random.integers(2, size=400).tolist()), folds=4)


def test_texts_are_compared_by_length_and_the_message_says_so() -> None:
    length = Column("review", "text", np.concatenate([np.arange(30.0), [5.0], np.arange(31.0, 60.0)]))
    found = check(table(60, (length,)), batches=2)["duplicate-rows"]
    assert found.severity == "note"
    assert "text was compared by its length only" in found.message


# Groups


def test_groups_in_several_pieces_are_counted() -> None:
    group = np.repeat(np.arange(20), 5).astype(object)  # 100 rows; sites of 33 rows cut groups 6 and 13
    site = np.repeat(["a", "b", "c"], [33, 33, 34]).astype(object)
    found = check(table(100, patient=group, site=site), by="site", group="patient")["group-across-pieces"]
    assert found.message == "2 of 20 groups of 'patient' lie in more than one piece (10 of 100 (10.0 %) rows)"
    assert found.fragments == ("site=a", "site=b", "site=c")
    assert found.advice.endswith("--folds 3 --splitter group --group patient")
    assert check(table(100, patient=group), folds=3, splitter="group", group="patient") == {}
    assert "group-across-pieces" not in check(table(100, patient=group), batches=3)
    assert "group-across-pieces" not in check(table(100, patient=group), batches=3, group="patient")


@pytest.mark.parametrize(
    ("missing", "message"),
    [
        ("together", "2 of 10 groups of 'patient' lie in more than one piece (30 of 100 (30.0 %) rows)"),
        ("own", "1 of 29 groups of 'patient' lie in more than one piece (10 of 100 (10.0 %) rows)"),
    ],
)
def test_rows_without_a_group_are_groups_here_too(missing: str, message: str) -> None:
    group = np.repeat(np.arange(10), 10).astype(object)
    group[[*range(10), *range(90, 100)]] = None  # the first and the last ten
    group[45:55] = 99  # one group over the middle
    site = np.repeat(["a", "b"], 50).astype(object)
    found = check(table(100, patient=group, site=site), by="site", group="patient", group_missing=missing)
    assert found["group-across-pieces"].message == message


# Time


def dates(*days: str) -> np.ndarray:
    return np.array(days, dtype="datetime64[ns]")


def spring(later_first: list[str]) -> np.ndarray:
    """100 earlier rows up to 05-15, then 100 later ones that begin with the given days."""
    day = np.timedelta64(1, "D")
    earlier = np.datetime64("2016-05-15", "ns") - np.arange(100) * day
    later = np.datetime64("2016-05-16", "ns") + np.arange(100 - len(later_first)) * day
    return np.concatenate([earlier, dates(*later_first), later])


def test_p14_equal_dates_are_ties_and_no_overlap() -> None:
    found = check(table(200, date=spring(["2016-05-15"] * 3)), batches=2)
    assert list(found) == ["time-ties"]
    assert found["time-ties"].severity == "note"
    assert found["time-ties"].message == (
        "3 of 100 (3.0 %) rows have a 'date' equal to the latest one of the piece before theirs, which is no overlap: "
        "batch 2 (3)"
    )


def test_earlier_dates_in_a_later_piece_are_an_overlap() -> None:
    found = check(table(200, date=spring(["2016-05-14", "2016-05-15", "2016-01-01"])), batches=2)
    assert found["time-overlap"].severity == "warning"
    assert found["time-overlap"].fragments == ("batch 2",)
    assert found["time-overlap"].message.startswith("2 of 100 (2.0 %) rows have a 'date' before the latest")
    assert found["time-ties"].message.startswith("1 of 100 (1.0 %) rows")


def test_a_date_that_does_not_order_the_rows_is_a_note() -> None:
    seconds = rng().uniform(0, 1e9, 200)
    seconds[::50] = np.nan
    born = Column("born", "datetime", seconds)
    found = check(table(200, (born,)), batches=2)["time-overlap"]
    assert found.severity == "note"
    assert found.advice == "if born says when a row came, cut with --time born"


def test_pieces_of_time_neither_overlap_nor_tie() -> None:
    times = dates(*["2024-01-01"] * 30, *["2024-01-02"] * 30, *["2024-01-03"] * 30)
    assert check(table(90, date=times, other=times[::-1]), time="date", cuts=3) == {}


def test_rows_that_were_ordered_by_time_are_told_of() -> None:
    times = dates(*["2024-01-01", "2024-01-02", "2024-01-03"] * 30)
    found = check(table(90, date=times, other=times[::-1]), time="date", cuts=3)
    assert list(found) == ["rows-ordered"]
    assert found["rows-ordered"].severity == "note"
    assert found["rows-ordered"].message == (
        "rows were ordered by 'date': 29 of 90 (32.2 %) stand after a later one in the table"
    )


def test_folds_of_a_table_with_dates_mix_time() -> None:
    day = Column("day", "datetime", np.arange(100.0) * 86400)
    found = check(table(100, (day,)), folds=4)
    assert list(found) == ["folds-mix-time"]
    assert found["folds-mix-time"].severity == "note"
    assert found["folds-mix-time"].advice == "--time day cuts in order of time"


# Dependence of neighbouring rows


def stream(n: int, memory: float, seed: int = 1) -> np.ndarray:
    """An autoregression of order one, whose autocorrelation at lag l is memory ** l."""
    noise, x = np.random.default_rng(seed).normal(size=n), np.zeros(n)
    for t in range(1, n):
        x[t] = memory * x[t - 1] + noise[t]
    return x


def test_a_stream_is_reported_with_its_strongest_column_and_a_block_length() -> None:
    """The IAT is 19, so blocks of 10 (19 - 1 / 19) = 189 rows fall short by 5 %; a fit is off by some percent."""
    data = table(20_000, numbers(calm=rng().normal(size=20_000), weak=stream(20_000, 0.3), strong=stream(20_000, 0.9)))
    found = check(data, batches=10)["lag1-autocorrelation"]
    assert found.severity == "warning"
    words, strongest = found.message.rsplit(" ", 1)
    assert words.endswith("in 2 of 3 numeric columns; strongest in 'strong', lag-1 autocorrelation")
    assert 0.88 <= float(strongest) <= 0.92
    suggested = int(found.advice.removeprefix("p-values take rows as exchangeable; give --block "))
    assert 140 <= suggested <= 240
    assert "lag1-autocorrelation" in check(data, folds=10)
    assert "lag1-autocorrelation" not in check(data, folds=10, shuffle=True)


def test_the_order_of_time_counts_not_the_order_of_rows() -> None:
    order = np.random.default_rng(2).permutation(2000)
    data = table(2000, numbers(x=stream(2000, 0.9)[order]), t=order.astype(np.float64))
    assert "lag1-autocorrelation" in check(data, time="t", cuts=4)
    assert check(data, batches=4) == {}


def test_within_classes_a_table_sorted_by_class_is_no_stream() -> None:
    y = np.repeat([0, 1], 500)
    data = table(1000, numbers(x=rng().normal(size=1000) + 5 * y, constant_in_class=y), y=y)
    assert check(data, folds=5) == {}
    moving = table(1000, numbers(x=stream(1000, 0.9) + 5 * y), y=y)
    assert "alike within classes" in check(moving, folds=5)["lag1-autocorrelation"].message
    woven = np.stack([stream(500, 0.9, seed=1), stream(500, 0.9, seed=2)], axis=1).ravel()
    found = check(table(1000, numbers(x=woven), y=[0, 1] * 500), folds=5)
    assert "alike within classes" in found["lag1-autocorrelation"].message


@pytest.mark.parametrize(
    "x",
    [
        np.full(1000, 0.1),
        np.full(1000, np.nan),
        np.where(np.arange(1000) // 2 == 100, 1e6, np.random.default_rng(3).normal(size=1000)),
        np.where(np.random.default_rng(4).random(1000) < 0.5, np.nan, np.random.default_rng(5).normal(size=1000)),
    ],
    ids=["constant", "missing", "two outliers side by side", "half missing"],
)
def test_columns_without_a_stream_are_left_in_peace(x: np.ndarray) -> None:
    assert "lag1-autocorrelation" not in check(table(1000, numbers(x=x)), batches=5)


def test_missing_values_and_a_large_offset_do_not_hide_a_stream() -> None:
    """The coefficient's standard error is sqrt((1 - 0.8^2) / n), 0.005 here: 0.77 and 0.83 are six of them away."""
    x = 1e9 + stream(20_000, 0.8)
    x[::7] = np.nan
    message = check(table(20_000, numbers(x=x)), batches=5)["lag1-autocorrelation"].message
    assert 0.77 <= float(message.rsplit(" ", 1)[1]) <= 0.83


def test_independent_rows_are_rarely_called_a_stream() -> None:
    """400 tables at 1e-4 each: more than 3 alarms have probability 1e-7."""
    generator, alarms = rng(), 0
    for _ in range(400):
        x = generator.normal(size=(5, 200))
        alarms += "lag1-autocorrelation" in check(table(200, numbers(**dict(zip("abcde", x, strict=True)))), batches=4)
    assert alarms <= 3


def test_too_few_rows_for_blocks_ask_for_fewer_pieces() -> None:
    found = check(table(60, numbers(x=np.sin(np.arange(60) / 9))), batches=10)["lag1-autocorrelation"]
    assert "too few rows for blocks" in found.advice
    assert found.advice.endswith("cut fewer pieces")
    found = check(table(600, numbers(x=stream(600, 0.95))), batches=10)["lag1-autocorrelation"]
    assert re.search(r"too few rows for blocks of \d{2,3}, which would be needed, so cut fewer pieces", found.advice)


def test_a_shift_between_pieces_is_no_dependence_of_rows() -> None:
    """A false alarm has a rate of 1e-4 per table; 40 tables with one have a probability of 0.004."""
    for seed in range(40):
        noise = np.random.default_rng(seed)
        jump = np.repeat([0.0, 2.0], 150) + noise.normal(size=300)
        wider = np.repeat([1.0, 6.0], 150) * noise.normal(size=300)
        assert "lag1-autocorrelation" not in check(table(300, numbers(jump=jump, wider=wider)), batches=2)


def test_small_pieces_are_no_dependence_of_rows() -> None:
    """Deviations from the mean of 10 values have a correlation of -1/9, which 2000 rows would show beyond doubt."""
    for seed in range(40):
        calm = np.random.default_rng(seed).normal(size=2000)
        assert "lag1-autocorrelation" not in check(table(2000, numbers(calm=calm)), batches=200)
