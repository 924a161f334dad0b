"""An audit of columns of numbers with a few words, or with numbers of many digits, finds their shift."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import picsc
from picsc.reports.audit import AuditReport
from picsc.reports.columns import ColumnShift

RNG = np.random.default_rng(0)
Z = RNG.normal(size=1000)


def audited(x: object, **options: object) -> AuditReport:
    frame = pd.DataFrame({"x": pd.Series(x, dtype=object), "z": Z})
    keywords = {"folds": 2, "shuffle": False, "draws": 100, "no_target": True, **options}
    return picsc.audit(frame, **keywords)  # type: ignore[arg-type]


def shift_of(report: AuditReport, kind: str, piece: int = -1) -> ColumnShift:
    return next(each for each in report.fragments[piece].columns if (each.name, each.kind) == ("x", kind))


@pytest.mark.parametrize("word", ["unknown", "<0.1", "12%", "3,5", "#REF!"])
def test_one_word_hides_no_shift(word: str) -> None:
    values = [f"{value:.5f}" for value in Z[::-1] + np.repeat([0.0, 2.0], 500)]
    values[700] = word
    report = audited(values)
    assert report.verdict == "shift"
    assert 0.6 < (shift_of(report, "numeric").statistic or 0) < 0.8
    assert "words among numbers count as missing: x (1)" in report.summary[0]


def test_a_word_that_jumps_is_named() -> None:
    values = [f"{value:.5f}" for value in RNG.permutation(Z)]
    values[940:] = ["unknown"] * 60
    report = audited(values, folds=5)
    assert report.verdict == "shift"
    found = shift_of(report, "missing")
    assert found.statistic == pytest.approx(0.3)
    assert found.note == "'unknown' in 30.0 % of rows, 0.0 % in the reference"
    assert "'unknown' in 30.0 % of rows" in report.summary[1]
    assert "x (60)" in report.summary[0]


def test_words_hide_behind_no_empty_cells() -> None:
    values: list[str | None] = [f"{value:.5f}" for value in RNG.permutation(Z)]
    values[:100], values[900:] = [None] * 100, ["unknown"] * 100
    found = shift_of(audited(values), "missing")
    assert found.statistic == pytest.approx(0.2)
    assert found.p_adjusted is not None
    assert found.p_adjusted <= 0.02


def test_a_word_is_named_against_a_reference() -> None:
    values = [f"{value:.5f}" for value in RNG.permutation(Z)]
    other = pd.DataFrame({"x": RNG.permutation(Z), "z": RNG.permutation(Z)})
    values[800:] = ["unknown"] * 200
    report = audited(values, folds=1, reference=other)
    assert report.verdict == "shift"
    assert shift_of(report, "missing").note == "'unknown' in 20.0 % of rows, 0.0 % in the reference"


def test_words_of_the_target_are_missing_labels() -> None:
    values = [f"{value:.5f}" for value in RNG.permutation(Z)]
    values[900:] = ["unknown"] * 100
    report = audited(values, no_target=False, target="x")
    assert (report.data.task, report.verdict) == ("regression", "shift")
    assert "x (100)" in report.summary[0]
    assert shift_of(report, "missing").note.startswith("'unknown' in 20.0 % of rows")


def test_what_is_left_out_stands_in_the_summary() -> None:
    report = audited([f"{value:.5f}" for value in Z], folds=2)
    assert "left out" not in report.summary[0]
    report = audited([f"u{value:.5f}" for value in Z], folds=2)
    assert "left out: x" in report.summary[0]
    assert "left out" not in audited(["a"] * 1000).summary[0]  # one value only: nothing to test
    assert "left out" not in audited([f"u{value:.5f}" for value in Z], drop=["x"]).summary[0]


@pytest.mark.parametrize("base", [10**18, 10**30])
@pytest.mark.parametrize("reference", [False, True])
def test_the_order_of_large_numbers_is_exact(base: int, reference: bool) -> None:
    low, high = ([base + step + int(i) for i in RNG.integers(0, 30, size=500)] for step in (0, 40))
    if reference:
        other = pd.DataFrame({"x": pd.Series(high * 2, dtype=object), "z": RNG.permutation(Z)})
        report = audited(low * 2, folds=1, reference=other)
    else:
        report = audited(low + high)
    assert shift_of(report, "numeric").statistic == 1.0
    assert shift_of(report, "numeric").note == "no overlap with the reference"
