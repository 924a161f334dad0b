"""Which column is the target, and what kind of target it is."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray

from picsc.datasets.columns.raw import raw
from picsc.datasets.columns.targets import pick, read_target
from picsc.datasets.table import Target
from picsc.errors import DataError
from picsc.settings import ReadSettings


def target(values: Any, **options: Any) -> Target:
    return read_target("y", raw(pd.Series(values)), ReadSettings(**options), chosen="last column", where="table")


def codes(target: Target) -> NDArray[Any]:
    return target.values  # noqa: PD011 - ours, not pandas'


class TestPick:
    @pytest.mark.parametrize(
        ("columns", "options", "expected"),
        [
            (["a", "b", "c"], {}, ("c", "last column")),
            (["Y", "CLASS", "Label", "b"], {}, ("Label", "named 'Label'")),
            (["y", "class", "b"], {}, ("class", "named 'class'")),
            (["Y", "b"], {}, ("Y", "named 'Y'")),
            (["y", "b"], {"target": "b"}, ("b", "--target")),
            (["y", "b"], {"no_target": True}, None),
            (["a", "b", "y"], {"drop": ("y",)}, ("b", "last column")),
        ],
    )
    def test_order(self, columns: list[str], options: dict[str, Any], expected: tuple[str, str] | None) -> None:
        assert pick(columns, ReadSettings(**options), keys=(), where="table") == expected

    def test_the_last_column_is_no_key(self) -> None:
        assert pick(["a", "b", "site"], ReadSettings(), keys=("site",), where="table") == ("b", "last column")

    def test_a_named_column_may_be_a_key(self) -> None:
        assert pick(["a", "class"], ReadSettings(), keys=("class",), where="table") == ("class", "named 'class'")

    def test_target_cannot_be_dropped(self) -> None:
        with pytest.raises(DataError, match="--drop and --target name the same column 'a'"):
            pick(["a", "b"], ReadSettings(target="a", drop=("a",)), keys=(), where="table")

    def test_nothing_left(self) -> None:
        with pytest.raises(DataError, match="no column is left to be the target"):
            pick(["a"], ReadSettings(), keys=("a",), where="table")


@pytest.mark.parametrize(
    ("one", "other"), [(-1, 1), (3, 7), ("no", "yes"), (False, True), (1.0, 2.0), ("b", "a"), (7, 3)]
)
def test_spelling_never_changes_a_code(one: Any, other: Any) -> None:  # P45
    found = target([one, other, other, one, other])
    assert found.kind == "classes"
    assert codes(found).dtype == np.int64
    assert codes(found).tolist() == [0, 1, 1, 0, 1]


def test_classes_are_spelled_as_a_person_would() -> None:
    assert target([3.0, None, 7.0]).levels == ("3", "7")


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([0.5, 1.5, 0.5], "numbers"),
        (list(range(20)) * 2, "classes"),
        (list(range(21)) * 2, "numbers"),
        ([float(i) for i in range(20)] * 2, "classes"),
        (["1", "2", "1"], "classes"),
        ([True, False, True], "classes"),
        (pd.Categorical([1.5, 2.5, 1.5]), "classes"),
    ],
)
def test_task_by_values(values: Any, kind: str) -> None:
    assert target(values).kind == kind


@pytest.mark.parametrize(
    ("options", "kind"),
    [
        ({"task": "regression"}, "numbers"),
        ({"task": "classification"}, "classes"),
        ({"numeric": ("y",)}, "numbers"),
        ({"categorical": ("y",)}, "classes"),
        ({"task": "regression", "categorical": ("y",)}, "numbers"),
    ],
)
def test_task_by_option(options: dict[str, Any], kind: str) -> None:
    assert target([1, 2, 3, 1], **options).kind == kind


def test_missing_labels() -> None:
    assert codes(target(["a", None, "b"])).tolist() == [0, -1, 1]
    assert target([0.5, None, 1.5]).missing.tolist() == [False, True, False]


def test_a_class_with_a_single_row_is_fine() -> None:
    assert target([0] * 30 + [1] * 30 + [2]).levels == ("0", "1", "2")


@pytest.mark.parametrize(("values", "spelled"), [([1, 1, 1], "'1'"), (["a", None, "a"], "'a'"), ([True] * 3, "'True'")])
def test_one_class_only(values: Any, spelled: str) -> None:  # P52
    with pytest.raises(DataError) as caught:
        target(values)
    assert str(caught.value) == (
        f"table: the target 'y' has one class only: {spelled}; name another column with --target, or audit the "
        "covariates alone (picsc audit --no-target)"
    )


def test_one_number_only() -> None:
    with pytest.raises(DataError, match=r"one value only: 0\.5"):
        target([0.5, 0.5, 0.5])


def test_no_labels() -> None:
    with pytest.raises(DataError, match="has no labels in its 3 rows"):
        target([None, None, None])


def test_nearly_as_many_classes_as_rows() -> None:
    with pytest.raises(DataError, match=r"\(last column\) has 40 classes in 40 rows"):
        target([f"name {i}" for i in range(40)])


def test_regression_on_words_names_the_first_that_is_no_number() -> None:
    with pytest.raises(DataError, match=r"--task regression column 'y', data row 2: 'tall' is not a number"):
        target(["1", "tall", "3"], task="regression")
