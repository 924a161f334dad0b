"""The page of a cross-validation: the paper's table, intervals, controls, what pieces cost, and what is forgotten."""

from __future__ import annotations

from typing import TYPE_CHECKING

from picsc.phrases import counted
from picsc.reports.pages.bars import intervals, within
from picsc.reports.pages.blocks import Cell, Content, Items, Section, Table, heat
from picsc.reports.pages.markup import cut
from picsc.reports.pages.numbers import decimals, extent, percent, points, probability, span
from picsc.reports.pages.shared import (
    capital,
    differences,
    findings,
    manifest,
    methods_table,
    metric,
    name_cell,
    without_result,
    words_cell,
)

if TYPE_CHECKING:
    from picsc.reports.cv import CvReport, Lifelong, MethodReport

MOST_PIECES = 40
"""Pieces of the paper's table at most."""
_BASE = "st-cv"
_WORDS = ("piece", "st-cv", "controls", "95 % interval", "p-value", "Holm's p", "log-loss", "lambda")


def cv_content(report: CvReport) -> Content:
    """Everything on the page."""
    score = metric(report.data)
    more = [("test of differences", report.test), ("score", f"{score}, in percent"), ("pieces", report.pieces)]
    caption = f"Mean {score} over pieces and repeats in percent, with 95 % intervals."
    means = [each for method in report.methods for each in within(method.method, method.mean, method.interval)]
    return Content(
        title=cut(report.data.name, 200),
        about=f"{counted(report.data.rows, 'row')}; {report.pieces}; {counted(report.repeats, 'repeat')}; algorithm "
        f"{report.algorithm} of the paper",
        verdict="cross-validation",
        tone="none",
        lines=report.lines,
        sections=[
            Section("Methods", [*intervals(means, caption), _methods(report)]),
            Section("The paper's table", [_pieces(report)]),
            differences(report.methods, _BASE, score),
            _costs(report),
            *_lifelong(report),
            _failures(report),
            findings(report.findings),
            manifest(report, more),
        ],
        words=_WORDS,
    )


def _methods(report: CvReport) -> Table:
    score = metric(report.data)
    classes = report.data.metric == "accuracy"
    rows = [_method(method, classes=classes) for method in report.methods]
    beside = ("balanced accuracy", "AUC") if classes else ()
    titles = (
        "method",
        f"{score}, %",
        "95 % interval",
        *beside,
        "log-loss",
        "λ or weight decay",
        "flagged",
        "what it is",
    )
    caption = f"Methods: {score} in percent, log-loss in nats per row."
    return methods_table(caption, titles, rows, report.majority)


def _method(method: MethodReport, *, classes: bool) -> list[Cell]:
    beside = [Cell(percent(method.balanced_accuracy)), Cell(decimals(method.auc, 3))] if classes else []
    flagged = "" if method.flagged is None else f"{method.flagged[0]} of {method.flagged[1]}"
    return [
        name_cell(method.method),
        Cell(percent(method.mean), "number strong"),
        Cell(span(method.interval)),
        *beside,
        Cell(decimals(method.log_loss, 3)),
        Cell(extent(method.strengths)),
        Cell(flagged),
        words_cell(method.words),
    ]


def _pieces(report: CvReport) -> Table:
    """Every piece, coloured by how far it is below the best of its column's methods."""
    shown = range(min(len(report.fragments), MOST_PIECES))
    rows = []
    for method in report.methods:
        against = method.against(_BASE)
        rows.append(
            [
                name_cell(method.method),
                Cell(percent(method.whole)),
                *(Cell(percent(method.fragments[i] if i < len(method.fragments) else None)) for i in shown),
                Cell(percent(method.mean), "number strong"),
                Cell(decimals(method.variance, 2)),
                Cell(points(against.accuracy if against else None)),
            ]
        )
    pieces = [cut(report.fragments[i], 24) for i in shown]
    left = len(report.fragments) - len(pieces)
    notes = [f"{counted(left, 'more piece')}: the JSON report has them all."] if left else []
    return Table(
        f"{capital(metric(report.data))} in percent: of the whole set, of each piece (mean over repeats), their mean "
        f"and variance, and the difference of the mean from {_BASE} in points.",
        ("method", "whole set", *pieces, "mean", "variance", f"Δ {_BASE}"),
        rows,
        notes=notes,
    )


def _costs(report: CvReport) -> Section:
    """The estimate for deployment, where accuracy is lost, and leakage of groups."""
    pairs: list[tuple[str, str]] = []
    if report.deployment is not None:
        pairs.append(("Estimate to trust", report.deployment.line))
    loss = report.loss
    if loss is not None:
        updates = "" if loss.fewer_updates is None else f", {percent(loss.fewer_updates)} by fewer updates"
        interval = "" if loss.shift_interval is None else f" {span(loss.shift_interval)}"
        pairs.append(
            (
                f"What pieces cost {_BASE}",
                (
                    f"{percent(loss.total)} points of {metric(report.data)}: {percent(loss.smaller_sample)} by the "
                    f"smaller sample{updates} and {percent(loss.shift)}{interval} by shift"
                ),
            )
        )
    leakage = report.group_leakage
    if leakage is not None:
        pairs.append(
            (
                f"Rows of one {leakage.column} in training and test",
                (
                    f"{percent(leakage.divided)}; whole groups ({leakage.method}): {percent(leakage.whole)}; "
                    f"difference {span(leakage.interval)}, p {probability(leakage.p)}"
                ),
            )
        )
    if report.pooled:
        pairs.append(("R²", "that of the predictions of all pieces together: rows of one piece have none of their own"))
    return Section("What pieces cost, and estimates", [Items(pairs)] if pairs else [])


def _lifelong(report: CvReport) -> list[Section]:
    """What models know of all pieces and what they forget; the matrix of each method folded away."""
    found = [(method, method.lifelong) for method in report.methods if method.lifelong is not None]
    if not found:
        return []
    rows = [
        [
            name_cell(method.method),
            Cell(percent(scores.all_pieces)),
            Cell(percent(scores.seen)),
            Cell(points(scores.forgetting)),
            Cell(percent(scores.forward)),
        ]
        for method, scores in found
    ]
    titles = ("method", "last model, all pieces", "pieces seen so far", "forgotten, points", "next piece")
    caption = "Models that are trained on one piece after another, scored on the test rows of every piece, in percent."
    matrices = [_matrix(method.method, scores, report) for method, scores in found]
    return [
        Section("One piece after another", [Table(caption, titles, rows)]),
        Section("Learning and forgetting, piece by piece", matrices, folded=True),
    ]


def _matrix(method: str, scores: Lifelong, report: CvReport) -> Table:
    size = min(len(scores.matrix), MOST_PIECES)
    rows = [
        [
            name_cell(f"after {report.fragments[i] if i < len(report.fragments) else i + 1}"),
            *(Cell(percent(value), heat(None if value is None else 1 - value)) for value in scores.matrix[i][:size]),
        ]
        for i in range(size)
    ]
    titles = ["model", *(cut(name, 20) for name in report.fragments[:size])]
    caption = f"{method}: {metric(report.data)} in percent on each piece, after each piece; darker is worse."
    return Table(caption, titles, rows, dense=True)


def _failures(report: CvReport) -> Section:
    rows = [
        [name_cell(method.method), name_cell(unit.fragment), Cell(str(unit.repeat)), words_cell(unit.reason)]
        for method in report.methods
        for unit in method.units
        if unit.reason and unit.accuracy is None and not (report.pooled and unit.log_loss is not None)
    ]
    return without_result("Models without a number", ("method", "piece", "repeat", "why"), rows)
