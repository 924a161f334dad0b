"""Values over rounds as a picture: one line per method, told apart by dashes as well as by colour, named at its end."""

from __future__ import annotations

from collections.abc import Sequence

from picsc.reports.pages.blocks import Drawing
from picsc.reports.pages.drawing import dot, line, polyline, svg, text
from picsc.reports.pages.markup import cut
from picsc.reports.pages.numbers import decimals
from picsc.reports.pages.scales import Scale, apart, ticks

_WIDTH, _HEIGHT = 740.0, 360.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 52.0, 540.0, 14.0, 310.0
_DASHES = ("", "7 3", "2 3", "10 3 2 3", "12 4", "5 2 1 2 1 2")
_COLOURS = 7
Point = tuple[int, float]


def curves(lines: Sequence[tuple[str, Sequence[Sequence[Point]]]], caption: str, target: float | None) -> list[Drawing]:
    """One picture; none where no line has a point.

    Args:
        lines: name of each line, and its stretches of neighbouring rounds with a value.
        caption: what the picture shows.
        target: value of a line across; None without one.
    """
    drawn = [(name, [part for part in parts if part]) for name, parts in lines]
    drawn = [(name, parts) for name, parts in drawn if parts]
    if not drawn:
        return []
    points = [point for _, parts in drawn for part in parts for point in part]
    values = [value for _, value in points] + ([] if target is None else [target])
    levels = ticks(min(values) - 0.25, max(values) + 0.25, most=7)
    first, last = min(at for at, _ in points), max(at for at, _ in points)
    x = Scale(first, max(last, first + 1), _LEFT, _RIGHT)
    y = Scale(levels[0], levels[-1], _BOTTOM, _TOP)
    parts = []
    for level in levels:
        parts += [line(_LEFT, y(level), _RIGHT, y(level), "rule")]
        parts += [text(_LEFT - 8, y(level) + 4, f"{level:g}".replace("-", "\N{MINUS SIGN}"), "end", "soft")]
    for at in ticks(first, last, most=9):
        if at % 1 == 0 and first <= at <= last:
            parts.append(text(x(at), _BOTTOM + 18, f"{at:g}", "middle", "soft"))
    parts += [
        line(_LEFT, _BOTTOM, _RIGHT, _BOTTOM, "axis"),
        text((_LEFT + _RIGHT) / 2, _BOTTOM + 40, "round", "middle"),
    ]
    if target is not None:
        parts += [line(_LEFT, y(target), _RIGHT, y(target), "bound"), text(_LEFT + 4, y(target) - 5, "target")]
    for i, (_, stretches) in enumerate(drawn):
        for part in stretches:
            path = [(x(round_), y(value)) for round_, value in part]
            style = f"curve c{i % _COLOURS}"
            parts.append(polyline(path, style, _DASHES[i % len(_DASHES)]) if len(path) > 1 else dot(*path[0], 3))
    parts += _names([(name, stretches[-1][-1]) for name, stretches in drawn], y)
    ends = "; ".join(f"{name} {decimals(s[-1][-1][1], 1)} in round {s[-1][-1][0]}" for name, s in drawn)
    return [Drawing(svg(_WIDTH, _HEIGHT, f"{caption} At the end: {ends}.", parts), caption)]


def _names(ends: Sequence[tuple[str, Point]], y: Scale) -> list[str]:
    """Name and last value right of the picture, each with a sample of its line."""
    ordered = sorted(enumerate(ends), key=lambda each: y(each[1][1][1]))
    heights = apart([y(value) for _, (_, (_, value)) in ordered], 17, _TOP + 6, _BOTTOM)
    parts = []
    for (i, (name, (_, value))), height in zip(ordered, heights, strict=True):
        sample = [(_RIGHT + 8, height), (_RIGHT + 34, height)]
        parts.append(polyline(sample, f"curve c{i % _COLOURS}", _DASHES[i % len(_DASHES)]))
        parts.append(text(_RIGHT + 40, height + 4, f"{cut(name, 18)} {decimals(value, 1)}"))
    return parts
