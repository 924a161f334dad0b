"""What a column is taken for, and why some take no part."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray

from picsc.datasets.columns.date_columns import with_dates
from picsc.datasets.columns.kinds import MOST_LEVELS, infer
from picsc.datasets.columns.raw import raw
from picsc.datasets.table import POOLED, Column, LeftOut
from picsc.errors import DataError
from picsc.settings import ReadSettings


def decide(values: Any, name: str = "x", **options: Any) -> Column | LeftOut:
    series = values if isinstance(values, pd.Series) else pd.Series(values)
    plain = {name: raw(series)}
    found = plain if options else with_dates(plain, ReadSettings(), where="table").raws
    return infer(name, found[name], where="table", **options)


def column(values: Any, name: str = "x", **options: Any) -> Column:
    found = decide(values, name, **options)
    assert isinstance(found, Column), found
    return found


def left_out(values: Any, name: str = "x", **options: Any) -> LeftOut:
    found = decide(values, name, **options)
    assert isinstance(found, LeftOut), found
    return found


def data(column: Column) -> NDArray[Any]:
    return column.values  # noqa: PD011 - ours, not pandas'


class TestNumbers:
    def test_fractions(self) -> None:
        found = column([0.5, np.nan, 2.0, 0.5])
        assert found.kind == "numeric"
        assert data(found).dtype == np.float64
        np.testing.assert_array_equal(data(found), [0.5, np.nan, 2.0, 0.5])

    @pytest.mark.parametrize("dtype", ["int8", "uint8", "int64", "Int64", "float32", "Float64", "object"])
    def test_dtype_does_not_matter(self, dtype: str) -> None:
        found = column(pd.Series([3, 1, 2, 2, 3], dtype=dtype))
        assert found.kind == "numeric"
        assert data(found).tolist() == [3, 1, 2, 2, 3]

    def test_decimals(self) -> None:
        assert data(column([Decimal("1.5"), None, Decimal(2)]))[0] == 1.5

    def test_infinite_counts_as_missing(self) -> None:
        found = column([1.5, np.inf, -np.inf, 2.5])
        assert found.missing.tolist() == [False, True, True, False]
        assert found.note == "2 infinite values count as missing"

    def test_strings_are_never_numbers(self) -> None:
        assert column(["1", "2", "1", "2"] * 5).kind == "categorical"

    def test_strings_are_numbers_if_the_user_says_so(self) -> None:
        found = column(["1", " 2.5", None, "1e3"] * 3, numeric=True)
        np.testing.assert_array_equal(data(found)[:4], [1, 2.5, np.nan, 1000])

    def test_a_string_that_is_no_number_is_named(self) -> None:
        with pytest.raises(DataError, match=r"table: --numeric column 'x', data row 3: 'three' is not a number"):
            decide(["1", "2", "three", "four"], numeric=True)

    def test_decimal_commas_in_words(self) -> None:
        found = column(["1,5", "2", None, "-1e3"] * 3, numeric=True, decimal=",")
        assert np.nan_to_num(data(found)[:4]).tolist() == [1.5, 2.0, 0.0, -1000.0]
        with pytest.raises(DataError, match=r"data row 3: '1\.234' is not a number"):
            decide(["1,5", "2", "1.234", "low"], numeric=True, decimal=",")


class TestCodes:  # P12: an integer code is numeric by inference, categorical if the user says so
    def test_inferred(self) -> None:
        assert column([3, 1, 7, 5, 2, 6, 4] * 10).kind == "numeric"

    def test_told(self) -> None:
        found = column([3, 1, 7, 5, 2, 6, 4] * 10, categorical=True)
        assert found.levels == ("3", "1", "7", "5", "2", "6", "4")
        assert data(found)[:7].tolist() == [0, 1, 2, 3, 4, 5, 6]
        assert found.note == "declared with --categorical"

    def test_told_with_missing_values(self) -> None:
        """Missing values make the integers floats, which must not show in the levels."""
        assert column([3, None, 1, 3, 1] * 5, categorical=True).levels == ("3", "1")


class TestBooleans:
    @pytest.mark.parametrize(
        ("values", "levels"),
        [
            ([True, False, True], ("True", "False")),
            ([1, 0, 0], ("1", "0")),
            ([0.0, np.nan, 1.0], ("0", "1")),
            (["yes", "no", "yes"], ("yes", "no")),
            (["False", "True", None], ("False", "True")),
            ([True, None, False], ("True", "False")),
            (pd.Series([True, None, False], dtype="boolean"), ("True", "False")),
            (pd.Categorical(["false", "true", "false"]), ("false", "true")),
        ],
    )
    def test_spellings(self, values: Any, levels: tuple[str, ...]) -> None:
        found = column(values)
        assert found.kind == "boolean"
        assert found.levels == levels
        assert data(found)[0] == 0

    def test_a_rare_value_is_not_pooled(self) -> None:
        assert column([0] * 2000 + [1]).levels == ("0", "1")

    @pytest.mark.parametrize("values", [[1, 2, 2, 1], [-1, 1, 1, -1], [0, 2, 2, 0], [0.0, 0.5, 1.0]])
    def test_other_pairs_are_numbers(self, values: list[float]) -> None:
        assert column(values).kind == "numeric"


class TestDates:
    def test_words_become_seconds(self) -> None:
        found = column(["1970-01-02", None, "1970-01-01 00:00:30", "1970-01-02"])
        assert found.kind == "datetime"
        np.testing.assert_array_equal(data(found), [86400, np.nan, 30, 86400])

    @pytest.mark.parametrize(
        "values",
        [
            pd.to_datetime(["1970-01-02", None, "1970-01-01"]),
            pd.to_datetime(["1970-01-02T01:00", None, "1970-01-01T01:00"]).tz_localize("Europe/Berlin"),
            [dt.date(1970, 1, 2), None, dt.date(1970, 1, 1)],
            pd.PeriodIndex(["1970-01-02", None, "1970-01-01"], freq="D"),
        ],
    )
    def test_dtypes(self, values: Any) -> None:
        found = column(values)
        assert found.kind == "datetime"
        np.testing.assert_array_equal(data(found), [86400, np.nan, 0])

    def test_every_value_is_looked_at(self) -> None:
        days = [f"2024-01-{day:02d}" for day in range(1, 29)] * 10
        found = column([*days, *["unknown"] * 10])
        assert found.kind == "categorical"
        assert "unknown" in found.levels

    def test_times_that_number_the_rows(self) -> None:
        found = left_out(pd.date_range("2024-01-01", periods=20, freq="h"))
        assert found.kind == "identifier"


class TestText:
    def test_length_in_characters(self) -> None:
        words = ["one fine day", "a rather long sentence", None, "to be or not"]
        found = column(words)
        assert found.kind == "text"
        np.testing.assert_array_equal(data(found), [12, 22, np.nan, 12])

    def test_repeated_sentences_are_categories(self) -> None:
        assert column(["one fine day", "one dull day"] * 10).kind == "categorical"


class TestIdentifiers:
    rng = np.random.default_rng(0)

    @pytest.mark.parametrize(
        ("name", "values"),
        [
            ("n", np.arange(50)),
            ("n", np.arange(500, 0, -10)),
            ("n", rng.permutation(50)),
            ("n", np.cumsum(rng.integers(1, 9, size=50))),
            ("n", [*range(20), None]),
            ("patient_id", rng.choice(10_000, size=50, replace=False)),
            ("customerId", rng.choice(10_000, size=50, replace=False)),
            ("Index", rng.choice(10_000, size=5, replace=False)),
            ("big", 2**62 + rng.permutation(50)),
            ("w", [f"u{i:03d}" for i in rng.permutation(50)]),
            ("w", pd.Categorical([f"u{i:03d}" for i in rng.permutation(50)])),
        ],
    )
    def test_left_out(self, name: str, values: Any) -> None:
        assert left_out(values, name).kind == "identifier"

    @pytest.mark.parametrize(
        ("name", "values"),
        [
            ("site_id", [3, 3, 5, 7] * 5),
            ("humid", rng.choice(10_000, size=50, replace=False)),
            ("x", rng.choice(10_000, size=50, replace=False)),
            ("x", np.arange(50) / 7),
            ("x", [1, 2, 3, 4]),
        ],
    )
    def test_kept(self, name: str, values: Any) -> None:
        assert column(values, name).kind == "numeric"

    def test_kept_if_the_user_says_so(self) -> None:
        assert column(np.arange(50), numeric=True).kind == "numeric"


class TestOneValueOrNone:
    @pytest.mark.parametrize("values", [[None] * 5, [np.nan] * 5, ["", " ", None], pd.Series([pd.NaT] * 5)])
    def test_empty(self, values: Any) -> None:  # P7, P8
        found = left_out(values)
        assert (found.kind, found.missing) == ("empty", len(values))

    @pytest.mark.parametrize("values", [[7] * 5, ["a"] * 5, [0.5] * 5, [True] * 5, pd.to_datetime(["2024-01-01"] * 5)])
    def test_constant(self, values: Any) -> None:
        assert left_out(values).kind == "constant"

    @pytest.mark.parametrize(("values", "level"), [([7.0, None, 7.0], "7"), (["a", None, "a"], "a")])
    def test_constant_with_missing_values_is_kept_for_them(self, values: Any, level: str) -> None:
        found = column(values)
        assert (found.kind, found.levels) == ("categorical", (level,))
        assert found.missing.tolist() == [False, True, False]


class TestLevels:
    def test_order_of_first_appearance(self) -> None:
        found = column(["z", "a", None, "m"] * 5)
        assert found.levels == ("z", "a", "m")
        assert data(found)[:4].tolist() == [0, 1, -1, 2]
        assert data(found).dtype == np.int32

    def test_declared_categories_are_ordered_alike(self) -> None:
        assert column(pd.Categorical(["z", "a"] * 5, categories=["a", "b", "z"])).levels == ("z", "a")

    def test_declared_categories_are_not_looked_into(self) -> None:
        assert column(pd.Categorical(["2024-01-02", "2024-01-01"] * 5)).kind == "categorical"
        assert column(pd.Categorical([3, 1, 2] * 5)).levels == ("3", "1", "2")

    def test_rare_levels_are_pooled_last(self) -> None:
        found = column(["rare", "a", "b"] + ["a", "b"] * 10 + ["seldom"] * 4)
        assert found.levels == ("a", "b", POOLED)
        assert data(found)[0] == 2
        assert found.note == f"2 of 4 levels (18.5 % of rows) pooled into {POOLED}"

    def test_share_of_the_rows_counts_too(self) -> None:
        """Nine of 2,000 rows are below half a percent, ten are not."""
        assert column(["a"] * 1981 + ["b"] * 10 + ["c"] * 9).levels == ("a", "b", POOLED)

    def test_no_more_than_fifty(self) -> None:
        found = column([f"l{i % 60}" for i in range(60 * 20)] + ["l59"])
        assert len(found.levels) == MOST_LEVELS + 1
        assert found.levels[0] == "l0"
        assert "l59" in found.levels  # the most frequent, though the last to appear
        assert "l49" not in found.levels

    def test_a_level_with_the_name_of_the_pool(self) -> None:
        found = column(["a"] * 10 + [POOLED] * 10 + ["b"])
        assert found.levels == ("a", POOLED)
        assert np.bincount(data(found)).tolist() == [10, 11]

    def test_all_rare(self) -> None:
        found = left_out([f"{i % 40:05d}" for i in range(80)])
        assert found.kind == "categorical"
        assert found.reason == "categorical, no level frequent enough to test"

    def test_codes_with_leading_zeros(self) -> None:  # P11
        rng = np.random.default_rng(3)
        codes = [f"{number:05d}" for number in rng.choice(1000, size=400, replace=False)]
        values = codes + rng.choice(codes, size=100).tolist()
        assert decide(values).kind in ("categorical", "identifier")
        assert decide(values + codes[:3] * 40).kind == "categorical"

    def test_one_and_the_word_one_are_one_level(self) -> None:  # P30
        assert column(pd.Series([1, "X", "1", 1.0, "X"] * 5, dtype=object)).levels == ("1", "X")

    def test_unhashable_values_do_not_fail(self) -> None:
        assert column(pd.Series([[1], [2], [1], [2]] * 5)).levels == ("[1]", "[2]")


class TestStringDtypes:  # P35
    @pytest.mark.parametrize("dtype", ["str", "string"])
    @pytest.mark.parametrize(
        "words",
        [
            ["b", None, "a", "b"] * 5,
            ["2024-01-02", None, "2024-01-01"],
            ["yes", "no"],
            ["one two three", "one two three four"],
        ],
    )
    def test_same_column_for_every_dtype(self, dtype: str, words: list[str | None]) -> None:
        missing = pd.Series([word is None for word in words])
        found = column(pd.Series(words, dtype=dtype).mask(missing))
        expected = column(pd.Series(words, dtype=object))
        assert (found.kind, found.levels, found.note) == (expected.kind, expected.levels, expected.note)
        np.testing.assert_array_equal(data(found), data(expected))
