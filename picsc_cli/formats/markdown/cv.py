"""Cross-validations as Markdown: pieces, comparison of methods, findings, settings and versions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from picsc.phrases import counted
from picsc_cli.formats.markdown.text import document, findings, grid, manifest, metrics, plain, summary
from picsc_cli.formats.table.cv import sentences
from picsc_cli.text.numbers import extent, nats, percent, percent_within, points, signed
from picsc_cli.text.p_values import NOTE, of_log_loss, of_score
from picsc_cli.text.page import Page

if TYPE_CHECKING:
    from picsc.reports.cv import CvReport, MethodReport

_PAGE = Page()


def cv_markdown(report: CvReport) -> str:
    """The whole report: accuracies in percent, their differences in points, log-losses in nats."""
    repeats = counted(report.repeats, "repeat")
    about = (
        f"{report.data.rows} rows: {plain(report.pieces)}; {repeats}, algorithm {report.algorithm}. "
        f"Test: {plain(report.test)}."
    )
    lines = [f"# {plain(report.data.name)}", "", *summary(report.lines), "", about, ""]
    lines += [*_pieces(report), "", "## Methods", "", *_methods(report), "", f"{NOTE}.", ""]
    lines += [*metrics(report, _PAGE, "st-cv"), *_lifelong(report)]
    lines += [f"- {plain(line.strip())}" for line in sentences(report, _PAGE)]
    return document([*lines, "", *findings(report.findings), *manifest(report)])


def _pieces(report: CvReport) -> list[str]:
    """The paper's table with every piece."""
    titles = ["method", "whole set", *map(plain, report.fragments), "mean", "Δ st-cv, points"]
    rows = [
        [
            plain(method.method),
            percent(method.whole, _PAGE),
            *(percent(value, _PAGE) for value in method.fragments),
            percent(method.mean, _PAGE),
            points(difference.accuracy if (difference := method.against("st-cv")) else None, _PAGE).plain,
        ]
        for method in report.methods
    ]
    return grid(titles, rows)


def _methods(report: CvReport) -> list[str]:
    ours = report.method("picsc")
    titles = ["method", "accuracy [95 %]", "log-loss", "Δ log-loss", "p of Δ accuracy", "Holm"]
    titles += ["p of Δ log-loss", "Holm", "p of picsc", "Holm", "p of picsc's log-loss", "Holm"]
    base = report.method("st-cv")
    return grid([*titles, "λ", "penalty's share"], [_method(method, base, ours) for method in report.methods])


def _method(method: MethodReport, standard: MethodReport | None, ours: MethodReport | None) -> list[str]:
    base = method.against("st-cv")
    tested, versus = (each.against(method.method) if each else None for each in (standard, ours))
    return [
        plain(method.method),
        percent_within(method.mean, method.interval, _PAGE),
        nats(method.log_loss, _PAGE),
        signed(base.log_loss if base else None, 3, _PAGE).plain,
        *of_score(tested, _PAGE),
        *of_log_loss(tested, _PAGE),
        *of_score(versus, _PAGE),
        *of_log_loss(versus, _PAGE),
        extent(method.strengths) or _PAGE.none,
        _PAGE.none if method.penalty_share is None else f"{method.penalty_share:.0%}",
    ]


def _lifelong(report: CvReport) -> list[str]:
    """What models know of all pieces and what they forget; no lines where pieces have no test rows."""
    titles = ["method", "last model, all pieces", "pieces seen so far", "forgotten, points", "next piece"]
    rows = [
        [
            plain(method.method),
            percent(scores.all_pieces, _PAGE),
            percent(scores.seen, _PAGE),
            points(scores.forgetting, _PAGE).plain,
            percent(scores.forward, _PAGE),
        ]
        for method in report.methods
        if (scores := method.lifelong) is not None
    ]
    return ["## One piece after another", "", *grid(titles, rows), ""] if rows else []
