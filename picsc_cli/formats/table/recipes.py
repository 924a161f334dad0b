"""Recipes as text for people: one table each, the paper's number next to ours, then tests over data sets.

Everything shown is read from the report; nothing is computed but widths. Accuracies and their differences are in
percent and percentage points; log-losses in nats.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rich.text import Text

from picsc.phrases import counted
from picsc.reports.common import metric_word
from picsc_cli.formats.sheets.compare import compare_notes, compare_sheets
from picsc_cli.formats.sheets.fed import fed_sheets
from picsc_cli.text import sections
from picsc_cli.text.numbers import count, nats_within, percent, points, points_within
from picsc_cli.text.p_values import of_log_loss, of_score
from picsc_cli.text.page import Page, cut, figures, paragraph, words
from picsc_cli.text.sheet import Sheet, block_of, mean_of, numeric_scores

if TYPE_CHECKING:
    from picsc.reports.recipes import OverSets, RecipeReport, RecipeRow, RecipeTable

_LONGEST_NAME = 14
"""Cells of a data set's name at most."""
_HEADS = {
    "picsc, algorithm 1": "algo-\nrithm 1",
    "weight-decay": "weight-\ndecay",
    "subsample": "sub-\nsample",
    "carried": "car-\nried",
    "average": "aver-\nage",
    "fedavg": "fed-\navg",
    "fedprox": "fed-\nprox",
    "scaffold": "scaf-\nfold",
    "fedcurv": "fed-\ncurv",
    "fisher-mean": "fisher-\nmean",
    "picsc-scaffold": "picsc-\nscaf-\nfold",
    "true-ratio": "true-\nratio",
    "cv-choice": "cv-\nchoice",
    "picsc-random": "picsc-\nran-\ndom",
    "dob-scv": "dob-\nscv",
}
"""Methods whose name takes more lines, so that the table fits 80 columns."""
SHEETS = {"fed": fed_sheets, "compare": compare_sheets}
"""Functions that make the tables, for verbs whose recipes have more than one."""


def recipes_summary(report: RecipeReport, page: Page) -> str:
    """One line per number of pieces of every recipe."""
    return "".join(
        paragraph(f"{table.recipe}: {line}", page, hanging=2) for table in report.tables for line in _means(table, page)
    )


def recipes_table(report: RecipeReport, page: Page, *, verbose: bool = False) -> str:
    """Every recipe's tables and tests, then how they were made; `verbose` adds the settings."""
    parts = []
    for table in report.tables:
        title = Text(words(f"{table.title} ({table.recipe})", page), "bold")
        if table.verb in SHEETS:
            sheets = [_sheet(sheet, page) for sheet in SHEETS[table.verb](table, page)]
            parts += [paragraph(title, page), *sheets]
        else:
            parts.append(paragraph(title, page) + _rows(table, page))
        if table.verb != "compare" and table.over_sets and table.over_sets[0].tests:
            parts.append(_tests(table, page))
        notes = list(_notes(table))
        if notes:
            parts.append("".join(paragraph(note, page, hanging=2) for note in notes))
        if verbose:
            parts.append(sections.settings(table.settings, page))
    tested = any(over.tests for table in report.tables for over in table.over_sets)
    footer = [*([f"test: {report.test}"] if tested else []), *sections.versions(report.manifest)]
    parts.append("".join(paragraph(line, page, hanging=2) for line in footer))
    return "\n".join(parts)


def _sheet(sheet: Sheet, page: Page) -> str:
    """One table of several; names of data sets are cut, since they are the longest."""
    heading = paragraph(sheet.heading, page) if sheet.heading else ""
    rows = [[Text(cut(row[0].plain, _LONGEST_NAME, page), row[0].style), *row[1:]] for row in sheet.rows]
    return heading + figures([_HEADS.get(title, title) for title in sheet.titles], [rows], page)


def _rows(table: RecipeTable, page: Page) -> str:
    """One row per data set, a block per number of pieces that ends with the means."""
    if table.verb == "audit":
        audited = [
            [
                Text(cut(words(row.data, page), _LONGEST_NAME, page)),
                Text(_counts(row, page)[0]),
                Text(words(row.clients, page) or _counts(row, page)[1]),
                Text(count(row.shifted, page)),
                Text(row.verdict or page.none),
            ]
            for row in table.rows
        ]
        return figures(("data set", "rows", "pieces", "shifted", "verdict"), [audited], page)
    methods = [score.method for score in next((row.scores for row in table.rows if row.scores), ())]
    paper = ("paper", "Δ") if table.paper else ()
    titles = ("data set", "rows", "k", *(_HEADS.get(method, method) for method in methods), *paper)
    blocks = []
    for block in dict.fromkeys(row.block for row in table.rows):
        rows = [_row(row, len(methods), page, paper=bool(paper)) for row in table.rows if row.block == block]
        rows += [_mean(over, page, paper=bool(paper)) for over in table.over_sets if over.block == block]
        blocks.append(rows)
    return figures(titles, blocks, page)


