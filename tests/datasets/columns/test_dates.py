"""Dates that are written as words: the shapes that are read, and what proves the order of day and month."""

from __future__ import annotations

import datetime as dt

import numpy as np
import pandas as pd
import pytest

from picsc.datasets.columns.dates import Dates, read_dates, read_format


def read(words: list[str], *, day_first: bool = False) -> Dates:
    found = read_dates(words, day_first=day_first)
    assert found is not None
    return found


def spelled(dates: Dates) -> list[str]:
    return [str(each) for each in pd.to_datetime(dates.seconds, unit="s")]


@pytest.mark.parametrize(
    ("words", "way"),
    [
        (["2024-01-02", "2024-03-01"], "ISO"),
        (["2024-01-02 10:30", "2024-03-01 00:00"], "ISO"),
        (["2024-01-02T10:30:00.5Z", "2024-03-01T00:00:00+01:00"], "ISO"),
        (["2024/01/02", "2024/3/1"], "year/month/day"),
        (["01/02/2024", "3/1/2024"], "month/day/year"),
        (["02/01/2024", "13/03/2024"], "day/month/year"),
        (["02.01.2024", "1.3.2024 10:30"], "day.month.year"),
        (["02-Jan-2024", "01-mar-2024"], "day month year"),
        (["2024-13-01", "2024-01-02"], None),
        (["20240102", "20240301"], None),
        (["2024", "2025"], None),
        (["1.5", "2.5"], None),
        (["1.2.3", "1.10.12", "2.0.11"], None),
        (["12:30", "12:45"], None),
        (["2024-01-02", "soon"], None),
        (["2024-01-02", "9999-12-31"], None),
        (["Sensor 2024", "Sensor 2025"], None),
        (["A-12", "B-13"], None),
    ],
)
def test_ways_of_writing(words: list[str], way: str | None) -> None:
    found = read_dates(words)
    assert (found and found.way) == way


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("12-Jan-18", "2018-01-12 00:00:00"),
        ("12 January 1999", "1999-01-12 00:00:00"),
        ("12Jan2018", "2018-01-12 00:00:00"),
        ("1st January 2018", "2018-01-01 00:00:00"),
        ("Jan 1 2000", "2000-01-01 00:00:00"),
        ("January 1, 2000 3:05 PM", "2000-01-01 15:05:00"),
        ("Sept 9, 2000", "2000-09-09 00:00:00"),
        ("2018-Jan-05", "2018-01-05 00:00:00"),
        ("2018-02", "2018-02-01 00:00:00"),
        ("02/2018", "2018-02-01 00:00:00"),
        ("1949-Feb", "1949-02-01 00:00:00"),
        ("Feb-49", "2049-02-01 00:00:00"),
        ("Feb 1949", "1949-02-01 00:00:00"),
        ("2018Q3", "2018-07-01 00:00:00"),
        ("2018-Q3", "2018-07-01 00:00:00"),
        ("Q42010", "2010-10-01 00:00:00"),
        ("2018-W01", "2018-01-01 00:00:00"),
        ("2020-W53", "2020-12-28 00:00:00"),
        ("2021W017", "2021-01-10 00:00:00"),
        ("20180131T101530", "2018-01-31 10:15:30"),
        ("20180131T1015Z", "2018-01-31 10:15:00"),
        ("Tue, 15 Nov 1994 12:45:26 GMT", "1994-11-15 12:45:26"),
        ("Tue, 15 Nov 1994 12:45:26 +0230", "1994-11-15 10:15:26"),
        ("15 Nov 1994 12:45 EST", "1994-11-15 17:45:00"),
        ("Tue Nov 15 12:45:26 +0000 2016", "2016-11-15 12:45:26"),
        ("2024-01-02 12:30 AM", "2024-01-02 00:30:00"),
        ("13/01/2024 12:30 pm", "2024-01-13 12:30:00"),
        ("1/13/2024, 1:30:05 PM", "2024-01-13 13:30:05"),
        ("13/01/68", "2068-01-13 00:00:00"),
        ("13.01.69", "1969-01-13 00:00:00"),
    ],
)
def test_moment(word: str, meant: str) -> None:
    assert spelled(read([word])) == [meant]


