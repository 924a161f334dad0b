"""Results of audits in words, the same in every format: verdicts, columns that moved, baselines, and findings."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from picsc.reports.audit import AuditReports, ColumnShift, FragmentReport, Unaudited
    from picsc.reports.common import Finding


def moved(piece: FragmentReport, level: float) -> list[ColumnShift]:
    """The columns that moved, strongest first."""
    return [column for column in piece.columns if column.p_adjusted is not None and column.p_adjusted <= level]


def side(column: ColumnShift) -> str:
    """The side of a column that moved, to follow its name; empty for its values."""
    return {"missing": " (missing)", "target": " (target)"}.get(column.kind, "")


def standing(piece: FragmentReport) -> str:
    """The verdict, and whether the baseline has it: `shift, known`."""
    return f"{piece.verdict}, {piece.standing}" if piece.standing else piece.verdict


def finding_words(finding: Finding) -> str:
    """The message of a finding, and what to do about it."""
    return f"{finding.message}; {finding.advice}" if finding.advice else finding.message


def not_audited(file: Unaudited) -> str:
    """Why a file could not be audited, in a sentence that names it."""
    return file.reason if file.source in file.reason else f"{file.source}: {file.reason}"


def overall_lines(reports: AuditReports) -> Iterator[str]:
    """The verdict over all files, then one line for each, those that could not be audited last."""
    total = len(reports.reports) + len(reports.unaudited)
    counts = {name: sum(report.verdict == name for report in reports.reports) for name in ("shift", "inconclusive")}
    parts = [f"{counts['shift']} of {total} files shifted"]
    if counts["shift"] and any(report.baseline is not None for report in reports.reports):
        parts += [f"{sum(bool(report.failing) for report in reports.reports)} beyond the baseline"]
    parts += [f"{counts['inconclusive']} inconclusive"] if counts["inconclusive"] else []
    parts += [f"{len(reports.unaudited)} could not be audited"] if reports.unaudited else []
    yield f"{reports.verdict}: {', '.join(parts)}"
    for report in reports.reports:
        yield f"{report.data.source}: {report.summary[0]}"
    for file in reports.unaudited:
        yield f"error: {not_audited(file)}"
