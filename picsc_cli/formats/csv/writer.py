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
    """One row per trained model: data set, method, then its fields.

    Args:
        report: of the trained models.
        model: their class, whose fields are the columns, so that a report without any has the same header.
        more: further rows, each a name in the place of the method and the fields that it has.
    """
    names = [field.name for field in fields(model)]
    rows = [
        [report.data.name, method.method, *(getattr(unit, name) for name in names)]
        for method in report.methods
        for unit in method.units
    ]
    rows += [[report.data.name, name, *(values.get(field) for field in names)] for name, values in more]
    return written(["dataset", "method", *names], rows)
