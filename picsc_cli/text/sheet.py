"""One table of a recipe for every format that shows tables, and cells that such tables share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.text import Text

from picsc_cli.text.numbers import points_within, probable
from picsc_cli.text.page import Page, words

if TYPE_CHECKING:
    from picsc.reports.common import Interval
    from picsc.reports.recipes import OverSets, RecipeRow


@dataclass(frozen=True, slots=True)
class Sheet:
    """Titles and rows of cells, in the alphabet of the page they were made for."""

    heading: str
    """Title of the table; empty when it continues the one before it."""
    titles: tuple[str, ...]
    """Titles of the columns; a line break makes a second line."""
    rows: list[list[Text]]
    """Rows of cells; the first one holds the whole name of a data set."""
    names: int = 1
    """Columns from the left whose cells are words; all others hold numbers."""


def methods_of(rows: Sequence[RecipeRow]) -> list[str]:
    """The methods of all rows, in the order of the row that has most."""
    return [score.method for score in max((row.scores for row in rows), key=len, default=())]


def name_of(row: RecipeRow, page: Page) -> Text:
    """The data set, with a star where it is left out of means."""
    return Text(words(row.data, page) + ("*" if row.scores and not row.counted else ""))


def mean_of(over: OverSets) -> str:
    """The name of a row of means."""
    return "mean, 1 set" if over.sets == 1 else f"mean, {over.sets} sets"


def bold(cells: Sequence[str]) -> list[Text]:
    """A row of means."""
    return [Text(cell, "bold") for cell in cells]


def paired(accuracy: float | None, interval: Interval | None, p: float | None, page: Page) -> tuple[Text, Text]:
    """A paired difference in two cells: percentage points with their interval, and p; dashes where it is missing."""
    return points_within(accuracy, interval, page), Text(probable(p, page))
