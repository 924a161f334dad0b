"""A comparison's report as comma-separated values: numbers in full, nothing for None."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING

from picsc_cli.formats.csv.writer import written

if TYPE_CHECKING:
    from picsc.reports.compare import CompareReport


def compare_csv(report: CompareReport) -> str:
    """One row per model: data set, method, then the fields of `CompareUnit`. Accuracies are fractions."""
    from picsc.reports.compare import CompareUnit

    names = [field.name for field in fields(CompareUnit)]
    rows = (
        [report.data.name, method.method, *(getattr(unit, name) for name in names)]
        for method in report.methods
        for unit in method.units
    )
    return written(["dataset", "method", *names], rows)
