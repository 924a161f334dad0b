"""Reports as one file of HTML, which the library writes: see `picsc.reports.pages`."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from picsc.reports import Report


def report_html(report: Report) -> str:
    """The whole page; it needs nothing but itself."""
    from picsc.reports.pages.write import page_html  # loads jinja2 for those who want a page

    return page_html(report)
