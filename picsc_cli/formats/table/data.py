"""Files as they were read, as text for people: one fact per line, then a table of columns."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from picsc_cli.console.printable import printable
from picsc_cli.text.reading_words import choice_words

if TYPE_CHECKING:
    from picsc.reports.common import ColumnInfo
    from picsc.reports.data import DataReport
    from picsc_cli.text.page import Page

_WIDTH = 80
"""Cells of a line, unless names are long."""
_NOTE = 24
"""Cells of a note at least."""
_CLASSES = 20
"""Number of classes that are listed at most."""


def data_summary(report: DataReport, page: Page) -> str:
    """The facts alone."""
    del page
    return aligned(list(_facts(report)))


def data_table(report: DataReport, page: Page, /, *, verbose: bool) -> str:
    """The facts, and a table of columns; notes are wrapped, so that it fits 80 columns unless names are long.

    Args:
        report: of one file.
        page: changes nothing; other reports depend on it.
        verbose: changes nothing; the table always holds the columns.
    """
    del verbose
    return data_summary(report, page) + "\n" + _columns(report.data.columns)


def aligned(rows: Sequence[Sequence[str]]) -> str:
    """Columns two blanks apart, the last as long as it is; control characters are shown escaped.

    Args:
        rows: cells, equally many in each.
    """
    shown = [[printable(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*shown, strict=True)]
    return "".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() + "\n" for row in shown
    )


def _facts(report: DataReport) -> Iterator[tuple[str, str]]:
    data = report.data
    yield "name", data.name
    yield "source", data.source
    if data.reading is not None:
        packed = f", {data.reading.compression}" if data.reading.compression else ""
        yield "format", data.reading.format + packed
        yield from ((choice.name, choice_words(choice)) for choice in data.reading.choices)
    yield "rows", str(data.rows)
    left_out = sum(not column.used for column in data.columns)
    apart = "" if data.target is None else " beside the target"
    yield "columns", f"{len(data.columns)}{apart}" + (f", {left_out} of them left out" if left_out else "")
    yield "target", _target(report)
    if report.classes:
        named = ", ".join(f"{each.name} {each.rows}" for each in report.classes[:_CLASSES])
        more = len(report.classes) - _CLASSES
        yield "classes", f"{len(report.classes)}: {named}" + (f" and {more} more" if more > 0 else "")
    if report.unlabelled:
        yield "unlabelled", _rows(report.unlabelled, data.rows)
    yield "duplicated", f"{_rows(report.duplicated, data.rows)} have an equal row" if report.duplicated else "none"
    yield "sha256", data.sha256


def _target(report: DataReport) -> str:
    data = report.data
    if data.target is None:
        return f"none: {report.no_target}" if report.no_target else "none"
    kind = {"regression": ", numbers"}.get(data.task, "")
    return f"{data.target} ({data.target_chosen}){kind}"


def _rows(count: int, total: int) -> str:
    return f"{count} of {total} rows ({100 * count / total:.1f} %)"


def _columns(columns: Sequence[ColumnInfo]) -> str:
    """One line per column, more where its note is long."""
    head = ("COLUMN", "KIND", "MISSING", "LEVELS", "NOTE")
    rows = [head, *(_cells(column) for column in columns)]
    begins = [len("  ".join(cells)) for cells in _padded(rows)]
    width = max(_WIDTH - begins[0] - 2, _NOTE)
    lines = []
    for (*_, note), cells in zip(rows, _padded(rows), strict=True):
        first, *more = textwrap.wrap(printable(note), width) or [""]
        lines.append(("  ".join(cells) + "  " + first).rstrip())
        lines += [" " * (begins[0] + 2) + line for line in more]
    return "\n".join(lines) + "\n"


def _cells(column: ColumnInfo) -> tuple[str, str, str, str, str]:
    note = column.note if column.used else f"left out: {column.note}"
    levels = "-" if column.levels is None else str(column.levels)
    return printable(column.name), column.kind, str(column.missing), levels, note


def _padded(rows: Sequence[tuple[str, ...]]) -> list[list[str]]:
    """All but the note, numbers to the right."""
    widths = [max(len(row[i]) for row in rows) for i in range(4)]
    return [
        [row[0].ljust(widths[0]), row[1].ljust(widths[1]), row[2].rjust(widths[2]), row[3].rjust(widths[3])]
        for row in rows
    ]
