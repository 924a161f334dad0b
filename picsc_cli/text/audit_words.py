"""Results of audits in words, the same in every format: verdicts, columns that moved, baselines, and findings."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from picsc.reports.effects import reference_words
from picsc_cli.text.numbers import number, probability
from picsc_cli.text.page import words

if TYPE_CHECKING:
    from picsc.reports.audit import AuditReport, AuditReports, FragmentReport, Unaudited
    from picsc.reports.columns import ColumnShift
    from picsc.reports.common import Finding
    from picsc_cli.text.page import Page

SIGNIFICANT = "*"
"""Mark of a p-value that is at most the level; a character and no colour, so that it is there without colours, too."""


def moved(piece: FragmentReport, level: float) -> list[ColumnShift]:
    """The columns that moved, and the target where it did, in the order of the report."""
    return [column for column in piece.columns if column.moved(level)]


def how_far(column: ColumnShift, level: float, page: Page, name: str = "") -> str:
    """A column that moved and how far: `mean of age 0.5 sd higher (KS 0.20 [0.15, 0.25])`, as in every reason.

    Args:
        column: one that moved.
        level: family-wise level of the tests.
        page: where it is shown.
        name: the column's name as it is shown; empty for the name itself.
    """
    if column.sized:
        return words(column.in_words(level, name), page)
    return f"{name or column.name}{_by_statistic(column, level, page)}"


def _by_statistic(column: ColumnShift, level: float, page: Page) -> str:
    """The side of a column, to follow its name, and its statistic alone: ` (missing) 0.12`, ` KL 3.50`."""
    side = {side: f" ({side})" for side in ("missing", "target", "format", "new levels")}.get(column.kind, "")
    if column.by_kl(level):
        return f"{side} KL {number(column.kl, page)}"
    return f"{side} {number(column.statistic, page)}"


def model_words(piece: FragmentReport, report: AuditReport) -> str:
    """What the shift of a piece means to the reference model, where columns are shown in place of the whole reason.

    Empty for a piece that the model does not care about.
    """
    cares = piece.verdict == "shift" and piece.cell in ("both", "model only") and moved(piece, report.level)
    if not cares or piece.model_fit is None:
        return ""
    return piece.model_fit.in_words("this piece", reference_words(report.reference))


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
        f"{p}; {SIGNIFICANT}: at most {report.level:g}; shift: {SIGNIFICANT} and >= min effect",
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
    total = len(reports.reports) + len(reports.unaudited) + len(reports.skipped)
    counts = {name: sum(report.verdict == name for report in reports.reports) for name in ("shift", "inconclusive")}
    parts = [f"{counts['shift']} of {total} files shifted"]
    if counts["shift"] and any(report.baseline is not None for report in reports.reports):
        parts += [f"{sum(bool(report.failing) for report in reports.reports)} beyond the baseline"]
    parts += [f"{counts['inconclusive']} inconclusive"] if counts["inconclusive"] else []
    parts += [f"{len(reports.unaudited)} could not be audited"] if reports.unaudited else []
    parts += [f"{len(reports.skipped)} skipped"] if reports.skipped else []
    yield f"{reports.verdict}: {', '.join(parts)}"
    for report in reports.reports:
        yield f"{report.data.source}: {report.summary[0]}"
    for file in reports.unaudited:
        yield f"error: {not_audited(file)}"
    for file in reports.skipped:
        yield f"not tested: {not_audited(file)}"
