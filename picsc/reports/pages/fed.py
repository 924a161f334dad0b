"""The pages of a federation, with its curves over rounds, and of an audit of clients by their summaries."""

from __future__ import annotations

from typing import TYPE_CHECKING

from picsc.phrases import counted
from picsc.reports.pages.bars import intervals, ratios, within
from picsc.reports.pages.blocks import MARKS, TONES, Cell, Content, Section, Table, heat, verdict_cell
from picsc.reports.pages.curves import curves
from picsc.reports.pages.markup import cut
from picsc.reports.pages.numbers import NONE, data_size, decimals, number, percent, probability, span
from picsc.reports.pages.shared import (
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
    from picsc.reports.fed import ClientShift, FedAuditReport, FedMethodReport, FedReport

MOST_CLIENTS, MOST_BARS = 300, 40
"""Clients of a table and of a picture at most."""
_BASE = "fedavg"
_WORDS = ("client", "round", "covariate shift", "controls", "95 % interval", "p-value", "Holm's p", "log-loss", "tau")
_AUDIT_WORDS = ("client", "covariate shift", "verdict", "p-value", "Fisher gap", "covariate KL", "tau")


def fed_content(report: FedReport) -> Content:
    """Everything on the page of a federation."""
    score = metric(report.data)
    means = [each for method in report.methods for each in within(method.method, method.accuracy, method.interval)]
    lines = [(method.method, _stretches(method)) for method in report.methods]
    target = None if report.target is None else 100 * report.target
    caption = f"Mean {score} over clients after each round, in percent."
    more = [("test of differences", report.test), ("model", report.model), ("rows that test", report.judged)]
    return Content(
        title=cut(report.data.name, 200),
        about=f"{counted(report.data.rows, 'row')}; {report.partition}; {counted(report.rounds, 'round')} of "
        f"{counted(report.participants, 'client')}; {counted(report.repeats, 'seed')}; {report.model}",
        verdict="federation",
        tone="none",
        lines=report.lines,
        sections=[
            Section("Learning curves", curves(lines, caption, target)),
            Section(
                "Methods",
                [
                    *intervals(
                        means, f"Mean {score} over clients after the last round, in percent, with 95 % intervals."
                    ),
                    _methods(report),
                ],
            ),
            differences(report.methods, _BASE, score),
            _clients(report),
            _failures(report),
            findings(report.findings),
            manifest(report, more),
        ],
        words=_WORDS,
    )


def _stretches(method: FedMethodReport) -> list[list[tuple[int, float]]]:
    """Rounds and scores in percent, cut where a round has none."""
    found: list[list[tuple[int, float]]] = [[]]
    for point in method.curve:
        if point.accuracy is None:
            found.append([])
        else:
            found[-1].append((point.round, 100 * point.accuracy))
    return found


def _methods(report: FedReport) -> Table:
    classes = report.data.metric == "accuracy"
    rows = [_method(method, classes=classes) for method in report.methods]
    beside = ("balanced accuracy", "AUC") if classes else ()
    titles = ["method", f"{metric(report.data)}, %", "95 % interval", *beside, "log-loss", "std over clients"]
    titles += ["std over seeds", "best (round)", "worst client", "all rows together", "rounds to target"]
    titles += ["bytes to target", "bytes up", "bytes down", "learning rate", "what it is"]
    caption = f"Methods after the last round: {metric(report.data)} in percent, log-loss in nats per row."
    return methods_table(caption, titles, rows, report.majority)


def _method(method: FedMethodReport, *, classes: bool) -> list[Cell]:
    best = "" if method.best_round is None else f" ({method.best_round})"
    worst = f" {cut(method.worst_client, 30)}" if method.worst_client else ""
    return [
        name_cell(method.method),
        Cell(percent(method.accuracy), "number strong"),
        Cell(span(method.interval)),
        *([Cell(percent(method.balanced_accuracy)), Cell(decimals(method.auc, 3))] if classes else []),
        Cell(decimals(method.log_loss, 3)),
        Cell(percent(method.std_clients)),
        Cell(percent(method.std_seeds)),
        Cell(percent(method.best) + best),
        Cell(percent(method.worst) + worst),
        Cell(percent(method.whole)),
        Cell(decimals(method.rounds_to_target, 1)),
        Cell(data_size(method.bytes_to_target)),
        Cell(data_size(method.bytes_up)),
        Cell(data_size(method.bytes_down)),
        Cell(", ".join(f"{rate:g}" for rate in dict.fromkeys(method.lr)) or NONE),
        words_cell(method.words),
    ]


def _clients(report: FedReport) -> Section:
    """How each client's rows differ from the others', and what every method scores on them."""
    shown = report.clients[:MOST_CLIENTS]
    rows = [
        [
            *_client(client),
            *(_score(method.clients[k] if k < len(method.clients) else None) for method in report.methods),
            words_cell(client.reason),
        ]
        for k, client in enumerate(shown)
    ]
    left = len(report.clients) - len(shown)
    notes = [f"{counted(left, 'more client')}: the JSON report has them all."] if left else []
    titles = ["client", "rows", "labels", "label KL", "p", "covariates", "covariate KL"]
    titles += [*(method.method for method in report.methods), "note"]
    caption = (
        f"Each client's rows compared with those of all others, and every method's {metric(report.data)} on them in "
        "percent; darker is worse."
    )
    return Section("Clients", [Table(caption, titles, rows, notes=notes)] if rows else [])


def _score(value: float | None) -> Cell:
    return Cell(percent(value), f"number {heat(None if value is None else max(0.0, 1 - value))}")


def _client(client: ClientShift) -> list[Cell]:
    labels = Cell(NONE) if client.label_p is None else verdict_cell("shift" if client.labels_shifted else "ok")
    return [
        name_cell(client.name),
        Cell(str(client.rows)),
        labels,
        Cell(number(client.label_kl)),
        Cell(probability(client.label_p)),
        Cell(NONE) if client.covariates is None else verdict_cell(client.covariates),
        Cell(number(client.covariate_kl)),
    ]


def _failures(report: FedReport) -> Section:
    rows = [
        [
            name_cell(method.method),
            Cell(str(failure.seed)),
            Cell(str(failure.round)),
            name_cell(failure.client or "all"),
            words_cell(failure.reason),
        ]
        for method in report.methods
        for failure in method.failures
    ]
    return without_result("Runs without a result", ("method", "seed", "round", "client", "why"), rows)


def fed_audit_content(report: FedAuditReport) -> Content:
    """Everything on the page of an audit of clients."""
    shown = sorted(report.clients, key=lambda client: client.verdict == "ok")[:MOST_CLIENTS]
    kept = {id(client) for client in shown}
    rows = [
        [
            name_cell(client.name),
            Cell(str(client.rows)),
            verdict_cell(client.verdict),
            words_cell(client.reason),
            Cell(number(client.fisher_gap)),
            Cell(number(client.relative_gap)),
            Cell(number(client.covariate_kl)),
            Cell(number(client.tau)),
            Cell(number(client.gamma)),
            _chance(client.p_data, report.level),
            _chance(client.p_model, report.level),
            Cell(number(client.label_kl)),
            _chance(client.label_p, report.level),
        ]
        for client in report.clients
        if id(client) in kept
    ]
    left = len(report.clients) - len(rows)
    notes = [f"* at most {report.level:g}"]
    notes += [f"{counted(left, 'more client')}, which are ok: the JSON report has them all."] if left else []
    titles = ["client", "rows", "verdict", "why", "Fisher gap", "relative", "covariate KL", "tau", "threshold"]
    titles += ["p data", "p model", "label KL", "p labels"]
    largest = sorted(report.clients, key=lambda client: -(client.tau or 0.0) / (client.gamma or 1.0))[:MOST_BARS]
    values = [(client.name, client.tau, client.gamma) for client in largest]
    caption = "Tau of each client as a multiple of its calibrated threshold (the dashed line), on a logarithmic axis."
    return Content(
        title=cut(report.data.name, 200),
        about=f"{counted(report.data.rows, 'row')}; {report.partition}; {report.model}; each client sent "
        f"{data_size(report.bytes_up)} once",
        verdict=f"{MARKS[report.verdict]} {report.verdict}",
        tone=TONES[report.verdict],
        lines=report.summary,
        sections=[
            Section(
                "Clients",
                [Table("Every client against all others.", titles, rows, notes=notes, stacked=True)] if rows else [],
            ),
            Section("Tau (Eq. 14) against its threshold", list(ratios(values, caption))),
            findings(report.findings),
            manifest(report, [("test", report.test), ("level", f"{report.level:g}")]),
        ],
        words=_AUDIT_WORDS,
    )


def _chance(p: float | None, level: float) -> Cell:
    small = p is not None and p <= level
    return Cell(probability(p) + ("*" if small else ""), "number mark" if small else "number")