def test_every_day_agrees_with_the_calendar() -> None:
    days = [dt.date(1999, 12, 25) + dt.timedelta(i) for i in range(0, 3000, 7)]
    expected = [(day - dt.date(1970, 1, 1)).days * 86400.0 for day in days]
    for form in ("%Y-%m-%d", "%d/%m/%Y", "%m/%d/%Y", "%d-%b-%y", "%B %d, %Y", "%a, %d %b %Y 00:00:00 GMT", "%G-W%V-%u"):
        assert read([day.strftime(form) for day in days]).seconds.tolist() == expected, form


@pytest.mark.parametrize(
    "word", ["31/02/2020", "30.02.2020", "2020-W54", "2021-W53", "2020-13", "2020Q5", "1 Foo 2020"]
)
def test_no_such_day(word: str) -> None:
    assert read_dates([word]) is None


class TestImpossible:
    @pytest.mark.parametrize("word", ["2020-02-31", "9999-12-31", "0000-00-00", "1500-01-01"])
    def test_one_among_dates_is_missing(self, word: str) -> None:
        assert read(["2020-01-01", word, "2020-01-03"]).bad.tolist() == [False, True, False]

    def test_at_most_one_in_twenty(self) -> None:
        days = [f"2020-{month:02d}-{day:02d}" for month in (1, 3) for day in range(1, 31)]
        wrong = [f"2020-02-{day}" for day in (30, 31, 32, 33)]
        assert read([*days, *wrong[:3]]).bad.sum() == 3
        assert read_dates([*days, *wrong]) is None

    def test_another_word_is_missing_only_among_very_many(self) -> None:
        days = [str(day.date()) for day in pd.date_range("2020-01-01", periods=99)]
        assert read([*days, "unknown"]).bad.sum() == 1
        assert read_dates([*days[:98], "unknown"]) is None


class TestDayAndMonth:
    def test_a_value_that_fits_one_order_proves_it(self) -> None:
        assert read(["03/04/2020", "13/04/2020"]).day_first
        assert not read(["03/04/2020", "04/13/2020"]).day_first
        assert read(["03/04/2020", "13/04/2020"]).proven

    def test_the_order_that_reads_more_words_wins(self) -> None:
        found = read(["03/04/2020", "13/04/2020", "14/04/2020", "04/15/2020"])
        assert found.day_first
        assert found.bad.tolist() == [False, False, False, True]

    @pytest.mark.parametrize(("mark", "day_first"), [("/", False), ("-", True)])
    def test_in_doubt_the_usual_order_is_taken_and_the_other_kept(self, mark: str, day_first: bool) -> None:
        found = read([f"03{mark}04{mark}2020", f"05{mark}01{mark}2020"])
        assert (found.day_first, found.proven) == (day_first, False)
        assert found.other is not None
        assert found.turned("").seconds.tolist() == found.other.tolist()
        assert found.turned("").way == ("month-day-year" if day_first else "day/month/year")

    def test_dates_in_order_of_the_rows_prove_it(self) -> None:
        days = [day.strftime("%d/%m/%Y") for day in pd.date_range("2019-12-01", "2020-03-12") if day.day <= 12]
        found = read(days)
        assert (found.day_first, found.proven, found.other) == (True, True, None)

    def test_the_first_days_of_months_prove_nothing(self) -> None:
        found = read([f"{i:02d}/01/2020" for i in range(1, 13)])
        assert not found.proven
        assert found.other is not None

    def test_the_user_decides_what_nothing_proves(self) -> None:
        asked = read(["03/04/2020", "05/01/2020"], day_first=True)
        assert (asked.day_first, asked.other) == (True, None)
        assert not read(["03/04/2020", "04/13/2020"], day_first=True).day_first

    def test_equal_readings_leave_no_doubt(self) -> None:
        assert read(["01/01/2020", "02/02/2020", "03/03/2020"]).other is None

    def test_points_put_the_day_first(self) -> None:
        found = read(["03.04.2020", "05.01.2020"])
        assert (found.day_first, found.other) == (True, None)


def test_format() -> None:
    found = read_format(["03|04|20", "05|01|20 10:30 PM", "x"], "%d|%m|%y")
    assert spelled(found)[:2] == ["2020-04-03 00:00:00", "2020-01-05 22:30:00"]
    assert np.isnan(found.seconds[2])
