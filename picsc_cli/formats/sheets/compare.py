"""The tables of recipes with `verb: compare` as rows of cells, the same for every format that shows tables.

Accuracies, their differences and errors are in percent and percentage points, log-losses in nats, and a difference as a
share of an accuracy stands in a table of its own; nothing is computed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Literal

from rich.text import Text

from picsc.reports.common import Difference, metric_word
from picsc.reports.recipes import PairedDifference
from picsc_cli.text.method_names import PAPERS_NAMES
from picsc_cli.text.numbers import count, decimals, nats, nats_within, percent, points, points_within
from picsc_cli.text.p_values import of_log_loss, of_score
from picsc_cli.text.page import Page
from picsc_cli.text.sheet import PAIRED, Sheet, bold, mean_of, methods_of, name_of, paired

if TYPE_CHECKING:
    from picsc.reports.common import Interval
    from picsc.reports.compare import Delta, Risk
    from picsc.reports.recipes import Comparison, Foretold, OverSets, RecipeRow, RecipeTable

_OURS, _BASE = "picsc", "st-cv"
_UNWEIGHTED = "unweighted"
_AGAINST = (_BASE, "weight-decay")
"""Methods that every data set's row is compared with, with an interval; over data sets all are."""
_FAILURES = 8
"""Methods without a number that are named."""


def compare_sheets(table: RecipeTable, page: Page) -> list[Sheet]:
    """Per way that targets came about: the paper's table, controls, tests, and errors of cross-validation's estimates.

    Args:
        table: of a recipe with `verb: compare`.
        page: whose alphabet is used.
    """
    sheets = []
    for block, metric in dict.fromkeys((row.block, row.metric) for row in table.rows):
        rows = [row for row in table.rows if (row.block, row.metric) == (block, metric)]
        over = next((over for over in table.over_sets if (over.block, over.metric) == (block, metric)), None)
        sheets += [
            _papers(rows, over, page),
            _relative(rows, page),
            _controls(rows, over, page),
            _on_each(rows, page),
            _weights(rows, page),
            _estimates(rows, over, page, "error"),
            _estimates(rows, over, page, "bias"),
            _differences(rows, over, page),
            _p_values(rows, over, page),
        ]
    return [sheet for sheet in sheets if sheet.rows]


def compare_notes(table: RecipeTable) -> Iterator[str]:
    """Notes on the paper's rows, and on methods without a number and why."""
    if table.paper:
        yield f"paper: {table.paper}; the paper's row stands beneath ours, then ours minus the paper's in points"
    deltas = {delta.name: delta for _, run in _run(table.rows) for delta in run.deltas}
    if deltas:
        yield "; ".join(f"{delta.name}: points that {delta.ours} is above {delta.against}" for delta in deltas.values())
    if any(_accuracy(row, score.method, Page()).endswith("*") for row, run in _run(table.rows) for score in run.scores):
        yield "a star on a number: the mean of the models that have one; differences pair them with the same of others"
    missing = [
        f"{row.data}, {score.method}: {score.failed} of {score.models} models have no number, first: {score.reason}"
        for row, run in _run(table.rows)
        for score in run.scores
        if score.failed
    ]
    yield from missing[:_FAILURES]
    if len(missing) > _FAILURES:
        yield f"and {len(missing) - _FAILURES} more methods without a number; --output json has all of them"


def _papers(rows: list[RecipeRow], over: OverSets | None, page: Page) -> Sheet:
    """The paper's table: its methods and its two differences, its own numbers beneath ours."""
    methods = [method for method in PAPERS_NAMES if method in methods_of(rows)]
    deltas = list(dict.fromkeys(delta.name for _, run in _run(rows) for delta in run.deltas))
    cells = []
    for row in rows:
        run = row.comparison
        counts = [count(value, page) for value in (row.rows, row.pieces)]
        ours = [_named(run.deltas if run else (), name) for name in deltas]
        shown = [_accuracy(row, method, page) for method in methods]
        cells.append([name_of(row, page), *map(Text, [*counts, *shown]), *(_points(delta, page) for delta in ours)])
        if run is not None and any(score.printed is not None for score in run.scores):
            cells += _beneath(run, methods, deltas, page)
    if over is not None and len(rows) > 1:
        means = [percent(_mean(over, method), page) for method in methods]
        cells.append(bold([mean_of(over), "", "", *means, *(_mean_points(over, rows, name, page) for name in deltas)]))
    titles = ("data set", "rows", "K", *(PAPERS_NAMES[method] for method in methods), *deltas)
    return Sheet(_heading(rows), titles, cells)


