"""Audits as comma-separated values: one line per piece, numbers in full, empty fields for None."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import fields
from typing import TYPE_CHECKING

from picsc_cli.formats.csv.writer import written

if TYPE_CHECKING:
    from picsc.reports.audit import AuditReports

_WORST = ("column", "column_kind", "column_statistic", "column_p", "column_kl", "column_p_kl")
_SIZES = (
    "interval", "mean_difference", "mean_interval", "effect_in_sd", "effect_in_sd_interval", "sd_ratio",
    "sd_ratio_interval", "level", "points", "points_interval",
)  # fmt: skip
"""Fields of the strongest column that tell its size, each a column of the same name after `column_`."""


def audits_csv(reports: AuditReports) -> str:
    """One line per piece: the file, then the fields of `FragmentReport`, with its strongest column alone.

    A file that could not be audited is a line without a piece.
    """
    from picsc.reports.audit import FragmentReport
    from picsc.reports.effects import ModelFit

    names = [field.name for field in fields(FragmentReport) if field.name not in ("name", "columns", "model_fit")]
    fit = [field.name for field in fields(ModelFit)]
    sizes, fits = ([end for name in each for end in _titles(name)] for each in (_SIZES, fit))
    header = ["file", "piece", *names, *_WORST, *(f"column_{name}" for name in sizes), *(f"model_{x}" for x in fits)]
    return written(header, _rows(reports, names, fit))


def _rows(reports: AuditReports, names: list[str], fit: list[str]) -> Iterator[list[object]]:
    for report in reports.reports:
        for piece in report.fragments:
            worst = piece.columns[0] if piece.columns else None
            of_column: tuple[object, ...] = (None,) * len(_WORST)
            if worst is not None:
                of_column = (worst.name, worst.kind, worst.statistic, worst.p_adjusted, worst.kl, worst.p_kl)
            own = [getattr(piece, name) for name in names]
            more = [*_values(worst, _SIZES), *_values(piece.model_fit, fit)]
            yield [report.data.source, piece.name, *own, *of_column, *more]
    without = [("error", file) for file in reports.unaudited] + [("not tested", file) for file in reports.skipped]
    for verdict, file in without:
        known = {"verdict": verdict, "reason": file.reason}
        nothing = [*[None] * len(_WORST), *_values(None, _SIZES), *_values(None, fit)]
        yield [file.source, None, *(known.get(name) for name in names), *nothing]


def _titles(name: str) -> list[str]:
    """Titles of a field: two of an interval, its ends."""
    return [f"{name}_low", f"{name}_high"] if name.endswith("interval") else [name]


def _values(of: object, names: Sequence[str]) -> list[object]:
    """Values of some fields, intervals as their two ends; None for nothing."""
    found: list[object] = []
    for name in names:
        value = None if of is None else getattr(of, name)
        ends = name.endswith("interval")
        found += [getattr(value, end, None) for end in ("low", "high")] if ends else [value]
    return found
