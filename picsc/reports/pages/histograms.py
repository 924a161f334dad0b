"""Distributions of columns as pictures: a piece beside its reference, as shares of the rows that have a value."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from picsc.reports.pages.blocks import Drawing
from picsc.reports.pages.drawing import bar, line, polyline, svg, text
from picsc.reports.pages.markup import cut
from picsc.reports.pages.numbers import number, percent

if TYPE_CHECKING:
    from collections.abc import Sequence

    from picsc.reports.distributions import ColumnDistribution, PieceCounts

WIDTH, HEIGHT = 340.0, 190.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 8.0, 332.0, 26.0, 150.0
_LEVEL = 30.0
"""Pixels of one level."""
_LETTERS = 30
"""Letters of a name in a picture."""


def drawings(column: ColumnDistribution, words: dict[str, str]) -> list[Drawing]:
    """One picture for each piece.

    Args:
        column: the counts.
        words: how far the column moved, by the name of the piece.
    """
    return [_drawing(column, counts, words.get(counts.piece, "")) for counts in column.pieces]


def _drawing(column: ColumnDistribution, counts: PieceCounts, words: str) -> Drawing:
    missing = f"missing: {_share(counts.missing, counts.counts)} %"
    beside = f"{_share(counts.reference_missing, counts.reference_counts)} % in the reference"
    what = words or f"{column.name} in {counts.piece} and in its reference"
    caption = f"{cut(counts.piece, 40)}: {words}" if words else f"{cut(column.name, 60)} in {cut(counts.piece, 40)}"
    label = f"{what}; {missing}, {beside}"
    own, other = _shares(counts.counts), _shares(counts.reference_counts)
    parts = _levels(column, own, other) if column.levels else _bins(column, own, other)
    height = _TOP + _LEVEL * len(own) + 24 if column.levels else HEIGHT
    legend = [
        bar(_LEFT, 4, 12, 11, "reference"),
        text(_LEFT + 18, 14, "reference", style="soft"),
        bar(_LEFT + 96, 4, 12, 11, "bar" if column.levels else "piece"),
        text(_LEFT + 114, 14, cut(counts.piece, _LETTERS)),
    ]
    style = "bold" if counts.missing != counts.reference_missing and words.startswith("missing rate") else "soft"
    gone = text(_LEFT, height - 4, f"{missing}, {beside}", style=style)
    return Drawing(svg(WIDTH, height, cut(label, 300), [*legend, *parts, gone]), caption)


def _share(missing: int, there: Sequence[int]) -> str:
    total = missing + sum(there)
    return percent(missing / total if total else None)


def _shares(counts: Sequence[int]) -> list[float]:
    total = max(sum(counts), 1)
    return [count / total for count in counts]


def _bins(column: ColumnDistribution, own: Sequence[float], other: Sequence[float]) -> list[str]:
    """Filled bars for the reference, an outline for the piece; the ends of the axis are the outermost edges."""
    most = max(*own, *other, 1e-9)
    width = (_RIGHT - _LEFT) / len(own)

    def height(share: float) -> float:
        return (_BOTTOM - _TOP) * share / most

    bars = [bar(_LEFT + k * width, _BOTTOM - height(s), width, height(s), "reference") for k, s in enumerate(other)]
    steps = [(_LEFT, _BOTTOM)]
    for k, share in enumerate(own):
        steps += [(_LEFT + (k + at) * width, _BOTTOM - height(share)) for at in (0, 1)]
    outline = polyline([*steps, (_RIGHT, _BOTTOM)], "piece")
    ends = []
    if column.edges:
        first, last = column.edges[0], column.edges[-1]
        ends = [text(_LEFT, _BOTTOM + 15, f"≤ {_value(first, column.kind)}", style="soft")]
        if last > first:
            ends.append(text(_RIGHT, _BOTTOM + 15, f"> {_value(last, column.kind)}", "end", "soft"))
    return [*bars, outline, line(_LEFT, _BOTTOM, _RIGHT, _BOTTOM, "axis"), *ends]


def _value(value: float, kind: str) -> str:
    """A number of the column, or a day."""
    if kind != "datetime":
        return number(value) if abs(value) < 1e5 else f"{value:.4g}"
    try:
        return datetime.fromtimestamp(value, UTC).strftime("%Y-%m-%d")
    except (OverflowError, OSError, ValueError):
        return number(value)


def _levels(column: ColumnDistribution, own: Sequence[float], other: Sequence[float]) -> list[str]:
    """Two bars for each level, with their shares in percent."""
    names = [*column.levels, *([f"{column.other} more levels"] if column.other else [])]
    most = max(*own, *other, 1e-9)
    start, room = 128.0, 152.0
    parts = []
    for k, (name, mine, theirs) in enumerate(zip(names, own, other, strict=True)):
        y = _TOP + k * _LEVEL
        parts += [
            text(start - 6, y + 17, cut(name, 16), "end"),
            bar(start, y + 1, room * theirs / most, 11, "reference"),
            bar(start, y + 13, room * mine / most, 11, "bar"),
            text(start + room * theirs / most + 4, y + 11, percent(theirs), style="soft"),
            text(start + room * mine / most + 4, y + 24, percent(mine)),
        ]
    return [*parts, line(start, _TOP, start, _TOP + _LEVEL * len(names), "axis")]
