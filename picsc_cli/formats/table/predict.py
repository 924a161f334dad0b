"""Predictions as text for people: how many of which, and those of the first rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from picsc_cli.console.printable import printable
from picsc_cli.formats.table.data import aligned
from picsc_cli.text.audit_words import finding_words

if TYPE_CHECKING:
    from picsc.reports.predict import ColumnShift, PredictReport
    from picsc_cli.text.page import Page

_FIRST = 10
"""Rows that are shown."""
_NEAREST = 5
"""Columns without a shift that are shown."""
_TEST = (
    "test: new rows against counts of the training rows, by draws; Holm over the columns; a shift has p <= 0.05 and a\n"
    "distance of 0.05, or 5 points more or fewer missing values; rows must not depend on one another\n"
)
_CLASSES = 6
"""Classes whose probabilities are shown at most."""


def predict_summary(report: PredictReport, page: Page) -> str:
    """How many rows, and their predictions in one line."""
    del page
    return "".join(f"{printable(line)}\n" for line in report.lines)


def predict_table(report: PredictReport, page: Page, /, *, verbose: bool) -> str:
    """The summary, findings, and the first rows.

    Args:
        report: of one file.
        page: changes nothing; other reports depend on it.
        verbose: changes nothing; `--output csv` has all rows.
    """
    del verbose
    findings = "".join(f"{each.severity}: {printable(finding_words(each))}\n" for each in report.findings)
    more = len(report.predictions) - _FIRST
    rest = f"... and {more} more rows; --output csv:FILE has all of them\n" if more > 0 else ""
    shift = "" if report.shift is None else "\n" + aligned(list(_columns(report.shift))) + _TEST
    return predict_summary(report, page) + findings + shift + "\n" + aligned(list(_rows(report))) + rest


def _columns(shift: Sequence[ColumnShift]) -> Iterator[tuple[str, ...]]:
    """The columns that have shifted or are inconclusive, and of the others the five that are nearest to it."""
    yield ("COLUMN", "VERDICT", "P (HOLM)", "DISTANCE", "MOVED", "MISSING", "")
    told = [each for each in shift if each.verdict != "ok"]
    others = sorted(
        (each for each in shift if each.verdict == "ok"), key=lambda each: 1.0 if each.p is None else each.p
    )
    for each in (*told, *others[:_NEAREST]):
        yield (
            each.name,
            each.verdict,
            "-" if each.p_holm is None else f"{each.p_holm:.2g}",
            "-" if each.distance is None else f"{each.distance:.2f}",
            "-" if each.moved is None else f"{each.moved:+.2f} sd",
            f"{100 * (each.missing_now - each.missing_before):+.1f} points",
            each.words,
        )


def _rows(report: PredictReport) -> Iterator[tuple[str, ...]]:
    shown = report.classes if len(report.classes) <= _CLASSES else ()
    yield ("ROW", "PREDICTION", *(f"P({name})" for name in shown))
    for i, label in enumerate(report.predictions[:_FIRST]):
        chances = report.probabilities[i] if shown else ()
        text = f"{label:.6g}" if isinstance(label, float) else str(label)
        yield (str(i + 1), text, *(f"{chance:.3f}" for chance in chances))
