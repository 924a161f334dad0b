"""Tables that are read in parts: all rows are counted, in batches of any size; verdicts are those of memory."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import picsc
from picsc.auditing.many_rows import audit_parts, parquet_parts
from picsc.datasets.files import many
from picsc.reports.audit import AuditReport
from picsc.settings import AuditSettings
from picsc.settings.by_keyword import from_keywords

N = 12_000


@pytest.fixture(autouse=True)
def _few_rows_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audit_parts, "ROWS_IN_MEMORY", 5_000)
    monkeypatch.setattr(audit_parts, "SAMPLE", 3_000)
    monkeypatch.setattr(many, "LARGE", 1_000)


def _table(*, seed: int = 0, moved: float = 0.0) -> pd.DataFrame:
    """Rows of every kind of column; `moved` moves x in the last fifth of the rows."""
    rng = np.random.default_rng(seed)
    x, z = rng.standard_normal(N), rng.lognormal(0, 2, N)
    x[-N // 5 :] += moved
    z[rng.random(N) < 0.05] = np.nan
    return pd.DataFrame(
        {
            "x": x,
            "z": z,
            "rare": np.where(rng.random(N) < 0.001, 1.5, 0.0) * rng.integers(1, 5, N),
            "count": rng.poisson(3, N),
            "kind": rng.choice(["a", "b", " c", "d"], N, p=[0.6, 0.3, 0.097, 0.003]),
            "flag": rng.random(N) < 0.2,
            "day": pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 300, N), unit="D"),
            "site": rng.choice(["north", "south", "west"], N),
            "target": rng.choice(["yes", "no"], N, p=[0.3, 0.7]),
        }
    )


def _audited(path: Path, **keywords: Any) -> AuditReport:
    return picsc.audit(path, draws=99, **keywords)


def _in_memory(path: Path, monkeypatch: pytest.MonkeyPatch, **keywords: Any) -> AuditReport:
    with monkeypatch.context() as patched:
        patched.setattr(audit_parts, "ROWS_IN_MEMORY", 10**9)
        return _audited(path, **keywords)


def _codes(report: AuditReport) -> set[str]:
    return {finding.code for finding in report.findings}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    _table().to_parquet(tmp_path / "t.parquet", index=False)
    return tmp_path / "t.parquet"


def test_the_report_is_that_of_all_rows(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found, exact = _audited(path, folds=5), _in_memory(path, monkeypatch, folds=5)
    assert "read-in-parts" in _codes(found)
    assert "read-in-parts" not in _codes(exact)
    assert (found.verdict, found.pieces, found.null.unit) == (exact.verdict, exact.pieces, exact.null.unit)
    plain = [tuple(replace(column, note="") for column in each.data.columns) for each in (found, exact)]
    assert plain[0] == plain[1]
    assert replace(found.data, columns=()) == replace(exact.data, columns=())
    assert [piece.rows for piece in found.fragments] == [piece.rows for piece in exact.fragments]
    sizes = {(p.name, c.name, c.kind): c.statistic for p in exact.fragments for c in p.columns}
    for piece in found.fragments:
        for column in piece.columns:
            other = sizes.get((piece.name, column.name, column.kind))
            if other is not None and column.kind != "format":
                assert column.statistic == pytest.approx(other, abs=2 / 256)


@pytest.mark.parametrize("cut", [{"folds": 5}, {"by": "site"}])
def test_batches_of_any_size_give_one_report(path: Path, monkeypatch: pytest.MonkeyPatch, cut: dict[str, Any]) -> None:
    whole = _audited(path, **cut).as_dict()
    for rows in (N // 7, 10**6):
        with monkeypatch.context() as patched:
            patched.setattr(parquet_parts, "BATCH", rows)
            assert _audited(path, **cut).as_dict() == whole


@pytest.mark.parametrize("cut", [{"folds": 5}, {"folds": 5, "splitter": "kfold"}])
def test_a_piece_that_moved_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cut: dict[str, Any]) -> None:
    _table(moved=0.5).to_parquet(tmp_path / "t.parquet", index=False)
    found = _audited(tmp_path / "t.parquet", **cut)
    exact = _in_memory(tmp_path / "t.parquet", monkeypatch, **cut)
    assert [piece.verdict for piece in found.fragments] == [piece.verdict for piece in exact.fragments]
    assert found.fragments[-1].verdict == "shift"
    assert found.fragments[-1].columns[0].name == "x"


def test_a_folder_of_parts_is_one_table(tmp_path: Path) -> None:
    table = _table()
    for year, rows in (("2023", slice(0, N // 3)), ("2024", slice(N // 3, None))):
        half = len(table.iloc[rows]) // 2
        for i, part in enumerate((table.iloc[rows].iloc[:half], table.iloc[rows].iloc[half:])):
            (tmp_path / f"year={year}").mkdir(exist_ok=True)
            part.to_parquet(tmp_path / f"year={year}" / f"part-{i}.parquet", index=False)
    for path, name in ((tmp_path, "year=2023"), (tmp_path / "*" / "*.parquet", "year=2023")):
        found = _audited(path, by="year")
        assert "read-in-parts" in _codes(found)
        assert [(piece.name, piece.rows) for piece in found.fragments] == [(name, N // 3), ("year=2024", 2 * N // 3)]
    assert found.data.rows == N
    by_file = _audited(tmp_path, by="file")
    assert [piece.rows for piece in by_file.fragments] == [N // 6, N // 6, N // 3, N // 3]


@pytest.mark.parametrize(
    "asked",
    [
        {"folds": 5, "shuffle": True},
        {"batches": 4},
        {"time": "day", "every": "100d"},
        {"folds": 3, "reference": "previous"},
    ],
)
def test_what_needs_all_rows_in_memory_has_them(path: Path, asked: dict[str, Any]) -> None:
    settings = from_keywords(AuditSettings, "audit", asked, None)
    assert audit_parts.audit_in_parts(path, settings) is None


def test_classes_are_counted_in_all_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = _table()
    table.loc[np.arange(0, N, N // 12), "target"] = "rare"  # about 12 rows, of which the sample has about 3
    table.to_parquet(tmp_path / "t.parquet", index=False)
    found = _audited(tmp_path / "t.parquet", folds=5, splitter="kfold")
    exact = _in_memory(tmp_path / "t.parquet", monkeypatch, folds=5, splitter="kfold")
    codes = ("rare-class", "class-missing-from-pieces", "one-class-piece")
    told = [[each for each in report.findings if each.code in codes] for report in (found, exact)]
    assert told[0] == told[1]
    assert [piece.rows for piece in found.fragments] == [piece.rows for piece in exact.fragments]


def test_words_among_numbers_are_read_in_memory(tmp_path: Path) -> None:
    table = _table()
    table["z"] = table["z"].astype(str).where(np.arange(N) % 50 > 0, "ERROR")
    table.to_parquet(tmp_path / "t.parquet", index=False)
    settings = from_keywords(AuditSettings, "audit", {"folds": 5}, None)
    assert audit_parts.audit_in_parts(tmp_path / "t.parquet", settings) is None
