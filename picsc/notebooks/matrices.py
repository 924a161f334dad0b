"""Maps of what models know of every piece or client over time, whose last row shows what was forgotten."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from picsc.notebooks.canvas import shown

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from picsc.notebooks.canvas import Canvas

MOST_MAPS, MOST_NAMES, MOST_NUMBERS = 6, 20, 12
"""Maps in a figure, names along an axis, and rows and columns of a map whose cells have numbers, at most."""


@dataclass(frozen=True, slots=True)
class Map:
    """Scores of one method after every step (row) on every piece (column)."""

    title: str
    scores: Sequence[Sequence[float | None]]
    """Fractions; None without one."""
    rows: Sequence[str]
    columns: Sequence[str]
    along: bool = False
    """True if the models learn the pieces in order, so that the cells on the diagonal were learned last."""


@dataclass(frozen=True, slots=True)
class Axis:
    """Words of the axes, which all maps of a figure share."""

    rows: str
    columns: str
    colours: str
    bounds: tuple[float, float] | None = None
    """Percent of the lightest and the darkest colour; None takes those of the maps."""


def bounds_of(maps: Sequence[Map]) -> tuple[float, float]:
    """The smallest and the largest score of maps, percent."""
    known = [100 * value for each in maps for row in each.scores for value in row if value is not None]
    return (min(known), max(known)) if known else (0.0, 100.0)


def across(maps: Sequence[Map]) -> int:
    """Maps in a row: as many as fill the rows."""
    return 2 if len(maps) == 4 else min(3, len(maps))


def size_of(maps: Sequence[Map]) -> tuple[float, float]:
    """Inches of a part of a figure that holds these maps."""
    down = math.ceil(len(maps) / across(maps))
    wide = max(min(len(each.columns), MOST_NAMES) for each in maps)
    high = max(min(len(each.rows), MOST_NAMES) for each in maps)
    return max(7.0, across(maps) * (1.6 + 0.34 * wide)), down * (1.6 + 0.28 * high) + 0.4


def draw_maps(figure: Canvas, axes: Sequence[Axes], maps: Sequence[Map], words: Axis) -> None:
    """Draw maps with the same colours: darker is higher, in print too.

    Args:
        figure: of the axes, which gets the scale of colours.
        axes: one for each map.
        maps: one for each method.
        words: of the axes.
    """
    low, high = words.bounds or bounds_of(maps)
    middle = (low + high) / 2
    image = None
    for at, each in zip(axes, maps, strict=True):
        values = [[math.nan if value is None else 100 * value for value in row] for row in each.scores]
        image = at.imshow(values, cmap="Blues", vmin=low, vmax=max(high, low + 1), aspect="auto")
        if max(len(each.rows), len(each.columns)) <= MOST_NUMBERS:
            for i, row in enumerate(values):
                for j, value in enumerate(row):
                    if not math.isnan(value):
                        colour = "white" if value > middle + (high - low) / 8 else "black"
                        at.text(j, i, f"{value:.0f}", ha="center", va="center", fontsize=7, color=colour)
        if each.along:
            _outline(at, min(len(each.rows), len(each.columns)))
        at.set_xticks(*_names(each.columns), rotation=60, ha="right", fontsize=7)
        at.set_yticks(*_names(each.rows), fontsize=7)
        at.set_xlabel(words.columns, fontsize=8)
        at.set_ylabel(words.rows, fontsize=8)
        at.set_title(each.title, fontsize=9)
    if image is not None:
        bar = figure.colorbar(image, ax=list(axes), aspect=40)
        bar.set_label(words.colours, fontsize=8)
        bar.ax.tick_params(labelsize=8)


def _outline(axes: Axes, k: int) -> None:
    """Frames around the diagonal: the piece that was learned last."""
    from matplotlib.patches import Rectangle

    for i in range(k):
        axes.add_patch(Rectangle((i - 0.5, i - 0.5), 1, 1, fill=False, edgecolor="black", linewidth=0.9))


def _names(names: Sequence[str]) -> tuple[list[int], list[str]]:
    """Positions and names along an axis: all of them, or some at equal distances."""
    step = max(1, math.ceil(len(names) / MOST_NAMES))
    at = list(range(0, len(names), step))
    return at, [shown(names[i]) for i in at]
