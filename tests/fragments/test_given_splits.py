import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import (
    BaseCrossValidator,
    GridSearchCV,
    GroupKFold,
    KFold,
    LeaveOneGroupOut,
    LeavePGroupsOut,
    PredefinedSplit,
    RepeatedKFold,
    ShuffleSplit,
    StratifiedGroupKFold,
    StratifiedKFold,
    StratifiedShuffleSplit,
    TimeSeriesSplit,
    check_cv,
    cross_validate,
)
from sklearn.tree import DecisionTreeClassifier

import picsc
from picsc.datasets.open import open_data
from picsc.datasets.table import Dataset
from picsc.errors import DataError, PicscError, SettingsError
from picsc.fragments.given_splits import cut_by_splits
from picsc.settings import ReadSettings

X, Y = load_breast_cancer(return_X_y=True)
PERSON = np.repeat(np.arange(114), 5)[: len(X)]
SITE = PERSON % 6


def dataset() -> Dataset:
    found = open_data(X, Y, ReadSettings())
    assert found.kind == "table"
    return found


@pytest.mark.parametrize(
    ("cv", "groups"),
    [
        (KFold(5), None),
        (KFold(5, shuffle=True, random_state=1), None),
        (StratifiedKFold(5), None),
        (StratifiedGroupKFold(4), PERSON),
        (GroupKFold(5), PERSON),
        (LeaveOneGroupOut(), SITE),
        (TimeSeriesSplit(4), None),
        (PredefinedSplit(np.arange(569) % 4 - 1), None),
        (ShuffleSplit(1, random_state=0), None),
        (StratifiedShuffleSplit(1, random_state=0), None),
        (picsc.DOBSCVSplit(5), None),
        (picsc.BatchSplit(3), None),
    ],
    ids=lambda each: type(each).__name__,
)
def test_pieces_are_the_test_rows_of_the_splitter(cv: BaseCrossValidator, groups: np.ndarray | None) -> None:
    found = cut_by_splits(dataset(), cv, x=X, groups=groups)
    expected = [sorted(test) for _, test in cv.split(X, Y, groups)]
    assert [each.rows.tolist() for each in found.fragments if each.name.startswith("split")] == expected
    never = sorted(set(range(len(X))) - {row for test in expected for row in test})
    assert [each.rows.tolist() for each in found.fragments if not each.name.startswith("split")] == [never] * bool(
        never
    )


def test_the_null_permutes_what_the_splitter_could_have_dealt_otherwise() -> None:
    labels = np.unique(Y, return_inverse=True)[1]
    stratified = cut_by_splits(dataset(), StratifiedKFold(5))
    assert stratified.strata is not None
    assert len(np.unique(np.stack([stratified.strata, labels]), axis=1).T) == 2
    assert cut_by_splits(dataset(), KFold(5, shuffle=True, random_state=0)).strata is None
    grouped = cut_by_splits(dataset(), GroupKFold(5), groups=PERSON)
    assert grouped.units is not None
    assert (grouped.units == PERSON).all()
    assert cut_by_splits(dataset(), LeaveOneGroupOut(), groups=SITE).units is None  # each piece is one group
    assert cut_by_splits(dataset(), TimeSeriesSplit(4)).ordered
    assert not stratified.ordered


def test_splits_that_a_search_or_cross_validate_kept() -> None:
    kept = cross_validate(LinearRegression(), X, Y, cv=KFold(3, shuffle=True, random_state=5), return_indices=True)
    pairs = zip(kept["indices"]["train"], kept["indices"]["test"], strict=True)
    found = cut_by_splits(dataset(), pairs)
    assert [each.rows.tolist() for each in found.fragments] == [sorted(rows) for rows in kept["indices"]["test"]]
    whole = cut_by_splits(dataset(), kept)
    assert [each.rows.tolist() for each in whole.fragments] == [each.rows.tolist() for each in found.fragments]
    assert whole.words == "test rows of 3 splits by cross_validate"
    mask = np.arange(len(X)) < 300
    assert [len(each.rows) for each in cut_by_splits(dataset(), [(mask, ~mask)]).fragments] == [300, 269]


