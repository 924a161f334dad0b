"""Recipes as Markdown: tables, tests, and the manifest for the same bytes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from picsc_cli.console.safe import markdown_code
from picsc_cli.formats.markdown.text import document, grid, plain, versions
from picsc_cli.formats.sheets.compare import compare_notes
from picsc_cli.formats.table.recipes import SHEETS, on_each
from picsc_cli.text.numbers import count, percent, points, points_within, signed, span
from picsc_cli.text.p_values import of_log_loss, of_score
from picsc_cli.text.page import Page
from picsc_cli.text.sheet import block_of, numeric_scores

if TYPE_CHECKING:
    from picsc.reports.recipes import OverSets, RecipeReport, RecipeRow, RecipeTable

_PAGE = Page()


def recipes_markdown(report: RecipeReport) -> str:
    """Every recipe under a heading of its own; accuracies in percent, differences in points, log-losses in nats."""
    lines: list[str] = []
    for table in report.tables:
        lines += [f"# {plain(table.title)}", "", *_about(table), ""]
        lines += _sheets(table) if table.verb in SHEETS else [*_rows(table), ""]
        if table.verb == "compare" and table.over_sets:
            lines += [f"PIcsC against every other method, {plain(report.test)}.", ""]
        elif table.over_sets and table.over_sets[0].tests:
            lines += [f"PIcsC against every other method, {plain(report.test)}.", "", *_tests(table), ""]
        lines += ["## Manifest", "", f"- recipe {plain(table.recipe)}, sha256 {table.sha256}", *_data(table), ""]
    lines += versions(report.manifest)
    return document(lines)


def _about(table: RecipeTable) -> Iterator[str]:
    if table.verb == "compare":
        yield from (f"{plain(note)}.  " for note in compare_notes(table))
    elif table.paper:
        yield f"Paper: {plain(table.paper)}, {table.method}; Δ is our {table.method} minus the paper's, in points.  "
    if any(row.metric == "R2" for row in table.rows):
        yield f"{numeric_scores(table)}.  "
    if table.version:
        yield f"Data: {plain(table.version)}  "
    if table.over_sets:
        place = "below" if table.verb in SHEETS else "in the last column"
        yield f"A star marks a row that is left out of the means; why stands {place}."


def _sheets(table: RecipeTable) -> list[str]:
    """The tables of a recipe with several, then why data sets were not run or do not count."""
    lines = []
    for sheet in SHEETS[table.verb](table, _PAGE):
        lines += [f"## {plain(sheet.heading)}", ""] if sheet.heading else []
        rows = [[(plain if i < sheet.names else str)(cell.plain) for i, cell in enumerate(row)] for row in sheet.rows]
        lines += [*grid([title.replace("\n", " ") for title in sheet.titles], rows), ""]
    for row in table.rows:
        lines += [f"- {plain(row.data)}: {'. '.join(filter(None, (_how(row), plain(row.reason))))}"]
    return [*lines, "", *(f"T{plain(test)[1:]}." for test in on_each(table)), ""]


def _how(row: RecipeRow) -> str:
    """The way one data set was divided, and the number of its runs."""
    if row.comparison is not None:
        return f"{plain(row.comparison.words)}; repeats: {row.comparison.repeats}"
    run = row.federation
    return f"{plain(run.partition)}; {plain(run.model)}; seeds: {run.repeats}" if run is not None else ""


def _rows(table: RecipeTable) -> list[str]:
    if table.verb == "audit":
        rows = [
            [
                plain(row.data),
                count(row.rows, _PAGE),
                plain(row.clients) or count(row.pieces, _PAGE),
                count(row.shifted, _PAGE),
                row.verdict or "",
                plain(row.reason),
            ]
            for row in table.rows
        ]
        return grid(["data set", "rows", "pieces", "shifted", "verdict", "note"], rows)
    methods = [score.method for score in next((row.scores for row in table.rows if row.scores), ())]
    paper = ["paper", "Δ"] if table.paper else []
    rows = []
    for block in dict.fromkeys(row.block for row in table.rows):
        rows += [_row(row, len(methods), paper=bool(paper)) for row in table.rows if row.block == block]
        rows += [_mean(over, paper=bool(paper)) for over in table.over_sets if over.block == block]
    return grid(["data set", "rows", "k", *methods, *paper, "note"], rows)


def _row(row: RecipeRow, methods: int, *, paper: bool) -> list[str]:
    mark = "" if row.counted or not row.scores else "\\*"
    scores = [percent(score.accuracy, _PAGE) for score in row.scores] or [_PAGE.none] * methods
    papers = [percent(row.printed, _PAGE), points(row.difference, _PAGE).plain] if paper else []
    return [
        plain(row.data) + mark,
        count(row.rows, _PAGE),
        count(row.pieces, _PAGE) if row.strength is None else str(row.block),
        *scores,
        *papers,
        plain(row.reason),
    ]


def _mean(over: OverSets, *, paper: bool) -> list[str]:
    papers = [percent(over.printed, _PAGE), points(over.difference, _PAGE).plain] if paper else []
    name = "mean R²" if over.metric == "R2" else "mean"
    pieces = str(over.pieces if over.strength is None else over.block)
    cells = [name, f"{over.sets} sets", pieces, *(percent(s.accuracy, _PAGE) for s in over.scores), *papers]
    return [*(f"**{cell}**" for cell in cells), ""]


def _tests(table: RecipeTable) -> list[str]:
    rows = [
        [
            test.against,
            plain(block_of(over)),
            points_within(test.accuracy, test.accuracy_interval, _PAGE).plain,
            *of_score(test, _PAGE),
            f"{signed(test.log_loss, 3, _PAGE).plain} {span(test.log_loss_interval, 3, _PAGE)}",
            *of_log_loss(test, _PAGE),
        ]
        for over in table.over_sets
        for test in over.tests
    ]
    return grid(
        [
            "picsc against",
            "clients" if table.verb == "fed" else "k",
            f"Δ {table.metric_words} [95 %]",
            "p",
            "Holm",
            "Δ log-loss [95 %]",
            "p",
            "Holm",
        ],
        rows,
    )


def _data(table: RecipeTable) -> list[str]:
    found = {row.data: row.sha256 for row in table.rows if row.sha256}
    settings = [f"- {name}: {markdown_code(str(value))}" for name, value in table.settings.items()]
    return [*settings, *(f"- {plain(name)}, sha256 {sha256}" for name, sha256 in found.items())]
