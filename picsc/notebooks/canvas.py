"""The canvas of all figures: an empty one, names in few letters, and lines that differ without colour."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from picsc.errors import SettingsError
from picsc.phrases import printable

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

    Canvas: TypeAlias = Figure | SubFigure

REFERENCE, PIECE, RULE, GREY = "#b9c0c8", "#0b5cad", "#e3e3e3", "#595959"
_LETTERS = 28


@dataclass(frozen=True, slots=True)
class Style:
    """The look of a line; lightness, marks and dashes differ, so that a print in grey tells lines apart."""

    colour: str
    marker: str
    dashes: Any
    """As matplotlib names them."""


STYLES = (
    Style("#0b3c6f", "o", "-"),
    Style("#c46a00", "s", "--"),
    Style("#1a1a1a", "^", ":"),
    Style("#7a8a99", "D", "-."),
    Style("#3f8f5f", "v", (0, (6, 1, 1, 1, 1, 1))),
    Style("#8f3f7f", "P", (0, (3, 2))),
)


@dataclass(frozen=True, slots=True)
class Dot:
    """One number of a line, with the ends of its interval."""

    x: float
    y: float
    low: float | None = None
    high: float | None = None


def empty_figure(width: float, height: float) -> Figure:
    """An empty figure that belongs to no window.

    Args:
        width: in inches.
        height: in inches.

    Raises:
        SettingsError: matplotlib is missing.
    """
    need_matplotlib()
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def need_matplotlib() -> None:
    """Load matplotlib.

    Raises:
        SettingsError: it is missing.
    """
    try:
        import matplotlib.figure

        if "IPython" in sys.modules:  # so that a notebook knows how to show a figure
            import matplotlib.pyplot  # noqa: ICN001, F401
    except ImportError:
        raise SettingsError("figures need matplotlib: pip install 'picsc[plots]'; pages of HTML do not") from None


def shown(name: str) -> str:
    """A name in few letters, without what matplotlib takes for a formula."""
    words = printable(name[: _LETTERS + 1])
    cut = words if len(words) <= _LETTERS else f"{words[: _LETTERS - 1]}…"
    return cut.replace("$", r"\$")


def say(canvas: Canvas, words: str) -> None:
    """Words in the middle of an empty canvas."""
    canvas.text(0.5, 0.5, words, ha="center", va="center")


def forgotten(points: float | None) -> str:
    """What was forgotten, in words."""
    return "forgetting not known" if points is None else f"{100 * points:.1f} points forgotten"


def line(axes: Axes, dots: Sequence[Dot], style: Style, label: str) -> None:
    """A line through dots with their intervals, which have caps.

    Args:
        axes: the axes.
        dots: from left to right.
        style: its look.
        label: its name in the legend.
    """
    below = [dot.y - (dot.y if dot.low is None else dot.low) for dot in dots]
    above = [(dot.y if dot.high is None else dot.high) - dot.y for dot in dots]
    axes.errorbar(
        [dot.x for dot in dots],
        [dot.y for dot in dots],
        yerr=[below, above] if any(dot.low is not None for dot in dots) else None,
        color=style.colour,
        marker=style.marker,
        linestyle=style.dashes,
        markersize=5,
        linewidth=1.4,
        capsize=3,
        elinewidth=0.9,
        label=label,
    )


def grid(canvas: Canvas, panels: int, *, most: int = 3) -> list[Axes]:
    """Axes for so many panels, in rows.

    Args:
        canvas: what they are put on.
        panels: at least 1.
        most: panels in a row.
    """
    across = min(panels, most)
    down = -(-panels // across)
    return [canvas.add_subplot(down, across, i + 1) for i in range(panels)]
