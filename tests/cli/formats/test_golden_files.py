"""Formats that all reports share: a page, and what pipelines read."""

from __future__ import annotations

from pathlib import Path

import pytest

from picsc.reports import Report
from picsc_cli.output.registry import as_text
from picsc_cli.text.page import Page
from tests.reports.pages.test_write import REPORTS

GOLDEN = Path(__file__).parents[2] / "golden"
SUFFIXES = {
    "html": "html",
    "junit": "xml",
    "github": "github.txt",
    "sarif": "sarif",
    "codequality": "codequality.json",
}


@pytest.mark.parametrize("format_", SUFFIXES)
@pytest.mark.parametrize("name", REPORTS)
def test_every_format_is_the_golden_one(name: str, format_: str) -> None:
    report: Report = REPORTS[name]()
    assert as_text(report, format_, Page()).encode() == (GOLDEN / f"{name}.{SUFFIXES[format_]}").read_bytes()
