"""Numbers on a page: dashes for None, minus signs, intervals, and the ends of several numbers."""

from __future__ import annotations

import pytest

from picsc.reports.common import Interval
from picsc_cli.text.numbers import count, decimals, extent, nats_within, percent_within, points_within
from picsc_cli.text.page import Page

PAGE = Page()
MINUS = "\N{MINUS SIGN}"
INTERVAL = Interval(-0.0104, 0.02)


def test_a_number_that_does_not_exist_is_a_dash() -> None:
    assert {decimals(None, 2, PAGE), count(None, PAGE), percent_within(None, None, PAGE)} == {PAGE.none}
    assert points_within(None, None, PAGE).plain == PAGE.none
    assert nats_within(None, None, PAGE).plain == PAGE.none


def test_numbers_have_a_minus_sign_in_the_alphabet_of_the_page() -> None:
    assert decimals(-1.25, 1, PAGE) == f"{MINUS}1.2"
    assert decimals(-1.25, 1, Page(ascii_only=True)) == "-1.2"


def test_an_interval_follows_its_number() -> None:
    assert percent_within(0.95, INTERVAL, PAGE) == f"95.0 [{MINUS}1.0, 2.0]"
    assert percent_within(0.95, None, PAGE) == "95.0"
    assert points_within(0.012, INTERVAL, PAGE).plain == f"+1.2 [{MINUS}1.0, 2.0]"
    assert nats_within(-0.5, INTERVAL, PAGE).plain == f"{MINUS}0.500 [{MINUS}0.010, 0.020]"


@pytest.mark.parametrize(
    ("values", "shown"), [((), ""), ((0.1,), "0.1"), ((0.1, 0.1), "0.1"), ((0.1, 10.0, 1.0), "0.1\N{EN DASH}10")]
)
def test_several_numbers_are_shown_by_their_ends(values: tuple[float, ...], shown: str) -> None:
    assert extent(values) == shown
