"""The tables of a report as pandas frames: one row for each piece, column, method, client, target or round."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from picsc.errors import SettingsError
from picsc.notebooks.records import Row, flat

if TYPE_CHECKING:
    import pandas as pd

Rows = Callable[[Any], Iterable[Row]]


def to_frame(report: Any, table: str | None) -> pd.DataFrame:
    """One table of a report.

    Args:
        report: the result of a verb.
        table: its name; None for the first one that the report has.

    Raises:
        SettingsError: the report has no table of this name.
    """
    import pandas as pd  # reports stay light until somebody wants a frame

    tables = _TABLES[report.schema.partition("/")[0]]
    name = next(iter(tables)) if table is None else table
    if name not in tables:
        raise SettingsError(f"to_frame({name!r}): this report has {' and '.join(map(repr, tables))}")
    return pd.DataFrame(list(tables[name](report)))


def _named(rows: Iterable[Row], **names: object) -> Iterable[Row]:
    """The rows with more columns at the left."""
    return ({**names, **row} for row in rows)


def _pieces(report: Any) -> Iterable[Row]:
    return (flat(piece, without=("columns",)) for piece in report.fragments)


def _columns(report: Any) -> Iterable[Row]:
    for piece in report.fragments:
        yield from _named(
            ({**flat(column), "moved": column.moved(report.level)} for column in piece.columns), piece=piece.name
        )


def _findings(report: Any) -> Iterable[Row]:
    return map(flat, report.findings)


def _of_each(rows: Rows) -> Rows:
    """Rows of all reports of several files, with the file at the left."""

    def joined(reports: Any) -> Iterable[Row]:
        for report in reports.reports:
            yield from _named(rows(report), file=report.data.source)

    return joined


def _methods(report: Any) -> Iterable[Row]:
    left_out = ("fragments", "targets", "clients", "seeds", "curve", "flagged", "tau", "lifelong", "history")
    return (flat(method, without=left_out) for method in report.methods)


def _differences(report: Any) -> Iterable[Row]:
    for method in report.methods:
        yield from _named(map(flat, method.differences), method=method.method)


def _units(report: Any) -> Iterable[Row]:
    for method in report.methods:
        yield from _named(map(flat, method.units), method=method.method)


def _cv_pieces(report: Any) -> Iterable[Row]:
    for method in report.methods:
        for name, accuracy in zip(report.fragments, method.fragments, strict=False):
            yield {"method": method.method, "piece": name, "accuracy": accuracy}


def _targets(report: Any) -> Iterable[Row]:
    for k, target in enumerate(report.targets):
        yield {**flat(target), **{method.method: method.targets[k] for method in report.methods}}


def _clients(report: Any) -> Iterable[Row]:
    for k, client in enumerate(report.clients):
        scores = {method.method: method.clients[k] for method in report.methods if k < len(method.clients)}
        yield {**flat(client), **scores}


def _rounds(report: Any) -> Iterable[Row]:
    for method in report.methods:
        yield from _named(map(flat, method.curve), method=method.method)


def _history(report: Any) -> Iterable[Row]:
    names = [client.name for client in report.clients]
    for method in report.methods:
        if method.history is not None:
            for round_, row in zip(method.history.rounds, method.history.accuracy, strict=True):
                for client, accuracy in zip(names, row, strict=False):
                    yield {"method": method.method, "round": round_, "client": client, "accuracy": accuracy}


def _audited_clients(report: Any) -> Iterable[Row]:
    return map(flat, report.clients)


def _recipe_rows(report: Any) -> Iterable[Row]:
    for table in report.tables:
        for row in table.rows:
            facts = flat(row, without=("scores", "federation", "comparison", "differences"))
            yield {"recipe": table.title, "verb": table.verb, **facts}


def _recipe_scores(report: Any) -> Iterable[Row]:
    for table in report.tables:
        for row in table.rows:
            names = {"recipe": table.title, "data": row.data, "pieces": row.pieces, "strength": row.strength}
            yield from _named((flat(score, without=("lifelong",)) for score in row.scores), **names)


_AUDIT: dict[str, Rows] = {"pieces": _pieces, "columns": _columns, "findings": _findings}
_TABLES: dict[str, dict[str, Rows]] = {
    "picsc.audit": _AUDIT,
    "picsc.audits": {name: _of_each(rows) for name, rows in _AUDIT.items()},
    "picsc.cv": {
        "methods": _methods,
        "differences": _differences,
        "pieces": _cv_pieces,
        "models": _units,
        "findings": _findings,
    },
    "picsc.compare": {
        "methods": _methods,
        "differences": _differences,
        "targets": _targets,
        "models": _units,
        "findings": _findings,
    },
    "picsc.fed": {
        "methods": _methods,
        "differences": _differences,
        "clients": _clients,
        "rounds": _rounds,
        "history": _history,
        "findings": _findings,
    },
    "picsc.fed-audit": {"clients": _audited_clients, "findings": _findings},
    "picsc.recipes": {"rows": _recipe_rows, "scores": _recipe_scores},
}
"""By the name in the report's `schema`; the first table is the one that `to_frame()` gives."""
