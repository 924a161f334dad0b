"""The paired test that fits the pieces, recomputed from the scores of single models."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import picsc
from picsc.cross_validation import significance
from picsc.evaluation.paired_tests import rows_and_repeats_t
from picsc.reports.common import Difference
from picsc.reports.cv import CvReport

CLASSED = 100


def classed(n: int = CLASSED, *, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n) % 2)
    x = rng.normal(size=(n, 3)) + 0.7 * y[:, None]
    return pd.DataFrame(x, columns=list("abc")).assign(piece=np.arange(n) * 5 // n, t=np.arange(float(n)), target=y)


def compared(**options: object) -> CvReport:
    return picsc.cross_validate(classed(), **{"target": "target", "epochs": 6, "strength": 0.1, **options})


def scores(report: CvReport, name: str, kind: str = "accuracy") -> np.ndarray:
    """(repeats, pieces)."""
    found = report.method(name)
    assert found is not None
    units = [unit for unit in found.units if unit.fragment != "whole set"]
    return np.array([getattr(unit, kind) for unit in units]).reshape(report.repeats, -1)


def difference(report: CvReport) -> Difference:
    ours = report.method("picsc")
    assert ours is not None
    found = ours.against("st-cv")
    assert found is not None
    return found


def check(found: Difference, means: np.ndarray, error: Callable[[np.ndarray], float]) -> None:
    half = stats.t.ppf(0.975, means.size - 1) * error(means)
    assert found.accuracy_interval is not None
    assert found.accuracy_interval.high - found.accuracy_interval.low == pytest.approx(2 * half, rel=1e-9)
    p = 2 * stats.t.sf(abs(means.mean()) / error(means), means.size - 1)
    assert found.accuracy_p == pytest.approx(p, rel=1e-9)


def test_folds_that_are_drawn_anew_share_their_training_rows() -> None:
    report = compared(folds=4, repeats=2)
    differences = scores(report, "picsc") - scores(report, "st-cv")
    check(difference(report), differences.ravel(), lambda d: float(np.sqrt(d.var(ddof=1) * (1 / 8 + 25 / 75))))
    assert "over folds and repeats" in report.test


def test_a_piece_that_every_repeat_has_is_one_observation() -> None:
    report = compared(by="piece", repeats=3)
    differences = scores(report, "picsc") - scores(report, "st-cv")
    check(difference(report), differences.mean(0), lambda d: float(np.sqrt(d.var(ddof=1) * (1 / 5 + 20 / 80))))
    assert "over 5 pieces, each the mean of its repeats" in report.test


def test_batches_are_corrected_for_the_rows_that_repeats_share() -> None:
    report = compared(batches=4, repeats=4)
    differences = scores(report, "picsc") - scores(report, "st-cv")
    luck = np.mean(np.diff(differences, axis=1) ** 2) / 2 / 4 * 0.6 / 0.8
    check(
        difference(report),
        differences.mean(1),
        lambda d: float(np.sqrt(d.var(ddof=1) * (1 / 4 + 20 / 80) + luck)),
    )
    assert report.test.startswith("corrected resampled t-test over 4 repeats")


def test_test_rows_that_every_repeat_has_are_the_observations_beside_the_repeats(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seen: list[tuple[np.ndarray, np.ndarray]] = []

    def spy(by_row: list[np.ndarray], by_repeat: np.ndarray) -> object:
        seen.append((by_row[0], by_repeat))
        return rows_and_repeats_t(by_row, by_repeat)

    monkeypatch.setattr(significance, "rows_and_repeats_t", spy)
    report = compared(time="t", cuts=3, repeats=4)
    assert report.test.startswith("paired t-test over the test rows, the same in every repeat, and 4 repeats")
    found = difference(report)
    differences = (scores(report, "picsc") - scores(report, "st-cv")).mean(1)
    losses = (scores(report, "picsc", "log_loss") - scores(report, "st-cv", "log_loss")).mean(1)
    for by_repeat, p in ((differences, found.accuracy_p), (losses, found.log_loss_p)):
        by_row, _ = next(each for each in seen if each[1] == pytest.approx(by_repeat))
        assert len(by_row) == 20
        assert by_row.mean() == pytest.approx(by_repeat.mean(), abs=1e-6)
        tested = rows_and_repeats_t([by_row], by_repeat)
        assert tested is not None
        assert p == pytest.approx(tested.p)


def test_one_repeat_of_batches_is_tested_over_rows_in_both_scores() -> None:
    report = compared(batches=4, repeats=1)
    found = difference(report)
    assert report.test.startswith("paired t-test over validation rows, given the trained models")
    assert found.accuracy_p is not None
    assert found.log_loss_p is not None
