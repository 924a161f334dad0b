"""The columns of a table that hold dates: findings on how they were read, and formats that the user gives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from picsc.datasets.columns.date_columns import DatedTable, with_dates
from picsc.datasets.columns.raw import raw
from picsc.errors import DataError
from picsc.settings import ReadSettings

DAY = 86_400.0


def dated(
    columns: dict[str, Any], keys: tuple[str, ...] = (), target: str | None = None, **settings: Any
) -> DatedTable:
    raws = {name: raw(pd.Series(values)) for name, values in columns.items()}
    read = ReadSettings(**settings)
    return with_dates(raws, read, keys=keys, target=target, missing=("NA",), where="table")


def forms(found: DatedTable) -> dict[str, str]:
    return {name: column.form for name, column in found.raws.items()}


def findings(found: DatedTable) -> dict[str, tuple[str, str]]:
    return {each.code: (each.message, each.advice) for each in found.findings}


def test_words_and_numbers_that_are_dates() -> None:
    found = dated(
        {"day": ["1970-01-02", None, "1970-01-03"], "date": [20200101, 20200102, 20200103], "n": [20200101] * 3}
    )
    assert forms(found) == {"day": "dates", "date": "dates", "n": "integers"}
    np.testing.assert_array_equal(found.raws["day"].data, [DAY, np.nan, 2 * DAY])
    assert found.raws["date"].note == "read as yyyymmdd"
    assert found.findings == ()


def test_declared_columns_and_the_target_stay() -> None:
    days = ["1970-01-02", "1970-01-03"]
    columns = {"a": days, "b": [20200101, 20200102], "y": days, "c": pd.Series(days, dtype="category")}
    found = dated(columns, target="y", categorical=("a",), numeric=("b",))
    assert set(forms(found).values()) == {"words", "integers"}


class TestDoubt:
    WORDS = ("03/04/2020", "05/01/2020", "02/03/2020")

    def test_is_a_warning_with_both_readings_and_the_options(self) -> None:
        found = dated({"d": self.WORDS})
        assert found.findings[0].severity == "warning"
        assert findings(found)["day-or-month"] == (
            (
                "dates of 'd' fit both orders of day and month, and were read as month/day/year: 03/04/2020 is "
                "2020-03-04, not 2020-04-03"
            ),
            "if that is wrong, use --date-format d=%d/%m/%Y or --day-first; if it is right, --date-format d=%m/%d/%Y",
        )
        assert "the other order" in found.raws["d"].note

    @pytest.mark.parametrize(
        "way", [{"day_first": True}, {"date_format": ("d=%m/%d/%Y",)}, {"date_format": ("%m/%d/%Y",)}]
    )
    def test_ends_with_the_option(self, way: dict[str, Any]) -> None:
        assert dated({"d": self.WORDS}, **way).findings == ()

    def test_another_column_proves_the_order(self) -> None:
        found = dated({"d": self.WORDS, "e": ["13/01/2020", "14/01/2020", "15/02/2020"]})
        assert found.findings == ()
        assert found.raws["d"].note == "read as day/month/year, the order of 'e'"
        same = dated({"d": self.WORDS, "e": ["01/13/2020", "01/14/2020", "02/15/2020"]})
        assert same.raws["d"].note == "read as month/day/year, the order of 'e'"

    def test_columns_that_disagree_prove_nothing(self) -> None:
        found = dated({"d": self.WORDS, "e": ["13/01/2020"] * 3, "f": ["01/13/2020"] * 3})
        assert "day-or-month" in findings(found)


class TestImpossible:
    def test_words_count_as_missing_with_their_row(self) -> None:
        found = dated({"d": ["2020-01-01", "2020-01-02", "2020-02-31", "2020-02-31", "2020-01-03"]})
        assert np.isnan(found.raws["d"].data).tolist() == [False, False, True, True, False]
        assert findings(found)["impossible-dates"][0] == (
            "no possible date, so missing: 2 rows ('2020-02-31' in data row 3) of 'd'"
        )

    def test_dates_of_a_frame_too(self) -> None:
        days = np.array(["2020-01-01", "9999-12-31", "2020-01-02"], dtype="datetime64[s]")
        found = dated({"d": days})
        assert np.isnan(found.raws["d"].data).tolist() == [False, True, False]
        assert "'9999-12-31' in data row 2" in findings(found)["impossible-dates"][0]


class TestFormats:
    @pytest.mark.parametrize(
        ("values", "form", "seconds"),
        [
            (["1970|02|01", "1970|03|01"], "%Y|%d|%m", [DAY, 2 * DAY]),
            (["1970|02|01", "NA"], "%Y|%d|%m", [DAY, np.nan]),
            ([86400, 172800], "epoch", [DAY, 2 * DAY]),
            ([86400.5, np.nan], "epoch", [DAY + 0.5, np.nan]),
            (["86400000", "172800000"], "epoch-ms", [DAY, 2 * DAY]),
            ([25570, 25571], "excel", [DAY, 2 * DAY]),
            ([19700102, 19700103], "%Y%m%d", [DAY, 2 * DAY]),
        ],
    )
    def test_of_one_column(self, values: list[Any], form: str, seconds: list[float]) -> None:
        found = dated({"x": values}, date_format=(f"x={form}",))
        assert found.raws["x"].form == "dates"
        np.testing.assert_array_equal(found.raws["x"].data, seconds)

    def test_of_every_column_that_it_fits(self) -> None:
        columns = {"a": ["1970|02|01"] * 2, "b": ["x", "y"], "n": [1, 2], "time": [86400, 172800]}
        found = dated(columns, date_format=("%Y|%d|%m", "epoch"))
        assert forms(found) == {"a": "dates", "b": "words", "n": "integers", "time": "dates"}

    def test_that_does_not_fit(self) -> None:
        with pytest.raises(DataError, match=r"column 'x', data row 2: 'b' is no date of the format %Y, like 3 of its"):
            dated({"x": ["2020", "b", "c", "d"]}, date_format=("x=%Y",))
        with pytest.raises(
            DataError, match=r"--date-format %d\|%m fits no column of words or of times; the columns are 'x'"
        ):
            dated({"x": ["2020", "b"]}, date_format=("%d|%m",))
        with pytest.raises(DataError, match="holds dates already"):
            dated({"x": pd.date_range("2020-01-01", periods=3)}, date_format=("x=%Y",))


class TestKeys:
    def test_keep_their_names_and_have_times(self) -> None:
        columns = {"q": ["2018Q1", "2018Q2"], "n": [20180101, 20180401], "d": ["2018-01-01", "2018-04-01"]}
        found = dated(columns, keys=("q", "n", "d"))
        assert forms(found) == {"q": "words", "n": "integers", "d": "dates"}
        for times in found.times.values():
            np.testing.assert_array_equal(times, [1514764800, 1522540800])
