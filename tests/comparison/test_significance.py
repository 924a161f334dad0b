"""The paired test of targets that are drawn anew, recomputed from the scores of single models."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from picsc.reports.compare import CompareReport
from tests.comparison.test_compare import classed, compared, method


def check(report: CompareReport, overlap: float) -> None:
    ours, plain = method(report, "picsc"), method(report, "st-cv")
    found = ours.against("st-cv")
    assert found is not None
    assert found.accuracy_interval is not None
    pairs = zip(ours.units, plain.units, strict=True)
    differences = np.array([(a.accuracy or 0.0) - (b.accuracy or 0.0) for a, b in pairs])
    error = np.sqrt(differences.var(ddof=1) * (1 / len(differences) + overlap))
    half = stats.t.ppf(0.975, len(differences) - 1) * error
    assert found.accuracy_interval.high - found.accuracy_interval.low == pytest.approx(2 * half, rel=1e-9)
    p = 2 * stats.t.sf(abs(differences.mean()) / error, len(differences) - 1)
    assert found.accuracy_p == pytest.approx(p, rel=1e-9)


def test_folds_that_are_drawn_anew_share_their_training_rows() -> None:
    report = compared(classed(120), folds=3, methods=["picsc"], repeats=3)
    assert "over targets and repeats" in report.test
    check(report, 40 / 80)


def test_random_parts_that_are_drawn_anew_share_their_training_rows() -> None:
    report = compared(classed(120), methods=["picsc"], repeats=4, validation=0.25)
    assert "over targets and repeats" in report.test
    check(report, 30 / 90)
