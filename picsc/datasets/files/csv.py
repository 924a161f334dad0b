"""Delimited text such as csv, read in blocks with pyarrow and typed by `csv_columns`.

The dialect is found by `csv_dialect`, the encoding by `utf8`. On 1,000,000 rows of 28 numbers pandas' C engine takes
two thirds of the time, but twice the memory; it silently pads short lines, and pandas 2 rounds some floats wrongly.
"""

from __future__ import annotations

import os
import re
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.csv as pa_csv

from picsc.datasets.columns.missing_words import MissingWords, missing_words
from picsc.datasets.columns.names import all_named, unique_names
from picsc.datasets.files.csv_columns import TypedColumn
from picsc.datasets.files.csv_dialect import Dialect, find_dialect, given_delimiter, shown
from picsc.datasets.files.csv_head import any_length, is_blank, iterate_records
from picsc.datasets.files.sources import Source
from picsc.datasets.files.table import FileTable
from picsc.datasets.files.utf8 import Utf8Text, utf8_text, with_lines
from picsc.errors import DataError
from picsc.phrases import counted
from picsc.reports.common import Choice, Reading
from picsc.settings import ReadSettings

_THREADS = min(4, os.cpu_count() or 1)
_BLOCK, _LARGEST_BLOCK = 1 << 22, 1 << 26


@dataclass(frozen=True, slots=True)
class _Table:
    """A text file with its dialect."""

    text: Utf8Text
    dialect: Dialect
    skip: int
    """Number of lines before the first row."""
    words: MissingWords

    @property
    def width(self) -> int:
        return len(self.dialect.first)


def read_delimited(source: Source, settings: ReadSettings, *, delimiter: str | None) -> FileTable:
    """Read delimited text; types are decided on whole columns.

    A last column without name and values is no column, but a delimiter at the end of every line. Blank lines are
    skipped, and so are comments: leading lines that begin with #, if the lines after them agree in the number of fields
    and the comments do not.

    Args:
        source: the file.
        settings: header, repeated names, encoding, delimiter, quote, decimal and missing words. With the delimiter
            `space`, runs of blanks separate the fields, and blanks around a line are ignored.
        delimiter: delimiter of the format, one character; None takes that of the settings, or else finds it.

    Raises:
        DataError: the file is no text, has no rows, or has lines of different lengths; the message names the line or
            byte.
        SettingsError: the encoding is unknown.
        OSError: the file cannot be opened.
    """
    with ExitStack() as stack:
        text = stack.enter_context(utf8_text(source, settings.encoding))
        if given_delimiter(settings, delimiter) == " ":
            text = stack.enter_context(with_lines(text, _single_spaced('"' if settings.quote != "single" else "'")))
        with text.lines() as lines:
            dialect = find_dialect(lines, settings, delimiter=delimiter, where=source.where)
        header = [field.strip() if settings.header else "" for field in dialect.first]
        names = unique_names(all_named(header), rename=settings.rename_duplicates, where=source.where, header=True)
        words = missing_words(settings, text=True)
        table = _Table(text, dialect, dialect.first_end if settings.header else dialect.skip, words)
        columns = [TypedColumn(str(i), words, decimal=dialect.decimal) for i in range(len(names))]
        if _feed(table, columns) == 0:
            given = text.encoding.how == "told" and text.encoding.value.lower() not in ("utf-8", "utf8")
            doubt = f", read as {text.encoding.value}; is that its encoding?" if given else ""
            raise DataError(f"{source.where} has a header line but no rows{doubt}")
        again = [column.restart() for column in columns if column.incomplete]
        if again:
            _feed(table, again)
    series = [column.finish() for column in columns]
    choices = (text.encoding, *dialect.choices)
    if len(names) > 1 and not header[-1] and bool(series[-1].isna().all()):
        names.pop()
        choices += (Choice("columns", str(len(names)), "every line ends with a delimiter"),)
    frame = pd.DataFrame(dict(zip(names, series, strict=False)), copy=False)
    return FileTable(frame, text.sha256, Reading("tsv" if delimiter == "\t" else "csv", source.compression, choices))


def _single_spaced(quote: str) -> Callable[[str], str]:
    """A function that reduces runs of blanks outside quotation marks to one and strips those around a line."""
    q = re.escape(quote)
    run = re.compile(rf"((?<![^ \t]){q}(?:[^{q}]|{q}{q})*{q})|[ \t]+")

    def change(line: str) -> str:
        content = line.rstrip("\r\n")
        end = line[len(content) :]
        return run.sub(lambda match: match[1] or " ", content.strip(" \t")) + end

    return change


