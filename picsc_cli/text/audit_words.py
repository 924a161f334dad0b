"""Results of audits in words, the same in every format: verdicts, columns that moved, baselines, and findings."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from picsc_cli.text.numbers import number, probability

if TYPE_CHECKING:
    from picsc.reports.audit import AuditReport, AuditReports, ColumnShift, FragmentReport, Unaudited
    from picsc.reports.common import Finding
    from picsc_cli.text.page import Page

SIGNIFICANT = "*"
"""Mark of a p-value that is at most the level; a character and no colour, so that it is there without colours, too."""


def moved(piece: FragmentReport, level: float) -> list[ColumnShift]:
    """The columns that moved, and the target where it did, in the order of the report."""
    return [column for column in piece.columns if column.moved(level)]


def how_far(column: ColumnShift, level: float, page: Page) -> str:
    """The side of a column that moved, to follow its name, and how far: ` (missing) 0.12`, ` KL 3.50`."""
    side = {side: f" ({side})" for side in ("missing", "target", "format", "new levels")}.get(column.kind, "")
    if column.by_kl(level):
        return f"{side} KL {number(column.kl, page)}"
    return f"{side} {number(column.statistic, page)}"


def chance(p: float | None, report: AuditReport, page: Page) -> str:
    """A corrected p-value, with a mark where it is at most the level."""
    mark = SIGNIFICANT if p is not None and p <= report.level else ""
    return probability(p, report.null.draws, page) + mark


def legend(report: AuditReport) -> tuple[str, str]:
    """The columns of an audit's table in words, for somebody who has not read the paper."""
    asked = "in its columns"
    if report.data.task != "unlabelled":
        asked += " (p data) or for a model (p model)"
    p = f"p: how often chance alone makes any piece differ so much, {asked}"
    return (
        "‖ΔI‖_F: difference for a model; KL: difference of the columns; τ: their product",
        f"{p}; {SIGNIFICANT}: at most {report.level:g}; shift: {SIGNIFICANT} and effect >= {report.min_effect:g}",
    )


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
