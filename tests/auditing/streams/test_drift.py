"""Drift in whole audits: a steady move that no batch shows by itself, of every kind of column, and what is none."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import picsc
from picsc.reports.audit import AuditReport

N, BATCHES = 1500, 10
BATCH = np.arange(N) * BATCHES // N


def audited(frame: pd.DataFrame, **settings: object) -> AuditReport:
    settings = {"batches": BATCHES, "draws": 199, "no_target": True, **settings}
    return picsc.audit(frame, **settings)  # type: ignore[arg-type]


def noise(seed: int = 0, columns: str = "xy") -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    return pd.DataFrame({name: rng.normal(size=N) for name in columns})


def drift(report: AuditReport) -> str:
    return next((finding.message for finding in report.findings if finding.code == "drift"), "")


def test_a_mean_that_moves_by_one_standard_deviation_in_ten_small_steps_is_a_shift_of_the_last_batch() -> None:
    frame = noise()
    frame["x"] += BATCH / 9
    report = audited(frame)
    assert [each.name for each in report.shifted] == ["batch 10"]
    last = report.fragments[-1]
    assert last.reason.startswith("x moves steadily over the batches: +0.1")
    assert "sd from batch 1 to batch 10, p 0.005" in last.reason
    assert (last.statistic_data, last.cell, last.p_data_adjusted) == ("trend", "data only", 0.005)
    assert 0.3 < (last.effect_data or 0) < 0.5
    assert report.summary[0] == "shift: the data drift over 10 pieces (10 batches in row order)"
    assert report.summary[2] == "next: look at x over all pieces: later rows are no longer like the first ones"
    assert drift(report) == last.reason


def test_a_share_a_missing_rate_and_a_target_may_drift_as_well() -> None:
    rng = np.random.default_rng(1)
    levels = noise()
    levels["c"] = np.where(rng.random(N) < 0.2 + 0.03 * BATCH, "a", np.where(rng.random(N) < 0.5, "b", "c"))
    assert "share of 'a' in c moves steadily over the batches: +" in drift(audited(levels))
    gaps = noise()
    gaps.loc[rng.random(N) < 0.02 * BATCH, "y"] = np.nan
    assert "missing rate of y moves steadily over the batches: +" in drift(audited(gaps))
    target = noise()
    target["t"] = np.where(rng.random(N) < 0.7 - 0.04 * BATCH, "yes", "no")
    report = audited(target, target="t", no_target=False)
    assert "in t moves steadily over the batches" in drift(report)
    last = report.fragments[-1]
    assert (last.cell, last.statistic_model, last.p_model_adjusted) == ("model only", "trend", 0.005)


def test_a_drift_that_begins_later_says_since_when() -> None:
    frame = noise()
    frame["x"] += 0.25 * np.maximum(BATCH - 4, 0)
    message = drift(audited(frame))
    assert "sd from batch 5 to batch 10" in message or "sd from batch 4 to batch 10" in message


def test_a_jump_is_the_shift_of_its_batch_and_no_drift() -> None:
    frame = noise()
    frame["x"] += 1.5 * (BATCH >= 5)
    report = audited(frame)
    assert ([each.name for each in report.shifted], drift(report)) == (["batch 6"], "")


@pytest.mark.parametrize("settings", [{"reference": "rest"}, {"reference": "first"}, {"batches": 3}])
def test_there_is_no_drift_without_a_chain_of_four_batches(settings: dict[str, object]) -> None:
    frame = noise()
    frame["x"] += BATCH / 9
    assert drift(audited(frame, **settings)) == ""


def test_a_drift_below_the_smallest_effect_is_none() -> None:
    frame = noise()
    frame["x"] += BATCH / 9
    assert drift(audited(frame, min_effect=0.6)) == ""


def test_independent_rows_do_not_drift() -> None:
    """At a share of 10 % of the level, one of 8 has a probability of 4 %."""
    assert sum(bool(drift(audited(noise(seed)))) for seed in range(8)) <= 1
