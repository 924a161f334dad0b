"""Smallest effects of single columns, and columns that are tested and never make a verdict."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pandas as pd
import pytest

import picsc
from picsc.errors import DataError, SettingsError
from picsc.reports.audit import AuditReport

ROWS = 1_000


def table(moved: float, column: str = "ward_a") -> pd.DataFrame:
    """Four columns and a class; the last fifth of one column is higher by so many standard deviations."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(ROWS, 4)), columns=["age", "bmi", "ward_a", "ward_b"])
    frame["y"] = (frame.age + rng.normal(size=ROWS) > 0).astype(int)
    frame.loc[4 * ROWS // 5 :, column] += moved
    return frame


def audit(frame: pd.DataFrame, **settings: Any) -> AuditReport:
    return picsc.audit(frame, target="y", batches=5, reference="rest", draws=199, block=1, **settings)


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    return table(0.8)


def test_without_settings_the_column_makes_a_verdict(frame: pd.DataFrame) -> None:
    assert audit(frame).verdict == "shift"


@pytest.mark.parametrize("monitor", [["ward_a"], ["ward_*"], ["*_?"]])
def test_a_monitored_column_is_reported_and_never_fails(frame: pd.DataFrame, monitor: list[str]) -> None:
    report = audit(frame, monitor=monitor)
    last = report.fragments[-1]
    assert (report.verdict, last.verdict) == ("ok", "ok")
    assert last.columns[0].name == "ward_a"
    assert last.columns[0].p_adjusted is not None
    assert last.columns[0].p_adjusted <= 0.01
    assert last.reason.startswith("only columns that --monitor names moved: mean of ward_a 0.")
    bounds = json.loads(json.dumps(report.as_dict()))["min_effects"]["columns"]
    assert bounds["ward_a"] is None


def test_another_shift_still_makes_one(frame: pd.DataFrame) -> None:
    both = frame.copy()
    both.loc[4 * ROWS // 5 :, "bmi"] += 0.8
    report = audit(both, monitor=["ward_a"])
    assert (report.verdict, report.fragments[-1].verdict) == ("shift", "shift")
    assert "bmi" in report.fragments[-1].reason


def test_a_monitored_column_takes_no_part_in_what_columns_do_together() -> None:
    """Neither by its relation to another column, nor through the reference model's labels."""
    rng = np.random.default_rng(1)
    frame = table(0.0)
    last = slice(4 * ROWS // 5, ROWS)
    frame.loc[frame.index[last], "ward_a"] = frame.age[last] + 0.05 * rng.normal(size=ROWS // 5)
    assert audit(frame).verdict == "shift"
    assert audit(frame, monitor=["ward_a"]).verdict == "ok"


def test_a_bound_of_its_own(frame: pd.DataFrame) -> None:
    """The column's KS distance is about 0.3."""
    tolerant = audit(frame, min_effect_of=["ward_a=0.6"])
    assert tolerant.verdict == "ok"
    assert tolerant.fragments[-1].reason.startswith("real but small, below --min-effect-of ward_a=0.6: ")
    assert audit(frame, min_effect_of=["ward_a=0.1"]).verdict == "shift"
    assert audit(frame, min_effect_of=["bmi=0.6"]).verdict == "shift"


def test_a_smaller_bound_than_that_of_all_columns() -> None:
    """A shift that is below --min-effect counts where the column asks for it."""
    frame = table(0.8)
    assert audit(frame, min_effect=0.6).verdict == "ok"
    assert audit(frame, min_effect=0.6, min_effect_of=["ward_*=0.05"]).verdict == "shift"


def test_the_family_stays_what_it_is(frame: pd.DataFrame) -> None:
    """A monitored column counts among the tests of columns: the others' p-values do not get smaller."""
    p = {each.name: each.p_adjusted for each in audit(frame).fragments[-1].columns}
    monitored = {each.name: each.p_adjusted for each in audit(frame, monitor=["ward_a"]).fragments[-1].columns}
    assert {name: monitored[name] for name in ("age", "bmi")} == {name: p[name] for name in ("age", "bmi")}


def test_missing_rates_of_a_monitored_column() -> None:
    frame = table(0.0)
    frame.loc[9 * ROWS // 10 :, "ward_b"] = np.nan
    assert audit(frame).verdict == "shift"
    assert audit(frame, monitor=["ward_b"]).verdict == "ok"


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"monitor": ["wrd_a"]}, "monitor= names no column 'wrd_a'; did you mean"),
        ({"min_effect_of": ["wrd*=0.1"]}, "min_effect_of= names no column 'wrd[*]'"),
        ({"monitor": ["*"]}, "names every column"),
    ],
)
def test_names_are_checked(frame: pd.DataFrame, settings: dict[str, list[str]], said: str) -> None:
    with pytest.raises(DataError, match=said):
        audit(frame, **settings)


@pytest.mark.parametrize("pair", ["age", "age=1", "age=x", "=0.1", "age=-0.1"])
def test_pairs_are_checked(frame: pd.DataFrame, pair: str) -> None:
    with pytest.raises(SettingsError, match="must be COL=D with 0 <= D < 1"):
        audit(frame, min_effect_of=[pair])


def test_images_have_no_columns() -> None:
    rng = np.random.default_rng(0)
    images = rng.random((60, 8, 8), dtype=np.float32)
    with pytest.raises(SettingsError, match="columns of a table"):
        picsc.audit(images, np.arange(60) % 2, batches=3, monitor=["a"])
