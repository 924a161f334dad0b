"""Predictions as text for people: how many of which, and those of the first rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from picsc_cli.console.printable import printable
from picsc_cli.formats.table.data import aligned
from picsc_cli.text.audit_words import finding_words

if TYPE_CHECKING:
    from picsc.reports.predict import PredictReport
    from picsc_cli.text.page import Page

_FIRST = 10
"""Rows that are shown."""
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
    return predict_summary(report, page) + findings + "\n" + aligned(list(_rows(report))) + rest


def _rows(report: PredictReport) -> Iterator[tuple[str, ...]]:
    shown = report.classes if len(report.classes) <= _CLASSES else ()
    yield ("ROW", "PREDICTION", *(f"P({name})" for name in shown))
    for i, label in enumerate(report.predictions[:_FIRST]):
        chances = report.probabilities[i] if shown else ()
        text = f"{label:.6g}" if isinstance(label, float) else str(label)
        yield (str(i + 1), text, *(f"{chance:.3f}" for chance in chances))