@pytest.mark.parametrize("cv", [None, 3, StratifiedKFold(4, shuffle=True, random_state=7), KFold(3)], ids=str)
def test_splits_of_a_fitted_search(cv: object) -> None:
    search = GridSearchCV(DecisionTreeClassifier(max_depth=1), {"max_depth": [1]}, cv=cv).fit(X, Y)
    found = cut_by_splits(dataset(), search)
    expected = check_cv(cv, Y, classifier=True).split(X, Y)
    assert [each.rows.tolist() for each in found.fragments] == [sorted(test) for _, test in expected]
    assert found.words.endswith(" splits by GridSearchCV")


def test_splits_that_cannot_be_made_again_are_refused() -> None:
    search = GridSearchCV(DecisionTreeClassifier(), {"max_depth": [1]}, cv=KFold(3, shuffle=True)).fit(X, Y)
    with pytest.raises(SettingsError, match="give it a random_state, and fit again"):
        cut_by_splits(dataset(), search)
    with pytest.raises(SettingsError, match="call cross_validate with return_indices=True"):
        cut_by_splits(dataset(), cross_validate(LinearRegression(), X, Y))


class NoSplit(BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    pass


@pytest.mark.parametrize(
    ("cv", "groups", "message"),
    [
        (
            ShuffleSplit(3, random_state=0),
            None,
            "that an earlier split tested too, such as split 1; audit",
        ),
        (RepeatedKFold(n_splits=2, n_repeats=2), None, "split 3 tests"),
        (LeavePGroupsOut(2), SITE, "tests 95 rows that an earlier split tested too"),
        (GroupKFold(200), PERSON, "cannot split 569 rows: Cannot have number of splits n_splits=200"),
        (GroupKFold(5), None, "cannot split 569 rows: The 'groups' parameter should not be None"),
        (GroupKFold(5), PERSON[:10], "groups: 10 values for 569 rows"),
        ([(np.arange(5), np.arange(560, 570))], None, "row 569 is not among rows 0 to 568"),
        ([(np.arange(5), np.arange(0))], None, "cv: split 1 tests no row"),
        ([(np.arange(5), np.arange(569))], None, "one split that tests all rows leaves nothing to compare them with"),
        ([], None, "makes no split"),
        ([3, 4], None, "is no splitter and no pairs of training and test rows"),
        (NoSplit(), None, "cv=NoSplit() is no splitter, no number of folds and no pairs of training and test rows"),
        ("kfold", None, "cv='kfold' is no splitter, no number of folds and no pairs of training and test rows"),
        (1, None, "cv: 1 folds cannot split 569 rows"),
    ],
)
def test_a_sentence_says_what_cannot_be_used(cv: object, groups: np.ndarray | None, message: str) -> None:
    with pytest.raises(PicscError) as raised:
        cut_by_splits(dataset(), cv, x=X, groups=groups)
    assert message in str(raised.value)


def test_audit_of_a_splitter() -> None:
    order = np.random.default_rng(0).permutation(len(X))
    frame = pd.DataFrame(X[order, :4], columns=list("abcd")).assign(y=Y[order])
    frame.loc[:99, "a"] += 20.0
    moved = picsc.audit(frame, target="y", cv=KFold(5), draws=99)
    assert [each.verdict for each in moved.fragments] == ["shift", "ok", "ok", "ok", "ok"]
    assert moved.pieces == "test rows of 5 splits by KFold(n_splits=5, random_state=None, shuffle=False)"
    calm = picsc.audit(frame, target="y", cv=StratifiedKFold(5, shuffle=True, random_state=0), draws=99)
    assert calm.verdict == "ok"
    assert calm.null.unit == "rows within classes"
    grouped = picsc.audit(X[:, :2], Y, cv=GroupKFold(5), groups=PERSON, draws=99)
    assert grouped.null.unit == "groups"
    by_settings = picsc.audit(frame, target="y", folds=5, splitter="kfold", draws=99)
    assert [each.score for each in moved.fragments] == [each.score for each in by_settings.fragments]


def test_audit_takes_one_cut_only() -> None:
    with pytest.raises(SettingsError, match="cv says where to cut, and so does another setting"):
        picsc.audit(X, Y, cv=KFold(5), folds=5)
    with pytest.raises(SettingsError, match="groups go with cv"):
        picsc.audit(X, Y, groups=PERSON)
    with pytest.raises(DataError, match="cv cuts tables"):
        picsc.audit(np.zeros((10, 8, 8)), np.arange(10) % 2, cv=KFold(5))
