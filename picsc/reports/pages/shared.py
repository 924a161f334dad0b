"""What pages share: tables of methods and of failures, findings, differences from the base, settings and versions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Protocol

from picsc.phrases import counted
from picsc.reports.common import metric_word
from picsc.reports.fed import FedDifference
from picsc.reports.pages.bars import intervals, within
from picsc.reports.pages.blocks import Cell, Items, Section, Table
from picsc.reports.pages.markup import cut
from picsc.reports.pages.numbers import NONE, percent, points, probability, signed, span

if TYPE_CHECKING:
    from picsc.reports.common import DataInfo, Difference, Finding, Interval, MajorityClass

NAME_LETTERS = 60
"""Letters of a name in a table; the whole name is shown to who points at it."""
SHORT_NAME = 16
"""Letters of a name that is never broken into two lines."""
MOST_COLUMNS = 200
"""Columns as understood that a page lists."""
MOST_FAILURES = 50
"""Failures that a page lists."""
_SIGNS = {"note": "Note", "warning": "Warning", "error": "Error"}


def name_cell(name: str, mark: str = "") -> Cell:
    """A name, cut where it is long."""
    shown = cut(name, NAME_LETTERS)
    short = "name short" if len(shown) <= SHORT_NAME else "name"
    return Cell(shown + mark, short, cut(name, 500) if shown != name else "")


def capital(text: str) -> str:
    """The text as the beginning of a sentence."""
    return text[:1].upper() + text[1:]


def words_cell(words: str) -> Cell:
    """A sentence."""
    return Cell(words, "words")


def metric(data: DataInfo) -> str:
    """The name of the score that methods are compared by."""
    return metric_word(data.metric)


def findings(found: Sequence[Finding]) -> Section:
    """What a person should know of the data, the most serious first, and what to do about it."""
    order = ("error", "warning", "note")
    listed = sorted(found, key=lambda finding: order.index(finding.severity))
    pairs = [(_SIGNS[each.severity], "; ".join(filter(None, (each.message, each.advice)))) for each in listed]
    return Section("Findings", [Items(pairs)] if pairs else [])


class _Repeatable(Protocol):
    """A report that says how to repeat it."""

    @property
    def data(self) -> DataInfo: ...
    @property
    def settings(self) -> dict[str, object]: ...
    @property
    def manifest(self) -> dict[str, object]: ...


def manifest(report: _Repeatable, more: Iterable[tuple[str, str]] = ()) -> Section:
    """What the same numbers need: the data's digest, versions, settings, and the columns as they were understood."""
    data = report.data
    pairs = [("data", f"{data.source}, {counted(data.rows, 'row')}, SHA-256 {data.sha256}"), *more]
    pairs += [(name, value) for name, value in flat(report.manifest) if name != "data_sha256"]
    settings = Table(
        "All settings as resolved.",
        ("setting", "value"),
        [[Cell(name, "name"), words_cell(value)] for name, value in flat(report.settings)],
    )
    return Section(
        "How to repeat this: data, settings, versions", [Items(pairs), settings, *columns(data)], folded=True
    )


def columns(data: DataInfo) -> list[Table]:
    """The columns as they were understood; none where there are none."""
    if not data.columns:
        return []
    rows = [
        [
            name_cell(each.name),
            Cell(each.kind, ""),
            Cell(str(each.missing)),
            Cell(NONE if each.levels is None else str(each.levels)),
            Cell("yes" if each.used else "no", ""),
            words_cell(each.note),
        ]
        for each in data.columns[:MOST_COLUMNS]
    ]
    left = len(data.columns) - len(rows)
    notes = [f"{counted(left, 'more column')}: the JSON report lists them all."] if left else []
    titles = ("column", "kind", "missing", "levels", "used", "note")
    return [Table("The columns as they were understood.", titles, rows, notes=notes)]


