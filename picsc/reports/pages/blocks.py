"""Parts of a page: sections of paragraphs, tables and drawings. What they hold is text, which the template escapes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Literal

Style = Literal["", "head", "name", "number", "mark", "strong", "shift", "ok", "doubt", "none"]
"""The look of a cell: a number ends at the right, a mark is significant; shift, ok and doubt are verdicts."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell of a table."""

    text: str
    """What it shows."""
    style: str = "number"
    """Class names of the style sheet, see `Style`; `heat-0` to `heat-5` are the colours of sizes."""
    title: str = ""
    """A longer text for who points at it; empty for none."""


@dataclass(frozen=True, slots=True)
class Table:
    """A table; on a narrow screen it scrolls by itself."""

    caption: str
    """What the table shows, in a sentence."""
    titles: Sequence[str]
    """Of the columns; the first one is that of the names of the rows."""
    rows: Sequence[Sequence[Cell]]
    """Cells; the first one of a row is its name."""
    dense: bool = False
    """True for a table of many small cells."""
    notes: Sequence[str] = ()
    """Lines beneath."""
    stacked: bool = False
    """True for a table with sentences, whose rows stand one beneath the other on a narrow screen."""
    kind: ClassVar[str] = "table"


@dataclass(frozen=True, slots=True)
class Drawing:
    """A picture in SVG."""

    svg: str
    """The markup, all text in it escaped."""
    caption: str
    """What the picture shows, in a sentence."""
    kind: ClassVar[str] = "drawing"


@dataclass(frozen=True, slots=True)
class Gallery:
    """Small pictures side by side."""

    drawings: Sequence[Drawing]
    """The pictures."""
    kind: ClassVar[str] = "gallery"


@dataclass(frozen=True, slots=True)
class Prose:
    """Paragraphs."""

    lines: Sequence[str]
    """One paragraph each."""
    kind: ClassVar[str] = "prose"


@dataclass(frozen=True, slots=True)
class Items:
    """A list of facts, each with a name."""

    pairs: Sequence[tuple[str, str]]
    """Name and text."""
    kind: ClassVar[str] = "items"


Block = Table | Drawing | Gallery | Prose | Items


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a page under a heading."""

    title: str
    """The heading."""
    blocks: Sequence[Block]
    """What is in it; a section without any is left out."""
    folded: bool = False
    """True to show the heading alone until somebody opens it."""


@dataclass(frozen=True, slots=True)
class Content:
    """A whole page, or one of several reports on it."""

    title: str
    """Name of the data, or of what was run."""
    about: str
    """Rows, pieces and reference, in a line."""
    verdict: str
    """Verdict of the report, or its kind where it has none."""
    tone: str
    """Look of the verdict: shift, ok, doubt or none."""
    lines: Sequence[str]
    """The summary, the verdict first."""
    sections: Sequence[Section] = field(default_factory=tuple)
    """Sections in reading order."""
    words: Sequence[str] = ()
    """Names of the entries of `picsc.reports.pages.glossary` that are explained at the end."""


TONES = {
    "ok": "ok",
    "equivalent": "ok",
    "shift": "shift",
    "inconclusive": "doubt",
    "not tested": "doubt",
    "error": "shift",
}
"""Look of a verdict."""
MARKS = {"ok": "✓", "equivalent": "✓", "shift": "▲", "inconclusive": "?", "not tested": "?", "error": "✕"}
"""Signs of verdicts, so that they are told apart without colours."""


def verdict_cell(verdict: str, more: str = "") -> Cell:
    """A verdict with its sign."""
    return Cell(f"{MARKS.get(verdict, '')} {verdict}{more}".strip(), TONES.get(verdict, ""))


def heat(size: float | None, most: float = 1.0) -> str:
    """Class name of the colour of a size: six steps, finer for small ones.

    Args:
        size: at least 0; None has no colour.
        most: the size from which on the colour is the strongest.
    """
    if size is None or most <= 0:
        return "heat-none"
    return f"heat-{sum(size / most >= bound for bound in (0.08, 0.15, 0.25, 0.4, 0.6))}"
