"""The first lines of delimited text, from which the dialect is found, and an iterator over its records."""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice

AGREEING = 20
"""Number of records from which the delimiter is found."""
_SAMPLE, _SAMPLE_CHARACTERS = 100, 1 << 22
"""Lines, and characters in them, from which quotation and decimal marks are found."""
_MOST_COMMENTS = 1000
"""If more leading lines than this begin with #, they are taken for data."""


@dataclass(frozen=True, slots=True)
class Head:
    """The beginning of a file."""

    leading: list[str]
    """Lines before the first one that is not blank and does not begin with #, if they can be comments."""
    lines: list[str]
    """The lines after these."""
    whole: bool
    """The file has no further lines."""

    @classmethod
    def of(cls, lines: Iterable[str]) -> Head:
        """Read the first lines of a file."""
        rest = iter(lines)
        leading: list[str] = []
        sample: list[str] = []
        marked = 0
        for line in rest:
            marked += line.startswith("#")
            if line.strip() and (not line.startswith("#") or marked > _MOST_COMMENTS):
                sample.append(line)
                break
            leading.append(line)
        size = sum(map(len, sample))
        for line in islice(rest, _SAMPLE - 1):
            sample.append(line)
            size += len(line)
            if size > _SAMPLE_CHARACTERS:
                break
        if marked > _MOST_COMMENTS:
            leading, sample = [], leading + sample
        return cls(leading, sample, next(rest, None) is None)


@dataclass(frozen=True, slots=True)
class Sample:
    """Lines from which the dialect is found."""

    lines: tuple[str, ...]
    whole: bool
    """The file has no further lines."""

    def records(self, delimiter: str, quote: str, most: int | None = None) -> list[tuple[int, list[str]]]:
        """The records that end within the lines, at most `most` of them; None for all."""
        records = list(islice(iterate_records(self.lines, delimiter, quote), most))
        if records and not self.whole and records[-1][0] == len(self.lines):
            records.pop()  # it may continue after these lines
        return records

    def widths(self, delimiter: str, quote: str) -> list[int]:
        """The numbers of fields of the first records."""
        return [len(record) for _, record in self.records(delimiter, quote, AGREEING)]


def is_blank(record: Sequence[str]) -> bool:
    """True for a record from an empty line, or one with only blanks or the end mark of DOS."""
    return not record or (len(record) == 1 and not record[0].strip(" \t\x1a"))


def iterate_records(lines: Iterable[str], delimiter: str, quote: str) -> Iterator[tuple[int, list[str]]]:
    """Each record as the number of the line in which it ends, from 1, and its fields; blank records are skipped."""
    if quote:
        reader = csv.reader(lines, delimiter=delimiter, quotechar=quote)
    else:
        reader = csv.reader(lines, delimiter=delimiter, quoting=csv.QUOTE_NONE)
    for record in reader:
        if not is_blank(record):
            yield reader.line_num, record


@contextmanager
def any_length() -> Iterator[None]:
    """Allow fields of any length while the block runs; Python's limit is 131,072 characters."""
    before = csv.field_size_limit(min(sys.maxsize, 2**31 - 1))
    try:
        yield
    finally:
        csv.field_size_limit(before)
