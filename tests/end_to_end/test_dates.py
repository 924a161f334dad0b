"""Dates of every notation, from files of several formats to the report: cut by --time, in doubt, impossible."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import picsc
from picsc_cli.app import app

N = 120
RANDOM = np.random.default_rng(3)
DAYS = pd.date_range("2018-01-01", periods=N // 2).repeat(2)
PLAIN = pd.DataFrame({"x": RANDOM.normal(size=N), "y": RANDOM.choice(["p", "q"], N)})
HALVES = ["2018-01-01..2018-01-30", "2018-01-31..2018-03-01"]
NOTATIONS: dict[str, Any] = {
    "12-hour clock": DAYS.strftime("%m/%d/%Y %I:%M %p"),
    "day and short year": DAYS.strftime("%d-%b-%y"),
    "month by name": DAYS.strftime("%b %-d %Y"),
    "compact ISO": DAYS.strftime("%Y%m%dT%H%M%SZ"),
    "RFC 2822": DAYS.strftime("%a, %d %b %Y %H:%M:%S +0000"),
    "yyyymmdd": DAYS.strftime("%Y%m%d").astype(np.int64),
    "seconds": DAYS.astype("datetime64[s]").astype(np.int64),
    "milliseconds": DAYS.astype("datetime64[ms]").astype(np.int64),
}


def piece_names(report: Any) -> list[str]:
    return [piece.name for piece in report.fragments]


@pytest.mark.parametrize("notation", NOTATIONS)
def test_time_reads_the_notation(notation: str, tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    PLAIN.assign(moment=NOTATIONS[notation])[["moment", "x", "y"]].to_csv(path, index=False)
    assert piece_names(picsc.audit(path, target="y", time="moment", cuts=2, draws=99)) == HALVES


def test_excel_serials_when_named_or_asked_for() -> None:
    serials = (DAYS - pd.Timestamp("1899-12-30")).days
    assert piece_names(picsc.audit(PLAIN.assign(date=serials), target="y", time="date", cuts=2, draws=99)) == HALVES
    table = PLAIN.assign(n=serials)
    assert piece_names(picsc.audit(table, target="y", time="n", cuts=2, draws=99))[0] == "43101..43130"
    asked = picsc.audit(table, target="y", time="n", cuts=2, draws=99, date_format=["n=excel"])
    assert piece_names(asked) == HALVES


@pytest.mark.parametrize(
    ("form", "names"),
    [
        ("%Y-%m", ["2018-01-01", "2018-02-01..2018-03-01"]),
        ("%Y-W%V", ["2018-01-01..2018-01-22", "2018-01-29..2018-02-26"]),
        ("quarter", ["2018-01-01", "2018-04-01"]),
    ],
)
def test_months_weeks_and_quarters(form: str, names: list[str]) -> None:
    words = DAYS.strftime(form) if form != "quarter" else np.repeat(["2018Q1", "2018Q2"], N // 2)
    table = PLAIN.assign(part=words)
    assert piece_names(picsc.audit(table, target="y", time="part", cuts=2, draws=99)) == names
    by = picsc.audit(table, target="y", by="part", draws=99)
    assert set(piece_names(by)) == {f"part={word}" for word in words}  # pieces by value keep their words


@pytest.mark.parametrize("suffix", ["parquet", "feather"])
def test_unnamed_index(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"data.{suffix}"
    table = PLAIN.set_axis(DAYS, axis=0)
    if suffix == "parquet":
        table.to_parquet(path)
    else:
        import pyarrow as pa
        import pyarrow.feather as feather

        feather.write_feather(pa.Table.from_pandas(table), path)
    for data in (path, table):
        report = picsc.audit(data, target="y", time="index", cuts=2, draws=99)
        assert piece_names(report) == HALVES
        assert [column.name for column in report.data.columns] == ["x"]
        assert [column.name for column in picsc.audit(data, target="y", folds=2, draws=99).data.columns] == ["x"]


def test_an_impossible_date_is_a_row_without_time(tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    words = DAYS.strftime("%Y-%m-%d").to_numpy(dtype=object)
    words[[3, 60]] = ["2018-02-31", "9999-12-31"]
    PLAIN.assign(when=words).to_csv(path, index=False)
    done = CliRunner().invoke(
        app, ["audit", str(path), "--target", "y", "--time", "when", "--cuts", "2", "--draws", "99"]
    )
    assert done.exit_code == 0, done.output
    text = " ".join(done.output.split())
    assert "2 of 120 (1.7 %) rows in no piece" in text
    assert "no possible date, so missing: 2 rows ('2018-02-31' in data row 4) of 'when'" in text


def test_doubt_is_in_the_reports_of_every_verb() -> None:
    words = [f"{day:02d}/{month:02d}/2018" for day, month in RANDOM.integers(1, 13, (N, 2))]
    table = PLAIN.assign(when=words, site=RANDOM.choice(["a", "b"], N))
    quick: dict[str, Any] = {"target": "y", "epochs": 1, "repeats": 1}
    reports = [
        picsc.audit(table, target="y", folds=3, draws=99),
        picsc.cross_validate(table, folds=2, methods=["st-cv"], **quick),
        picsc.compare(table, folds=2, methods=["st-cv"], **quick),
        picsc.federate(table, by="site", methods=["fedavg"], rounds=1, target="y", repeats=1),
    ]
    for report in reports:
        assert [each.code for each in report.findings].count("day-or-month") == 1  # type: ignore[attr-defined]
    assert reports[0].verdict == "ok"
    assert reports[0].summary[2].startswith("next: if that is wrong, use --date-format when=%d/%m/%Y or --day-first")


def test_clients_are_not_compared_by_a_date_that_orders_the_rows() -> None:
    table = PLAIN.assign(when=DAYS, half=np.repeat(["a", "b"], N // 2))
    keywords: dict[str, Any] = {"by": "half", "methods": ["fedavg"], "rounds": 1, "target": "y", "repeats": 1}
    report = picsc.federate(table, **keywords)
    assert [each.code for each in report.findings].count("order-left-out") == 1
    assert all("when" not in client.reason for client in report.clients)
    kept = picsc.federate(table, keep=["when"], **keywords)
    assert any("when" in client.reason for client in kept.clients)
