"""A report as comma-separated values (RFC 4180): numbers in full, nothing for None."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING

from picsc_cli.formats.csv.writer import written

if TYPE_CHECKING:
    from picsc.reports.cv import CvReport


def cv_csv(report: CvReport) -> str:
    """One row per unit: data set, method, then the fields of `Unit`. Accuracies are fractions, log-losses nats."""
    from picsc.reports.cv import Unit

    names = [field.name for field in fields(Unit)]
    rows = (
        [report.data.name, method.method, *(getattr(unit, name) for name in names)]
        for method in report.methods
        for unit in method.units
    )
    return written(["dataset", "method", *names], rows)
