"""Audits as comma-separated values: one line per piece, numbers in full, empty fields for None."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from typing import TYPE_CHECKING

from picsc_cli.formats.csv.writer import written

if TYPE_CHECKING:
    from picsc.reports.audit import AuditReports

_WORST = ("column", "column_kind", "column_statistic", "column_p", "column_kl", "column_p_kl")
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def audits_csv(reports: AuditReports) -> str:
    """One line per piece: the file, then the fields of `FragmentReport`, with its strongest column alone.

    A file that could not be audited is a line without a piece. Text that a spreadsheet would take for a formula begins
    with an apostrophe.
    """
    from picsc.reports.audit import FragmentReport

    names = [field.name for field in fields(FragmentReport) if field.name not in ("name", "columns")]
    return written(["file", "piece", *names, *_WORST], _rows(reports, names))


def _rows(reports: AuditReports, names: list[str]) -> Iterator[list[object]]:
    for report in reports.reports:
        for piece in report.fragments:
            worst = piece.columns[0] if piece.columns else None
            of_column: tuple[object, ...] = (None,) * len(_WORST)
            if worst is not None:
                of_column = (worst.name, worst.kind, worst.statistic, worst.p_adjusted, worst.kl, worst.p_kl)
            values = [report.data.source, piece.name, *(getattr(piece, name) for name in names), *of_column]
            yield [_text(value) for value in values]
    for file in reports.unaudited:
        known = {"verdict": "error", "reason": file.reason}
        values = [file.source, None, *(known.get(name) for name in names), *[None] * len(_WORST)]
        yield [_text(value) for value in values]


def _text(value: object) -> object:
    if isinstance(value, tuple):  # names of columns
        value = ", ".join(value)
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value
