"""ARFF, the format of Weka and OpenML: dense or sparse rows of declared attributes.

This is a reader of its own because liac-arff, which comes with OpenML's client, cannot read dates, tabs between the
words of a header, or blanks in the name of a relation; the tests compare with it where it can read.
Letters: n rows, f attributes.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from picsc.datasets.columns.missing_words import MissingWords, missing_words
from picsc.datasets.columns.names import unique_names
from picsc.datasets.files.declared_values import (
    NAME,
    QUOTED,
    Value,
    categories,
    columns_of,
    declared_lines,
    fields,
    levels,
    numbers,
    plain_value,
    unquoted,
    without,
)
from picsc.datasets.files.sources import Source
from picsc.datasets.files.table import FileTable
from picsc.datasets.files.text_lines import whole_text
from picsc.errors import DataError
from picsc.phrases import counted
from picsc.reports.common import Reading
from picsc.settings import ReadSettings

_MISSING = frozenset(("", "?"))
_ATTRIBUTE = re.compile(rf"@attribute\s+({NAME})\s*(.*)", re.IGNORECASE | re.DOTALL)
_NUMBERS = ("numeric", "real", "integer")
_PAIR = re.compile(rf"\s*(\d{{1,9}})\s+(?:({QUOTED})\s*|((?!\s*['\"])[^,]+)),", re.DOTALL)
_WEIGHT = re.compile(r",\s*\{[^{}]*\}$")
_MOST_VALUES = 1 << 27
"""Most values of a table that is read, since a small file of sparse rows may describe a table too large for memory."""
_DATE = "yyyy-MM-dd'T'HH:mm:ss"
"""Format of a date attribute that declares none."""
_JAVA = re.compile(r"'((?:[^']|'')*)'|([A-Za-z])\2*|[^A-Za-z']+")
_STRPTIME = {
    "yyyy": "%Y", "yy": "%y", "y": "%Y", "MM": "%m", "M": "%m", "MMM": "%b", "MMMM": "%B", "dd": "%d", "d": "%d",
    "HH": "%H", "H": "%H", "hh": "%I", "h": "%I", "mm": "%M", "m": "%M", "ss": "%S", "s": "%S", "SSS": "%f",
    "a": "%p", "Z": "%z", "z": "%Z", "X": "%z", "XXX": "%z", "EEE": "%a", "EEEE": "%A", "E": "%a",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Attribute:
    name: str
    kind: str
    """One of numbers, words, date and levels."""
    levels: tuple[str, ...] = ()
    """Declared levels; () for any other kind."""
    date: str = ""
    """Format of dates for `datetime.strptime`; empty for any other kind."""

    @property
    def zero(self) -> Value:
        """The value of the attribute in a sparse row that leaves it out."""
        return self.levels[0] if self.levels else "0"


def read_arff(source: Source, settings: ReadSettings) -> FileTable:
    """Read ARFF.

    A sparse row leaves out zeros: 0 of a number, and the first declared level of a nominal attribute.

    Args:
        source: the file.
        settings: its encoding, the missing words, and whether repeated names are renamed.

    Returns:
        Numbers as float64, declared levels as categories, dates as dates, strings as words.

    Raises:
        DataError: the file is no ARFF, or has weights of rows, relational attributes or attributes that occur twice;
            the message names the line.
    """
    text = whole_text(source, settings)
    attributes: list[_Attribute] = []
    rows: list[list[Value]] = []
    places: list[int] = []
    in_data = False
    for number, line in declared_lines(text.content):
        if in_data:
            rows.append(_row(line, attributes, f"{source.where}, line {number}"))
            places.append(number)
            if len(rows) * len(attributes) > _MOST_VALUES:
                raise DataError(
                    f"{source.where}, line {number}: {len(rows)} rows of {len(attributes)} attributes are more than "
                    f"{_MOST_VALUES} values; keep fewer of them, or save the table as parquet"
                )
            continue
        word = line.split(maxsplit=1)[0].lower()
        if word == "@attribute":
            attributes.append(_declared(line, f"{source.where}, line {number}"))
        elif word == "@data":
            in_data = True
        elif word != "@relation":
            raise DataError(
                f"{source.where}, line {number}: {line[:40]!r} is neither @relation, @attribute nor @data, so this is "
                "no ARFF; say with --format what it is"
            )
    if not in_data:
        raise DataError(f"{source.where} has no line @data, so it is no ARFF; say with --format what it is")
    if not attributes or not rows:
        raise DataError(f"{source.where} has no {'rows' if attributes else 'attributes'}; nothing can be read")
    names = unique_names(
        [attribute.name for attribute in attributes], rename=settings.rename_duplicates, where=source.where
    )
    columns, words = columns_of(rows, len(attributes)), missing_words(settings)
    frame = {
        name: _column(attribute, name, _present(attribute, values, words), places, source.where)
        for name, attribute, values in zip(names, attributes, columns, strict=True)
    }
    return FileTable(pd.DataFrame(frame), text.sha256, Reading("arff", source.compression, (text.encoding,)))


def _declared(line: str, where: str) -> _Attribute:
    found = _ATTRIBUTE.fullmatch(line)
    name = "" if found is None else unquoted(found[1]).strip()
    if found is None or not name or not found[2]:
        raise DataError(f"{where}: {line[:40]!r} declares no attribute; write @attribute NAME KIND")
    kind = found[2]
    if kind.startswith("{"):
        listed = levels(kind)
        if listed is None:
            raise DataError(f"{where}: the levels of {name!r} have an open brace or quotation mark; close it")
        if listed[1] and not listed[1].startswith("%"):
            raise DataError(f"{where}: {listed[1][:40]!r} follows the levels of {name!r}; remove it")
        if not listed[0]:
            raise DataError(f"{where}: {name!r} has no levels; list them between the braces")
        return _Attribute(name, "levels", tuple(listed[0]))
    word, _, rest = kind.partition(" ") if "\t" not in kind else kind.partition("\t")
    if word.lower() in _NUMBERS:
        return _Attribute(name, "numbers")
    if word.lower() == "string":
        return _Attribute(name, "words")
    if word.lower() == "date":
        return _Attribute(name, "date", date=_strptime(unquoted(rest.strip()) or _DATE, name, where))
    if word.lower() == "relational":
        raise DataError(f"{where}: {name!r} is relational, a table in every row, which is not read; flatten the file")
    raise DataError(
        f"{where}: {name!r} is of kind {word[:40]!r}; write one of numeric, real, integer, string, date and "
        "{LEVEL, ...}"
    )


def _strptime(java: str, name: str, where: str) -> str:
    """The format of strptime for a format of Java's SimpleDateFormat."""
    result, at = "", 0
    while at < len(java):
        found = _JAVA.match(java, at)
        part = "" if found is None else found[0]
        if found is None or (found[2] and part not in _STRPTIME):
            raise DataError(f"{where}: {(part or java[at:])!r} in the date format of {name!r} is not known")
        if found[2] and _STRPTIME[part] in result:
            raise DataError(f"{where}: the date format of {name!r} has {part!r} twice; correct it")
        literal = (found[1].replace("''", "'") or "'") if found[1] is not None else part
        result += _STRPTIME[part] if found[2] else literal.replace("%", "%%")
        at = found.end()
    return result


