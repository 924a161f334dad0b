"""P-values of paired tests, each beside Holm's: cells and the table that reports of several methods share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from picsc.reports.fed import FedDifference
from picsc_cli.text.numbers import probable
from picsc_cli.text.page import Page, figures, paragraph, words

if TYPE_CHECKING:
    from picsc.reports.common import Difference
    from picsc.reports.compare import CompareReport
    from picsc.reports.cv import CvReport
    from picsc.reports.fed import FedReport
    from picsc.reports.recipes import PairedDifference

_OURS = "picsc"
NOTE = (
    "Holm: adjusted over all tests of its column, so that at most 1 in 20 reports of equal methods has one below 0.05"
)
"""The meaning of the columns."""


def of_score(difference: Difference | FedDifference | PairedDifference | None, page: Page) -> tuple[str, str]:
    """P of the accuracy or R², and Holm's; dashes without a test."""
    if isinstance(difference, FedDifference):
        return probable(difference.p, page), probable(difference.p_holm, page)
    if difference is None:
        return probable(None, page), probable(None, page)
    return probable(difference.accuracy_p, page), probable(difference.accuracy_p_holm, page)


def of_log_loss(difference: Difference | FedDifference | PairedDifference | None, page: Page) -> tuple[str, str]:
    """P of the log-loss, and Holm's; dashes without a test."""
    if difference is None:
        return probable(None, page), probable(None, page)
    return probable(difference.log_loss_p, page), probable(difference.log_loss_p_holm, page)


def tables(report: CvReport | CompareReport | FedReport, page: Page, base_name: str) -> list[str]:
    """The paired tests: every method against the base, and picsc against every method, in both scores.

    Args:
        report: of several methods.
        page: where it is drawn.
        base_name: the method that all are compared with, `st-cv` or `fedavg`.

    Returns:
        One table; none where there is nothing to compare.
    """
    base, ours = report.method(base_name), report.method(_OURS)
    score = {"accuracy": "acc", "R2": "R²"}[report.data.metric]
    against = [(each, name) for each, name in ((base, base_name), (ours, _OURS)) if each is not None]
    if not against or len(report.methods) < 2:
        return []
    titles = ["method"]
    for _, name in against:
        titles += [f"{name}\np {score}", "\nHolm", "\np loss", "\nHolm"]
    rows = []
    for method in report.methods:
        cells = []
        for each, _ in against:
            difference = each.against(method.method)
            cells += [*of_score(difference, page), *of_log_loss(difference, page)]
        rows.append([Text(words(method.method, page)), *map(Text, cells)])
    note = f"p: of the row against {' and against '.join(name for _, name in against)}, paired; {NOTE}"
    return [figures(titles, [rows], page) + paragraph(note, page, indent=1, hanging=2)]
