"""Audits as Markdown: verdicts, pieces, findings and the manifest."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from picsc_cli.formats.markdown.text import document, grid, plain, summary, versions
from picsc_cli.text.audit_words import (
    chance,
    finding_words,
    how_far,
    legend,
    model_words,
    moved,
    overall_lines,
    standing,
)
from picsc_cli.text.numbers import number
from picsc_cli.text.page import Page
from picsc_cli.text.reading_words import reading_line
from picsc_cli.text.sections import question

if TYPE_CHECKING:
    from picsc.reports.audit import AuditReport, AuditReports, FragmentReport

_PAGE = Page()
_NAMES = 3
_TITLES = ("piece", "rows", "‖ΔI‖_F", "KL", "τ", "p data", "p model", "verdict", "top columns")


def audits_markdown(reports: AuditReports) -> str:
    """Every file under a heading of its own, all pieces in its table; divergences in nats."""
    lines: list[str] = []
    if len(reports.reports) != 1 or reports.unaudited or reports.skipped:
        first, *rest = overall_lines(reports)
        lines += [plain(first), "", *(f"- {plain(line)}" for line in rest), ""]
    for report in reports.reports:
        lines += _report(report)
    return document(lines)


def _report(report: AuditReport) -> Iterator[str]:
    yield from (f"# {plain(report.data.name)}", "", *summary(report.summary), "")
    reading = reading_line(report.data.reading) if report.data.reading else ""
    about = f"{report.data.rows} rows, {plain(report.pieces)}, reference: {plain(report.reference)}"
    yield from (f"{about}. {plain(reading[:1].upper() + reading[1:])}".strip(), "")
    yield from grid(_TITLES, [_row(piece, report) for piece in report.fragments])
    yield ""
    yield from (f"- {plain(line)}" for line in legend(report))
    yield ""
    if report.findings:
        yield from ("## Findings", "")
        yield from (f"- **{finding.severity}**: {plain(finding_words(finding))}" for finding in report.findings)
        yield ""
    yield from ("## Manifest", "")
    yield f"- {plain(report.data.source)}, sha256 {report.data.sha256}"
    null = report.null
    yield f"- null: {plain(null.kind)} of {plain(null.unit)}, {null.draws} draws on {null.rows} rows"
    yield f"- level {report.level:g}; min effect {report.min_effects.words}; seed {report.settings.get('seed')}"
    yield f"- model question: {plain(question(report.data))}"
    if report.baseline is not None:
        yield f"- baseline: {plain(report.baseline)}"
    yield ""
    yield from versions(report.manifest)


def _row(piece: FragmentReport, report: AuditReport) -> list[str]:
    found = moved(piece, report.level)
    shown = [plain(how_far(column, report.level, _PAGE)) for column in found[:_NAMES]]
    names = ", ".join(shown) + (f" +{len(found) - _NAMES} more" if len(found) > _NAMES else "")
    what = names if piece.verdict == "shift" and found else plain(piece.reason)
    fit = model_words(piece, report)
    what += f"; {plain(fit)}" if fit else ""
    return [
        plain(piece.name),
        str(piece.rows),
        *(number(value, _PAGE) for value in (piece.fisher_gap, piece.kl, piece.tau)),
        *(plain(chance(p, report, _PAGE)) for p in (piece.p_data_adjusted, piece.p_model_adjusted)),
        standing(piece),
        what,
    ]
