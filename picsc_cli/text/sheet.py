"""One table of a recipe for every format that shows tables, and cells that such tables share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.text import Text

from picsc.phrases import counted
from picsc.reports.fed import FedDifference
from picsc_cli.text.numbers import points_within
from picsc_cli.text.p_values import of_score
from picsc_cli.text.page import Page, words

if TYPE_CHECKING:
    from picsc.reports.common import Difference
    from picsc.reports.recipes import OverSets, RecipeRow, RecipeTable


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
    return f"mean{' R²' * (over.metric == 'R2')}, {counted(over.sets, 'set')}"


def block_of(over: OverSets) -> str:
    """What the rows of a mean have in common, with the metric where it is not accuracy."""
    return f"{over.block}{', R²' * (over.metric == 'R2')}"


def numeric_scores(table: RecipeTable) -> str:
    """The data sets whose scores are R², in words; only of a table that has some."""
    numeric = dict.fromkeys(row.data for row in table.rows if row.metric == "R2")
    return f"The scores of {', '.join(numeric)} are R² in percent: their targets are numbers"


def bold(cells: Sequence[str]) -> list[Text]:
    """A row of means."""
    return [Text(cell, "bold") for cell in cells]


PAIRED = ("p", "Holm")
"""Titles of the cells of `paired` after the first."""


def paired(difference: Difference | FedDifference | None, page: Page) -> tuple[Text, Text, Text]:
    """A paired difference: percentage points with their interval, p, and Holm's p; dashes where it is missing."""
    p, adjusted = (Text(cell) for cell in of_score(difference, page))
    if difference is None:
        return points_within(None, None, page), p, adjusted
    interval = difference.interval if isinstance(difference, FedDifference) else difference.accuracy_interval
    return points_within(difference.accuracy, interval, page), p, adjusted
