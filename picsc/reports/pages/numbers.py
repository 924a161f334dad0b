"""Numbers on a page: three digits, percent, percentage points, p-values and intervals; a dash for None."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from picsc.reports.common import Interval

NONE = "\N{EN DASH}"
MINUS = "\N{MINUS SIGN}"


def number(value: float | None) -> str:
    """Three significant digits with a minus sign, as `0.0123` or `1.23e−5`."""
    return NONE if value is None else three_digits(value).replace("-", MINUS)


def three_digits(value: float) -> str:
    """Three significant digits with a hyphen, as `0.0123` or `1.23e-5`."""
    if value == 0:
        return "0"
    mantissa, e, exponent = f"{value:#.3g}".partition("e")
    return f"{mantissa.rstrip('.')}{e}{int(exponent) if exponent else ''}"


def decimals(value: float | None, places: int) -> str:
    """A number with so many decimals."""
    return NONE if value is None else f"{value:.{places}f}".replace("-", MINUS)


def percent(value: float | None) -> str:
    """A fraction as percent with one decimal."""
    return decimals(None if value is None else 100 * value, 1)


def points(value: float | None) -> str:
    """A difference of fractions in percentage points, with its sign; one that rounds to zero has none."""
    return signed(None if value is None else 100 * value, 1)


def signed(value: float | None, places: int) -> str:
    """A number with its sign; one that rounds to zero has none."""
    if value is None:
        return NONE
    rounded = round(value, places)
    sign = "+" if rounded > 0 else MINUS if rounded < 0 else ""
    return f"{sign}{abs(rounded):.{places}f}"


def probability(p: float | None, draws: int | None = None) -> str:
    """A p-value: with the number of draws in three significant digits, else in three decimals."""
    if p is None:
        return NONE
    if draws is None:
        return "<0.001" if p < 0.001 else f"{p:.3f}"
    smallest = 1 / (draws + 1)
    return f"<{smallest:.3g}" if p < smallest * (1 - 1e-9) else f"{p:.3g}"


def span(interval: Interval | None, places: int = 1, scale: float = 100) -> str:
    """An interval as `[94.2, 96.0]`, of fractions in percent; a dash for None."""
    if interval is None:
        return NONE
    return f"[{decimals(scale * interval.low, places)}, {decimals(scale * interval.high, places)}]"


def extent(values: Sequence[float]) -> str:
    """One number, or the smallest and the largest, as `0.1–10`; a dash for no number."""
    ends = dict.fromkeys((min(values), max(values))) if values else ()
    return "\N{EN DASH}".join(f"{value:g}" for value in ends) or NONE


def data_size(count: float | None) -> str:
    """Bytes in three digits at most and decimal units, as `512 B` or `1.2 kB`."""
    if count is None:
        return NONE
    size, units = float(count), ["B", "kB", "MB", "GB", "TB"]
    while size >= 999.5 and len(units) > 1:
        size /= 1000
        units.pop(0)
    return f"{size:.0f} {units[0]}" if size >= 9.95 or units[0] == "B" else f"{size:.1f} {units[0]}"
