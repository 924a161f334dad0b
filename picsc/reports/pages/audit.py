"""The page of an audit: verdict and next step, columns by pieces, distributions, tau against its null, and pieces."""

from __future__ import annotations

from typing import TYPE_CHECKING

from picsc.phrases import counted
from picsc.reports.effects import reference_words
from picsc.reports.pages.bars import ratios
from picsc.reports.pages.blocks import MARKS, TONES, Cell, Content, Gallery, Prose, Section, Table, verdict_cell
from picsc.reports.pages.heat_map import heat_map
from picsc.reports.pages.histograms import drawings
from picsc.reports.pages.markup import cut
from picsc.reports.pages.numbers import number, probability
from picsc.reports.pages.shared import findings, manifest, name_cell, words_cell

if TYPE_CHECKING:
    from picsc.reports.audit import AuditReport, AuditReports, FragmentReport

MOST_PIECES, MOST_BARS = 200, 40
"""Pieces in the table, and in the picture of tau, at most."""
MOST_NAMED = 3
"""Columns that the table of pieces names for each of them."""
_WORDS = ("piece", "reference", "covariate shift", "verdict", "effect", "KS distance", "TV distance", "p-value")
_MORE_WORDS = ("p data and p model", "null", "Fisher gap", "covariate KL", "tau", "domain classifier")


def audit_content(report: AuditReport) -> Content:
    """Everything on the page of one table."""
    about = (
        f"{counted(report.data.rows, 'row')}; {report.pieces}; "
        f"each piece is compared with {reference_words(report.reference)}"
    )
    null = report.null
    more = [
        ("null", f"{null.kind} of {null.unit}, {null.draws} draws on {null.rows} rows"),
        ("level and smallest effects", f"{report.level:g}; {report.min_effects.words}"),
        ("target", "none" if report.data.target is None else f"{report.data.target} ({report.data.target_chosen})"),
        *([] if report.baseline is None else [("baseline", report.baseline)]),
    ]
    sections = [
        _pieces(report),
        *heat_map(report),
        _distributions(report),
        _tau(report),
        _classifier(report),
        findings(report.findings),
        manifest(report, more),
    ]
    return Content(
        title=cut(report.data.name, 200),
        about=about,
        verdict=f"{MARKS[report.verdict]} {report.verdict}",
        tone=TONES[report.verdict],
        lines=report.summary,
        sections=sections,
        words=(*_WORDS, *_MORE_WORDS),
    )


def audits_contents(reports: AuditReports) -> list[Content]:
    """The verdict over all files where there are several, then one content for each."""
    contents = [audit_content(report) for report in reports.reports]
    if len(contents) == 1 and not reports.unaudited and not reports.skipped:
        return contents
    files = [
        *(
            [name_cell(each.data.source), verdict_cell(each.verdict), words_cell(each.summary[0])]
            for each in reports.reports
        ),
        *([name_cell(each.source), verdict_cell("error"), words_cell(each.reason)] for each in reports.unaudited),
        *([name_cell(each.source), verdict_cell("not tested"), words_cell(each.reason)] for each in reports.skipped),
    ]
    shifted = sum(each.verdict == "shift" for each in reports.reports)
    lines = [f"{reports.verdict}: {shifted} of {counted(len(files), 'file')} shifted"]
    if reports.unaudited:
        lines.append(f"{counted(len(reports.unaudited), 'file')} could not be audited")
    if reports.skipped:
        lines.append(f"{counted(len(reports.skipped), 'file')} skipped")
    table = Table("Verdict of each file.", ("file", "verdict", "why"), files)
    first = Content(
        title=counted(len(files), "file"),
        about="one audit for each file",
        verdict=f"{MARKS[reports.verdict]} {reports.verdict}",
        tone=TONES[reports.verdict],
        lines=lines,
        sections=[Section("Files", [table])],
    )
    return [first, *contents]


def _pieces(report: AuditReport) -> Section:
    """The verdict of every piece and why, those that are not ok first where there are many."""
    quiet = ("ok", "equivalent", "not tested")
    shown = sorted(report.fragments, key=lambda piece: piece.verdict in quiet)[:MOST_PIECES]
    kept = {id(piece) for piece in shown}
    rows = [_row(piece, report) for piece in report.fragments if id(piece) in kept]
    left = len(report.fragments) - len(rows)
    notes = [
        (
            f"* at most {report.level:g}. A shift is a difference beyond chance and of at least the smallest effect: "
            f"{report.min_effects.words}."
        ),
        *([f"{counted(left, 'more piece')}, ok or not tested: the JSON report has them all."] if left else []),
    ]
    titles = [
        "piece",
        "rows",
        "verdict",
        "what moved, and why",
        "effect on data",
        "p data",
        "effect on model",
        "p model",
    ]
    table = Table(f"Every piece against {reference_words(report.reference)}.", titles, rows, notes=notes, stacked=True)
    return Section("Pieces", [table] if rows else [])