def flat(values: dict[str, object], before: str = "") -> list[tuple[str, str]]:
    """Settings by name, nested ones as `cut.folds`; a dash for None."""
    found = []
    for key, value in values.items():
        if isinstance(value, dict):
            found += flat(value, f"{before}{key}.")
        elif isinstance(value, (list, tuple)):
            found.append((before + key, ", ".join(map(str, value)) or NONE))
        else:
            found.append((before + key, NONE if value is None else str(value)))
    return found


def methods_table(
    caption: str, titles: Sequence[str], rows: Sequence[list[Cell]], majority: MajorityClass | None
) -> Table:
    """The methods and, below them, the score of always giving the most frequent class, where there are classes.

    Columns that are empty for every method are left out, so that the table fits its page.

    Args:
        caption: of the table.
        titles: of its columns; the first two are the method and its score.
        rows: one for each method.
        majority: the most frequent class.
    """
    kept = [
        i for i in range(len(titles)) if not rows or any(row[i].text.strip() not in ("", "\N{EN DASH}") for row in rows)
    ]
    titles, rows = [titles[i] for i in kept], [[row[i] for i in kept] for row in rows]
    if majority is None:
        return Table(caption, titles, rows)
    score = [Cell("majority", "name"), Cell(percent(majority.share)), *[Cell("")] * (len(titles) - 2)]
    notes = [f"majority: always saying {cut(majority.name, 60)}."]
    return Table(caption, titles, [*rows, score] if rows else rows, notes=notes)


def without_result(what: str, titles: Sequence[str], rows: Sequence[list[Cell]]) -> Section:
    """What has no result, and why; empty where all have one.

    Args:
        what: the kind, as in `Models without a number`.
        titles: of the columns.
        rows: one for each failure.
    """
    first = f", the first {MOST_FAILURES}" if len(rows) > MOST_FAILURES else ""
    table = Table(f"{what}: {len(rows)}{first}.", titles, rows[:MOST_FAILURES])
    return Section("Without a result", [table] if rows else [])


class _Method(Protocol):
    """A method that is compared with others."""

    @property
    def method(self) -> str: ...
    def against(self, method: str) -> Difference | FedDifference | None: ...


def differences(methods: Sequence[_Method], base: str, score: str) -> Section:
    """Every method minus the base, in the first score and in log-loss, with intervals and p-values.

    Args:
        methods: of one report.
        base: name of the method that they are compared with.
        score: name of the first score.
    """
    rows, drawn = [], []
    for method in methods:
        found = method.against(base)
        if found is None:
            continue
        interval, p, holm = _tested(found)
        drawn += within(method.method, found.accuracy, interval)
        rows.append(
            [
                name_cell(method.method),
                Cell(points(found.accuracy), "number"),
                Cell(span(interval)),
                Cell(probability(p), "number mark" if p is not None and p < 0.05 else "number"),
                Cell(probability(holm)),
                Cell(signed(found.log_loss, 3)),
                Cell(probability(found.log_loss_p)),
                Cell(probability(found.log_loss_p_holm)),
            ]
        )
    if not rows:
        return Section(f"Against {base}", [])
    caption = f"Difference in {score} from {base}, in points, with 95 % intervals; right of the line is better."
    titles = ("method", f"Δ {score}, points", "95 % interval", "p", "Holm's p", "Δ log-loss", "p", "Holm's p")
    table = Table(
        f"Every method minus {base}, paired over the same rows. p: of the test of one comparison that was named before "
        "the run. Holm's p: adjusted over all methods, for one that was chosen by its result. Bold: below 0.05.",
        titles,
        rows,
    )
    return Section(f"Against {base}: controls and other methods", [*intervals(drawn, caption, zero=True), table])


def _tested(found: Difference | FedDifference) -> tuple[Interval | None, float | None, float | None]:
    """Interval, p and Holm's p of a difference of the first score, whichever report it is of."""
    if isinstance(found, FedDifference):
        return found.interval, found.p, found.p_holm
    return found.accuracy_interval, found.accuracy_p, found.accuracy_p_holm
