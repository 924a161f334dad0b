from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from picsc.auditing.audit import audit
from picsc.reports.audit import AuditReport


def table(rows: int = 400) -> pd.DataFrame:
    """Four parts: in the third a number is higher, a level more frequent, and some values are missing."""
    draw = np.random.default_rng(3)
    frame = pd.DataFrame(
        {
            "a": draw.normal(size=rows),
            "b": draw.normal(size=rows),
            "c": draw.choice(["red", "green", "blue"], rows, p=[0.5, 0.3, 0.2]),
            "quiet": draw.normal(size=rows),
        }
    )
    frame["part"] = np.repeat(["p1", "p2", "p3", "p4"], rows // 4)
    third = slice(rows // 2, 3 * rows // 4)
    frame.loc[frame.index[third], "a"] += 2.0
    frame.loc[frame.index[third], "c"] = draw.choice(["red", "green", "blue"], rows // 4, p=[0.05, 0.05, 0.9])
    frame.loc[frame.index[third][: rows // 10], "b"] = np.nan
    return frame


@pytest.fixture(scope="module")
def report() -> AuditReport:
    return audit(table(), by="part", draws=99)


def third(report: AuditReport, name: str) -> tuple[list[int], int, list[int], int]:
    column = next(each for each in report.distributions if each.name == name)
    counts = next(each for each in column.pieces if each.piece == "part=p3")
    return list(counts.counts), counts.missing, list(counts.reference_counts), counts.reference_missing


def test_the_columns_that_moved_are_there_with_all_rows_counted(report: AuditReport) -> None:
    assert {column.name for column in report.distributions} == {"a", "b", "c"}
    for column in report.distributions:
        assert len(column.pieces[0].counts) == (len(column.levels) if column.levels else len(column.edges) + 1)
        for counts in column.pieces:
            assert sum(counts.counts) + counts.missing == 100
            assert sum(counts.reference_counts) + counts.reference_missing == 300


def test_numbers_are_counted_between_the_edges(report: AuditReport) -> None:
    frame = table()
    edges = np.array(next(each for each in report.distributions if each.name == "a").edges)
    own = frame["a"].to_numpy()[200:300]
    expected = [
        int(((own > low) & (own <= high)).sum()) for low, high in zip([-np.inf, *edges], [*edges, np.inf], strict=True)
    ]
    assert third(report, "a")[0] == expected


def test_missing_values_and_levels_are_counted(report: AuditReport) -> None:
    frame = table()
    assert third(report, "b")[1] == 40
    assert third(report, "b")[3] == 0
    column = next(each for each in report.distributions if each.name == "c")
    own = frame["c"][200:300].value_counts()
    assert dict(zip(column.levels, third(report, "c")[0], strict=True)) == {
        level: own.get(level, 0) for level in column.levels
    }


def test_where_nothing_moved_the_nearest_columns_are_shown() -> None:
    draw = np.random.default_rng(1)
    report = audit(pd.DataFrame(draw.normal(size=(200, 6))), batches=2, draws=99)
    assert report.verdict == "ok"
    assert len(report.distributions) == 3


def test_few_values_and_many_levels() -> None:
    draw = np.random.default_rng(2)
    frame = pd.DataFrame({"few": draw.integers(0, 3, 600), "x": draw.normal(size=600)})
    frame["many"] = [f"level {i % 25}" for i in range(600)]
    frame.loc[300:, "few"] = 7
    frame.loc[300:, "many"] = "level 0"
    report = audit(frame, batches=2, draws=99)
    few, many = (next(each for each in report.distributions if each.name == name) for name in ("few", "many"))
    assert few.edges == (0.5, 1.5, 4.5)
    assert many.levels[0] == "level 0"
    assert len(many.levels) == 10
    assert many.other > 0
    assert len(many.pieces[0].counts) == 11


def test_images_have_neither() -> None:
    draw = np.random.default_rng(5)
    report = audit(draw.uniform(size=(80, 1, 16, 16)), draw.integers(0, 2, 80), batches=2, draws=99)
    assert report.distributions == ()
    assert report.column_effects == ()


def test_a_reference_file_is_counted_beside_the_table() -> None:
    frame = table()
    report = audit(frame.drop(columns="part")[200:300], reference=frame.drop(columns="part")[:200], draws=99)
    counts = report.distributions[0].pieces[0]
    assert sum(counts.counts) + counts.missing == 100
    assert sum(counts.reference_counts) + counts.reference_missing == 200
