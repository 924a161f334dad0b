"""Cross-validations as text for people: three lines, the paper's table, the comparison, findings, a footer.

Everything shown is read from the report; nothing is computed but widths. Accuracies and their differences are in
percent and percentage points; log-losses in nats.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from rich.text import Text

from picsc_cli.text import metric_rows, p_values, sections
from picsc_cli.text.numbers import extent, nats, percent, percent_span, percent_within, points, signed
from picsc_cli.text.page import Page, cut, figures, paragraph, words

if TYPE_CHECKING:
    from picsc.reports.cv import CvReport, MethodReport, Unit

MOST_COLUMNS = 5
"""Pieces with a column of their own, as in the paper."""
_FAILURES = 5
"""Failed units that are named."""
_BASE, _OURS = "st-cv", "picsc"


def cv_table(report: CvReport, page: Page, *, verbose: bool = False) -> str:
    """The whole report; `verbose` adds what the methods are, the columns as understood and the settings."""
    title = f"{report.data.name}, {report.data.rows} rows, {report.pieces}, {_runs(report)}"
    parts = [cv_summary(report, page), paragraph(title, page) + _pieces(report, page), _comparison(report, page)]
    parts += _lifelong(report, page)
    parts += [*metric_rows.tables(report, page, _BASE), *p_values.tables(report, page, _BASE)]
    parts += sections.method_sections(report, sentences(report, page), sections.footer(report), page, verbose=verbose)
    return "\n".join(parts)


def cv_summary(report: CvReport, page: Page) -> str:
    """The three lines of the summary, and the estimate for deployment where one is asked for."""
    return sections.three_lines(report.lines, page, "bold")


def _runs(report: CvReport) -> str:
    repeats = "1 repeat" if report.repeats == 1 else f"{report.repeats} repeats"
    return f"{repeats}, algorithm {report.algorithm}"


def _pieces(report: CvReport, page: Page) -> str:
    """The paper's table: one row per method, the whole set, some pieces, their mean and variance."""
    letter = "k" if report.protocol == "foldwise" else "B"
    shown = _shown(len(report.fragments))
    titles = ("method", "whole", *(f"{letter}_{label}" for label, _ in shown), "mean", "var", "Δ")
    rows = [
        [
            Text(words(_name(method), page)),
            Text(percent(method.whole, page)),
            *(Text(percent(method.fragments[i], page)) for _, i in shown),
            Text(percent(method.mean, page)),
            Text(_variance(method.variance, page)),
            points(difference.accuracy if (difference := method.against(_BASE)) else None, page),
        ]
        for method in report.methods
    ]
    named = [(f"{letter}_{label}", report.fragments[i]) for label, i in shown]
    plain = all(re.fullmatch(r"(fold|batch) \d+", name) for _, name in named)
    notes = "" if plain else ", ".join(f"{label} {cut(words(name, page), 24, page)}" for label, name in named)
    return figures(titles, [rows], page) + (paragraph(notes, page, indent=1, hanging=2) if notes else "")


