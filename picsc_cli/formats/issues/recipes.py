"""Issues of `picsc run`: one for each data set and way to cut it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from picsc.phrases import counted
from picsc_cli.formats.issues.issue import Issue

if TYPE_CHECKING:
    from picsc.reports.recipes import RecipeReport, RecipeRow, RecipeTable


def of_recipes(report: RecipeReport) -> Iterator[Issue]:
    """A row fails if it has no result, or a model of it has none, or an audit finds a shift."""
    for table in report.tables:
        for row in table.rows:
            yield _of_row(row, table)


def _of_row(row: RecipeRow, table: RecipeTable) -> Issue:
    pieces = f", {row.block}" if row.block is not None else ""
    name = f"{row.data}{pieces}"
    title = f"picsc {table.verb}: {name}"
    if row.rows is None:
        return Issue("error", "no-result", name, title, row.reason or "no result", source=table.recipe)
    if row.failed:
        words = f"{counted(row.failed, 'model')} without a result" + (f": {row.reason}" if row.reason else "")
        return Issue("error", "no-result", name, title, words, source=table.recipe)
    if row.verdict == "shift":
        words = f"shift: {row.shifted} of {counted(row.pieces or 0, 'piece')} differ"
        return Issue("error", "shift", name, title, words, source=table.recipe)
    if row.verdict in ("inconclusive", "error"):
        return Issue("warning", row.verdict, name, title, row.reason or row.verdict, source=table.recipe)
    if row.reason:
        return Issue("warning", "not-counted", name, title, row.reason, source=table.recipe)
    return Issue("none", "result", name, title, row.verdict or "all methods have a result", source=table.recipe)
