"""Federations as text for people: three lines, clients, the paper's table, the comparison, a footer.

Everything shown is read from the report; nothing is computed but widths and order. Accuracies, their standard
deviations and their differences are in percent and percentage points; log-losses and divergences in nats.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from rich.text import Text

from picsc.reports.fed import of_client
from picsc_cli.text import metric_rows, p_values, sections
from picsc_cli.text.numbers import (
    count,
    data_size,
    decimals,
    extent,
    nats,
    number,
    percent,
    percent_within,
    points,
)
from picsc_cli.text.page import Page, cut, figures, paragraph, words

if TYPE_CHECKING:
    from picsc.reports.fed import ClientShift, Failure, FedMethodReport, FedReport

MOST_CLIENTS = 12
"""Clients in the table."""
LONGEST_CLIENT = 24
"""Cells of a client's name at most."""
_FAILURES = 5
"""Failed runs and clients that are named."""
_LARGEST = 3
"""Clients whose tau is shown."""
_BASE, _OURS = "fedavg", "picsc"


def fed_table(report: FedReport, page: Page, *, verbose: bool = False) -> str:
    """The whole report; `verbose` adds what the methods are, the columns as understood and the settings."""
    parts = [
        sections.summary(report, page),
        paragraph(_title(report), page) + _clients(report, page),
        _methods(report, page),
        _comparison(report, page),
        *metric_rows.tables(report, page, _BASE),
        *p_values.tables(report, page, _BASE),
    ]
    parts += sections.method_sections(report, _sentences(report, page), _footer(report), page, verbose=verbose)
    return "\n".join(parts)


def _title(report: FedReport) -> str:
    clients = len(report.clients)
    taking_part = "all" if report.participants == clients else f"{report.participants} of {clients}"
    rounds = "1 round" if report.rounds == 1 else f"{report.rounds} rounds"
    seeds = "1 seed" if report.repeats == 1 else f"{report.repeats} seeds"
    return (
        f"{report.data.name}, {report.data.rows} rows, {report.partition}; {report.model}; "
        f"{rounds} of {taking_part} clients, {seeds}"
    )


def _clients(report: FedReport, page: Page) -> str:
    """Clients with what moved, the most shifted ones of many, and how well our method does on each."""
    ours = _ours(report)
    shown = sorted(_most_shifted(report.clients)) if len(report.clients) > MOST_CLIENTS else range(len(report.clients))
    titles = (
        "client",
        "rows",
        "label\nKL",
        "label\nshift",
        "covariates",
        "covariate\nKL",
        f"{sections.metric(report.data)}\n{ours.method}",
    )
    rows = [_client(report.clients[k], of_client(ours.clients, k), page) for k in shown]
    rest = [client for k, client in enumerate(report.clients) if k not in shown]
    reasons = [client for client in (report.clients[k] for k in shown) if client.reason]
    notes = [f"{client.name}: {client.reason}" for client in reasons[:_FAILURES]]
    if len(reasons) > _FAILURES:
        notes.append(f"and {len(reasons) - _FAILURES} more clients with a reason; --output json has all of them")
    if rest:
        notes.append(_others(rest))
    return figures(titles, [rows], page) + "".join(paragraph(note, page, indent=1, hanging=2) for note in notes)


def _ours(report: FedReport) -> FedMethodReport:
    """PIcsC, or the last method of a run without it."""
    return report.method(_OURS) or report.methods[-1]


def _most_shifted(clients: Sequence[ClientShift]) -> list[int]:
    """Positions of the clients to show: verdicts first, then the larger divergence."""

    def moved(k: int) -> tuple[bool, bool, float, float]:
        client = clients[k]
        return (
            client.covariates == "shift",
            client.labels_shifted,
            client.covariate_kl or 0.0,
            client.label_kl or 0.0,
        )

    return sorted(range(len(clients)), key=moved, reverse=True)[:MOST_CLIENTS]


def _client(client: ClientShift, accuracy: float | None, page: Page) -> list[Text]:
    labels = Text(page.none) if client.label_p is None else _verdict("shift" if client.labels_shifted else "ok")
    return [
        Text(cut(words(client.name, page), LONGEST_CLIENT, page)),
        Text(str(client.rows)),
        Text(number(client.label_kl, page)),
        labels,
        Text(page.none) if client.covariates is None else _verdict(client.covariates),
        Text(number(client.covariate_kl, page)),
        Text(percent(accuracy, page)),
    ]


def _verdict(verdict: str) -> Text:
    return Text(verdict, sections.VERDICT_STYLE[verdict])


def _others(rest: Sequence[ClientShift]) -> str:
    """One line for the clients that are not shown."""
    labels = sum(client.labels_shifted for client in rest)
    covariates = sum(client.covariates == "shift" for client in rest)
    sizes = [client.rows for client in rest]
    counts = f"{len(rest)} more clients of {min(sizes)} to {max(sizes)} rows"
    return f"and {counts}, labels shifted in {labels} and covariates in {covariates}; --output json has all of them"


