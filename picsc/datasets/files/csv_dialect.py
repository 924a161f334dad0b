"""The dialect of delimited text, found in its first lines: delimiter, quotation mark, decimal mark, comments.

Every guess is conservative: without evidence in the lines it is the comma, the double quote, the point, and no
comments.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from picsc.datasets.columns.missing_words import missing_words
from picsc.datasets.files.csv_head import AGREEING, Head, Sample, any_length, iterate_records
from picsc.datasets.files.mistaken import kind_of_text
from picsc.datasets.files.table import header_choice
from picsc.errors import DataError
from picsc.reports.common import Choice
from picsc.settings import ReadSettings

DELIMITERS = (",", ";", "\t", "|")
"""The delimiters that are searched for."""
_CHARACTERS = {"tab": "\t", "space": " "}
_WORDS = {character: word for word, character in _CHARACTERS.items()}
_QUOTES = {"double": '"', "single": "'", "none": ""}
_COMMA_NUMBER = re.compile(r"[-+]?[0-9]*,[0-9]+(?:[eE][-+]?[0-9]+)?")
_POINT_NUMBER = re.compile(r"[-+]?(?:[0-9]+\.[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?")
_WHOLE_NUMBER = re.compile(r"[-+]?[0-9]+")
_THOUSANDS = re.compile(r"[-+]?[1-9][0-9]{0,2},[0-9]{3}")


@dataclass(frozen=True, slots=True)
class Dialect:
    """The dialect of one file."""

    delimiter: str
    """One character."""
    quote: str
    """One character; empty if no character is a quotation mark."""
    decimal: str
    """`.` or `,`."""
    skip: int
    """Number of lines before the first record: comments, and blank lines between them."""
    first: list[str]
    """Fields of the first record, which is the header if there is one."""
    first_end: int
    """Number of the line in which the first record ends, from 1."""
    choices: tuple[Choice, ...]
    """The same for the report, each with the reason."""


def shown(delimiter: str) -> str:
    """The spelling of a delimiter in messages: tab, or ','."""
    return _WORDS.get(delimiter) or repr(delimiter)


def given_delimiter(settings: ReadSettings, usual: str | None) -> str | None:
    """The delimiter that the settings or the format prescribe, one character; None if it must be found.

    Args:
        settings: their delimiter takes precedence.
        usual: delimiter of the format; None if it has none.
    """
    given = settings.delimiter
    return usual if given is None else _CHARACTERS.get(given, given)


def find_dialect(lines: Iterable[str], settings: ReadSettings, *, delimiter: str | None, where: str) -> Dialect:
    """Find the parts of the dialect that the settings leave open.

    Args:
        lines: lines of the file with their ends; only the first ones are read.
        settings: delimiter, quote, decimal, header and missing words.
        delimiter: delimiter of the format; None if it has none.
        where: the file, for messages.

    Raises:
        DataError: there is no record, the first record does not end, or the file has another format.
    """
    given = given_delimiter(settings, delimiter)
    with any_length():
        head = Head.of(lines)
        given_quote = None if settings.quote is None else _QUOTES[settings.quote]
        skip = _comments(head, given, '"' if given_quote is None else given_quote)
        sample = Sample(tuple(head.leading[skip:] + head.lines), head.whole)
        quote = _quote(sample, given, settings) if given_quote is None else given_quote
        character, agreeing = _delimiter(sample, given, quote)
        records = sample.records(character, quote)
    if not records and sample.whole:
        raise DataError(f"{where} is empty")
    other = kind_of_text(next(filter(str.strip, sample.lines), ""))
    if other and given is None:
        raise DataError(f"{where} begins {other}")
    if not records:
        raise DataError(
            f"{where}, line {skip + 1}: a quotation mark is opened and not closed within {len(sample.lines)} lines; "
            "correct it, or give --quote none if it is no quotation mark"
        )
    comma = settings.decimal == "comma"
    if settings.decimal is None and character != ",":
        comma = _has_decimal_commas(records, settings)
    choices = (
        _delimiter_choice(settings, given, character, agreeing),
        _quote_choice(settings, quote),
        _decimal_choice(settings, len(records), comma=comma),
        header_choice(settings),
        *_comments_choice(head.leading[:skip]),
    )
    end, first = records[0]
    return Dialect(character, quote, "," if comma else ".", skip, first, skip + end, choices)


def _comments(head: Head, delimiter: str | None, quote: str) -> int:
    """Number of leading lines that are comments: they begin with #, and do not fit the table.

    Most lines after them have the same number of fields, which none of the comments has, and no delimiter gives all
    lines, comments included, an equal number.
    """
    marked = [i for i, line in enumerate(head.leading) if line.startswith("#")]
    if (
        not marked
        or not head.lines
        or _delimiter(Sample((*head.leading, *head.lines), head.whole), delimiter, quote)[1]
    ):
        return 0
    body = Sample(tuple(head.lines), head.whole)
    character, _ = _delimiter(body, delimiter, quote)
    usual = Counter(body.widths(character, quote)).most_common(1)
    width = usual[0][0] if usual else 0
    fits = [len(record) == width for i in marked for _, record in iterate_records([head.leading[i]], character, quote)]
    if not any(fits):
        return len(head.leading)
    # The header may itself begin with #, if it is the last of these lines and the only one that fits.
    return marked[-1] if fits[-1] and not any(fits[:-1]) else 0


def _delimiter(sample: Sample, given: str | None, quote: str) -> tuple[str, int]:
    """The delimiter, and the number of records whose numbers of fields agree under it; 0 if it is only the default.

    A delimiter under which all records agree is chosen, of several the one with most fields; else one under which more
    than half of the records have as many fields as the first, so that the message about the others names their line.
    """
    if given is not None:
        widths = sample.widths(given, quote)
        return given, len(widths) if len(set(widths)) == 1 else 0
    widths_by = {delimiter: sample.widths(delimiter, quote) for delimiter in DELIMITERS}
    wide = {delimiter: widths for delimiter, widths in widths_by.items() if widths and widths[0] > 1}
    agree = {delimiter: widths[0] for delimiter, widths in wide.items() if len(set(widths)) == 1}
    if len(agree) > 1 and "," in agree:
        others = [delimiter for delimiter in agree if delimiter != ","]
        if any(_commas_are_decimal(sample.records(other, quote, AGREEING)) for other in others):
            del agree[","]
    if agree:
        best = max(agree, key=lambda delimiter: agree[delimiter])
        return best, len(wide[best])
    share = {delimiter: widths.count(widths[0]) / len(widths) for delimiter, widths in wide.items()}
    best = max(share, key=lambda delimiter: share[delimiter], default=",")
    return (best if share.get(best, 0) > 0.5 else ","), 0


def _commas_are_decimal(records: Iterable[tuple[int, list[str]]]) -> bool:
    """True if there are fields that hold a comma, and all of them are numbers."""
    fields = [field.strip() for _, record in records for field in record if "," in field]
    return bool(fields) and all(_COMMA_NUMBER.fullmatch(field) for field in fields)


def _quote(sample: Sample, given: str | None, settings: ReadSettings) -> str:
    """The quotation mark: the single one only if no double one occurs and it cannot be an apostrophe."""
    if any('"' in line for line in sample.lines) or not any("'" in line for line in sample.lines):
        return '"'
    for delimiter in DELIMITERS if given is None else (given,):
        if len(set(sample.widths(delimiter, "'"))) != 1:
            continue
        d = re.escape(delimiter)
        around = re.compile(rf"(?:^|{d})'[^']*{d}[^']*'(?={d}|$)")
        if any(around.search(line.rstrip("\r\n")) for line in sample.lines):
            return "'"
        if any(map(_all_quoted, _columns(sample.records(delimiter, ""), settings))):
            return "'"
    return '"'


def _all_quoted(values: Sequence[str]) -> bool:
    quoted = [len(value) > 1 and value[0] == value[-1] == "'" for value in values]
    return len(quoted) > 1 and all(quoted)


def _columns(records: Sequence[tuple[int, list[str]]], settings: ReadSettings) -> Iterator[list[str]]:
    """The values of each column, without surrounding blanks and without missing values."""
    rows = [record for _, record in records[1 if settings.header else 0 :]]
    missing = missing_words(settings, text=True).in_numbers
    for column in zip_longest(*rows, fillvalue=""):
        yield [value for value in map(str.strip, column) if value not in missing]


def _has_decimal_commas(records: Sequence[tuple[int, list[str]]], settings: ReadSettings) -> bool:
    """True if numbers have a decimal comma.

    That is so if in some column all values are whole numbers or numbers with a comma, at least half of them with a
    comma, and not all of these can be thousands (1,234), while no value of any column is a number with a point.
    """
    found = False
    for values in _columns(records, settings):
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


def _delimiter_choice(settings: ReadSettings, given: str | None, character: str, agreeing: int) -> Choice:
    how = f"the first {agreeing} lines agree" if agreeing > 1 else "the only line" if agreeing else "the default"
    if given is not None:
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


def _comments_choice(leading: Sequence[str]) -> tuple[Choice, ...]:
    comments = sum(line.startswith("#") for line in leading)
    if not comments:
        return ()
    return (Choice("remarks", "1 line" if comments == 1 else f"{comments} lines", "before the table, with #"),)