def _feed(table: _Table, columns: list[TypedColumn]) -> int:
    """Pass every block of the file to the columns; returns the number of rows."""
    where = table.text.where
    # There is one call per column and block, so wide tables need long blocks.
    block = min(max(_BLOCK, table.width << 12), _LARGEST_BLOCK)
    while True:
        try:
            return _feed_blocks(table, columns, block)
        except pa.ArrowInvalid as error:
            message = str(error)
            if "Expected" in message:
                raise _ragged(table, message) from None
            too_small = "straddling" in message or "block size" in message
            if "Empty CSV" in message or (too_small and block >= table.text.path.stat().st_size * 4):
                return 0
            if not too_small or block > 1 << 30:
                raise DataError(f"{where} cannot be read: {message.splitlines()[0]}") from None
            block *= 8
            for column in columns:
                column.restart()


def _feed_blocks(table: _Table, columns: list[TypedColumn], block: int) -> int:
    everything = [str(i) for i in range(table.width)]
    rows, last = 0, None
    with (
        pa.OSFile(os.fsencode(table.text.path)) as file,
        pa_csv.open_csv(
            file,
            read_options=pa_csv.ReadOptions(column_names=everything, skip_rows=table.skip, block_size=block),
            parse_options=pa_csv.ParseOptions(
                delimiter=table.dialect.delimiter,
                quote_char=table.dialect.quote or False,
                newlines_in_values=bool(table.dialect.quote),
                invalid_row_handler=lambda row: "skip" if is_blank([row.text]) else "error",
            ),
            convert_options=pa_csv.ConvertOptions(
                check_utf8=False,  # `utf8_text` has checked it
                column_types=dict.fromkeys(everything, pa.string()),
                include_columns=[column.source for column in columns],
                null_values=sorted(table.words.always),
                strings_can_be_null=True,
            ),
        ) as reader,
        ThreadPoolExecutor(_THREADS) as pool,
    ):
        for batch in reader:
            rows += batch.num_rows
            shares = [list(zip(columns, batch.columns, strict=True))[i::_THREADS] for i in range(_THREADS)]
            for _ in pool.map(_add, shares):
                pass  # the exception of a column is raised here
            last = batch.column(batch.num_columns - 1)[-1].as_py() if batch.num_rows else last
    if last is not None and "\n" in last and (line := _left_open(table)):
        raise DataError(
            f"{table.text.where}, line {line}: a quotation mark is opened and never closed; close it, or give "
            "--quote none if it is no quotation mark"
        )
    return rows


def _add(share: list[tuple[TypedColumn, Any]]) -> None:
    for column, block in share:
        column.add(block)


def _left_open(table: _Table) -> int:
    """The line in which an unfinished last record begins, which would absorb a line after the end; else 0."""
    with any_length(), table.text.lines() as lines:
        more = chain(islice(lines, table.dialect.skip, None), ["\n", "end\n"])
        last = deque(iterate_records(more, table.dialect.delimiter, table.dialect.quote), maxlen=2)
    before = last[0][0] if len(last) > 1 else 0
    return 0 if last[-1][1] == ["end"] else table.dialect.skip + before + 1


def _ragged(table: _Table, message: str) -> DataError:
    dialect, where = table.dialect, table.text.where
    with any_length(), table.text.lines() as lines:
        rest = islice(lines, dialect.skip, None)
        before = dialect.skip
        for line, record in iterate_records(rest, dialect.delimiter, dialect.quote):
            end = dialect.skip + line
            if len(record) != table.width:
                several = any("\n" in field or "\r" in field for field in record)
                lines_read = f"lines {before + 1} to {end}" if several else f"line {end}"
                first = before == dialect.first_end == table.skip
                return DataError(
                    f"{where}, {lines_read}: {counted(len(record), 'field')} where the first line has {table.width} "
                    f"(delimiter {shown(dialect.delimiter)}); {_way_out(dialect, several=several, first=first)}"
                )
            before = end
    return DataError(f"{where}: lines of different lengths: {message.splitlines()[0]}")


def _way_out(dialect: Dialect, *, several: bool, first: bool) -> str:
    """Advice for a record of another length, which spans `several` lines or is the `first` after the header."""
    if several:
        return "is a quotation mark left open?"
    if any(choice.name == "delimiter" and choice.how == "told" for choice in dialect.choices):
        return "correct the line, quote its fields, or give another --delimiter"
    if not dialect.quote:
        return "correct the line, or give another --quote"
    return "name every column in the header, or correct the line" if first else "correct the line or quote its fields"