def _heading(rows: list[RecipeRow]) -> str:
    repeats = dict.fromkeys(run.repeats for _, run in _run(rows))
    ending = "" if len(repeats) != 1 else f"; {next(iter(repeats))} {'repeat' if 1 in repeats else 'repeats'}"
    return f"Target: {rows[0].target}{ending}"


def _beneath(run: Comparison, methods: Sequence[str], deltas: Sequence[str], page: Page) -> Iterator[list[Text]]:
    """The paper's numbers, then ours minus them."""
    scores = [run.score(method) for method in methods]
    printed = [_named(run.printed_deltas, name) for name in deltas]
    numbers = [Text(percent(score.printed if score else None, page)) for score in scores]
    blank = [Text(""), Text("")]
    yield [Text("  paper"), *blank, *numbers, *(_points(delta, page) for delta in printed)]
    minus = [points(score.difference if score else None, page) for score in scores]
    yield [Text("  minus paper"), *blank, *minus, *(Text("") for _ in deltas)]


def _relative(rows: list[RecipeRow], page: Page) -> Sheet:
    """The paper's differences as it prints them, where it does."""
    found = [(row, run) for row, run in _run(rows) if run.printed_deltas]
    names = list(dict.fromkeys(delta.name for _, run in found for delta in run.deltas))
    bases = {delta.name: delta.base for _, run in found for delta in run.deltas}
    cells = [
        [
            name_of(row, page),
            *(_share(_named(deltas, name), page) for name in names for deltas in (run.deltas, run.printed_deltas)),
        ]
        for row, run in found
    ]
    heading = "Relative, percent, as the paper prints it: " + "; ".join(
        f"{name} as a share of {base}'s accuracy" for name, base in bases.items()
    )
    titles = tuple(title for name in names for title in (f"{name}\nours", f"{name}\npaper's"))
    return Sheet(heading, ("data set", *titles), cells)


def _controls(rows: list[RecipeRow], over: OverSets | None, page: Page) -> Sheet:
    """All other methods."""
    methods = [method for method in methods_of(rows) if method not in PAPERS_NAMES]
    cells = [[name_of(row, page), *(Text(_accuracy(row, method, page)) for method in methods)] for row, _ in _run(rows)]
    if over is not None and len(rows) > 1:
        cells.append(bold([mean_of(over), *(percent(_mean(over, method), page) for method in methods)]))
    heading = "Other weightings and controls" + ("; pooled learns labels of the target" if "pooled" in methods else "")
    return Sheet(heading, ("data set", *methods), cells if methods else [])


def _on_each(rows: list[RecipeRow], page: Page) -> Sheet:
    """PIcsC against plain training and its main control."""
    others = [method for method in _AGAINST if method in methods_of(rows)]
    if _OURS not in methods_of(rows) or not others or len(rows) == 1:  # then all methods are shown instead
        return Sheet("", (), [])
    cells = [
        [name_of(row, page), *(cell for other in others for cell in paired(run.against(other), page))]
        for row, run in _run(rows)
    ]
    compared = tuple(title for other in others for title in (f"Δ {other}\n[95 %]", *PAIRED))
    return Sheet("On each data set", ("picsc against", *compared), cells)


def _weights(rows: list[RecipeRow], page: Page) -> Sheet:
    """The separation of training and target rows, and the effective sample sizes of the weightings."""
    weighted = [name for name in methods_of(rows) if any(_ess(run, name) is not None for _, run in _run(rows))]
    cells = [
        [
            name_of(row, page),
            Text(decimals(run.separation, 2, page)),
            *(Text(_whole(_ess(run, name), page)) for name in weighted),
        ]
        for row, run in _run(rows)
    ]
    heading = (
        "Weights; separation: how well a classifier tells training from target rows, 0.50 where they look alike; then "
        "effective sample size, percent of the training rows"
    )
    return Sheet(heading, ("data set", "separation", *weighted), cells if weighted else [])


_MEASURES: dict[Literal["error", "bias"], str] = {
    "error": "mean distance of an estimate from what came out on the target",
    "bias": "distance of the mean estimate from the mean of what came out",
}


