"""The first lines of delimited text, by which it is judged how it is written; and its records one by one."""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice

AGREEING = 20
"""Records by which the delimiter is found."""
_SEEN, _SEEN_CHARACTERS = 100, 1 << 22
"""Lines in which numbers and quotation marks are looked at."""
_MOST_REMARKS = 1000
"""Leading lines that begin with # beyond which they are taken for data."""


@dataclass(frozen=True, slots=True)
class Head:
    """The beginning of a file."""

    leading: list[str]
    """Lines before the first that is neither blank nor begins with #, if they can be remarks."""
    lines: list[str]
    whole: bool
    """The file ends with them."""

    @classmethod
    def of(cls, lines: Iterable[str]) -> Head:
        """Take the first lines."""
        rest = iter(lines)
        leading: list[str] = []
        seen: list[str] = []
        marked = 0
        for line in rest:
            marked += line.startswith("#")
            if line.strip() and (not line.startswith("#") or marked > _MOST_REMARKS):
                seen.append(line)
                break
            leading.append(line)
        size = sum(map(len, seen))
        for line in islice(rest, _SEEN - 1):
            seen.append(line)
            size += len(line)
            if size > _SEEN_CHARACTERS:
                break
        if marked > _MOST_REMARKS:
            leading, seen = [], leading + seen
        return cls(leading, seen, next(rest, None) is None)


@dataclass(frozen=True, slots=True)
class Seen:
    """Lines by which is judged."""

    lines: tuple[str, ...]
    whole: bool
    """The file ends with them."""

    def records(self, delimiter: str, quote: str, most: int | None = None) -> list[tuple[int, list[str]]]:
        """Those that end within the lines."""
        records = list(islice(iterate_records(self.lines, delimiter, quote), most))
        if records and not self.whole and records[-1][0] == len(self.lines):
            records.pop()  # it may go on
        return records

    def widths(self, delimiter: str, quote: str) -> list[int]:
        """Numbers of fields of the first records."""
        return [len(record) for _, record in self.records(delimiter, quote, AGREEING)]


def is_blank(record: Sequence[str]) -> bool:
    """Whether a record is a line without anything, or with blanks or the end mark of DOS only."""
    return not record or (len(record) == 1 and not record[0].strip(" \t\x1a"))


def iterate_records(lines: Iterable[str], delimiter: str, quote: str) -> Iterator[tuple[int, list[str]]]:
    """Number of the line that each record ends in, from 1, and its fields; blank ones left out."""
    if quote:
        reader = csv.reader(lines, delimiter=delimiter, quotechar=quote)
    else:
        reader = csv.reader(lines, delimiter=delimiter, quoting=csv.QUOTE_NONE)
    for record in reader:
        if not is_blank(record):
            yield reader.line_num, record


@contextmanager
def any_length() -> Iterator[None]:
    """Let fields be of any length while the block runs; Python's limit is 131,072 characters."""
    before = csv.field_size_limit(min(sys.maxsize, 2**31 - 1))
    try:
        yield
    finally:
        csv.field_size_limit(before)
