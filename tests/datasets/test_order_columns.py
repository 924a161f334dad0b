"""Columns of times that order the rows: named, left out of the tests, and brought back by --keep."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import picsc
from picsc.datasets.load import from_frame
from picsc.datasets.order_columns import without_order_between, without_order_columns
from picsc.datasets.table import Dataset
from picsc.errors import DataError
from picsc.reports.audit import AuditReport
from picsc.settings import ReadSettings

N = 400
RANDOM = np.random.default_rng(2)
DAYS = pd.date_range("2020-01-01", periods=N // 4).repeat(4)
PLAIN = pd.DataFrame({"x": RANDOM.normal(size=N), "z": RANDOM.normal(size=N), "y": RANDOM.choice(["p", "q"], N)})


def table(**columns: Any) -> Dataset:
    return from_frame(PLAIN.assign(**columns), ReadSettings(target="y"), name="t")


def audited(frame: pd.DataFrame, **keywords: Any) -> AuditReport:
    return picsc.audit(frame, target="y", draws=199, **keywords)


def codes(report: AuditReport) -> dict[str, str]:
    return {finding.code: finding.message for finding in report.findings}


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("when", DAYS),
        ("when", DAYS[::-1]),
        ("when", DAYS + pd.to_timedelta(RANDOM.integers(0, 10, N), unit="D")),
        ("when", DAYS.strftime("%d/%m/%Y")),
        ("year", np.repeat([2018, 2019, 2020, 2021], N // 4)),
        ("timestep", np.arange(N) // 7 * 1.5),
        ("ts", 1_577_836_800 + np.arange(N) // 2 * 60),
    ],
)
def test_times_in_row_order_are_left_out(name: str, values: Any) -> None:
    found = without_order_columns(table(**{name: values}), ())
    assert [column.name for column in found.columns] == ["x", "z"]
    assert [(column.name, column.orders) for column in found.left_out] == [(name, True)]
    assert found.findings[-1].code == "order-left-out"
    assert (
        f"'{name}' (it {'falls' if values is not None and name == 'when' and values[0] == DAYS[-1] else 'rises'}"
        in (found.findings[-1].message)
    )
    assert found.findings[-1].advice == f"--keep {name} tests it all the same"
    assert without_order_columns(table(**{name: values}), (name,)).width == 3


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("when", RANDOM.permutation(DAYS)),
        ("born", pd.Timestamp("1980-01-01") + pd.to_timedelta(RANDOM.integers(0, 9000, N), unit="D")),
        ("height", np.sort(RANDOM.normal(size=N))),  # rows that are sorted by a covariate: a shift of the pieces
        ("day", np.tile(np.arange(N // 4), 4)),
    ],
)
def test_other_columns_stay(name: str, values: Any) -> None:
    data = table(**{name: values})
    assert without_order_columns(data, ()) is data


def test_a_table_needs_another_column() -> None:
    bare = from_frame(pd.DataFrame({"when": DAYS, "y": PLAIN["y"]}), ReadSettings(target="y"), name="t")
    with pytest.raises(
        DataError, match="order the rows: 'when'; add columns, or test them all the same with --keep when"
    ):
        without_order_columns(bare, ())
    assert without_order_columns(bare, (), needed=False).width == 0


class TestAudit:
    @pytest.mark.parametrize("cut", [{"folds": 5}, {"batches": 5}])
    def test_a_date_no_longer_drowns_the_others(self, cut: dict[str, Any]) -> None:
        moved = PLAIN.assign(when=DAYS, x=PLAIN["x"] + 3 * (np.arange(N) >= 320))
        report = audited(moved, **cut)
        assert {column.name for piece in report.fragments for column in piece.columns} >= {"x", "z"}
        assert "when" not in {column.name for piece in report.fragments for column in piece.columns}
        assert "not tested: when, which orders the rows" in report.summary[0]
        assert "mean of x" in report.summary[1]
        again = audited(moved, keep=["when"], **cut)
        assert "order-left-out" not in codes(again)
        verdict = "shift" if "folds" in cut else "inconclusive"  # no block of a stream is as long as a date's memory
        assert all(piece.verdict == verdict for piece in again.fragments if piece.rows and piece.columns)
        advice = [finding.advice for finding in again.findings if finding.code == "stream-too-short"]
        assert all(each.startswith("leave it out (--drop when)") for each in advice)
        assert len(advice) == ("batches" in cut)

    def test_rows_in_order_of_a_date_alone_are_no_shift(self) -> None:
        assert audited(PLAIN.assign(when=DAYS), folds=5).verdict == "ok"
        assert audited(PLAIN.assign(when=DAYS), folds=5, keep=["when"]).verdict == "shift"

    def test_order_of_time_is_still_checked(self) -> None:
        late = PLAIN.assign(when=DAYS)
        late.loc[10, "when"] = DAYS[-1]
        assert "folds-mix-time" in codes(audited(late, folds=5))
        assert "390 of" not in codes(audited(late, batches=4)).get("time-ties", "")
        assert "time-overlap" in codes(audited(late, batches=4))

    def test_a_column_that_cuts_is_not_tested_either(self) -> None:
        report = audited(PLAIN.assign(when=DAYS), time="when", cuts=4)
        assert report.verdict == "ok"
        assert "when" not in {column.name for piece in report.fragments for column in piece.columns}

    def test_equal_rows_of_other_days_are_no_duplicates(self) -> None:
        rows = PLAIN.assign(when=DAYS)
        rows.loc[200:, ["x", "z", "y"]] = rows.loc[:199, ["x", "z", "y"]].to_numpy()
        assert "duplicate-rows" not in codes(audited(rows, batches=4))
        assert "duplicate-rows" in codes(audited(rows.drop(columns="when"), batches=4))


class TestReference:
    OLD = PLAIN.assign(when=RANDOM.permutation(DAYS), x=RANDOM.normal(size=N), z=RANDOM.normal(size=N))

    @pytest.mark.parametrize("days", [95, -95])
    def test_new_rows_after_old_ones(self, days: int) -> None:
        new = PLAIN.assign(when=RANDOM.permutation(DAYS + pd.Timedelta(days, "D")))
        report = audited(new, reference=self.OLD)
        assert report.verdict == "ok"
        word = "after" if days > 0 else "before"
        assert f"'when' (its times come {word} those of reference)" in codes(report)["order-left-out"]
        assert audited(new, reference=self.OLD, keep=["when"]).verdict == "shift"

    def test_order_inside_one_of_the_two(self) -> None:
        message = codes(audited(PLAIN.assign(when=DAYS), reference=self.OLD))["order-left-out"]
        assert "'when' (it rises or falls with the rows of memory)" in message

    def test_dates_of_one_range_are_compared(self) -> None:
        new = PLAIN.assign(when=RANDOM.permutation(DAYS + pd.Timedelta("20D")))
        report = audited(new, reference=self.OLD)
        assert "order-left-out" not in codes(report)
        assert report.verdict == "shift"

    def test_equal_rows_of_other_days_are_no_rows_in_both(self) -> None:
        new = self.OLD.assign(when=RANDOM.permutation(DAYS + pd.Timedelta("150D")))
        assert "rows-in-reference" not in codes(audited(new, reference=self.OLD))
        same = self.OLD.iloc[::-1].reset_index(drop=True)
        assert "rows-in-reference" in codes(audited(same, reference=self.OLD))

    def test_nothing_else_to_compare(self) -> None:
        read = ReadSettings(no_target=True)
        old = from_frame(pd.DataFrame({"when": RANDOM.permutation(DAYS)}), read, name="old")
        new = from_frame(pd.DataFrame({"when": RANDOM.permutation(DAYS + pd.Timedelta("150D"))}), read, name="new")
        with pytest.raises(DataError, match="--keep when"):
            without_order_between(new, old, ())