def _shown(n: int) -> list[tuple[str, int]]:
    """Label and position of the pieces with a column: all where they fit, else the paper's first, middle and last."""
    if n < MOST_COLUMNS:
        return [(str(i + 1), i) for i in range(n)]
    return [("1", 0), ("2", 1), ("n/2", (n + 1) // 2 - 1), ("n-1", n - 2), ("n", n - 1)]


def _variance(value: float | None, page: Page) -> str:
    """Squared percent, in two decimals as long as there is room for them."""
    if value is None:
        return page.none
    return f"{value:.2f}" if value < 9.995 else f"{value:.1f}" if value < 99.95 else f"{value:.0f}"


def _comparison(report: CvReport, page: Page) -> str:
    """The second table: interval and log-loss."""
    score = sections.metric(report.data)
    titles = (
        "method",
        f"{score}\n[95 %]",
        *sections.beside_titles(report.data),
        "log-\nloss",
        "Δ log-\nloss",
    )
    rows = []
    for method in report.methods:
        base = method.against(_BASE)
        rows.append(
            [
                Text(words(_name(method), page)),
                Text(percent_within(method.mean, method.interval, page)),
                *sections.beside_accuracy(method, report.data, page),
                Text(nats(method.log_loss, page)),
                signed(base.log_loss if base else None, 3, page, more="red", less="green"),
            ]
        )
    rows += sections.majority_row(report, len(titles), page)
    note = f"Δ: against {_BASE}, paired{sections.majority_note(report)}"
    return figures(titles, [rows], page) + paragraph(note, page, indent=1, hanging=2)


def _lifelong(report: CvReport, page: Page) -> list[str]:
    """What models know of all pieces and what they forget; no part where pieces have no test rows."""
    found = [(method, method.lifelong) for method in report.methods if method.lifelong is not None]
    if not found:
        return []
    titles = ("method", "all\npieces", "seen\nso far", "for-\ngotten", "next\npiece")
    rows = [
        [
            Text(words(_name(method), page)),
            *(Text(percent(value, page)) for value in (scores.all_pieces, scores.seen)),
            signed(None if scores.forgetting is None else 100 * scores.forgetting, 1, page, more="red", less="green"),
            Text(percent(scores.forward, page)),
        ]
        for method, scores in found
    ]
    note = (
        f"{sections.metric(report.data)} on the test rows of each piece: of the last model on all pieces; over the "
        "pieces seen so far, mean over time; the best so far minus that of the last model; on the next piece, before "
        "it is learned"
    )
    return [figures(titles, [rows], page) + paragraph(note, page, indent=1, hanging=2)]


def _name(method: MethodReport) -> str:
    """Short, so that the tables fit 80 columns."""
    return method.method.rpartition(", ")[2]


def sentences(report: CvReport, page: Page) -> Iterator[str]:
    """Facts that the tables do not show: what was chosen, where accuracy was lost, the trigger, and failures."""
    if report.pooled:
        yield "R² is that of the predictions of all pieces together: the rows of one piece have none of their own"
    used = [(m.method, words(extent(m.strengths), page)) for m in report.methods if m.strengths]
    if used:
        yield f"λ or weight decay that was used: {', '.join(f'{name} {span}' for name, span in used)}"
    shares = [(m.method, m.penalty_share) for m in report.methods if m.penalty_share is not None]
    if shares:
        yield f"penalty's part of the gradient: {', '.join(f'{name} {share:.0%}' for name, share in shares)}"
    loss = report.loss
    if loss is not None:
        interval = "" if loss.shift_interval is None else f" {percent_span(loss.shift_interval, page)}"
        lost, sample, shift = (percent(part, page) for part in (loss.total, loss.smaller_sample, loss.shift))
        updates = ""
        if loss.fewer_updates is not None:
            updates = f", {percent(loss.fewer_updates, page)} by fewer updates (see --steps)"
        yield (
            f"{sections.metric(report.data)} that pieces cost st-cv: {lost} points, {sample} by the smaller sample"
            f"{updates} and {shift}{interval} by shift"
        )
    leakage = report.group_leakage
    if leakage is not None:
        yield (
            f"rows of one {words(leakage.column, page)} in training and test: {percent(leakage.divided, page)}; whole "
            f"groups ({leakage.method}): {percent(leakage.whole, page)}"
        )
    weighted = [method for method in report.methods if method.weighted_accuracy is not None]
    if weighted:
        scores = ", ".join(f"{method.method} {percent(method.weighted_accuracy, page)}" for method in weighted)
        yield f"weighted by row: {scores}"
    triggers = [method.flagged for method in report.methods if method.flagged is not None]
    if triggers:  # picsc and its unmerged models share one
        fired, tested = triggers[0]
        yield f"trigger of picsc: {fired} of {tested} pieces flagged, 5 % expected where nothing is shifted"
    units = [(method.method, unit) for method in report.methods for unit in method.units]
    no_areas = sum(unit.auc is None and unit.accuracy is not None for _, unit in units)
    if report.majority is not None and no_areas:
        yield f"AUC: without {no_areas} of {len(units)} models, which were not tested on every class"
    failures = [
        (name, unit)
        for name, unit in units
        if unit.reason and unit.accuracy is None and not (report.pooled and unit.log_loss is not None)
    ]
    if failures:
        yield f"without a number: {len(failures)} of {len(units)} models; the first are"
        yield from (_failure(name, unit) for name, unit in failures[:_FAILURES])


def _failure(method: str, unit: Unit) -> str:
    return f"  {method}, {unit.fragment}, repeat {unit.repeat}: {unit.reason}"
