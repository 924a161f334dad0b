"""Comparisons of methods as Markdown: targets, methods, risks, settings and versions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from picsc.phrases import counted
from picsc_cli.formats.markdown.text import document, findings, grid, manifest, metrics, plain, summary
from picsc_cli.formats.table.compare import failed, three
from picsc_cli.text.method_names import PAPERS_NAMES
from picsc_cli.text.numbers import (
    data_size,
    decimals,
    nats,
    percent,
    percent_within,
    points,
    points_within,
    signed,
)
from picsc_cli.text.p_values import NOTE, of_log_loss, of_score
from picsc_cli.text.page import Page
from picsc_cli.text.sections import beside_accuracy, beside_titles, majority_row, metric

if TYPE_CHECKING:
    from picsc.reports.compare import CompareMethodReport, CompareReport, Delta, Risk, TargetInfo

_PAGE = Page()


def compare_markdown(report: CompareReport) -> str:
    """The whole report: accuracies and errors in percent and points, log-losses in nats; relative differences apart."""
    repeats = counted(report.repeats, "repeat")
    about = f"{report.data.rows} rows: {plain(report.words)}; {repeats}. Test: {plain(report.test)}."
    lines = [f"# {plain(report.data.name)}", "", *summary(report.lines), "", about, ""]
    lines += [*_targets(report), "", *_deltas(report), "", "## Methods", "", *_methods(report), "", f"{NOTE}.", ""]
    lines += metrics(report, _PAGE, "st-cv")
    if report.risks:
        lines += ["## What cross-validation foretells", "", *_risks(report), ""]
    failures = failed(report)
    if failures:
        lines += ["## Without a result", "", *(f"- {plain(line)}" for line in failures), ""]
    return document([*lines, *findings(report.findings), *manifest(report)])


def _targets(report: CompareReport) -> list[str]:
    """The paper's table with every method, and how many rows train, adapt and test."""
    names = [PAPERS_NAMES.get(method.method, method.method) for method in report.methods]
    titles = ["target", *names, *(f"{delta.name}, points" for delta in report.deltas)]
    rows = [[*_target(report, i), *_counts(target)] for i, target in enumerate(report.targets)]
    if len(report.targets) > 1:
        mean = ["mean", *(percent(method.accuracy, _PAGE) for method in report.methods)]
        mean += [points(delta.points, _PAGE).plain for delta in report.deltas]
        rows.append([*(f"**{cell}**" for cell in mean), *[""] * len(_COUNTS)])
    return grid([*titles, *_COUNTS], rows)


_COUNTS = ("learn", "looked at", "with labels", "judge", "separation")


def _target(report: CompareReport, i: int) -> list[str]:
    accuracies = (percent(method.targets[i], _PAGE) for method in report.methods)
    return [
        plain(report.targets[i].name),
        *accuracies,
        *(points(report.gain(d, i), _PAGE).plain for d in report.deltas),
    ]


def _counts(target: TargetInfo) -> list[str]:
    return [
        *map(str, (target.train, target.adapt, target.labelled, target.judge)),
        decimals(target.separation, 2, _PAGE),
    ]


def _deltas(report: CompareReport) -> list[str]:
    return [f"- {_delta(delta, metric(report.data))}" for delta in report.deltas]


def _delta(delta: Delta, score: str) -> str:
    text = f"{delta.name}: {delta.ours} against {delta.against}, {points(delta.points, _PAGE).plain} points"
    if delta.relative is None:
        return text
    return f"{text}; relative, as the paper prints it, {_share(delta.relative)} % of {delta.base}'s {score}"


def _share(relative: float) -> str:
    return signed(100 * relative, 1, _PAGE).plain


def _methods(report: CompareReport) -> list[str]:
    took = {measured.method: measured.seconds for measured in report.measured}
    beside = [title.replace("\n", " ") for title in beside_titles(report.data)]
    titles = ["method", f"{metric(report.data)} [95 %]", *beside, "log-loss", "Δ st-cv, points [95 %]", "p", "Holm"]
    titles += ["p of picsc", "Holm", "Δ log-loss", "p", "Holm", "p of picsc's log-loss", "Holm"]
    titles += ["ESS, %", "smallest", "largest weight", "memory", "λ", "power", *(["seconds"] if took else [])]
    rows = [
        [*_method(report, method), *([f"{took.get(method.method, 0.0):.1f}"] if took else [])]
        for method in report.methods
    ]
    rows += [[cell.plain for cell in row] for row in majority_row(report, len(titles), _PAGE)]
    return grid(titles, rows)


def _method(report: CompareReport, method: CompareMethodReport) -> list[str]:
    base, standard, ours = method.against("st-cv"), report.method("st-cv"), report.method("picsc")
    tested, versus = (each.against(method.method) if each else None for each in (standard, ours))
    weights = method.weights
    return [
        method.method,
        percent_within(method.accuracy, method.interval, _PAGE),
        *(cell.plain for cell in beside_accuracy(method, report.data, _PAGE)),
        nats(method.log_loss, _PAGE),
        points_within(base.accuracy, base.accuracy_interval, _PAGE).plain if base else _PAGE.none,
        *of_score(tested, _PAGE),
        *of_score(versus, _PAGE),
        signed(base.log_loss if base else None, 3, _PAGE).plain,
        *of_log_loss(tested, _PAGE),
        *of_log_loss(versus, _PAGE),
        *(
            [_PAGE.none] * 3
            if weights is None
            else [three(100 * weights.ess), three(100 * weights.smallest_ess), three(weights.largest)]
        ),
        data_size(method.memory or None, _PAGE),
        ", ".join(f"{strength:g}" for strength in method.strengths),
        ", ".join(f"{exponent:g}" for exponent in method.exponents),
    ]


def _risks(report: CompareReport) -> list[str]:
    titles = ["weighed by", metric(report.data), "mean error, points", "error of the mean", "log-loss", "mean error"]
    return grid([*titles, "error of the mean"], [_risk(risk) for risk in report.risks])


def _risk(risk: Risk) -> list[str]:
    accuracies = (risk.accuracy, risk.accuracy_error, risk.accuracy_bias)
    return [
        risk.by,
        *(percent(value, _PAGE) for value in accuracies),
        *(nats(value, _PAGE) for value in (risk.log_loss, risk.log_loss_error, risk.log_loss_bias)),
    ]
