"""Cross-validations as comma-separated values: one line per model, numbers in full, empty fields for None."""

from __future__ import annotations

from typing import TYPE_CHECKING

from picsc_cli.formats.csv.writer import written_models

if TYPE_CHECKING:
    from picsc.reports.cv import CvReport


def cv_csv(report: CvReport) -> str:
    """One row per unit: data set, method, then the fields of `Unit`. Accuracies are fractions, log-losses nats."""
    from picsc.reports.cv import Unit

    return written_models(report, Unit)
