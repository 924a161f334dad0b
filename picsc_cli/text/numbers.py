"""Numbers on a page: three digits, percent, percentage points, p-values, sizes and intervals; a dash for None."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.text import Text

from picsc.reports.pages import numbers as shown
from picsc.reports.pages.numbers import MINUS
from picsc_cli.text.page import Page, words

if TYPE_CHECKING:
    from picsc.reports.common import Interval


def number(value: float | None, page: Page) -> str:
    """Three significant digits, as `0.0123`, `1.23` or `1.23e-5`; a dash for None."""
    return page.none if value is None else shown.three_digits(value)


def decimals(value: float | None, places: int, page: Page) -> str:
    """A number with so many decimals, with a minus sign where it is below zero; a dash for None."""
    return page.none if value is None else f"{value:.{places}f}".replace("-", words(MINUS, page))


def count(value: int | None, page: Page) -> str:
    """A whole number; a dash for None."""
    return page.none if value is None else str(value)


def percent(value: float | None, page: Page) -> str:
    """A fraction as percent with one decimal, with a minus sign where it is below zero; a dash for None."""
    return decimals(None if value is None else 100 * value, 1, page)


def nats(value: float | None, page: Page) -> str:
    """A log-loss in nats with three decimals; a dash for None."""
    return decimals(value, 3, page)


def points(value: float | None, page: Page) -> Text:
    """A difference of fractions in percentage points with its sign: green for more, red for less."""
    return signed(None if value is None else 100 * value, 1, page, more="green", less="red")


def signed(value: float | None, places: int, page: Page, *, more: str = "", less: str = "") -> Text:
    """A number with its sign, styled by it; a number that rounds to zero has neither."""
    if value is None:
        return Text(page.none)
    text = shown.signed(value, places)
    style = more if text.startswith("+") else less if text.startswith(MINUS) else ""
    return Text(text.replace(MINUS, words(MINUS, page)), style)


def data_size(count: float | None, page: Page) -> str:
    """Bytes in three digits at most and decimal units, as `512 B`, `1.2 kB` or `123 MB`; a dash for None."""
    return page.none if count is None else shown.data_size(count)


def probability(p: float | None, draws: int, page: Page) -> str:
    """A p-value in three significant digits; `<` the smallest that the draws can show when it is below that."""
    return page.none if p is None else shown.probability(p, draws)


def probable(p: float | None, page: Page) -> str:
    """A p-value in three decimals; a dash for None."""
    return page.none if p is None else shown.probability(p)


def span(interval: Interval | None, places: int, page: Page, *, scale: float = 1) -> str:
    """An interval as `[94.2, 96.0]`; nothing for None."""
    if interval is None:
        return ""
    low, high = (decimals(scale * end, places, page) for end in (interval.low, interval.high))
    return f"[{low}, {high}]"


def percent_span(interval: Interval | None, page: Page) -> str:
    """An interval of fractions in percent, as `[94.2, 96.0]`; nothing for None."""
    return span(interval, 1, page, scale=100)


def percent_within(value: float | None, interval: Interval | None, page: Page) -> str:
    """A fraction in percent and its interval, as `95.1 [94.2, 96.0]`; a dash for None."""
    return f"{percent(value, page)} {percent_span(interval, page)}".rstrip()


def points_within(value: float | None, interval: Interval | None, page: Page) -> Text:
    """A difference of fractions in percentage points and its interval, as `+1.2 [0.4, 2.0]`; a dash for None."""
    return with_interval(points(value, page), percent_span(interval, page))


def with_interval(difference: Text, interval: str) -> Text:
    """A difference and its interval in one cell."""
    return Text.assemble(difference, f" {interval}") if interval else difference


def nats_within(value: float | None, interval: Interval | None, page: Page) -> Text:
    """A difference of log-losses in nats and its interval; less is better, so it is green. A dash for None."""
    return with_interval(signed(value, 3, page, more="red", less="green"), span(interval, 3, page))


def extent(values: Sequence[float]) -> str:
    """One number, or the smallest and the largest, as `0.1–10`; empty for no number."""
    return shown.extent(values) if values else ""
