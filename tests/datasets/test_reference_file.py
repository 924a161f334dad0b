"""Two tables read alike: one target, and settings of columns that only one of them has."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import picsc
from picsc.datasets.reference_file import load_reference
from picsc.errors import DataError
from picsc.settings import ReadSettings

N = 120
RANDOM = np.random.default_rng(0)
TABLE = pd.DataFrame({name: RANDOM.normal(size=N) for name in ("a", "b", "outcome")})


def test_a_column_added_at_the_end_does_not_become_the_target() -> None:
    report = picsc.audit(TABLE.assign(extra=2 * TABLE["a"]), reference=TABLE, draws=99)
    assert (report.data.target, report.data.target_chosen) == ("outcome", "last column of reference")
    assert [finding.code for finding in report.schema_changes] == ["column-new"]


def test_a_target_that_was_lost_leaves_covariates_alone() -> None:
    report = picsc.audit(TABLE.drop(columns="outcome"), reference=TABLE, draws=99)
    assert report.data.target is None
    assert [finding.message for finding in report.schema_changes] == [
        "1 column of file reference missing here: 'outcome'"
    ]


def test_a_target_that_was_named_is_not_replaced() -> None:
    with pytest.raises(DataError, match="target= names no column 'outcome'"):
        picsc.audit(TABLE.drop(columns="outcome"), reference=TABLE, target="outcome", draws=99)


def test_a_column_that_only_the_data_have_can_be_dropped_or_given_a_kind(tmp_path: Path) -> None:
    new = TABLE.assign(extra=2 * TABLE["a"])
    assert picsc.audit(new, reference=TABLE, drop=("extra",), target="outcome", draws=99).schema_changes == ()
    TABLE.to_csv(tmp_path / "old.csv", index=False)
    read = ReadSettings(drop=("extra",), numeric=("more",), categorical=("most",))
    assert load_reference(tmp_path / "old.csv", read).width == 2


DOUBT = [f"{day:02d}/{month:02d}/2018" for day, month in RANDOM.integers(1, 13, (N, 2))]
PROOF = [
    f"{day:02d}/{month:02d}/2018"
    for day, month in zip(RANDOM.integers(1, 29, N), RANDOM.integers(1, 13, N), strict=True)
]


class TestOrderOfDayAndMonth:
    @pytest.mark.parametrize("new", [True, False])
    def test_of_one_holds_for_the_other(self, new: bool, tmp_path: Path) -> None:
        tables = [TABLE.assign(day=words) for words in ((DOUBT, PROOF) if new else (PROOF, DOUBT))]
        paths = [tmp_path / "new.csv", tmp_path / "old.csv"]
        for table, path in zip(tables, paths, strict=True):
            table.to_csv(path, index=False)
        for data, reference in (tables, paths):
            report = picsc.audit(data, reference=reference, target="outcome", draws=99)
            assert "day-or-month" not in {finding.code for finding in report.findings}
            note = next(column.note for column in report.data.columns if column.name == "day")
            assert note in ("read as day/month/year", "read as dates of the format %d/%m/%Y")

    @pytest.mark.parametrize("new", [True, False])
    def test_the_order_of_the_rows_of_one_proves_it_for_both(self, new: bool) -> None:
        days = [
            f"{day:02d}/{month:02d}/{year}" for year in (2018, 2019) for month in range(1, 13) for day in range(1, 13)
        ]
        columns = {name: RANDOM.normal(size=len(days)) for name in ("a", "outcome")}
        rising = pd.DataFrame({**columns, "day": days})
        shuffled = rising.assign(day=RANDOM.permutation(days), a=RANDOM.permutation(columns["a"]))
        data, reference = (rising, shuffled) if new else (shuffled, rising)
        report = picsc.audit(data, reference=reference, target="outcome", keep=["day"], draws=99)
        assert "day-or-month" not in {finding.code for finding in report.findings}

    def test_in_doubt_in_both_is_told_once(self) -> None:
        table = TABLE.assign(day=DOUBT)
        report = picsc.audit(table, reference=table.iloc[::-1], target="outcome", draws=99)
        assert [finding.code for finding in report.findings].count("day-or-month") == 1
