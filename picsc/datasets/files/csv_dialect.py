"""How delimited text is written, found in its first lines: delimiter, quotation mark, decimal mark, remarks.

Every guess is conservative: what the lines do not show is the comma, the double quote, the point and no remarks.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from picsc.datasets.files.csv_columns import NA
from picsc.datasets.files.csv_head import AGREEING, Head, Seen, any_length, iterate_records
from picsc.datasets.files.mistaken import kind_of_text
from picsc.errors import DataError
from picsc.reports.common import Choice
from picsc.settings import ReadSettings

DELIMITERS = (",", ";", "\t", "|")
"""That are looked for."""
_CHARACTERS = {"tab": "\t", "space": " "}
_WORDS = {character: word for word, character in _CHARACTERS.items()}
_QUOTES = {"double": '"', "single": "'", "none": ""}
_NO_VALUE = frozenset(NA)
_COMMA_NUMBER = re.compile(r"[-+]?[0-9]*,[0-9]+(?:[eE][-+]?[0-9]+)?")
_POINT_NUMBER = re.compile(r"[-+]?(?:[0-9]+\.[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?")
_WHOLE_NUMBER = re.compile(r"[-+]?[0-9]+")
_THOUSANDS = re.compile(r"[-+]?[1-9][0-9]{0,2},[0-9]{3}")


@dataclass(frozen=True, slots=True)
class Dialect:
    """How one file is written."""

    delimiter: str
    """One character."""
    quote: str
    """One character; empty if no character quotes."""
    decimal: str
    """`.` or `,`."""
    skip: int
    """Lines before the first record: remarks, and blank lines between them."""
    first: list[str]
    """Fields of the first record, which is the header line if there is one."""
    first_end: int
    """Number of the line that the first record ends in, from 1."""
    choices: tuple[Choice, ...]


def shown(delimiter: str) -> str:
    """A delimiter in messages: tab, or ','."""
    return _WORDS.get(delimiter) or repr(delimiter)


def told_delimiter(settings: ReadSettings, usual: str | None) -> str | None:
    """The delimiter as a character if it need not be found.

    Args:
        settings: delimiter.
        usual: of the format.
    """
    told = settings.delimiter
    return usual if told is None else _CHARACTERS.get(told, told)


def find_dialect(lines: Iterable[str], settings: ReadSettings, *, delimiter: str | None, where: str) -> Dialect:
    """Find what the settings do not tell.

    Args:
        lines: of the file with their ends; only the first are taken.
        settings: delimiter, quote, decimal and header.
        delimiter: of the format, if it has one.
        where: the file, for messages.

    Raises:
        DataError: there is no record, the first does not end, or it is another format's.
    """
    told = told_delimiter(settings, delimiter)
    with any_length():
        head = Head.of(lines)
        told_quote = None if settings.quote is None else _QUOTES[settings.quote]
        skip = _remarks(head, told, '"' if told_quote is None else told_quote)
        seen = Seen(tuple(head.leading[skip:] + head.lines), head.whole)
        quote = _quote(seen, told, header=settings.header) if told_quote is None else told_quote
        character, agreeing = _delimiter(seen, told, quote)
        records = seen.records(character, quote)
    if not records and seen.whole:
        raise DataError(f"{where} is empty")
    other = kind_of_text(next(filter(str.strip, seen.lines), ""))
    if other and told is None:
        raise DataError(f"{where} begins {other}")
    if not records:
        raise DataError(
            f"{where}, line {skip + 1}: a quotation mark is opened and not closed within {len(seen.lines)} lines; "
            "correct it, or give --quote none if it is no quotation mark"
        )
    comma = settings.decimal == "comma"
    if settings.decimal is None and character != ",":
        comma = _has_decimal_commas(records, header=settings.header)
    choices = (
        _delimiter_choice(settings, told, character, agreeing),
        _quote_choice(settings, quote),
        _decimal_choice(settings, len(records), comma=comma),
        Choice("header", "yes" if settings.header else "no", "the default" if settings.header else "told"),
        *_remarks_choice(head.leading[:skip]),
    )
    end, first = records[0]
    return Dialect(character, quote, "," if comma else ".", skip, first, skip + end, choices)


def _remarks(head: Head, delimiter: str | None, quote: str) -> int:
    """How many of the leading lines are none of the table: they begin with #, and would be refused as a part of it.

    The lines behind them have mostly as many fields as none of them has, and no delimiter gives all lines as many.
    """
    marked = [i for i, line in enumerate(head.leading) if line.startswith("#")]
    if not marked or not head.lines or _delimiter(Seen((*head.leading, *head.lines), head.whole), delimiter, quote)[1]:
        return 0
    body = Seen(tuple(head.lines), head.whole)
    character, _ = _delimiter(body, delimiter, quote)
    usual = Counter(body.widths(character, quote)).most_common(1)
    width = usual[0][0] if usual else 0
    fits = [len(record) == width for i in marked for _, record in iterate_records([head.leading[i]], character, quote)]
    if not any(fits):
        return len(head.leading)
    # The header line may itself begin with #, if it is the only one of them that fits and the last.
    return marked[-1] if fits[-1] and not any(fits[:-1]) else 0


def _delimiter(seen: Seen, told: str | None, quote: str) -> tuple[str, int]:
    """The delimiter, and the number of records that agree by it; 0 if it is only the default.

    One by which all agree wins, of several the one of most fields; else one by which more than half have as many as
    the first record, so that the others are refused by their line and not taken for one long word each.
    """
    if told is not None:
        widths = seen.widths(told, quote)
        return told, len(widths) if len(set(widths)) == 1 else 0
    widths_by = {delimiter: seen.widths(delimiter, quote) for delimiter in DELIMITERS}
    wide = {delimiter: widths for delimiter, widths in widths_by.items() if widths and widths[0] > 1}
    agree = {delimiter: widths[0] for delimiter, widths in wide.items() if len(set(widths)) == 1}
    if len(agree) > 1 and "," in agree:
        others = [delimiter for delimiter in agree if delimiter != ","]
        if any(_commas_are_decimal(seen.records(other, quote, AGREEING)) for other in others):
            del agree[","]
    if agree:
        best = max(agree, key=lambda delimiter: agree[delimiter])
        return best, len(wide[best])
    share = {delimiter: widths.count(widths[0]) / len(widths) for delimiter, widths in wide.items()}
    best = max(share, key=lambda delimiter: share[delimiter], default=",")
    return (best if share.get(best, 0) > 0.5 else ","), 0


def _commas_are_decimal(records: Iterable[tuple[int, list[str]]]) -> bool:
    """Whether every field that holds a comma is a number, and there are some."""
    fields = [field.strip() for _, record in records for field in record if "," in field]
    return bool(fields) and all(_COMMA_NUMBER.fullmatch(field) for field in fields)


def _quote(seen: Seen, told: str | None, *, header: bool) -> str:
    """The single quotation mark only where no double one is, and where it cannot be an apostrophe."""
    if any('"' in line for line in seen.lines) or not any("'" in line for line in seen.lines):
        return '"'
    for delimiter in DELIMITERS if told is None else (told,):
        if len(set(seen.widths(delimiter, "'"))) != 1:
            continue
        d = re.escape(delimiter)
        around = re.compile(rf"(?:^|{d})'[^']*{d}[^']*'(?={d}|$)")
        if any(around.search(line.rstrip("\r\n")) for line in seen.lines):
            return "'"
        if any(map(_all_quoted, _columns(seen.records(delimiter, ""), header=header))):
            return "'"
    return '"'


def _all_quoted(values: Sequence[str]) -> bool:
    quoted = [len(value) > 1 and value[0] == value[-1] == "'" for value in values]
    return len(quoted) > 1 and all(quoted)


def _columns(records: Sequence[tuple[int, list[str]]], *, header: bool) -> Iterator[list[str]]:
    """The values of each column without blanks around them and without missing ones."""
    rows = [record for _, record in records[1 if header else 0 :]]
    for column in zip_longest(*rows, fillvalue=""):
        yield [value for value in map(str.strip, column) if value not in _NO_VALUE]


def _has_decimal_commas(records: Sequence[tuple[int, list[str]]], *, header: bool) -> bool:
    """Whether numbers are written with a comma.

    In some column all values are whole numbers or numbers with a comma, at least half of them the latter, and not all
    of these can be thousands (1,234); and no value of any column is a number with a point.
    """
    found = False
    for values in _columns(records, header=header):
        if any(_POINT_NUMBER.fullmatch(value) for value in values if "." in value):
            return False
        commas = [value for value in values if "," in value]
        found = found or (
            len(commas) * 2 >= len(values)
            and all(_COMMA_NUMBER.fullmatch(value) for value in commas)
            and not all(_THOUSANDS.fullmatch(value) for value in commas)
            and all(_WHOLE_NUMBER.fullmatch(value) for value in values if "," not in value)
        )
    return found


def _delimiter_choice(settings: ReadSettings, told: str | None, character: str, agreeing: int) -> Choice:
    how = f"the first {agreeing} lines agree" if agreeing > 1 else "the only line" if agreeing else "the default"
    if told is not None:
        how = "of the format" if settings.delimiter is None else "told"
    return Choice("delimiter", _WORDS.get(character, character), how)


def _quote_choice(settings: ReadSettings, quote: str) -> Choice:
    how = "told" if settings.quote is not None else "around fields" if quote == "'" else "the default"
    return Choice("quote", next(word for word, mark in _QUOTES.items() if mark == quote), how)


def _decimal_choice(settings: ReadSettings, lines: int, *, comma: bool) -> Choice:
    how = "told" if settings.decimal is not None else "the default"
    if comma and settings.decimal is None:
        how = f"numbers of the first {lines} lines"
    return Choice("decimal", "comma" if comma else "point", how)


def _remarks_choice(leading: Sequence[str]) -> tuple[Choice, ...]:
    remarks = sum(line.startswith("#") for line in leading)
    if not remarks:
        return ()
    return (Choice("remarks", "1 line" if remarks == 1 else f"{remarks} lines", "before the table, with #"),)