def _row(piece: FragmentReport, report: AuditReport) -> list[Cell]:
    draws = report.null.draws

    def chance(p: float | None) -> Cell:
        small = p is not None and p <= report.level
        return Cell(probability(p, draws) + ("*" if small else ""), "number mark" if small else "number")

    return [
        name_cell(piece.name),
        Cell(str(piece.rows)),
        verdict_cell(piece.verdict, f", {piece.standing}" if piece.standing else ""),
        words_cell(_why(piece, report)),
        Cell(number(piece.effect_data)),
        chance(piece.p_data_adjusted),
        Cell(number(piece.effect_model)),
        chance(piece.p_model_adjusted),
    ]


def _why(piece: FragmentReport, report: AuditReport) -> str:
    """The reason, and columns that it does not name."""
    moved = [column for column in piece.moved(report.level) if piece.verdict == "shift"]
    told = [column.in_words(report.level, cut(column.name, 60)) for column in moved[:MOST_NAMED]]
    new = [words for words in told if words not in piece.reason]
    notes = [f"{cut(column.name, 60)}: {column.note}" for column in moved[:MOST_NAMED] if column.note]
    return cut("; ".join(filter(None, (piece.reason, *new, *notes))), 1500)


def _distributions(report: AuditReport) -> Section:
    words = {
        (column.name, piece.name): column.in_words(report.level, cut(column.name, 60))
        for piece in report.fragments
        for column in reversed(piece.columns)
        if column.moved(report.level)
    }
    pictures = []
    for column in report.distributions:
        told = {piece: text for (name, piece), text in words.items() if name == column.name}
        pictures += drawings(column, told)
    if not pictures:
        return Section("Distributions", [])
    moved = any(column.moved(report.level) for piece in report.fragments for column in piece.columns)
    lead = "The columns that moved most" if moved else "No column moved; these came nearest to it"
    about = f"{lead}: shares of the rows that have a value, in the piece and in its reference."
    return Section("Distributions of the leading columns", [Prose([about]), Gallery(pictures)])


def _tau(report: AuditReport) -> Section:
    shown = sorted(
        (piece for piece in report.fragments if piece.tau and piece.tau_quantile),
        key=lambda piece: -(piece.tau or 0.0) / (piece.tau_quantile or 1.0),
    )[:MOST_BARS]
    kept = {id(piece) for piece in shown}
    values = [(piece.name, piece.tau, piece.tau_quantile) for piece in report.fragments if id(piece) in kept]
    caption = (
        f"Tau of each piece as a multiple of what chance alone exceeds in a share of {report.level:g} of pieces of its "
        "size (the dashed line). Right of the line tau is larger than chance makes it; verdicts come from the "
        "corrected tests in the table."
    )
    return Section("Tau (Eq. 14) against its null", list(ratios(values, caption)))


def _classifier(report: AuditReport) -> Section:
    """Where a classifier tells a piece from its reference, and what it goes by."""
    told = [piece for piece in report.fragments if piece.domain_auc is not None]
    shown = sorted(told, key=lambda piece: -(piece.domain_auc or 0.0))[:MOST_BARS]
    rows = [
        [
            name_cell(piece.name),
            Cell(number(piece.domain_auc)),
            words_cell(", ".join(cut(name, 60) for name in _leading(piece, report)) or "no column by itself"),
        ]
        for piece in shown
    ]
    caption = "How well a classifier tells rows of a piece from its reference: 0.5 is not at all, 1 is always."
    table = Table(caption, ("piece", "area under ROC", "leading columns"), rows)
    return Section("Told apart by a classifier", [table] if rows else [], folded=report.verdict != "shift")


def _leading(piece: FragmentReport, report: AuditReport) -> list[str]:
    """The columns that the classifier was found to need, else those that moved."""
    if piece.classifier_columns:
        return list(piece.classifier_columns)
    return list(dict.fromkeys(column.name for column in piece.moved(report.level)))[:MOST_NAMED]
