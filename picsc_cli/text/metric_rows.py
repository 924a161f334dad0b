"""Metrics by name: cells and the tables that reports of several methods share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from picsc.reports.common import Interval
from picsc.reports.pages.numbers import MINUS
from picsc_cli.text.numbers import number, probable
from picsc_cli.text.page import Page, figures, paragraph, words

if TYPE_CHECKING:
    from picsc.reports.compare import CompareReport
    from picsc.reports.cv import CvReport
    from picsc.reports.fed import FedReport
    from picsc.reports.metrics import MetricDifference, MetricScore

TITLES = ("method", "mean [95 %]", "Δ", "p", "Holm")
"""Columns of the table of one metric."""
_UNITS = {"picsc.fed/1": "clients and seeds"}
"""What has a metric of its own, by the report's schema; models elsewhere."""


def note(report: CvReport | CompareReport | FedReport, i: int, base: str) -> str:
    """The meaning of the numbers of metric i, and why some are missing."""
    score = max((method.metrics[i] for method in report.methods), key=lambda each: each.missing)
    way = "higher" if score.higher_is_better else "lower"
    units = _UNITS.get(report.schema, "models")
    gone = f"; without {score.missing} {units}: {score.reason}" if score.missing else f"; {score.reason}".rstrip("; ")
    return f"{score.metric}: {way} is better; Δ: against {base}, paired{gone}"


def cells(score: MetricScore, base: str, page: Page) -> list[Text]:
    """Mean with its interval, difference from the base, p and Holm's."""
    difference = score.against(base)
    return [
        Text(f"{number(score.mean, page)} {_span(score.interval, page)}".rstrip()),
        _difference(difference, page),
        Text(probable(difference.p if difference else None, page)),
        Text(probable(difference.p_holm if difference else None, page)),
    ]


def tables(report: CvReport | CompareReport | FedReport, page: Page, base: str) -> list[str]:
    """One table for each metric that was asked for.

    Args:
        report: of several methods.
        page: where it is drawn.
        base: the method that all are compared with.
    """
    count = len(report.methods[0].metrics) if report.methods else 0
    found = []
    for i in range(count):
        titles = (report.methods[0].metrics[i].metric, *TITLES[1:])
        rows = [
            [Text(words(method.method.rpartition(", ")[2], page)), *cells(method.metrics[i], base, page)]
            for method in report.methods
        ]
        found.append(figures(titles, [rows], page) + paragraph(note(report, i, base), page, indent=1, hanging=2))
    return found


def _difference(difference: MetricDifference | None, page: Page) -> Text:
    """A difference with its sign, green where it is in favour of the row."""
    if difference is None or difference.value is None:
        return Text(page.none)
    sign = "+" if difference.value > 0 else ""
    shown = number(difference.value, page).replace("-", words(MINUS, page), difference.value < 0)
    style = "" if difference.better is None else "green" if difference.better else "red"
    return Text(f"{sign}{shown}", style)


def _span(interval: Interval | None, page: Page) -> str:
    return "" if interval is None else f"[{number(interval.low, page)}, {number(interval.high, page)}]"
