"""Audits of clients by their summaries as text for people: three lines, one table, findings, a footer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.text import Text

from picsc_cli.formats.table.fed import LONGEST_CLIENT
from picsc_cli.text import sections
from picsc_cli.text.numbers import data_size, number, probable
from picsc_cli.text.page import Page, cut, figures, paragraph, words

if TYPE_CHECKING:
    from picsc.reports.fed import ClientAudit, FedAuditReport

MOST_CLIENTS = 40
"""Rows of the table at most, as long as no more clients than that are not ok."""
_SHORTEST_CLIENT = 12
"""Cells of a client's name at least; a column is left out before names get shorter."""
_LEFT_OUT_FIRST = ("rel.", "label\np")
"""Columns that a narrow page leaves out, in this order."""


def fed_audit_summary(report: FedAuditReport, page: Page) -> str:
    """The three lines of the summary, each on one line whatever its length."""
    return sections.three_lines(report.summary, page, sections.VERDICT_STYLE[report.verdict])


def fed_audit_table(report: FedAuditReport, page: Page, *, verbose: bool = False) -> str:
    """The whole report; `verbose` adds the columns as they were understood and the settings."""
    shown = _shown(report.clients)
    title = f"{report.data.name}, {report.data.rows} rows, {report.partition}; {report.model}"
    parts = [fed_audit_summary(report, page), paragraph(title, page) + _clients(shown, page)]
    left_out = len(report.clients) - len(shown)
    if left_out:
        counts = f"{left_out} of {len(report.clients)} clients"
        parts.append(paragraph(f"not shown, being ok: {counts}; --output json has all of them", page))
    if report.findings:
        parts.append(sections.findings(report.findings, page))
    if verbose:
        columns = [sections.columns(report.data.columns, page)] if report.data.columns else []
        parts += [*columns, sections.settings(report.settings, page)]
    footer = (
        f"sent: {data_size(report.bytes_up, page)} by each client, once, in place of its rows; no differential privacy",
        f"test: {report.test}; level {report.level:g}",
        f"model question: {sections.question(report.data)}; seed {report.settings.get('seed')}",
        *sections.versions(report.manifest),
    )
    parts.append("".join(paragraph(line, page, hanging=2) for line in footer))
    return "\n".join(parts)


def _shown(clients: Sequence[ClientAudit]) -> tuple[ClientAudit, ...]:
    """Every client that is not ok, and the first ok ones up to `MOST_CLIENTS` rows; in the report's order."""
    ok = [k for k, client in enumerate(clients) if client.verdict == "ok"]
    left_out = set(ok[max(0, MOST_CLIENTS - (len(clients) - len(ok))) :])
    return tuple(client for k, client in enumerate(clients) if k not in left_out)


def _clients(shown: Sequence[ClientAudit], page: Page) -> str:
    """The table of the clients, and why some have no verdict."""
    columns = {
        "rows": [Text(str(client.rows)) for client in shown],
        "τ": [Text(number(client.tau, page)) for client in shown],
        "gamma": [Text(number(client.gamma, page)) for client in shown],
        "p": [Text(probable(client.p, page)) for client in shown],
        "‖ΔI‖_F": [Text(number(client.fisher_gap, page)) for client in shown],
        "rel.": [Text(page.none if client.relative_gap is None else f"{client.relative_gap:.2g}") for client in shown],
        "KL": [Text(number(client.covariate_kl, page)) for client in shown],
        "label\nKL": [Text(number(client.label_kl, page)) for client in shown],
        "label\np": [Text(probable(client.label_p, page)) for client in shown],
        "verdict": [Text(client.verdict, sections.VERDICT_STYLE[client.verdict]) for client in shown],
    }
    longest = max((cell_len(words(client.name, page)) for client in shown), default=0)
    wanted = min(longest, LONGEST_CLIENT)
    for title in _LEFT_OUT_FIRST:
        if _room(columns, page) < min(wanted, _SHORTEST_CLIENT):
            del columns[title]
    room = min(LONGEST_CLIENT, max(_SHORTEST_CLIENT, _room(columns, page)))
    names = [Text(cut(words(client.name, page), room, page)) for client in shown]
    rows = list(zip(names, *columns.values(), strict=True))
    notes = [f"{client.name}: {client.reason}" for client in shown if client.reason]
    return figures(("client", *columns), [rows], page) + "".join(
        paragraph(note, page, indent=1, hanging=2) for note in notes
    )


def _room(columns: dict[str, list[Text]], page: Page) -> int:
    """Cells that these columns, one space apart, leave for names."""
    taken = 0
    for title, cells in columns.items():
        lines = [*_title_lines(title, page), *(cell.plain for cell in cells)]
        taken += 1 + max(map(cell_len, lines))
    return page.width - taken - 1


def _title_lines(title: str, page: Page) -> list[str]:
    """The lines of a column's title in the page's alphabet."""
    return [words(line, page) for line in title.split("\n")]
