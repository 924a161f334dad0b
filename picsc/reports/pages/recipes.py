"""The page of recipes: each with our numbers next to the paper's, means and tests over data sets."""

from __future__ import annotations

from typing import TYPE_CHECKING

from picsc.phrases import counted
from picsc.reports.common import metric_word
from picsc.reports.pages.bars import intervals, within
from picsc.reports.pages.blocks import Block, Cell, Content, Items, Section, Table, verdict_cell
from picsc.reports.pages.numbers import NONE, percent, points, probability, signed, span
from picsc.reports.pages.shared import flat, name_cell, words_cell

if TYPE_CHECKING:
    from picsc.reports.recipes import OverSets, RecipeReport, RecipeRow, RecipeTable

_WORDS = ("the paper's number", "st-cv", "controls", "95 % interval", "p-value", "Holm's p", "log-loss")


def recipes_contents(report: RecipeReport) -> list[Content]:
    """One content for each recipe; the last one has what the same numbers need."""
    contents = [_content(table, report.test) for table in report.tables]
    if contents:
        return contents
    return [Content("no recipe", "", "recipes", "none", ("nothing was run",))]


def _content(table: RecipeTable, test: str) -> Content:
    audits = table.verb == "audit"
    shifted = sum(row.verdict == "shift" for row in table.rows)
    failed = sum(row.failed for row in table.rows) + sum(row.rows is None for row in table.rows)
    lines = [f"{counted(len(table.rows), 'row')} of picsc {table.verb}"]
    if audits:
        lines[0] += f": {shifted} shifted"
    if failed:
        lines.append(f"{failed} without a result")
    if table.paper:
        lines.append(f"paper: {table.paper}; Δ is our {table.method} minus the paper's, in points")
    if table.version:
        lines.append(f"data: {table.version}")
    blocks = list(dict.fromkeys((row.block, row.metric) for row in table.rows))
    sections = [Section("Data sets", [_audits(table)])] if audits else []
    for block, metric in [] if audits else blocks:
        rows = [row for row in table.rows if (row.block, row.metric) == (block, metric)]
        over = next((each for each in table.over_sets if (each.block, each.metric) == (block, metric)), None)
        words = counted(block, "piece") if isinstance(block, int) else block
        if rows[0].strength is not None:
            words = f"{counted(rows[0].pieces or 0, 'piece')}, lambda {rows[0].strength:g}"
        title = f"Data sets, {words}" if len(blocks) > 1 and block is not None else "Data sets"
        title += " with a numeric target" if metric == "R2" and len(blocks) > 1 else ""
        sections.append(Section(title, [_scores(rows, over, table), *_paper(rows), *_tests(over, test)]))
    settings = [("recipe", f"{table.recipe}, SHA-256 {table.sha256}"), *flat(table.settings)]
    settings += [(row.data, f"SHA-256 {row.sha256}") for row in table.rows if row.sha256]
    sections.append(Section("How to repeat this: recipe, settings, data", [Items(settings)], folded=True))
    return Content(
        title=table.title,
        about=f"recipe {table.recipe}",
        verdict=f"recipe: {table.verb}",
        tone=("shift" if shifted else "ok") if audits else "none",
        lines=lines,
        sections=sections,
        words=_WORDS,
    )


def _audits(table: RecipeTable) -> Table:
    rows = [
        [
            name_cell(row.data),
            Cell(NONE if row.rows is None else str(row.rows)),
            Cell(row.clients or (NONE if row.pieces is None else str(row.pieces))),
            Cell(NONE if row.shifted is None else str(row.shifted)),
            verdict_cell(row.verdict or "error"),
            words_cell(row.reason),
        ]
        for row in table.rows
    ]
    return Table("One audit for each row.", ("data set", "rows", "pieces", "shifted", "verdict", "note"), rows)


def _scores(rows: list[RecipeRow], over: OverSets | None, table: RecipeTable) -> Table:
    """The accuracy of every method on every data set, next to the paper's number."""
    methods = [score.method for score in max((row.scores for row in rows), key=len, default=())]
    paper = bool(table.paper)
    cells = []
    for row in rows:
        found = {score.method: score.accuracy for score in row.scores}
        papers = [Cell(percent(row.printed)), Cell(points(row.difference))] if paper else []
        cells.append(
            [
                name_cell(row.data, "*" if row.scores and not row.counted else ""),
                Cell(NONE if row.rows is None else str(row.rows)),
                Cell(NONE if row.pieces is None else str(row.pieces)),
                *(Cell(percent(found.get(method))) for method in methods),
                *papers,
                words_cell(_how(row)),
            ]
        )
    if over is not None:
        means = {score.method: score.accuracy for score in over.scores}
        papers = [Cell(percent(over.printed)), Cell(points(over.difference))] if paper else []
        name = Cell(f"mean of {counted(over.sets, 'data set')}", "name")
        values = [Cell(percent(means.get(method)), "number strong") for method in methods]
        cells.append([name, Cell(""), Cell(""), *values, *papers, Cell("")])
    titles = [
        "data set",
        "rows",
        "pieces",
        *methods,
        *([f"paper's {table.method}", "Δ, points"] if paper else []),
        "note",
    ]
    notes = ["* left out of the means."] if any(row.scores and not row.counted for row in rows) else []
    return Table(f"{metric_word(rows[0].metric).capitalize()} of every method, in percent.", titles, cells, notes=notes)


def _how(row: RecipeRow) -> str:
    """How one data set was divided, and what is remarkable about it."""
    how = ""
    if row.comparison is not None:
        how = f"{row.comparison.words}; {counted(row.comparison.repeats, 'repeat')}"
    elif row.federation is not None:
        how = f"{row.federation.partition}; {row.federation.model}; {counted(row.federation.repeats, 'seed')}"
    return "; ".join(filter(None, (row.reason, how)))


def _paper(rows: list[RecipeRow]) -> list[Table]:
    """Every method's number next to the paper's, of comparisons and federations, which print several."""
    cells = []
    for row in rows:
        run = row.comparison or row.federation
        ours = {score.method: score.accuracy for score in row.scores}
        for score in run.scores if run is not None else ():
            if score.printed is not None:
                value = [percent(ours.get(score.method)), percent(score.printed), points(score.difference)]
                cells.append([name_cell(row.data), Cell(score.method, ""), *map(Cell, value)])
    titles = ("data set", "method", "ours", "the paper's", "Δ, points")
    return [Table("Our numbers next to the paper's, in percent.", titles, cells)] if cells else []


def _tests(over: OverSets | None, test: str) -> list[Block]:
    if over is None or not over.tests:
        return []
    rows, drawn = [], []
    for each in over.tests:
        drawn += within(each.against, each.accuracy, each.accuracy_interval)
        rows.append(
            [
                name_cell(each.against),
                Cell(str(each.sets)),
                Cell(points(each.accuracy)),
                Cell(span(each.accuracy_interval)),
                Cell(probability(each.accuracy_p)),
                Cell(probability(each.accuracy_p_holm)),
                Cell(signed(each.log_loss, 3)),
                Cell(probability(each.log_loss_p)),
                Cell(probability(each.log_loss_p_holm)),
            ]
        )
    titles = ("picsc against", "sets", "Δ, points", "95 % interval", "p", "Holm's p", "Δ log-loss", "p", "Holm's p")
    caption = (
        "picsc minus every other method over data sets, in points, with 95 % intervals; right of the line is better."
    )
    return [*intervals(drawn, caption, zero=True), Table(f"picsc against every other method: {test}.", titles, rows)]
