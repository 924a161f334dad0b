"""A report as comma-separated values (RFC 4180): numbers in full, nothing for None."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from dataclasses import fields
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from picsc.cv_report import CvReport
    from picsc.recipe_report import RecipeReport, RecipeRow


def cv_csv(report: CvReport) -> str:
    """One row per unit: data set, method, then the fields of `Unit`. Accuracies are fractions, log-losses nats."""
    from picsc.cv_report import Unit

    names = [field.name for field in fields(Unit)]
    rows = (
        [report.data.name, method.method, *(getattr(unit, name) for name in names)]
        for method in report.methods
        for unit in method.units
    )
    return written(["dataset", "method", *names], rows)


def recipes_csv(report: RecipeReport) -> str:
    """One row per recipe, data set and way to cut it; two columns per method. Accuracies are fractions.

    Where a recipe has clients, there are more columns: how they came about, each method's worst client and the paper's
    number of it, and the difference of PIcsC to it with the ends of its 95 % interval.
    """
    from picsc.settings import FED_METHODS, METHODS

    fed = any(table.verb == "fed" for table in report.tables)
    other = not fed or any(table.verb != "fed" for table in report.tables)
    methods = dict.fromkeys((*(METHODS if other else ()), *(FED_METHODS if fed else ())))
    plain = ("data", "rows", "pieces", "sha256", "printed", "difference", "counted", "verdict", "shifted", "failed")
    scored = [(method, kind) for method in methods for kind in ("accuracy", "log_loss")]
    header = ["recipe", "paper_method", *plain, *(f"{method} {kind}" for method, kind in scored)]
    header += ["clients", *(f"{method} {kind}" for method in FED_METHODS for kind in _OF_CLIENTS)] if fed else []
    rows = (
        [
            table.recipe,
            table.method,
            *(getattr(row, name) for name in plain),
            *(_score(row, method, kind) for method, kind in scored),
            *([row.clients, *(cell for method in FED_METHODS for cell in _of_clients(row, method))] if fed else ()),
            row.reason,
        ]
        for table in report.tables
        for row in table.rows
    )
    return written([*header, "reason"], rows)


_OF_CLIENTS = ("worst", "std_clients", "printed", "picsc_minus", "picsc_minus_low", "picsc_minus_high", "picsc_minus_p")


def _of_clients(row: RecipeRow, method: str) -> list[object]:
    """One method's columns of `_OF_CLIENTS`."""
    if row.federation is None:
        return [None] * len(_OF_CLIENTS)
    score = next((score for score in row.federation.scores if score.method == method), None)
    found = row.federation.against(method)
    interval = None if found is None else found.interval
    return [
        *([None] * 3 if score is None else [score.worst, score.std_clients, score.printed]),
        *(
            [None] * 3
            if found is None
            else [found.accuracy, *((interval.low, interval.high) if interval else (None, None))]
        ),
        None if found is None else found.p,
    ]


def _score(row: RecipeRow, method: str, kind: str) -> object:
    return next((getattr(score, kind) for score in row.scores if score.method == method), None)


def written(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Text that UTF-8 can hold, with the line ends of RFC 4180; None is an empty field, truth `true` or `false`."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\r\n")
    writer.writerow(header)
    writer.writerows([_field(value) for value in row] for row in rows)
    return text.getvalue().encode("utf-8", "backslashreplace").decode("utf-8")


def _field(value: object) -> object:
    return str(value).lower() if isinstance(value, bool) else value
