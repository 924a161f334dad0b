"""Audits as comma-separated values: one line per piece, numbers in full, empty fields for None."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from typing import TYPE_CHECKING

from picsc_cli.formats.csv.writer import written

if TYPE_CHECKING:
    from picsc.reports.audit import AuditReports

_WORST = ("column", "column_kind", "column_statistic", "column_p", "column_kl", "column_p_kl")


def audits_csv(reports: AuditReports) -> str:
    """One line per piece: the file, then the fields of `FragmentReport`, with its strongest column alone.

    A file that could not be audited is a line without a piece.
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
            yield [report.data.source, piece.name, *(getattr(piece, name) for name in names), *of_column]
    for file in reports.unaudited:
        known = {"verdict": "error", "reason": file.reason}
        yield [file.source, None, *(known.get(name) for name in names), *[None] * len(_WORST)]
