import doctest

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score

import picsc
from picsc.datasets.open import open_data
from picsc.errors import DataError, SettingsError
from picsc.estimators import splitters
from picsc.fragments.cutting import cut
from picsc.settings import CutSettings, ReadSettings, Splitter


@pytest.mark.parametrize(("split", "name"), [(picsc.DOBSCVSplit, "dob-scv"), (picsc.MSSCVSplit, "ms-scv")])
def test_folds_are_those_of_the_audit(split: type[picsc.DOBSCVSplit], name: Splitter) -> None:
    x, y = load_iris(return_X_y=True)
    dataset = open_data(x, y, ReadSettings())
    assert dataset.kind == "table"
    expected = cut(dataset, CutSettings(folds=4, splitter=name), seed=3).fragments
    found = list(split(4, random_state=3).split(x, y))
    assert [test.tolist() for _, test in found] == [fragment.rows.tolist() for fragment in expected]
    for train, test in found:
        assert sorted([*train, *test]) == list(range(150))
    assert [test.tolist() for _, test in split(4, random_state=4).split(x, y)] != [test.tolist() for _, test in found]


def test_splitters_work_where_scikit_learn_takes_cv() -> None:
    x, y = load_iris(return_X_y=True, as_frame=True)
    order = np.random.default_rng(0).permutation(len(x))  # batches of a table sorted by class have one class
    x, y = x.iloc[order].assign(when=np.arange(150.0)), y.iloc[order]
    model = LogisticRegression(max_iter=1000)
    for split in (picsc.DOBSCVSplit(5), picsc.MSSCVSplit(5), picsc.BatchSplit(5), picsc.TimeSplit("when", 5)):
        assert cross_val_score(model, x, y, cv=split).min() > 0.6
        assert clone(model) is not model
        assert split.get_n_splits(x, y) == 5
    search = GridSearchCV(model, {"C": [0.1, 1.0]}, cv=picsc.DOBSCVSplit(3)).fit(x, y)
    assert search.n_splits_ == 3
    assert repr(picsc.DOBSCVSplit(3)) == "DOBSCVSplit(n_splits=3, random_state=0)"


def test_batches_train_on_all_before() -> None:
    found = list(picsc.BatchSplit(3).split(np.array([["any", object()]] * 8, dtype=object)))
    assert [(train.tolist(), test.tolist()) for train, test in found] == [
        ([0, 1], [2, 3]), ([0, 1, 2, 3], [4, 5]), ([0, 1, 2, 3, 4, 5], [6, 7]),
    ]  # fmt: skip


def test_rows_of_one_time_stay_together_whatever_the_order_of_rows() -> None:
    day = np.repeat(np.arange(12), 5)
    order = np.random.default_rng(0).permutation(60)
    frame = pd.DataFrame(
        {"day": pd.Timestamp("2024-01-01") + pd.to_timedelta(day[order], "D"), "x": "any"}, index=order
    )
    for split in (picsc.TimeSplit("day", 3), picsc.TimeSplit("day", every="3d")):
        found = list(split.split(frame))
        assert split.get_n_splits(frame) == len(found) == 3
        for i, (train, test) in enumerate(found, start=1):
            assert set(day[order][test]) == {3 * i, 3 * i + 1, 3 * i + 2}
            assert day[order][train].max() == 3 * i - 1
    apart = list(picsc.TimeSplit("day", every="3d", gap="1d").split(frame))
    assert set(day[order][apart[0][1]]) == {4, 5}


def test_times_with_a_zone_and_of_other_frames() -> None:
    times = pd.date_range("2024-01-01", periods=40, tz="Europe/Berlin")
    assert [len(test) for _, test in picsc.TimeSplit("t", 3).split(pd.DataFrame({"t": times}))] == [10, 10, 10]
    arrow = pa.table({"t": np.arange(40)})
    assert [len(test) for _, test in picsc.TimeSplit("t", 3).split(arrow)] == [10, 10, 10]


@pytest.mark.parametrize(
    ("split", "message"),
    [
        (picsc.DOBSCVSplit(1), "cannot cut 150 rows into 1 folds: need 2 <= k <= 150; choose folds"),
        (picsc.MSSCVSplit(80), "the largest class of 'target' has 50 rows; use folds=50 or fewer"),
        (picsc.BatchSplit(0), "n_splits=0: need at least 1 split, which has 2 batches"),
        (picsc.BatchSplit(150), "cannot cut 150 rows into 151 batches"),
        (picsc.TimeSplit("when"), "X has no column 'when'; pass a frame that has it"),
        (picsc.TimeSplit("when", 0), "n_splits=0: need at least 1 split, which has 2 pieces of time"),
        (picsc.TimeSplit("when", 3, every="2d"), "n_splits and every exclude each other"),
    ],
)
def test_a_sentence_says_what_cannot_be_split(split: picsc.DOBSCVSplit, message: str) -> None:
    x, y = load_iris(return_X_y=True)
    with pytest.raises((DataError, SettingsError)) as raised:
        list(split.split(x, y))
    assert message in str(raised.value)


def test_the_number_of_splits_by_length_needs_rows() -> None:
    with pytest.raises(SettingsError, match="the number of splits depends on the rows; pass X"):
        picsc.TimeSplit("when", every="2d").get_n_splits()


def test_examples() -> None:
    assert doctest.testmod(splitters).failed == 0