def _row(row: RecipeRow, methods: int, page: Page, *, paper: bool) -> list[Text]:
    mark = "" if row.counted or not row.scores else "*"
    scores = [percent(score.accuracy, page) for score in row.scores] or [page.none] * methods
    return [
        Text(cut(words(row.data, page), _LONGEST_NAME, page) + mark),
        *map(Text, _counts(row, page)),
        *map(Text, scores),
        *([Text(percent(row.printed, page)), points(row.difference, page)] if paper else []),
    ]


def _counts(row: RecipeRow, page: Page) -> list[str]:
    pieces = count(row.pieces, page) if row.strength is None else str(row.block)
    return [count(row.rows, page), pieces]


def _mean(over: OverSets, page: Page, *, paper: bool) -> list[Text]:
    cells = [
        mean_of(over),
        "",
        str(over.pieces if over.strength is None else over.block),
        *(percent(score.accuracy, page) for score in over.scores),
    ]
    papers = [Text(percent(over.printed, page), "bold"), points(over.difference, page)] if paper else []
    return [*(Text(cell, "bold") for cell in cells), *papers]


def _tests(table: RecipeTable, page: Page) -> str:
    """PIcsC against every other method over data sets."""
    way = "clients" if table.verb == "fed" else "k"
    score = table.metric_words
    titles = ("picsc against", way, f"Δ {score}\n[95 %]", "Δ log-loss\n[95 %]")
    differences = [
        [
            [
                Text(test.against),
                Text(block_of(over)),
                points_within(test.accuracy, test.accuracy_interval, page),
                nats_within(test.log_loss, test.log_loss_interval, page),
            ]
            for test in over.tests
        ]
        for over in table.over_sets
    ]
    ps = [
        [
            [Text(test.against), Text(block_of(over)), *map(Text, (*of_score(test, page), *of_log_loss(test, page)))]
            for test in over.tests
        ]
        for over in table.over_sets
    ]
    of_ps = ("picsc against", way, f"p of Δ\n{score}", "\nHolm", "p of Δ\nlog-loss", "\nHolm")
    return figures(titles, differences, page) + "\n" + figures(of_ps, ps, page)


def _means(table: RecipeTable, page: Page) -> Iterator[str]:
    """Means over data sets in words."""
    if not table.over_sets:
        yield f"{sum(row.rows is not None for row in table.rows)} of {len(table.rows)} data sets were run"
    for over in table.over_sets:
        scores = ", ".join(f"{score.method} {percent(score.accuracy, page)}" for score in over.scores)
        papers = "" if over.printed is None else f"; {table.paper}: {table.method} {percent(over.printed, page)}"
        pieces = over.clients or over.target or f"{over.pieces} pieces"
        pieces += "" if over.strength is None else f", lambda {over.strength:g}"
        yield f"{pieces}, mean {metric_word(over.metric)} over {counted(over.sets, 'set')}: {scores}{papers}"


def _notes(table: RecipeTable) -> Iterator[str]:
    """Notes on the paper's table, on the data, and on what is missing."""
    if table.verb == "compare":
        yield from compare_notes(table)
    elif table.paper:
        yield f"paper: {table.paper}, {table.method}; Δ: our {table.method} minus the paper's, points"
    if any(row.metric == "R2" for row in table.rows):
        yield numeric_scores(table)
    if table.version:
        yield f"data: {table.version}"
    reasons: dict[tuple[str, str], list[str]] = {}
    for row in table.rows:
        if row.reason:
            reasons.setdefault(("* " if row.scores else "not run: ", row.reason), []).append(row.data)
    for (mark, reason), names in reasons.items():
        yield f"{mark}{', '.join(dict.fromkeys(names))}: {reason}"
    yield from on_each(table)
    failed = sum(row.failed for row in table.rows)
    if failed and table.verb == "fed":
        yield f"failures of runs and clients: {failed}; picsc fed says why"
    elif failed:
        yield f"without a number: {failed} models; --output json or picsc {table.verb} says why"


def on_each(table: RecipeTable) -> list[str]:
    """The ways in which tests on single data sets were made, each once."""
    tests: dict[str, list[str]] = {}
    for row in table.rows:
        run = row.federation or row.comparison
        if run is not None:
            tests.setdefault(run.test, []).append(row.data)
    if len(tests) == 1:
        return [f"test on each data set, {test}" for test in tests]
    return [f"test on {', '.join(dict.fromkeys(names))}: {test}" for test, names in tests.items()]
