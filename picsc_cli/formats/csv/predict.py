"""Predictions as comma-separated values: one line per row, numbers with all their digits."""

from __future__ import annotations

from typing import TYPE_CHECKING

from picsc_cli.formats.csv.writer import written

if TYPE_CHECKING:
    from picsc.reports.predict import PredictReport


def predict_csv(report: PredictReport) -> str:
    """The prediction of each row, and the probability of each class."""
    header = ["prediction", *(f"probability {name}" for name in report.classes)]
    chances = report.probabilities or ((),) * len(report.predictions)
    return written(header, ((label, *chance) for label, chance in zip(report.predictions, chances, strict=True)))
