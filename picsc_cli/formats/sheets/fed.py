"""The tables of recipes with `verb: fed` as rows of cells, the same for every format that shows tables.

Accuracies and their differences are in percent and percentage points; nothing is computed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.text import Text

from picsc_cli.text.numbers import count, percent, points
from picsc_cli.text.page import Page
from picsc_cli.text.sheet import PAIRED, Sheet, bold, mean_of, methods_of, name_of, paired

if TYPE_CHECKING:
    from picsc.reports.recipes import Federation, OverSets, RecipeRow, RecipeTable

_OURS = "picsc"
_AGAINST = ("fedavg", "scaffold")
"""Methods that every data set's row is compared with; the others are in the report for machines."""


def fed_sheets(table: RecipeTable, page: Page) -> list[Sheet]:
    """Per way that clients came about: accuracies, then PIcsC against others on each data set; at last the paper's.

    Args:
        table: of a recipe with `verb: fed`.
        page: whose alphabet is used.
    """
    sheets = []
    for block, metric in dict.fromkeys((row.block, row.metric) for row in table.rows):
        rows = [row for row in table.rows if (row.block, row.metric) == (block, metric)]
        means = [over for over in table.over_sets if (over.block, over.metric) == (block, metric)]
        sheets += [_accuracies(rows, means, page), _over_seeds(rows, page), _worst_clients(rows, page)]
    if table.paper:
        sheets.append(_printed(table, page))
    return [sheet for sheet in sheets if sheet.rows]


def _accuracies(rows: list[RecipeRow], means: list[OverSets], page: Page) -> Sheet:
    """Mean over clients and seeds of every method."""
    methods = methods_of(rows)
    cells = [
        [
            name_of(row, page),
            *(Text(count(value, page)) for value in (row.rows, row.pieces)),
            *map(Text, [percent(score.accuracy, page) for score in row.scores] or [page.none] * len(methods)),
        ]
        for row in rows
    ]
    for over in means:
        clients = "" if over.pieces is None else str(over.pieces)
        cells.append(bold([mean_of(over), "", clients, *(percent(score.accuracy, page) for score in over.scores)]))
    return Sheet(rows[0].clients, ("data set", "rows", "K", *methods), cells)


def _over_seeds(rows: list[RecipeRow], page: Page) -> Sheet:
    """PIcsC minus others on each data set, paired over seeds."""
    others = [method for method in _AGAINST if method in methods_of(rows)]
    if not others or _OURS not in methods_of(rows):
        return Sheet("", (), [])
    compared = [title for other in others for title in (f"Δ {other}\n[95 %]", *PAIRED)]
    cells = [
        [name_of(row, page), *(cell for other in others for cell in paired(run.against(other), page))]
        for row, run in _run(rows)
    ]
    return Sheet("", ("picsc against", *compared), cells)


def _worst_clients(rows: list[RecipeRow], page: Page) -> Sheet:
    """The clients that fare worst, under PIcsC and the methods that it is compared with."""
    methods = [method for method in (*_AGAINST, _OURS) if method in methods_of(rows)]
    if len(methods) < 2 or _OURS not in methods:
        return Sheet("", (), [])
    cells = [
        [name_of(row, page), *(Text(percent(_worst(run, method), page)) for method in methods)]
        for row, run in _run(rows)
    ]
    return Sheet("", ("worst client of", *methods), cells)


def _worst(run: Federation, method: str) -> float | None:
    return next((score.worst for score in run.scores if score.method == method), None)


def _printed(table: RecipeTable, page: Page) -> Sheet:
    """The paper's number of every method that has one, and ours minus it."""
    found = _run(table.rows)
    methods = dict.fromkeys(score.method for _, run in found for score in run.scores if score.printed is not None)
    rows = []
    for row, run in found:
        scores = {score.method: score for score in run.scores}
        pairs = [(percent(scores[name].printed, page), points(scores[name].difference, page)) for name in methods]
        rows.append(
            [name_of(row, page), Text(row.clients), *(cell for one, other in pairs for cell in (Text(one), other))]
        )
    titles = [title for method in methods for title in (method, "Δ")]
    heading = f"The paper's numbers, {table.paper}; Δ: ours minus the paper's, points"
    return Sheet(heading, ("data set", "clients", *titles), rows if methods else [], names=2)


def _run(rows: Sequence[RecipeRow]) -> list[tuple[RecipeRow, Federation]]:
    """Rows that have a result."""
    return [(row, row.federation) for row in rows if row.federation is not None]
