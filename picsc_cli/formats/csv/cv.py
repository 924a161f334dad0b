"""A report as comma-separated values (RFC 4180): numbers in full, nothing for None."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from dataclasses import fields
from typing import TYPE_CHECKING

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


def written(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Text that UTF-8 can hold, with the line ends of RFC 4180; None is an empty field, truth `true` or `false`."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\r\n")
    writer.writerow(header)
    writer.writerows([_field(value) for value in row] for row in rows)
    return text.getvalue().encode("utf-8", "backslashreplace").decode("utf-8")


def _field(value: object) -> object:
    return str(value).lower() if isinstance(value, bool) else value
