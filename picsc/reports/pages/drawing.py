"""Elements of SVG, with colours from the style sheet so that pictures follow a light or dark page."""

from __future__ import annotations

from collections.abc import Iterable

from picsc.reports.pages.markup import xml


def svg(width: float, height: float, label: str, parts: Iterable[str]) -> str:
    """A picture that is as wide as its place allows, at most its own width.

    Args:
        width: in pixels.
        height: in pixels.
        label: what is to be seen, for who does not see it.
        parts: elements.
    """
    size = f'viewBox="0 0 {pixels(width)} {pixels(height)}" style="--width:{pixels(width)}px"'
    return f'<svg {size} role="img" aria-label="{xml(label)}">{"".join(parts)}</svg>'


def line(x1: float, y1: float, x2: float, y2: float, style: str) -> str:
    """A straight line."""
    ends = f'x1="{pixels(x1)}" y1="{pixels(y1)}" x2="{pixels(x2)}" y2="{pixels(y2)}"'
    return f'<line class="{style}" {ends}/>'


def bar(x: float, y: float, width: float, height: float, style: str) -> str:
    """A rectangle; one without extent is left out."""
    if width <= 0 or height <= 0:
        return ""
    return f'<rect class="{style}" x="{pixels(x)}" y="{pixels(y)}" width="{pixels(width)}" height="{pixels(height)}"/>'


def dot(x: float, y: float, radius: float = 4.5, style: str = "dot") -> str:
    """A circle."""
    return f'<circle class="{style}" cx="{pixels(x)}" cy="{pixels(y)}" r="{pixels(radius)}"/>'


def text(x: float, y: float, words: str, anchor: str = "start", style: str = "") -> str:
    """One line of text, its baseline at y."""
    anchored = "" if anchor == "start" else f' text-anchor="{anchor}"'
    styled = f' class="{style}"' if style else ""
    return f'<text x="{pixels(x)}" y="{pixels(y)}"{anchored}{styled}>{xml(words)}</text>'


def polyline(points: Iterable[tuple[float, float]], style: str, dashes: str = "") -> str:
    """Straight lines from point to point."""
    path = " ".join(f"{pixels(x)},{pixels(y)}" for x, y in points)
    dashed = f' stroke-dasharray="{dashes}"' if dashes else ""
    return f'<polyline class="{style}"{dashed} points="{path}"/>'


def pixels(value: float) -> str:
    """A position in one decimal at most."""
    return f"{value:.1f}".removesuffix(".0")
