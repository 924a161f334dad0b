"""The page of a comparison: methods with intervals, the paper's table by target, weights, and cross-validated risk."""

from __future__ import annotations

from typing import TYPE_CHECKING

from picsc.phrases import counted
from picsc.reports.pages.bars import intervals, within
from picsc.reports.pages.blocks import Cell, Content, Section, Table
from picsc.reports.pages.markup import cut
from picsc.reports.pages.numbers import NONE, data_size, decimals, extent, number, percent, points, signed, span
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
    from picsc.reports.compare import CompareMethodReport, CompareReport

MOST_TARGETS = 100
"""Targets at most."""
_BASE = "st-cv"
_WORDS = ("covariate shift", "st-cv", "importance weight", "effective sample size", "separation", "95 % interval")
_MORE_WORDS = ("p-value", "Holm's p", "log-loss", "lambda")


def compare_content(report: CompareReport) -> Content:
    """Everything on the page."""
    score = metric(report.data)
    means = [each for method in report.methods for each in within(method.method, method.accuracy, method.interval)]
    caption = f"Mean {score} on the targets in percent, with 95 % intervals."
    more = [("test of differences", report.test), ("rows", report.words)]
    return Content(
        title=cut(report.data.name, 200),
        about=f"{counted(report.data.rows, 'row')}; {report.words}; {counted(report.repeats, 'repeat')}",
        verdict="comparison",
        tone="none",
        lines=report.lines,
        sections=[
            Section("Methods", [*intervals(means, caption), _methods(report)]),
            Section("The paper's table", [_targets(report), *_deltas(report)]),
            differences(report.methods, _BASE, score),
            _weights(report),
            _risks(report),
            _failures(report),
            findings(report.findings),
            manifest(report, more),
        ],
        words=(*_WORDS, *_MORE_WORDS),
    )


def _methods(report: CompareReport) -> Table:
    classes = report.data.metric == "accuracy"
    took = {measured.method: measured.seconds for measured in report.measured}
    rows = [_method(method, took, classes=classes) for method in report.methods]
    beside = ("balanced accuracy", "AUC") if classes else ()
    titles = ["method", f"{metric(report.data)}, %", "95 % interval", *beside, "log-loss", "λ", "power"]
    titles += [*(["seconds"] if took else []), "what it is"]
    caption = f"Methods: {metric(report.data)} in percent, log-loss in nats per row."
    return methods_table(caption, titles, rows, report.majority)


def _method(method: CompareMethodReport, took: dict[str, float], *, classes: bool) -> list[Cell]:
    return [
        name_cell(method.method),
        Cell(percent(method.accuracy), "number strong"),
        Cell(span(method.interval)),
        *([Cell(percent(method.balanced_accuracy)), Cell(decimals(method.auc, 3))] if classes else []),
        Cell(decimals(method.log_loss, 3)),
        Cell(extent(method.strengths)),
        Cell(extent(method.exponents)),
        *([Cell(decimals(took.get(method.method), 1))] if took else []),
        words_cell(method.words),
    ]


def _targets(report: CompareReport) -> Table:
    shown = range(min(len(report.targets), MOST_TARGETS))
    rows = []
    for i in shown:
        target = report.targets[i]
        rows.append(
            [
                name_cell(target.name),
                *(Cell(percent(method.targets[i])) for method in report.methods),
                *(Cell(points(report.gain(delta, i))) for delta in report.deltas),
                *(Cell(str(count)) for count in (target.train, target.adapt, target.labelled, target.judge)),
                Cell(decimals(target.separation, 2)),
            ]
        )
    if len(report.targets) > 1:
        means = [Cell(percent(method.accuracy), "number strong") for method in report.methods]
        means += [Cell(points(delta.points), "number strong") for delta in report.deltas]
        rows.append([Cell("mean", "name"), *means, *[Cell("")] * 5])
    left = len(report.targets) - len(shown)
    notes = [f"{counted(left, 'more target')}: the JSON report has them all."] if left else []
    deltas = [f"{delta.name}, points" for delta in report.deltas]
    counts = ("training rows", "target rows", "with labels", "test rows", "separation")
    return Table(
        f"{capital(metric(report.data))} in percent on each target, mean over repeats, and the rows of each kind.",
        ("target", *(method.method for method in report.methods), *deltas, *counts),
        rows,
        notes=notes,
    )


def _deltas(report: CompareReport) -> list[Table]:
    rows = [
        [
            Cell(delta.name, "name"),
            Cell(f"{delta.ours} against {delta.against}", ""),
            Cell(points(delta.points)),
            Cell(NONE if delta.relative is None else f"{signed(100 * delta.relative, 1)} % of {delta.base}"),
        ]
        for delta in report.deltas
    ]
    titles = ("name", "methods", "points", "relative, as the paper prints it")
    return [Table("The differences that the paper prints.", titles, rows)] if rows else []


def _weights(report: CompareReport) -> Section:
    rows = [
        [
            name_cell(method.method),
            Cell(percent(method.weights.ess)),
            Cell(percent(method.weights.smallest_ess)),
            Cell(number(method.weights.largest)),
            Cell(data_size(method.memory or None)),
        ]
        for method in report.methods
        if method.weights is not None
    ]
    caption = (
        "Importance weights of the training rows: effective sample size in percent of the rows, and the largest weight."
    )
    titles = ("method", "effective sample size, %", "smallest, %", "largest weight", "memory")
    return Section("Weights", [Table(caption, titles, rows)] if rows else [])


def _risks(report: CompareReport) -> Section:
    score = metric(report.data)
    rows = [
        [
            name_cell(risk.by),
            *(Cell(percent(value)) for value in (risk.accuracy, risk.accuracy_error, risk.accuracy_bias)),
            *(Cell(decimals(value, 3)) for value in (risk.log_loss, risk.log_loss_error, risk.log_loss_bias)),
        ]
        for risk in report.risks
    ]
    titles = (
        "weighed by",
        f"{score}, %",
        "mean error, points",
        "error of the mean",
        "log-loss",
        "mean error",
        "error of the mean",
    )
    caption = (
        "Estimates that cross-validation on training rows makes of the plain model on the target, and their errors."
    )
    return Section("What cross-validation foretells", [Table(caption, titles, rows)] if rows else [])


def _failures(report: CompareReport) -> Section:
    rows = [
        [name_cell(method.method), name_cell(unit.target), Cell(str(unit.repeat)), words_cell(unit.reason)]
        for method in report.methods
        for unit in method.units
        if unit.reason and unit.accuracy is None
    ]
    return without_result("Models without a number", ("method", "target", "repeat", "why"), rows)
