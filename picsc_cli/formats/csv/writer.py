"""Rows as text with commas, as RFC 4180 has it: empty fields for None."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from typing import TYPE_CHECKING

from picsc_cli.console.safe import csv_cell

if TYPE_CHECKING:
    from picsc.reports.compare import CompareReport, CompareUnit
    from picsc.reports.cv import CvReport, Unit


def written(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Text with the line ends of RFC 4180; None is an empty field, truth `true` or `false`, and names are made safe."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\r\n")
    writer.writerows([csv_cell(value) for value in row] for row in (header, *rows))
    return text.getvalue()


def written_models(
    report: CvReport | CompareReport,
    model: type[Unit | CompareUnit],
    more: Sequence[tuple[str, Mapping[str, object]]] = (),
) -> str:
    """One row per trained model: data set, method, then its fields, and a column for each metric by name.

    Args:
        report: of the trained models.
        model: their class, whose fields are the columns, so that a report without any has the same header.
        more: further rows, each a name in the place of the method and the fields that it has.
    """
    names = [field.name for field in fields(model) if field.name not in ("metrics", "metric_reasons")]
    metrics = [score.metric for score in report.methods[0].metrics] if report.methods else []
    rows: list[list[object]] = []
    for method in report.methods:
        for unit in method.units:
            reasons = "; ".join(unit.metric_reasons.values())
            beside = [*(unit.metrics.get(metric) for metric in metrics), reasons] if metrics else []
            rows.append([report.data.name, method.method, *(getattr(unit, name) for name in names), *beside])
    empty = [None] * (len(metrics) + 1) if metrics else []
    rows += [[report.data.name, name, *(values.get(field) for field in names), *empty] for name, values in more]
    header = [*(f"metric {metric}" for metric in metrics), "metric reasons"] if metrics else []
    return written(["dataset", "method", *names, *header], rows)