def _methods(report: FedReport, page: Page) -> str:
    """The paper's table: one row per method."""
    titles = (
        "method",
        f"{sections.metric(report.data)}\n[95 %]",
        *sections.beside_titles(report.data),
        *(("all\nrows",) if report.data.metric == "R2" else ()),
        "std over\nclients",
        "over\nseeds",
        "best\nround",
        "which",
        "worst\nclient",
        "log-\nloss",
    )
    rows = [
        [
            Text(words(method.method, page)),
            Text(percent_within(method.accuracy, method.interval, page)),
            *sections.beside_accuracy(method, report.data, page),
            *((Text(percent(method.whole, page)),) if report.data.metric == "R2" else ()),
            Text(percent(method.std_clients, page)),
            Text(percent(method.std_seeds, page)),
            Text(percent(method.best, page)),
            Text(count(method.best_round, page)),
            Text(percent(method.worst, page)),
            Text(nats(method.log_loss, page)),
        ]
        for method in report.methods
    ]
    note = ", ".join(
        f"{cut(client, LONGEST_CLIENT, page)} ({'all methods' if len(of) == len(rows) > 1 else ', '.join(of)})"
        for client, of in _worst(report).items()
    )
    notes = [f"worst client: {note}"] if note else []
    if report.data.metric == "R2":
        notes.append("R²: about the mean of each client's test rows; all rows: about that of all clients together")
    elif report.majority is not None:
        share = f"majority: always saying {report.majority.name}"
        notes.append(f"bal., AUC: on all test rows together; bal.: accuracy in each class, mean over classes; {share}")
    rows += sections.majority_row(report, len(titles), page)
    return figures(titles, [rows], page) + "".join(paragraph(each, page, indent=1, hanging=2) for each in notes)


def _worst(report: FedReport) -> dict[str, list[str]]:
    """The methods that do worst on each client, for clients with such methods."""
    found: dict[str, list[str]] = {}
    for method in report.methods:
        if method.worst_client:
            found.setdefault(method.worst_client, []).append(method.method)
    return found


def _comparison(report: FedReport, page: Page) -> str:
    """The second table: differences, and what a method costs."""
    titles = (
        "method",
        f"Δ\n{_BASE}",
        "target\nrounds",
        "target\nbytes",
        "up per\nround",
        "down per\nround",
        "lr",
    )
    rows = []
    for method in report.methods:
        base = method.against(_BASE)
        rows.append(
            [
                Text(words(method.method, page)),
                points(base.accuracy if base else None, page),
                Text(decimals(method.rounds_to_target, 1, page)),
                Text(data_size(method.bytes_to_target, page)),
                Text(data_size(method.bytes_up, page)),
                Text(data_size(method.bytes_down, page)),
                Text(words(extent(method.lr), page) or page.none),
            ]
        )
    target = (
        ""
        if report.target is None
        else f"; target: an {sections.metric(report.data)} of {percent(report.target, page)}"
    )
    note = f"Δ: paired; up, down: bytes of one client in a round{target}"
    return figures(titles, [rows], page) + paragraph(note, page, indent=1, hanging=2)


def _sentences(report: FedReport, page: Page) -> Iterator[str]:
    """Facts that the tables do not show: the trigger, and failures."""
    for method in report.methods:
        tested = [point for point in method.curve if point.flagged is not None]
        if tested:
            shown = {point.round: point for point in (tested[0], tested[(len(tested) - 1) // 2], tested[-1])}
            flagged = ", ".join(f"{point.flagged:.1f} in round {number_}" for number_, point in shown.items())
            yield f"trigger of {method.method}: clients flagged, of {report.participants}: {flagged}"
    triggered = [method for method in report.methods if any(tau is not None for tau in method.tau)]
    if triggered:
        yield _largest(report, next((each for each in triggered if each.method == _OURS), triggered[-1]), page)
    failures = [(method.method, failure) for method in report.methods for failure in method.failures]
    if failures:
        yield f"without a result: {len(failures)} {'run or client' if len(failures) == 1 else 'runs or clients'}" + (
            "; the first are" if len(failures) > _FAILURES else ""
        )
        yield from (_failure(name, failure) for name, failure in failures[:_FAILURES])


def _largest(report: FedReport, method: FedMethodReport, page: Page) -> str:
    """The clients with the largest tau."""
    taus = [(tau, k) for k, tau in enumerate(method.tau) if tau is not None]
    taus.sort(key=lambda pair: -pair[0])
    clients = []
    for tau, k in taus[:_LARGEST]:
        share = f", flagged in {100 * method.flagged[k]:.0f} % of rounds" if k < len(method.flagged) else ""
        clients.append(f"{cut(report.clients[k].name, LONGEST_CLIENT, page)} {number(tau, page)}{share}")
    return f"largest τ of {method.method} in the last round: {'; '.join(clients)}"


def _failure(method: str, failure: Failure) -> str:
    client = f", {failure.client}" if failure.client else ""
    return f"  {method}, seed {failure.seed}, round {failure.round}{client}: {failure.reason}"


def _footer(report: FedReport) -> tuple[str, ...]:
    """The lines on how the numbers were reached: test, score, test rows, seed and versions."""
    asked = f"{sections.score(report.data)}, percent, mean over clients"
    return (
        f"test: {report.test}",
        f"score: {asked}; judged by {report.judged}; seed {report.settings.get('seed')}",
        *sections.versions(report.manifest),
    )
