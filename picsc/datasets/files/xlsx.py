"""Tables in xlsx workbooks, read with openpyxl. Letters: n rows."""

from __future__ import annotations

import lzma
import re
import struct
import warnings
import zipfile
import zlib
from typing import Any

import pandas as pd

from picsc.datasets.columns.missing_words import missing_words
from picsc.datasets.columns.names import all_named, quoted, unique_names
from picsc.datasets.columns.raw import spelled
from picsc.datasets.files.compression import check_size, most_unpacked
from picsc.datasets.files.sources import Source
from picsc.datasets.files.table import FileTable, header_choice
from picsc.errors import DataError
from picsc.reports.common import Choice, Reading
from picsc.settings import ReadSettings

_LARGEST = 1.0
"""Most GiB of the unpacked parts of a workbook, unless another bound is given; openpyxl needs fifty times as much
memory."""
_BROKEN = (
    ValueError, KeyError, TypeError, AttributeError, IndexError, EOFError, OverflowError, NotImplementedError,
    RuntimeError, SyntaxError, zipfile.BadZipFile, zlib.error, struct.error, lzma.LZMAError,
)  # fmt: skip
_UNSTORED = re.compile(rb"<f\b[^>]*(?:/>|>[^<]*</f>)\s*(?:<v\s*/>|<v>\s*</v>)?\s*</c>")


def read_spreadsheet(source: Source, settings: ReadSettings) -> FileTable:
    """Read one sheet with a header in its first row; formulas are read as the values that are stored with them.

    Args:
        source: the file.
        settings: the sheet, whether there is a header, the missing words, and whether repeated names are renamed.

    Returns:
        Numbers, words, dates and booleans as the cells hold them; empty rows are skipped.

    Raises:
        DataError: openpyxl is not installed, the file is no workbook, there is no such sheet, or the sheet is no plain
            table: its first row is empty, cells are merged, or formulas have no stored values.
    """
    sheet, sheets = _sheet(source, settings.sheet, most_unpacked(settings, _LARGEST))
    where = f"{source.where}, sheet {sheet.title!r}"
    if sheet.merged_cells.ranges:
        first = str(min(map(str, sheet.merged_cells.ranges)))
        raise DataError(f"{where}: cells {first} are merged; a table has one value per cell, so split them")
    missing = missing_words(settings, text=True).always
    cells = [[_value(cell, missing) for cell in row] for row in sheet.iter_rows()]
    if not cells or all(value is None for value in cells[0]):
        if all(value is None for row in cells for value in row):
            raise DataError(f"{where} is empty; name another one with --sheet")
        raise DataError(
            f"{where} begins with an empty row; a table begins in row 1, so delete what is above it or name another "
            "--sheet"
        )
    header, rows = (cells[0], cells[1:]) if settings.header else (None, cells)
    rows = [row for row in rows if any(value is not None for value in row)]
    if not rows:
        raise DataError(f"{where} has a header line but no rows")
    given = ["" if header is None or header[i] is None else spelled(header[i]).strip() for i in range(len(cells[0]))]
    called = all_named(given)
    columns = [i for i, name in enumerate(given) if name or any(row[i] is not None for row in rows)]
    names = unique_names([called[i] for i in columns], rename=settings.rename_duplicates, where=where, header=True)
    frame = {
        name: pd.Series([row[i] for row in rows], dtype=object).infer_objects()
        for name, i in zip(names, columns, strict=True)
    }
    found = "told" if settings.sheet is not None else f"the first of {sheets}" if sheets > 1 else "the only one"
    choices = (
        Choice("sheet", sheet.title, found),
        header_choice(settings),
    )
    return FileTable(pd.DataFrame(frame), source.digest(), Reading("xlsx", source.compression, choices))


def _sheet(source: Source, name: str | None, most: float) -> tuple[Any, int]:
    """The sheet of that name, or the first one, and the number of sheets."""
    try:
        import openpyxl  # an optional dependency
    except ImportError:
        raise DataError(f"{source.where}: xlsx needs openpyxl; pip install 'picsc[xlsx]', or save it as csv") from None
    try:
        with zipfile.ZipFile(source.path) as archive:
            parts = archive.infolist()
            check_size(sum(part.file_size for part in parts), source.where, most)
            unstored = any(
                part.filename.startswith("xl/worksheets/") and _UNSTORED.search(archive.read(part)) for part in parts
            )
        with warnings.catch_warnings(), source.path.open("rb") as file:
            warnings.simplefilter("ignore")  # it warns of styles and extensions, which hold no values
            book = openpyxl.load_workbook(file, data_only=True)
            formulas = openpyxl.load_workbook(file) if unstored else None
        sheets = {sheet.title: sheet for sheet in book.worksheets}
        formula_sheets = {} if formulas is None else {sheet.title: sheet for sheet in formulas.worksheets}
    except _BROKEN as error:
        why = _why(error)
        raise DataError(f"{source.where} is no workbook that can be read ({why}); save it again, or as csv") from None
    if not sheets:
        raise DataError(f"{source.where} has no sheets with cells")
    if name is not None and name not in sheets:
        raise DataError(f"{source.where}: --sheet {name!r} is none of its sheets: {quoted(list(sheets))}")
    sheet = sheets[name] if name is not None else next(iter(sheets.values()))
    if sheet.title in formula_sheets:
        _refuse_unstored(sheet, formula_sheets[sheet.title], source.where)
    return sheet, len(sheets)


def _why(error: BaseException) -> str:
    if isinstance(error, zipfile.BadZipFile):
        return "it is no whole zip archive, as xlsx is one"
    if isinstance(error, KeyError):
        return "a part of it is missing"
    return "a part of it is broken"


def _refuse_unstored(sheet: Any, formulas: Any, where: str) -> None:
    for row in formulas.iter_rows():
        for cell in row:
            if cell.data_type == "f" and sheet[cell.coordinate].value is None:
                raise DataError(
                    f"{where}, sheet {sheet.title!r}: the formula in {cell.coordinate} has no stored value; open the "
                    "workbook in a spreadsheet program and save it"
                )


def _value(cell: Any, missing: frozenset[str]) -> Any:
    """The value of a cell; None where it is missing."""
    value = cell.value
    if isinstance(value, str):
        word = value.strip()
        return None if word in missing else word
    return value
