"""Comparisons of methods as comma-separated values: one line per model, numbers in full, empty fields for None."""

from __future__ import annotations

from typing import TYPE_CHECKING

from picsc_cli.formats.csv.writer import written_models

if TYPE_CHECKING:
    from picsc.reports.compare import CompareReport


def compare_csv(report: CompareReport) -> str:
    """One row per model: data set, method, then the fields of `CompareUnit`. Accuracies are fractions."""
    from picsc.reports.compare import CompareUnit

    return written_models(report, CompareUnit)