def _row(line: str, attributes: list[_Attribute], where: str) -> list[Value]:
    width = len(attributes)
    if line.startswith("{"):
        return _sparse_row(line, attributes, where)
    values = fields(line, width, _MISSING, where)
    if len(values) == width + 1 and _WEIGHT.search(line):
        raise DataError(f"{where}: {values[-1]!r} is the weight of a row, which is not read; remove the weights")
    if len(values) != width:
        raise DataError(
            f"{where}: {counted(len(values), 'value')} where {width} attributes are declared; correct the line"
        )
    return values


def _sparse_row(line: str, attributes: list[_Attribute], where: str) -> list[Value]:
    inside, brace, rest = line[1:].rpartition("}")
    if brace and not rest and _WEIGHT.search(line):
        raise DataError(f"{where}: the row ends with its weight, which is not read; remove the weights")
    if not brace or rest:
        raise DataError(f"{where}: the brace of a sparse row is left open, or something follows it; correct it")
    row = [attribute.zero for attribute in attributes]
    text, at, before = inside.strip(), 0, -1
    text += "," if text else ""
    while at < len(text):
        pair = _PAIR.match(text, at)
        if pair is None:
            raise DataError(f"{where}: {text[at:-1].strip()[:40]!r} is no INDEX VALUE of a sparse row; correct it")
        index = int(pair[1])
        if index >= len(attributes) or index <= before:
            order = (
                f"comes after {before}; put the pairs in order, each index once"
                if index <= before
                else f"is not below {len(attributes)}, the number of attributes; indices count from 0"
            )
            raise DataError(f"{where}: index {index} of the sparse row {order}")
        row[index] = unquoted(pair[2]) if pair[2] is not None else plain_value(pair[3], _MISSING)
        at, before = pair.end(), index
    return row


def _present(attribute: _Attribute, values: Sequence[Value], words: MissingWords) -> tuple[Value, ...]:
    return without(values, words.in_numbers if attribute.kind in ("numbers", "date") else words.always)


def _column(attribute: _Attribute, name: str, values: tuple[Value, ...], places: list[int], where: str) -> object:
    if attribute.kind == "levels":
        return categories(values, attribute.levels, name, places, where)
    if attribute.kind == "numbers":
        return numbers(values, name, places, where)
    words = pd.Series(values, dtype=object)
    if attribute.kind == "words":
        return words
    try:
        dates = pd.to_datetime(words, format=attribute.date, errors="coerce", utc="%z" in attribute.date.lower())
    except (ValueError, TypeError, OverflowError, re.error) as error:
        raise DataError(
            f"{where}: the dates of {name!r} cannot be read by their format ({error}); correct the format"
        ) from None
    wrong = (dates.isna() & words.notna()).to_numpy().nonzero()[0]
    if wrong.size:
        i = int(wrong[0])
        raise DataError(
            f"{where}, line {places[i]}: {str(values[i])[:40]!r} is no date as {name!r} declares them; correct one"
        )
    return dates
