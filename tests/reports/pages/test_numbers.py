"""Numbers of a page are those of the table in a terminal."""

from __future__ import annotations

import pytest

from picsc.reports.common import Interval
from picsc.reports.pages import numbers as pages
from picsc_cli.text import numbers as terminal
from picsc_cli.text.page import Page

VALUES = (None, 0.0, 1.0, 0.5, -0.5, 12.3456, 1e-9, -1e-9, 123456.0, 0.99999, 1e300)


@pytest.mark.parametrize("value", VALUES)
def test_they_are_the_same_in_both(value: float | None) -> None:
    page = Page()
    assert pages.number(value).replace("\N{MINUS SIGN}", "-") == terminal.number(value, page)
    assert pages.percent(value) == terminal.percent(value, page)
    assert pages.points(value) == terminal.points(value, page).plain
    assert pages.signed(value, 3) == terminal.signed(value, 3, page).plain
    assert pages.data_size(value) == terminal.data_size(value, page)


@pytest.mark.parametrize("p", [None, 1.0, 0.05, 0.0013, 0.0001])
def test_p_values(p: float | None) -> None:
    assert pages.probability(p, 999) == terminal.probability(p, 999, Page())
    assert pages.probability(p) == terminal.probable(p, Page())


def test_intervals_and_ranges() -> None:
    assert pages.span(Interval(0.1, 0.2)) == "[10.0, 20.0]"
    assert pages.span(None) == pages.extent(()) == "\N{EN DASH}"
    assert pages.extent((0.1, 10.0)) == "0.1\N{EN DASH}10"
