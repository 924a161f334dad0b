"""Values by name as pictures: bars against a bound, and points with their intervals."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from picsc.reports.pages.blocks import Drawing
from picsc.reports.pages.drawing import bar, dot, line, svg, text
from picsc.reports.pages.markup import cut
from picsc.reports.pages.numbers import decimals, number, signed
from picsc.reports.pages.scales import Scale, ticks

if TYPE_CHECKING:
    from picsc.reports.common import Interval

_ROW, _TOP, _LEFT, _RIGHT = 24.0, 12.0, 150.0, 520.0
WIDTH = 700.0
_LETTERS = 20


@dataclass(frozen=True, slots=True)
class Within:
    """A value and its interval."""

    name: str
    """What it is the value of."""
    value: float
    """The value, in the unit of the axis."""
    low: float | None = None
    """Lower end of the interval; None without one."""
    high: float | None = None
    """Upper end of the interval; None without one."""


def within(name: str, value: float | None, interval: Interval | None, scale: float = 100.0) -> list[Within]:
    """One entry of a picture of intervals; none without a value."""
    if value is None:
        return []
    if interval is None:
        return [Within(name, scale * value)]
    return [Within(name, scale * value, scale * interval.low, scale * interval.high)]


def ratios(values: Sequence[tuple[str, float | None, float | None]], caption: str) -> list[Drawing]:
    """Values over their bounds on a logarithmic axis, with a line where the two are equal.

    Args:
        values: name, value and bound; those without both, or with one that is not positive, are left out.
        caption: what the picture shows.
    """
    shown = [(name, value, bound) for name, value, bound in values if value and bound and value > 0 and bound > 0]
    if not shown:
        return []
    logs = [math.log10(value) - math.log10(bound) for _, value, bound in shown]
    low, high = math.floor(min(*logs, -1.0)), math.ceil(max(*logs, 1.0))
    x = Scale(low, high, _LEFT, _RIGHT)
    bottom = _TOP + _ROW * len(shown)
    parts = []
    for k in range(low, high + 1, max(1, (high - low) // 6)):
        parts += [line(x(k), _TOP, x(k), bottom, "rule"), text(x(k), bottom + 18, _power(k), "middle", "soft")]
    for i, ((name, value, bound), log) in enumerate(zip(shown, logs, strict=True)):
        y = _TOP + _ROW * i
        parts += [
            text(_LEFT - 8, y + 17, cut(name, _LETTERS), "end"),
            bar(x(low), y + 5, x(log) - x(low), _ROW - 10, "bar-shift" if log > 0 else "bar-other"),
            text(_RIGHT + 10, y + 17, f"{number(value)} of {number(bound)}", style="bold" if log > 0 else "soft"),
        ]
    parts.append(line(x(0), _TOP - 6, x(0), bottom + 4, "bound"))
    above = [name for (name, *_), log in zip(shown, logs, strict=True) if log > 0]
    label = f"{caption} Above the bound: {', '.join(cut(name, _LETTERS) for name in above[:20]) or 'none'}."
    return [Drawing(svg(WIDTH, bottom + 26, label, parts), caption)]


def _power(exponent: int) -> str:
    return "1" if exponent == 0 else f"{10.0**exponent:g}" if abs(exponent) < 4 else f"1e{exponent}"


def intervals(values: Sequence[Within], caption: str, *, places: int = 1, zero: bool = False) -> list[Drawing]:
    """Points with their intervals.

    Args:
        values: from top to bottom; no picture of fewer than one.
        caption: what the picture shows.
        places: decimals of a number.
        zero: True for differences: a line at zero, and signs.
    """
    if not values:
        return []
    ends = [end for each in values for end in (each.value, each.low, each.high) if end is not None]
    levels = ticks(min([*ends, 0.0] if zero else ends), max([*ends, 0.0] if zero else ends), most=6)
    x = Scale(levels[0], levels[-1], _LEFT, _RIGHT)
    bottom = _TOP + _ROW * len(values)
    parts = []
    for level in levels:
        parts += [line(x(level), _TOP, x(level), bottom, "rule")]
        parts += [text(x(level), bottom + 18, f"{level:g}".replace("-", "\N{MINUS SIGN}"), "middle", "soft")]
    if zero:
        parts.append(line(x(0), _TOP - 6, x(0), bottom + 4, "bound"))

    def shown(value: float) -> str:
        return signed(value, places) if zero else decimals(value, places)

    told = []
    for i, each in enumerate(values):
        y = _TOP + _ROW * i + _ROW / 2
        words = shown(each.value)
        if each.low is not None and each.high is not None:
            parts += [line(x(each.low), y, x(each.high), y, "whisker")]
            parts += [line(x(end), y - 5, x(end), y + 5, "whisker") for end in (each.low, each.high)]
            words += f" [{decimals(each.low, places)}, {decimals(each.high, places)}]"
        parts += [dot(x(each.value), y), text(_LEFT - 8, y + 5, cut(each.name, _LETTERS), "end")]
        parts.append(text(_RIGHT + 10, y + 5, words))
        told.append(f"{cut(each.name, _LETTERS)} {words}")
    return [Drawing(svg(WIDTH, bottom + 26, f"{caption} {'; '.join(told[:40])}.", parts), caption)]
