from __future__ import annotations

from pathlib import Path

import pytest

from picsc.reports import Report
from picsc_cli.output.registry import as_text
from picsc_cli.text.page import Page
from tests.reports.pages.test_write import REPORTS

GOLDEN = Path(__file__).parents[2] / "golden"


@pytest.mark.parametrize("name", REPORTS)
def test_every_page_is_the_golden_one(name: str) -> None:
    report: Report = REPORTS[name]()
    assert as_text(report, "html", Page()).encode() == (GOLDEN / f"{name}.html").read_bytes()
