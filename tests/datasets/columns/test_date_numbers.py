"""Dates that are written as numbers, which a name and every value must prove."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from picsc.datasets.columns.date_numbers import COUNTS, proven_dates, says_time
from picsc.settings.choices import DATE_NUMBERS

DAYS = pd.date_range("2019-12-20", periods=40)
SECONDS = (DAYS.to_numpy() - np.datetime64("1970-01-01")) / np.timedelta64(1, "s")
WRITTEN = {
    "yyyymmdd": DAYS.strftime("%Y%m%d").astype(np.int64),
    "yyyymmddHHMM": DAYS.strftime("%Y%m%d%H%M").astype(np.int64),
    "yyyymmddHHMMSS": DAYS.strftime("%Y%m%d%H%M%S").astype(np.int64),
    "epoch": SECONDS,
    "epoch-ms": SECONDS * 1e3,
    "epoch-us": SECONDS * 1e6,
    "epoch-ns": SECONDS * 1e9,
    "excel": (DAYS - pd.Timestamp("1899-12-30")).days,
    "excel-1904": (DAYS - pd.Timestamp("1904-01-01")).days,
}


@pytest.mark.parametrize("form", WRITTEN)
def test_numbers_become_moments(form: str) -> None:
    values = np.asarray(WRITTEN[form], dtype=np.float64)
    np.testing.assert_allclose(COUNTS[form].seconds(values), SECONDS, atol=1e-3)
    found = proven_dates("order date", values)
    assert found is not None
    assert found.way == COUNTS["excel" if form == "excel-1904" else form].words  # the old calendar only when asked for


def test_months() -> None:
    assert COUNTS["yyyymm"].seconds(np.array([202002.0, 202013.0, 2020.5]))[0] == 1580515200
    assert np.isnan(COUNTS["yyyymm"].seconds(np.array([202002.0, 202013.0, 2020.5]))[1:]).all()


def test_one_value_that_is_no_plausible_date_leaves_numbers() -> None:
    for form in ("yyyymmdd", "epoch", "excel"):
        values = np.asarray([*WRITTEN[form], 12_345.0], dtype=np.float64)
        assert proven_dates("date", values) is None
    assert proven_dates("date", np.array([20200230.0, 20200231.0])) is None
    assert proven_dates("year", np.arange(1990.0, 2020.0)) is None


def test_other_names_need_the_user() -> None:
    values = np.asarray(WRITTEN["yyyymmdd"], dtype=np.float64)
    assert proven_dates("amount", values) is None
    assert proven_dates("amount", values, asked=True) is not None
    assert proven_dates("amount", np.asarray(WRITTEN["excel"], dtype=np.float64), asked=True) is None


@pytest.mark.parametrize(
    "name",
    ["date", "Date", "order_date", "timestamp", "pickup_datetime", "createdAt", "created_at", "model year", "ts",
             "time step", "timestep", "Month", "date_of_sale"],
)  # fmt: skip
def test_names_of_times(name: str) -> None:
    assert says_time(name)


@pytest.mark.parametrize(
    "name", ["age", "amount", "x1", "sat", "format", "experience_years", "hours", "category", "data"]
)
def test_other_names(name: str) -> None:
    assert not says_time(name)


def test_settings_name_every_way() -> None:
    assert set(DATE_NUMBERS) == set(COUNTS)
