"""Federations and audits of clients as Markdown: clients, methods, tests, settings and versions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from picsc.reports.fed import of_client
from picsc_cli.formats.markdown.text import document, findings, grid, manifest, metrics, plain, summary
from picsc_cli.text.numbers import data_size, decimals, nats, number, percent, percent_within, points_within, probable
from picsc_cli.text.p_values import NOTE, of_log_loss, of_score
from picsc_cli.text.page import Page
from picsc_cli.text.sections import beside_accuracy, beside_titles, majority_row, metric

if TYPE_CHECKING:
    from picsc.reports.fed import ClientAudit, ClientShift, FedAuditReport, FedMethodReport, FedReport

_PAGE = Page()


def fed_markdown(report: FedReport) -> str:
    """The whole report: accuracies and differences in percent and points, log-losses and divergences in nats."""
    about = (
        f"{report.data.rows} rows, {plain(report.partition)}; {plain(report.model)}; {report.rounds} rounds of "
        f"{report.participants} clients; {report.repeats} seeds; judged by {plain(report.judged)}."
    )
    target = f", which is {percent(report.target, _PAGE)}" if report.target is not None else ""
    lines = [f"# {plain(report.data.name)}", "", *summary(report.summary), "", about, "", *_methods(report), ""]
    lines += [f"Δ and p: {plain(report.test)}. {NOTE}. Rounds and bytes are those to the target{target}.", ""]
    lines += metrics(report, _PAGE, "fedavg")
    lines += ["## Clients", "", *_clients(report), ""]
    failures = [
        f"- {plain(method.method)}, seed {failure.seed}, round {failure.round}"
        f"{', ' + plain(failure.client) if failure.client else ''}: {plain(failure.reason)}"
        for method in report.methods
        for failure in method.failures
    ]
    if failures:
        lines += ["## Without a result", "", *failures, ""]
    return document([*lines, *findings(report.findings), *manifest(report)])


def fed_audit_markdown(report: FedAuditReport) -> str:
    """One row per client; divergences in nats."""
    about = (
        f"{report.data.rows} rows, {plain(report.partition)}; {plain(report.model)}; each client sent "
        f"{data_size(report.bytes_up, _PAGE)} once; {plain(report.test)}; level {report.level:g}."
    )
    titles = [
        "client",
        "rows",
        "τ",
        "gamma",
        "p",
        "Fisher gap",
        "relative",
        "KL",
        "label KL",
        "label p",
        "verdict",
        "note",
    ]
    rows = grid(titles, [_audited(client) for client in report.clients])
    head = [f"# {plain(report.data.name)}", "", *summary(report.summary), "", about, "", *rows, ""]
    return document([*head, *findings(report.findings), *manifest(report)])


def _methods(report: FedReport) -> list[str]:
    beside = [title.replace("\n", " ") for title in beside_titles(report.data)]
    titles = [
        "method",
        f"{metric(report.data)} [95 %]",
        *beside,
        "std over clients",
        "std over seeds",
        "best (round)",
        "worst client",
    ]
    titles += ["all rows", "log-loss", "Δ fedavg [95 %]", "p", "Holm", "p of Δ log-loss", "Holm"]
    titles += ["p of picsc", "Holm", "p of picsc's log-loss", "Holm", "rounds", "bytes", "up", "down", "lr"]
    rows = [_method(report, method) for method in report.methods]
    rows += [[cell.plain for cell in row] for row in majority_row(report, len(titles), _PAGE)]
    return grid(titles, rows)


def _method(report: FedReport, method: FedMethodReport) -> list[str]:
    base, average, ours = method.against("fedavg"), report.method("fedavg"), report.method("picsc")
    tested, versus = (each.against(method.method) if each else None for each in (average, ours))
    best = "" if method.best_round is None else f" ({method.best_round})"
    worst = f" {plain(method.worst_client)}" if method.worst_client else ""
    moved = points_within(base.accuracy, base.interval, _PAGE).plain if base else _PAGE.none
    return [
        plain(method.method),
        percent_within(method.accuracy, method.interval, _PAGE),
        *(cell.plain for cell in beside_accuracy(method, report.data, _PAGE)),
        percent(method.std_clients, _PAGE),
        percent(method.std_seeds, _PAGE),
        percent(method.best, _PAGE) + best,
        percent(method.worst, _PAGE) + worst,
        percent(method.whole, _PAGE),
        nats(method.log_loss, _PAGE),
        moved,
        *of_score(tested, _PAGE),
        *of_log_loss(tested, _PAGE),
        *of_score(versus, _PAGE),
        *of_log_loss(versus, _PAGE),
        decimals(method.rounds_to_target, 1, _PAGE),
        data_size(method.bytes_to_target, _PAGE),
        data_size(method.bytes_up, _PAGE),
        data_size(method.bytes_down, _PAGE),
        ", ".join(f"{rate:g}" for rate in dict.fromkeys(method.lr)),
    ]


def _clients(report: FedReport) -> list[str]:
    titles = ["client", "rows", "label KL", "label p", "labels", "covariates", "covariate KL"]
    rows = [
        [
            *_client(client),
            *(percent(of_client(method.clients, k), _PAGE) for method in report.methods),
            plain(client.reason),
        ]
        for k, client in enumerate(report.clients)
    ]
    return grid([*titles, *(method.method for method in report.methods), "note"], rows)


def _client(client: ClientShift) -> list[str]:
    labels = _PAGE.none if client.label_p is None else "shift" if client.labels_shifted else "ok"
    return [
        plain(client.name),
        str(client.rows),
        number(client.label_kl, _PAGE),
        probable(client.label_p, _PAGE),
        labels,
        client.covariates or _PAGE.none,
        number(client.covariate_kl, _PAGE),
    ]


def _audited(client: ClientAudit) -> list[str]:
    return [
        plain(client.name),
        str(client.rows),
        number(client.tau, _PAGE),
        number(client.gamma, _PAGE),
        probable(client.p, _PAGE),
        number(client.fisher_gap, _PAGE),
        number(client.relative_gap, _PAGE),
        number(client.covariate_kl, _PAGE),
        number(client.label_kl, _PAGE),
        probable(client.label_p, _PAGE),
        client.verdict,
        plain(client.reason),
    ]
