"""Pieces that a column of the table gives."""

import numpy as np
import pandas as pd
import pytest

import picsc
from picsc.datasets.load import from_frame
from picsc.datasets.table import Dataset
from picsc.errors import DataError, SettingsError
from picsc.fragments import Cut, cut
from picsc.settings import CutSettings, ReadSettings


def frame(split: object, n: int = 90) -> pd.DataFrame:
    generator = np.random.default_rng(0)
    x = generator.normal(size=(n, 2))
    y = (x[:, 0] + generator.normal(size=n) > 0).astype(int)
    return pd.DataFrame(x, columns=["a", "b"]).assign(part=split, y=y)


def dataset(split: object) -> Dataset:
    return from_frame(frame(split), ReadSettings(target="y"), keys=("part",))


def made(split: object) -> Cut:
    return cut(dataset(split), CutSettings(split_column="part"), seed=0)


ROLES = np.repeat(["Test", "val", "TRAIN"], [20, 10, 60])


def test_numbers_are_folds_in_their_order() -> None:
    found = made(np.arange(90) % 11)
    assert [each.name for each in found.fragments] == [f"part={i}" for i in range(11)]
    assert {each.kind for each in found.fragments} == {"fold"}
    assert all(each.role is None for each in found.fragments)
    assert found.fragments[10].rows.tolist() == list(range(10, 90, 11))


def test_folds_with_even_classes_are_strata_of_the_null() -> None:
    y = np.arange(90) // 45
    even = frame(np.arange(90) % 3).assign(y=y)
    data = from_frame(even, ReadSettings(target="y"), keys=("part",))
    assert cut(data, CutSettings(split_column="part"), seed=0).strata is not None
    assert cut(data, CutSettings(by="part"), seed=0).strata is None
    uneven = frame(np.where(np.arange(90) < 60, 0, 1)).assign(y=y)
    data = from_frame(uneven, ReadSettings(target="y"), keys=("part",))
    assert cut(data, CutSettings(split_column="part"), seed=0).strata is None


def test_words_are_roles_whatever_their_case_with_train_first() -> None:
    found = made(ROLES)
    assert [(each.name, each.role) for each in found.fragments] == [
        ("part=TRAIN", "train"),
        ("part=val", "valid"),
        ("part=Test", "test"),
    ]
    assert [len(each.rows) for each in found.fragments] == [60, 10, 20]


def test_words_beside_others_are_no_roles() -> None:
    assert all(each.role is None for each in made(np.repeat(["train", "test", "north"], 30)).fragments)


def test_an_audit_compares_with_train_and_the_column_is_no_feature() -> None:
    table = frame(ROLES)
    table.loc[table.part == "Test", "a"] += 4
    report = picsc.audit(table, target="y", split_column="part", draws=99)
    assert [(each.name, each.verdict) for each in report.fragments] == [
        ("part=TRAIN", "not tested"),
        ("part=val", "inconclusive"),  # ten rows
        ("part=Test", "shift"),
    ]
    assert "part" not in [column.name for column in report.data.columns if column.used]
    folds = picsc.audit(frame(np.arange(90) % 3), target="y", split_column="part", draws=99)
    assert folds.reference == "rest"


def test_folds_of_cross_validation_are_the_columns() -> None:
    split = np.random.default_rng(1).integers(0, 3, 90)
    options = {"target": "y", "epochs": 5, "repeats": 1, "strength": 0.1}
    report = picsc.cross_validate(frame(split), split_column="part", **options)
    by = picsc.cross_validate(frame(split), by="part", **options)
    assert report.fragments == ("part=0", "part=1", "part=2")
    assert report.methods[0].fragments == by.methods[0].fragments


def test_models_learn_from_train_are_tested_on_test_and_choose_by_valid() -> None:
    table = frame(ROLES)
    report = picsc.cross_validate(table, target="y", split_column="part", epochs=5, repeats=2, metrics=["brier"])
    assert report.fragments == ("part=Test",)
    plain = report.method("st-cv")
    assert plain is not None
    assert {unit.rows for unit in plain.units} == {60}
    assert plain.interval is not None
    assert report.test.startswith("paired t-test over the test rows")
    assert "valid-chooses" in {each.code for each in report.findings}
    chosen = [method.strengths for method in report.methods if method.method in ("picsc", "weight-decay")]
    # labels of valid that are turned round let the strongest candidates win
    turned = table.assign(y=np.where(table.part == "val", 1 - table.y, table.y))
    other = picsc.cross_validate(turned, target="y", split_column="part", epochs=5, repeats=2)
    assert chosen != [method.strengths for method in other.methods if method.method in ("picsc", "weight-decay")]
    again = other.method("st-cv")
    assert again is not None
    assert again.mean == plain.mean


def test_compare_takes_train_and_test_as_the_column_says() -> None:
    options = {"target": "y", "epochs": 5, "repeats": 1, "methods": ["st-cv", "iw"]}
    report = picsc.compare(frame(ROLES), split_column="part", **options)
    assert [each.name for each in report.targets] == ["part=Test"]
    assert report.targets[0].train == 60
    named = picsc.compare(frame(ROLES), split_column="part", train_on=["val", "TRAIN"], **options)
    assert named.targets[0].train == 70


@pytest.mark.parametrize(
    ("split", "options", "message"),
    [
        (np.repeat(["train", "valid"], 45), {}, r"no row with a label is for testing \(part=train, part=valid\)"),
        (np.repeat(["valid", "test"], 45), {}, "no row with a label is for training"),
        (np.repeat(["train", "test"], [1, 89]), {}, "1 row of train to learn from"),
        (np.repeat(["train"], 90), {}, "holds only the value 'train'"),
    ],
)
def test_splits_that_cannot_be_used(split: object, options: dict[str, object], message: str) -> None:
    with pytest.raises(DataError, match=message):
        picsc.cross_validate(frame(split), target="y", split_column="part", epochs=2, repeats=1, **options)


def test_one_way_to_cut() -> None:
    with pytest.raises(SettingsError, match=r"choose one way to cut, not 2: folds=\.\.\., split_column|choose one way"):
        picsc.cross_validate(frame(ROLES), target="y", split_column="part", folds=3)
    with pytest.raises(SettingsError, match="keep_rare"):
        picsc.cross_validate(frame(ROLES), target="y", split_column="part", keep_rare=True)
    with pytest.raises(DataError, match="no row is for testing"):
        picsc.compare(frame(np.repeat(["train", "dev"], 45)), target="y", split_column="part")
