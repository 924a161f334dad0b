"""Metrics by name in the report of a cross-validation, in every format."""

import numpy as np
import pandas as pd
import pytest

import picsc
from picsc.errors import SettingsError
from picsc.reports.cv import CvReport
from picsc_cli.formats.csv.cv import cv_csv
from picsc_cli.formats.markdown.cv import cv_markdown
from picsc_cli.formats.table.cv import cv_table
from picsc_cli.text.page import Page


def table(n: int = 80, *, numbers: bool = False) -> pd.DataFrame:
    generator = np.random.default_rng(0)
    x = generator.normal(size=(n, 3))
    z = x[:, 0] + 0.5 * generator.normal(size=n)
    return pd.DataFrame(x, columns=list("abc")).assign(y=100 + 10 * z if numbers else np.where(z > 0, "no", "yes"))


def run(frame: pd.DataFrame, **options: object) -> CvReport:
    return picsc.cross_validate(frame, **{"target": "y", "epochs": 8, "repeats": 2, "strength": 0.1, **options})


def test_every_metric_has_mean_interval_pieces_and_differences_and_lines() -> None:
    report = run(table(), folds=4, metrics=["roc_auc", "log_loss"])
    auc, loss = report.methods[1].metrics
    assert (auc.metric, auc.higher_is_better, loss.metric, loss.higher_is_better) == (
        "roc_auc",
        True,
        "log_loss",
        False,
    )
    assert auc.mean == pytest.approx(report.methods[1].auc)
    assert loss.mean == pytest.approx(report.methods[1].log_loss, rel=1e-6)
    assert len(auc.pieces) == 4
    assert auc.interval is not None
    assert auc.interval.low < auc.mean < auc.interval.high
    difference = loss.against("st-cv")
    mine = report.methods[1].against("st-cv")
    assert difference is not None
    assert mine is not None
    assert difference.p == pytest.approx(mine.log_loss_p, rel=1e-5)
    assert difference.value is not None
    assert difference.better == (difference.value < 0)
    assert report.lines[3].startswith("roc_auc (higher is better): picsc ")
    assert report.lines[4].startswith("log_loss (lower is better): picsc ")


def test_a_metric_that_does_not_exist_in_a_piece_is_none_with_its_reason_and_the_others_stand() -> None:
    frame = table(60)
    frame["site"] = np.where(frame.y == "no", "north", np.arange(60) % 2)
    report = run(frame, by="site", metrics=["roc_auc", "accuracy"], repeats=1)
    units = [unit for unit in report.methods[0].units if unit.fragment == "site=north"]
    assert units
    assert all(unit.metrics["roc_auc"] is None for unit in units)
    assert all(unit.metric_reasons == {"roc_auc": "no roc_auc: one class only"} for unit in units)
    assert all(unit.metrics["accuracy"] == pytest.approx(unit.accuracy) for unit in units)
    score = report.methods[0].metrics[0]
    assert score.mean is None
    assert score.missing == 3
    assert score.reason == "no roc_auc: one class only"


def test_numbers_are_judged_in_the_unit_of_the_target() -> None:
    report = run(table(numbers=True), folds=4, metrics=["rmse", "r2"])
    rmse, r2 = report.methods[0].metrics
    assert r2.mean == pytest.approx(report.methods[0].mean, abs=1e-6)
    log_loss = report.methods[0].log_loss
    assert log_loss is not None
    assert rmse.mean is not None
    spread = table(numbers=True).y.std(ddof=0)
    assert rmse.mean == pytest.approx(spread * np.sqrt(2 * log_loss), rel=0.05)


def test_over_rows_only_means_over_rows_are_tested() -> None:
    report = run(table(), batches=3, metrics=["brier", "roc_auc"], repeats=1)
    brier, auc = report.methods[1].metrics
    assert brier.interval is not None
    assert brier.reason == ""
    assert auc.interval is None
    assert auc.reason == "no test: roc_auc is no mean over rows, and rows are tested over"


def test_every_format_shows_them() -> None:
    report = run(table(), folds=3, metrics=["roc_auc"])
    assert report.as_dict()["methods"][0]["metrics"][0]["metric"] == "roc_auc"  # type: ignore[index]
    header, first, *_ = cv_csv(report).splitlines()
    assert header.endswith("metric roc_auc,metric reasons")
    unit = report.methods[0].units[0]
    assert float(first.split(",")[-2]) == pytest.approx(unit.metrics["roc_auc"])
    assert "| roc\\_auc | mean [95 %] |" in cv_markdown(report) or "| roc_auc | mean [95 %] |" in cv_markdown(report)
    assert "roc_auc: higher is better; Δ: against st-cv, paired" in cv_table(report, Page())


def test_a_metric_of_numbers_is_refused_for_classes() -> None:
    with pytest.raises(
        SettingsError, match=r"metrics=.*rmse.* is for numbers, and the target 'y' holds classes: choose among acc"
    ):
        run(table(), metrics=["rmse"])
