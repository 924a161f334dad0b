"""The page a report is written on: its width and alphabet, and how names, paragraphs and tables look there.

Names are cut to fit, numbers never. Text that comes from the data is never taken for markup or an escape sequence.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from rich import box
from rich.cells import cell_len, set_cell_size
from rich.console import Console
from rich.padding import Padding
from rich.style import Style
from rich.table import Table
from rich.text import Text

from picsc_cli.console.printable import is_unicode, printable

if TYPE_CHECKING:
    from rich.console import JustifyMethod, RenderableType

_ASCII_RULES = box.Box(" -- \n    \n -- \n    \n -- \n -- \n    \n -- \n", ascii=True)
_ASCII_WORDS = str.maketrans(
    {"λ": "lambda", "²": "^2", "≤": "<=", "≥": ">=", "→": "->", "…": "..", "‖": "||", "Δ": "d", "τ": "tau"}
    | {"\N{EN DASH}": "-", "\N{EM DASH}": "-", "\N{MINUS SIGN}": "-", "\N{MULTIPLICATION SIGN}": "x"}
)


PLAIN_WIDTH = 80
"""Columns of a page that is no terminal."""


@dataclass(frozen=True, slots=True)
class Page:
    """The width, the alphabet and the colours of the place that a text is written for."""

    width: int = PLAIN_WIDTH
    """Cells of a line."""
    ascii_only: bool = False
    """True for rules and our own words in ASCII, for encodings that are not Unicode."""
    colours: Literal["standard", "256", "truecolor"] | None = None
    """Colours of the terminal; None writes no escape sequence at all."""
    on_terminal: bool = False
    """True if a person reads the page on a terminal; files and pipes get the report alone."""

    @property
    def none(self) -> str:
        """The sign for a number that does not exist."""
        return "-" if self.ascii_only else "\N{EN DASH}"

    @property
    def ellipsis(self) -> str:
        """The sign for the part of a name that was cut."""
        return ".." if self.ascii_only else "…"


def page_of_stdout() -> Page:
    """The page of standard output: as wide as the terminal, or 80 columns without colours where there is none."""
    stream = sys.stdout
    ascii_only = stream is None or not is_unicode(stream.encoding)
    probe = Console()
    on_terminal = stream is not None and stream.isatty()
    width = probe.width if on_terminal else PLAIN_WIDTH
    colours = probe.color_system if probe.is_terminal and not os.environ.get("NO_COLOR") else None
    if colours == "windows":  # the old console, which knows no escape sequences
        colours = None
    return Page(width, ascii_only, colours, on_terminal)  # type: ignore[arg-type] # rich says str


def words(text: str, page: Page) -> str:
    """The text on one line, in the page's alphabet as far as there are words for it."""
    safe = printable(text)
    return safe.translate(_ASCII_WORDS) if page.ascii_only else safe


def cut(text: str, room: int, page: Page) -> str:
    """A name in at most `room` cells."""
    if cell_len(text) <= room:
        return text
    return set_cell_size(text, max(0, room - cell_len(page.ellipsis))).rstrip() + page.ellipsis


def paper_table(page: Page, gap: int) -> Table:
    """An empty table as papers print it: a rule at the top, under the header and at the bottom.

    Args:
        page: where it is drawn.
        gap: spaces between two columns, at least 1; one more stands before the first column.
    """
    rules = _ASCII_RULES if page.ascii_only else box.HORIZONTALS
    return Table(box=rules, padding=(0, gap - 1, 0, 0), header_style=Style(bold=True))


def figures(titles: Sequence[str], blocks: Sequence[Sequence[Sequence[Text]]], page: Page, *, names: int = 1) -> str:
    """A table of names and numbers that is never squeezed: two spaces between columns if the page has room, else one.

    Args:
        titles: of the columns; a line break makes a second line.
        blocks: rows of cells; a rule stands between two blocks.
        page: where it is drawn.
        names: columns from the left that hold names; all others hold numbers and end at the right.
    """
    heads = ["\n".join(words(line, page) for line in title.split("\n")) for title in titles]
    blocks = [[[_shown(cell, page) for cell in row] for row in block] for block in blocks]
    rows = [row for block in blocks for row in block]
    cells_of = zip(heads, *([cell.plain for cell in row] for row in rows), strict=True)
    widths = [max(cell_len(line) for cell in cells for line in cell.split("\n")) for cells in cells_of]
    table = paper_table(page, 2 if sum(widths) + 2 * len(widths) <= page.width else 1)
    for i, (title, width) in enumerate(zip(heads, widths, strict=True)):
        justify: JustifyMethod = "left" if i < names else "right"
        table.add_column(title, justify=justify, min_width=width, no_wrap=True, vertical="bottom")
    for block in blocks:
        for row in block:
            table.add_row(*row)
        table.add_section()
    ample = page.width + sum(widths) + 3 * len(widths)  # so that rich never shrinks a column
    return drawn(table, page, width=ample)


def _shown(cell: Text, page: Page) -> Text:
    """A cell in which every character can be printed, also that of a name which nobody has looked at."""
    shown = words(cell.plain, page)
    return cell if shown == cell.plain else Text(shown, cell.style)


def paragraph(text: Text | str, page: Page, *, indent: int = 0, hanging: int = 0) -> str:
    """Text broken between words to the page's width; lines after the first are indented by `hanging` more."""
    whole = Text(words(text, page)) if isinstance(text, str) else text
    console, width = _console(page, page.width), page.width - indent
    first = whole.wrap(console, max(1, width), overflow="fold")[0]
    start = len(first) + len(whole.plain[len(first) :]) - len(whole.plain[len(first) :].lstrip())
    lines = [Padding(first, (0, 0, 0, indent))]
    if start < len(whole):
        rest = whole[start:].wrap(console, max(1, width - hanging), overflow="fold")
        lines += [Padding(line, (0, 0, 0, indent + hanging)) for line in rest]
    return "".join(drawn(line, page) for line in lines)


def one_line(text: str, page: Page, style: str = "") -> str:
    """Text on one line, whatever its length: the first line must survive `| head -1`."""
    line = Text(words(text, page), style)
    return drawn(line, page, width=line.cell_len)


def drawn(renderable: RenderableType, page: Page, width: int | None = None) -> str:
    """The text of one renderable, without spaces at line ends."""
    console = _console(page, width or page.width)
    with console.capture() as capture:
        console.print(renderable)
    return "".join(line.rstrip() + "\n" for line in capture.get().splitlines())


def _console(page: Page, width: int) -> Console:
    return Console(
        file=io.StringIO(),
        width=max(1, width),
        force_terminal=page.colours is not None,
        color_system=page.colours,
        no_color=page.colours is None,
        legacy_windows=False,
        highlight=False,
        emoji=False,
        markup=False,
    )
