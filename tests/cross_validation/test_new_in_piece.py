"""Findings on what a piece brings that no piece before it had, and what models along the pieces make of it."""

from __future__ import annotations

import numpy as np
import pandas as pd

import picsc
from picsc.reports.common import Finding
from picsc.reports.cv import CvReport


def signals(n: int = 1000) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(n, 3)), columns=list("abc"))
    frame["y"] = np.where(frame["a"] + 0.3 * rng.normal(size=n) > 0, "p", "q")
    return frame


def in_batches(frame: pd.DataFrame, **options: object) -> CvReport:
    return picsc.cross_validate(frame, **{"target": "y", "batches": 5, "strength": 0.1, "repeats": 1, **options})


def found(frame: pd.DataFrame) -> list[Finding]:
    return [each for each in in_batches(frame, epochs=1).findings if each.code == "new-in-piece"]


def test_carried_models_learn_a_column_that_was_constant_in_the_first_batch() -> None:
    """A column that decides the class is 0 in all rows of the first batch, and half of those of the second."""
    frame = signals()
    frame.loc[:249, "a"] = 0.0
    report = in_batches(frame, epochs=100, repeats=2)
    last = {m.method: m.fragments[-1] or 0.0 for m in report.methods}
    assert last["st-cv"] > 0.75
    for name in ("picsc", "picsc, unmerged", "weight-decay", "carried", "average"):
        assert abs(last[name] - last["st-cv"]) < 0.08
    [finding] = (each for each in report.findings if each.code == "new-in-piece")
    assert finding.severity == "warning"
    assert "'a' varies, and was 0 in all rows before" in finding.message


def test_a_first_batch_of_little_spread_does_not_fix_the_scale() -> None:
    frame = signals()
    frame.loc[:199, "a"] *= 1e-4
    report = in_batches(frame, epochs=100, repeats=2)
    last = {m.method: m.fragments[-1] or 0.0 for m in report.methods}
    for name in ("picsc", "weight-decay", "carried", "average"):
        assert abs(last[name] - last["st-cv"]) < 0.08
    [finding] = (each for each in report.findings if each.code == "new-in-piece")
    assert "values of 'a' lie beyond 8 deviations of those before" in finding.message


def test_batches_of_one_distribution_bring_nothing_new() -> None:
    assert found(signals()) == []


def test_levels_missing_values_and_first_values_are_named() -> None:
    frame = signals()
    frame["word"] = np.where(np.arange(1000) < 700, "old", "new")
    frame.loc[600:, "b"] = np.nan
    frame.loc[:499, "c"] = np.nan
    warning, note = found(frame)
    assert (warning.severity, note.severity) == ("warning", "note")
    assert "first values of 'c'" in warning.message
    assert "1 new level of 'word' ('new')" in note.message
    assert "first missing values of 'b'" in note.message
