"""Blocks in whole audits: chosen by dependence, equal times together, refused where the stream is too short."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import picsc
from picsc.reports.audit import AuditReport
from tests.fragments.test_dependence import stream

DRAWS = 199


def audited(x: np.ndarray, **settings: object) -> AuditReport:
    extra = settings.pop("table", {})
    frame = pd.DataFrame({**extra, "x": x})  # type: ignore[dict-item]
    settings = {"draws": DRAWS, "no_target": True, "batches": 5, **settings}
    if "time" in settings:
        del settings["batches"]
    return picsc.audit(frame, **settings)  # type: ignore[arg-type]


def codes(report: AuditReport) -> list[str]:
    return [finding.code for finding in report.findings]


def test_a_stream_is_dealt_out_in_blocks_and_says_so() -> None:
    report = audited(stream(5000, 0.8))
    assert report.verdict == "ok"
    block = report.manifest["block"]
    assert block["column"] == "x"  # type: ignore[index]
    assert 7 < block["autocorrelation_time"] < 11  # type: ignore[index]
    assert 60 < block["rows"] < 120  # type: ignore[index]
    assert report.null.unit == f"blocks of {block['rows']} rows"  # type: ignore[index]
    [note] = report.findings
    assert (note.code, note.severity) == ("blocks", "note")
    assert note.message.startswith(f"the null permutes {report.null.unit}: in 'x', ")


def test_independent_rows_move_alone_without_a_word() -> None:
    report = audited(np.random.default_rng(0).normal(size=1000))
    assert (report.null.unit, report.findings, report.verdict) == ("rows", (), "ok")
    assert report.manifest["block"] == {"rows": 1, "column": None, "excess": 1.0, "autocorrelation_time": None}


def test_a_moved_batch_of_independent_rows_is_no_dependence() -> None:
    x = np.random.default_rng(0).normal(size=1000)
    x[600:800] += 3
    report = audited(x)
    assert (report.null.unit, report.verdict) == ("rows", "shift")


def test_a_batch_that_moved_is_found_in_a_stream() -> None:
    x = stream(5000, 0.8)
    x[2000:3000] += 2
    report = audited(x)
    assert [each.name for each in report.shifted] == ["batch 3", "batch 4"]
    assert report.null.unit.startswith("blocks of ")


def test_a_length_that_is_given_wins() -> None:
    assert audited(stream(2000, 0.8), block=50).null.unit == "blocks of 50 rows"
    rows = audited(stream(2000, 0.95), block=1)
    assert (rows.null.unit, rows.verdict) == ("rows", "shift")
    assert "lag1-autocorrelation" in codes(rows)


def test_what_is_observed_is_divided_by_what_blocks_fall_short_of() -> None:
    """The same blocks without it are a little too sure of themselves."""
    x = stream(2000, 0.9)
    x[1600:] += 0.7
    corrected = audited(x)
    block = corrected.manifest["block"]
    assert 1.03 < block["excess"] < 1.15  # type: ignore[index]
    assert f"divided by {block['excess']:.2f}" in corrected.findings[0].message  # type: ignore[index]
    as_is = audited(x, block=block["rows"])  # type: ignore[index]
    pairs = list(zip(corrected.fragments[1:], as_is.fragments[1:], strict=True))
    assert all(ours.p_data >= theirs.p_data for ours, theirs in pairs)  # type: ignore[operator]
    assert any(ours.p_data > theirs.p_data for ours, theirs in pairs)  # type: ignore[operator]
    assert all(ours.smallest_effect > theirs.smallest_effect for ours, theirs in pairs)  # type: ignore[operator]
    assert all(ours.noise_data > theirs.noise_data for ours, theirs in pairs)  # type: ignore[operator]


def test_a_stream_that_is_too_short_is_inconclusive_whatever_it_looks_like() -> None:
    x = stream(400, 0.98)
    x[200:] += 3
    report = audited(x, batches=8)
    assert report.verdict == "inconclusive"
    assert {each.verdict for each in report.fragments[1:]} == {"inconclusive"}
    assert "stream-too-short" in codes(report)
    assert "asks for blocks of" in report.fragments[1].reason
    assert report.summary[0].endswith("(8 batches in row order) has the blocks to tell")
    assert report.summary[2] == "next: cut into fewer pieces, or add rows"


def test_folds_keep_moving_rows_and_warn_with_a_length() -> None:
    report = audited(stream(20_000, 0.8), batches=None, folds=5)
    assert report.null.unit == "rows"
    [warning] = [each for each in report.findings if each.code == "lag1-autocorrelation"]
    length = int(warning.advice.rpartition(" ")[2])
    assert 70 < length < 110


def day_effect(days: int, rows: int, seed: int) -> tuple[np.ndarray, dict[str, object]]:
    rng = np.random.default_rng(seed)
    x = np.repeat(rng.normal(size=days), rows) + rng.normal(size=days * rows)
    return x, {"day": np.repeat(pd.date_range("2024-01-01", periods=days), rows)}


def test_rows_of_one_day_move_together() -> None:
    """With single rows an effect of the day is called a shift each time; with days, 10 of 15 have a chance of 1e-9."""
    calls = {"auto": 0, 1: 0}
    for seed in range(8):
        x, table = day_effect(100, 21, seed)
        for block in calls:
            report = audited(x, time="day", cuts=5, block=block, table=table)
            calls[block] += report.verdict == "shift"
            assert report.null.unit == ("rows of equal day" if block == "auto" else "rows")
    assert calls[1] == 8
    assert calls["auto"] <= 3  # at 5 % each, more have a probability of 4e-4


def test_days_that_depend_on_each_other_are_blocks_of_whole_days_in_any_order_of_rows() -> None:
    rng = np.random.default_rng(2)
    x = np.repeat(stream(400, 0.8, 2), 5) + 0.5 * rng.normal(size=2000)
    day = np.repeat(pd.date_range("2023-01-01", periods=400), 5)
    report = audited(x, time="day", cuts=4, table={"day": day})
    assert report.null.unit.endswith("rows, equal values of day together")
    assert report.manifest["block"]["rows"] >= 50  # type: ignore[index]
    order = rng.permutation(2000)
    again = audited(x[order], time="day", cuts=4, table={"day": day[order]})
    assert again.null == report.null
    assert [each.p_data for each in again.fragments] == [each.p_data for each in report.fragments]


def test_a_time_that_only_names_the_piece_leaves_rows_alone() -> None:
    x = np.random.default_rng(0).normal(size=400)
    report = audited(x, time="year", cuts=4, table={"year": np.repeat([2001, 2002, 2003, 2004], 100)})
    assert (report.null.unit, report.verdict) == ("rows", "ok")


def test_too_few_days_to_deal_out_are_inconclusive() -> None:
    x, table = day_effect(8, 50, 0)
    report = audited(x, time="day", cuts=4, table=table)
    assert report.verdict == "inconclusive"
    assert "2 different values of day, too few to deal out" in report.fragments[1].reason


def test_the_rows_of_a_reference_file_are_a_stream_as_well() -> None:
    old, new = stream(3000, 0.9, 1), stream(3000, 0.9, 2)
    report = audited(new, reference=pd.DataFrame({"x": old}), batches=3)
    assert report.null.unit.startswith("blocks of ")
    assert report.verdict == "ok"
    assert audited(new, reference=pd.DataFrame({"x": old}), batches=3, block=1).verdict == "shift"
    x, table = day_effect(80, 10, 3)
    y, before = day_effect(80, 10, 4)
    rows = np.random.default_rng(5).permutation(800)
    shuffled = pd.DataFrame({**before, "x": y}).iloc[rows]
    by_day = audited(x, time="day", cuts=4, table=table, reference=shuffled)
    assert by_day.null.unit.endswith(("equal day", "equal values of day together"))
    assert by_day.verdict == "ok"


@pytest.mark.slow
def test_a_stream_without_a_shift_is_rarely_called_shifted() -> None:
    """100 audits at 5 %: more than 14 have a probability of 2e-4. Single rows call nearly all of them shifted."""
    calls = sum(audited(stream(2000, 0.8, seed), seed=seed).verdict == "shift" for seed in range(100))
    assert calls <= 14