def _estimates(rows: list[RecipeRow], over: OverSets | None, page: Page, measure: Literal["error", "bias"]) -> Sheet:
    """The errors of cross-validation's estimates, for each kind of weights of its tested rows."""
    ways = list(dict.fromkeys(risk.by for _, run in _run(rows) for risk in run.risks))
    cells = [
        [
            name_of(row, page),
            *(Text(nats(_off(run.risk(by), "log_loss", measure), page)) for by in ways),
            *(Text(percent(_off(run.risk(by), "accuracy", measure), page)) for by in ways),
        ]
        for row, run in _run(rows)
        if run.risks
    ]
    if over is not None and over.foretold and len(rows) > 1:
        by_weights = {one.by: one for one in over.foretold if one.measure == measure}
        means = [nats(by_weights[by].log_loss_error if by in by_weights else None, page) for by in ways]
        means += [percent(by_weights[by].accuracy_error if by in by_weights else None, page) for by in ways]
        closer = [_closer(by_weights.get(by), kind) for kind in ("log_loss_closer", "accuracy_closer") for by in ways]
        cells += [bold([mean_of(over), *means]), bold(["closer in", *closer])]
    heading = (
        f"How well cross-validation of st-cv foretells the target: {_MEASURES[measure]}, log-loss in nats and "
        f"{metric_word(rows[0].metric)} in points, by how tested rows are weighed; closer: than {_UNWEIGHTED}"
    )
    titles = tuple(f"{kind},\n{by}" for kind in ("loss", "points") for by in ways)
    return Sheet(heading, ("data set", *titles), cells)


def _off(risk: Risk | None, kind: str, measure: str) -> float | None:
    return None if risk is None else getattr(risk, f"{kind}_{measure}")


def _closer(found: Foretold | None, kind: str) -> str:
    """The number of data sets in which weights come closer than no weights."""
    return "" if found is None or found.by == _UNWEIGHTED else f"{getattr(found, kind)} of {found.sets}"


def _tested(rows: list[RecipeRow], over: OverSets) -> Sequence[PairedDifference | Difference]:
    """PIcsC against every other method over data sets; on the data set where there is one."""
    if over.sets > 1:
        return over.tests
    return next((run.differences for row, run in _run(rows) if row.counted), ())


def _differences(rows: list[RecipeRow], over: OverSets | None, page: Page) -> Sheet:
    """Differences of PIcsC from every other method."""
    if over is None:
        return Sheet("", (), [])
    alone = over.sets == 1
    cells = [
        [
            Text(test.against),
            *([] if isinstance(test, Difference) else [Text(str(test.sets))]),
            points_within(test.accuracy, test.accuracy_interval, page),
            nats_within(test.log_loss, _log_loss(test), page),
        ]
        for test in _tested(rows, over)
    ]
    titles = (f"Δ {metric_word(over.metric)}\n[95 %]", "Δ log-loss" if alone else "Δ log-loss\n[95 %]")
    heading = "All methods" if alone else f"Over data sets, target: {over.target}"
    return Sheet(heading, ("picsc against", *([] if alone else ["sets"]), *titles), cells)


def _p_values(rows: list[RecipeRow], over: OverSets | None, page: Page) -> Sheet:
    """p-values of these differences."""
    tests = () if over is None else _tested(rows, over)
    cells = [[Text(test.against), *map(Text, (*of_score(test, page), *of_log_loss(test, page)))] for test in tests]
    titles = ("picsc against", f"p of Δ\n{metric_word(rows[0].metric)}", "\nHolm", "p of Δ\nlog-loss", "\nHolm")
    return Sheet("", titles, cells)


def _log_loss(test: PairedDifference | Difference) -> Interval | None:
    """The interval of a difference of log-losses, which single data sets do not have."""
    return test.log_loss_interval if isinstance(test, PairedDifference) else None


def _run(rows: Sequence[RecipeRow]) -> list[tuple[RecipeRow, Comparison]]:
    """Rows that have a result."""
    return [(row, row.comparison) for row in rows if row.comparison is not None]


def _accuracy(row: RecipeRow, method: str, page: Page) -> str:
    """The accuracy, with a star where some models have no number: the mean is then over fewer targets than others'."""
    found = next((score.accuracy for score in row.scores if score.method == method), None)
    sure = None if row.comparison is None else row.comparison.score(method)
    return percent(found, page) + ("*" if found is not None and sure is not None and sure.failed else "")


def _mean(over: OverSets, method: str) -> float | None:
    return next((score.accuracy for score in over.scores if score.method == method), None)


def _mean_points(over: OverSets, rows: Sequence[RecipeRow], name: str, page: Page) -> str:
    """The mean of one of the paper's differences, where all sets have it."""
    against = next(delta.against for _, run in _run(rows) for delta in run.deltas if delta.name == name)
    test = next((test for test in over.tests if test.against == against and test.sets == over.sets), None)
    return points(test.accuracy if test else None, page).plain


def _named(deltas: Sequence[Delta], name: str) -> Delta | None:
    return next((delta for delta in deltas if delta.name == name), None)


def _points(delta: Delta | None, page: Page) -> Text:
    return points(delta.points if delta else None, page)


def _share(delta: Delta | None, page: Page) -> Text:
    return points(delta.relative if delta else None, page)


def _ess(run: Comparison, method: str) -> float | None:
    score = run.score(method)
    return None if score is None else score.ess


def _whole(share: float | None, page: Page) -> str:
    return decimals(None if share is None else 100 * share, 0, page)
