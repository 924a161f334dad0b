"""Delimited text: encoding, delimiter, header, ragged lines.

Read with pyarrow in blocks and typed by `delimited_columns`. On 1,000,000 rows of 28 numbers pandas' C engine takes two
thirds of the time, but twice the memory; it fills short lines up in silence, and pandas 2 rounds some floats wrongly.
"""

from __future__ import annotations

import codecs
import csv
import hashlib
import io
import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import islice, takewhile
from pathlib import Path
from typing import Any, TextIO

import pandas as pd
import pyarrow as pa
import pyarrow.csv as pa_csv

from picsc.datasets.delimited_columns import NA, TypedColumn
from picsc.datasets.names import unique_names
from picsc.errors import DataError
from picsc.settings import ReadSettings

DELIMITERS = (",", ";", "\t", "|")
_SNIFFED = 20
_THREADS = min(4, os.cpu_count() or 1)
_CHUNK = 1 << 22
_BLOCK, _LARGEST_BLOCK = 1 << 22, 1 << 26
_WIDE_BOMS = (  # UTF-32's begins with UTF-16's, so it is tried first
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


@dataclass(frozen=True, slots=True)
class _Text:
    """A file that was found to be text."""

    path: Path
    sha256: str
    utf8: bytes | None
    """Its content if the file itself is not UTF-8 (but UTF-16 or UTF-32 with a byte order mark)."""
    remarks: bool
    """Lines that begin with # before the first record are remarks."""

    def lines(self) -> TextIO:
        binary = self.path.open("rb") if self.utf8 is None else io.BytesIO(self.utf8)
        return io.TextIOWrapper(binary, encoding="utf-8-sig", newline="")

    def arrow(self) -> Any:
        return pa.OSFile(str(self.path)) if self.utf8 is None else pa.BufferReader(self.utf8)


def read_delimited(
    path: Path, settings: ReadSettings, *, delimiter: str | None, remarks: bool = False
) -> tuple[pd.DataFrame, str]:
    """Read delimited text; types are decided on whole columns.

    Args:
        path: of the file: UTF-8, or UTF-16 with a byte order mark.
        settings: header and repeated names.
        delimiter: None takes the one of , ; tab | by which the first lines have equally many fields, else the comma.
        remarks: pass over lines that begin with # before the first record.

    Returns:
        The frame and the SHA-256 of the file's bytes.

    Raises:
        DataError: no text, no rows, or lines of different lengths; the message names the line or byte.
        OSError: the file cannot be opened.
    """
    text = _check_text(path, remarks=remarks)
    delimiter = delimiter or _sniff(text)
    header, skip = _first_line(text, delimiter)
    if settings.header:
        fields = [field.strip() or f"c{i + 1}" for i, field in enumerate(header)]
        names = unique_names(fields, rename=settings.rename_duplicates, where=str(path))
    else:
        names, skip = [f"c{i + 1}" for i in range(len(header))], _remarks(text)
    columns = [TypedColumn(str(i)) for i in range(len(names))]
    rows = _feed(text, delimiter, len(names), skip, columns)
    if rows == 0:
        raise DataError(f"{path} has a header line but no rows")
    again = [column.restart() for column in columns if column.incomplete]
    if again:
        _feed(text, delimiter, len(names), skip, again)
    return pd.DataFrame(
        {name: column.finish() for name, column in zip(names, columns, strict=True)}, copy=False
    ), text.sha256


def _check_text(path: Path, *, remarks: bool) -> _Text:
    """Read the file once for its digest, its encoding and its quotation marks."""
    digest, decoder = hashlib.sha256(), codecs.getincrementaldecoder("utf-8")()
    offset, wide = 0, None
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            if offset == 0:
                wide = next((name for bom, name in _WIDE_BOMS if chunk.startswith(bom)), None)
            digest.update(chunk)
            if wide is None:
                pending = len(decoder.getstate()[0])
                try:
                    if pending or not chunk.isascii():
                        decoder.decode(chunk)
                except UnicodeDecodeError as error:
                    raise _not_utf8(path, offset - pending + error.start, error.object[error.start]) from None
                if (zero := chunk.find(0)) >= 0:
                    raise DataError(
                        f"{path}: byte {offset + zero} is zero, so this is no UTF-8 text; "
                        "if it is UTF-16, save it as UTF-8 (iconv -f utf-16 -t utf-8)"
                    )
            offset += len(chunk)
    if decoder.getstate()[0]:
        raise _not_utf8(path, offset - len(decoder.getstate()[0]), decoder.getstate()[0][0])
    if wide is None:
        return _Text(path, digest.hexdigest(), None, remarks)
    try:
        content = path.read_bytes().decode(wide)
    except UnicodeDecodeError as error:
        raise DataError(f"{path}: byte {error.start} is not {wide}, although the file begins so") from None
    return _Text(path, digest.hexdigest(), content.encode("utf-8", "replace"), remarks)


def _not_utf8(path: Path, position: int, byte: int) -> DataError:
    return DataError(
        f"{path}: byte 0x{byte:02X} at position {position} is not UTF-8; "
        "re-encode the file, for example with iconv -f latin1 -t utf-8"
    )


def _remarks(text: _Text) -> int:
    """Number of lines before the first record."""
    if not text.remarks:
        return 0
    with text.lines() as lines:
        return sum(1 for _ in takewhile(_is_remark, lines))


def _is_remark(line: str) -> bool:
    return line.startswith("#") or not line.strip()


def _records(text: _Text, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Line number of the end of each record that is not blank, and its fields."""
    before = _remarks(text)
    with text.lines() as lines:
        reader = csv.reader(islice(lines, before, None), delimiter=delimiter)
        try:
            for record in reader:
                if record:
                    yield before + reader.line_num, record
        except csv.Error as error:
            raise DataError(
                f"{text.path}, line {before + reader.line_num}: {error}; is a quotation mark left open?"
            ) from None


def _sniff(text: _Text) -> str:
    """The delimiter by which header and first lines have equally many fields, the most if there are several."""
    best, most = ",", 1
    for delimiter in DELIMITERS:
        try:
            widths = {len(record) for _, record in islice(_records(text, delimiter), _SNIFFED)}
        except DataError:
            continue
        if len(widths) == 1 and (width := widths.pop()) > most:
            best, most = delimiter, width
    return best


def _first_line(text: _Text, delimiter: str) -> tuple[list[str], int]:
    """Its fields and the number of physical lines up to its end."""
    for line, record in _records(text, delimiter):
        return record, line
    raise DataError(f"{text.path} is empty")


def _feed(text: _Text, delimiter: str, width: int, skip: int, columns: list[TypedColumn]) -> int:
    """Give every block of the file to the columns; returns the number of rows."""
    block = min(max(_BLOCK, width << 12), _LARGEST_BLOCK)  # a call per column and block: wide tables need long ones
    while True:
        try:
            return _feed_blocks(text, delimiter, width, skip, columns, block)
        except pa.ArrowInvalid as error:
            message = str(error)
            if "Expected" in message:
                raise _ragged(text, delimiter, width, message) from None
            too_small = "straddling" in message or "block size" in message
            if "Empty CSV" in message or (too_small and block >= text.path.stat().st_size * 4):
                return 0
            if not too_small or block > 1 << 30:
                raise DataError(f"{text.path} cannot be read: {message.splitlines()[0]}") from None
            block *= 8
            for column in columns:
                column.restart()


def _feed_blocks(text: _Text, delimiter: str, width: int, skip: int, columns: list[TypedColumn], block: int) -> int:
    everything = [str(i) for i in range(width)]
    rows, last = 0, None
    with (
        text.arrow() as source,
        pa_csv.open_csv(
            source,
            read_options=pa_csv.ReadOptions(column_names=everything, skip_rows=skip, block_size=block),
            parse_options=pa_csv.ParseOptions(delimiter=delimiter, newlines_in_values=True),
            convert_options=pa_csv.ConvertOptions(
                check_utf8=False,  # done
                column_types=dict.fromkeys(everything, pa.string()),
                include_columns=[column.source for column in columns],
                null_values=NA,
                strings_can_be_null=True,
            ),
        ) as reader,
        ThreadPoolExecutor(_THREADS) as pool,
    ):
        for batch in reader:
            rows += batch.num_rows
            shares = [list(zip(columns, batch.columns, strict=True))[i::_THREADS] for i in range(_THREADS)]
            for _ in pool.map(_add, shares):
                pass  # an exception of a column is raised here
            last = batch.column(batch.num_columns - 1)[-1].as_py() if batch.num_rows else last
    if last is not None and "\n" in last and _odd_quotes(text):
        raise DataError(f"{text.path}: a quotation mark is opened and never closed, near {last[:20]!r}")
    return rows


def _add(share: list[tuple[TypedColumn, Any]]) -> None:
    for column, block in share:
        column.add(block)


def _odd_quotes(text: _Text) -> bool:
    with text.lines() as lines:
        return sum(line.count('"') for line in lines) % 2 == 1


def _ragged(text: _Text, delimiter: str, width: int, message: str) -> DataError:
    for line, record in _records(text, delimiter):
        if len(record) != width:
            return DataError(
                f"{text.path}, line {line}: {len(record)} fields where the first line has {width} "
                f"(delimiter {delimiter!r}); correct the line or quote its fields"
            )
    return DataError(f"{text.path}: lines of different lengths: {message.splitlines()[0]}")
