r"""Values in formats that declare their columns (ARFF, KEEL): quotes, escapes, numbers and levels.

A value is quoted with ' or ", and a backslash inside escapes the next character (\n, \r, \t and \u0041 have their
usual meaning); or it is plain and ends at the comma. Letters: n rows.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from picsc.datasets.columns.exact import is_rounded
from picsc.datasets.files.text_lines import numbered_lines
from picsc.errors import DataError

QUOTED = r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\""""
NAME = rf"{QUOTED}|[^\s{{'\"][^\s{{]*"
"""Pattern of the name of an attribute; levels may follow it without a blank."""
_LONG = re.compile(r"[-+]?[0-9]{16}")
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
_MEANT = {"n": "\n", "r": "\r", "t": "\t"}
_BETWEEN_COMMAS = re.compile(rf"\s*(?:({QUOTED})\s*|((?!\s*['\"])[^,]*)),", re.DOTALL)
_BETWEEN_BLANKS = re.compile(rf"\s*(?:({QUOTED})|((?!['\"])\S+))\s", re.DOTALL)

Value = str | None
"""A value as a word; None is a missing value."""


def declared_lines(text: str) -> Iterator[tuple[int, str]]:
    """The lines that are neither blank nor a comment, each with its number."""
    return ((number, line) for number, line in numbered_lines(text) if line and not line.startswith("%"))


def unquoted(text: str) -> str:
    """The meaning of a quoted value; a plain value as it is."""
    if len(text) > 1 and text[0] in "'\"" and text[-1] == text[0]:
        return _ESCAPE.sub(_escaped, text[1:-1])
    return text


def _escaped(found: re.Match[str]) -> str:
    letter = found[1]
    return chr(int(letter[1:], 16)) if len(letter) == 5 else _MEANT.get(letter, letter)


def fields(line: str, width: int, missing: frozenset[str], where: str) -> list[Value]:
    """The values between commas, or between blanks where there is no comma.

    Args:
        line: a line without surrounding blanks.
        width: number of values that the line should have.
        missing: plain values that are missing; if they are quoted, they are words.
        where: file and line, for the message.

    Raises:
        DataError: a quotation mark is left open, or something follows a closed one.
    """
    blanks = width > 1 and "," not in line
    if "'" not in line and '"' not in line:
        parts = line.split() if blanks else line.split(",")
        return [None if (word := part.strip()) in missing else word for part in parts]
    text, pattern = (line + " ", _BETWEEN_BLANKS) if blanks else (line + ",", _BETWEEN_COMMAS)
    values: list[Value] = []
    at = 0
    while at < len(text):
        match = pattern.match(text, at)
        if match is None:
            raise DataError(f"{where}: a quotation mark is left open, or something follows a closed one; correct it")
        plain = match[2] if match[1] is None else None
        values.append(unquoted(match[1]) if plain is None else plain_value(plain, missing))
        at = match.end()
    return values


def plain_value(text: str, missing: frozenset[str]) -> Value:
    """The meaning of a value without quotation marks."""
    word = text.strip()
    return None if word in missing else word


def without(values: Sequence[Value], missing: frozenset[str]) -> tuple[Value, ...]:
    """The values of a column; those words that are missing in it are missing.

    Args:
        values: (n,) words.
        missing: words that are missing; an empty one that is quoted stays a word.
    """
    return tuple(None if value and value in missing else value for value in values)


def levels(text: str) -> tuple[list[str], str] | None:
    """The levels of `{a, 'b c', ...} rest`, and the rest.

    Returns:
        None if a quotation mark or the brace is left open.
    """
    found: list[str] = []
    at = 1
    while True:
        match = _LEVEL.match(text, at)
        if match is None:
            return None
        word = unquoted(match[1]) if match[1] is not None else match[2].strip()
        found.append(word)
        at = match.end()
        if match[3] == "}":
            return [] if found == [""] and match[1] is None else found, text[at:].strip()


_LEVEL = re.compile(rf"\s*(?:({QUOTED})\s*|((?!\s*['\"])[^,}}]*))([,}}])", re.DOTALL)


def numbers(values: Sequence[Value], name: str, places: Sequence[int], where: str) -> NDArray[Any]:
    """The values of a column that is declared numeric.

    Args:
        values: (n,) words.
        name: name of the column.
        places: (n,) numbers of their lines, for messages.
        where: the file, for messages.

    Returns:
        (n,) float64, NaN where missing; or decimals, None where missing or infinite, if float64 rounds whole parts
        of 16 digits or more.

    Raises:
        DataError: a value is no number; the message names its line.
    """
    result = np.empty(len(values), dtype=np.float64)
    for i, value in enumerate(values):
        try:
            if value is not None and "_" in value:  # Python reads 1_000 as a number
                raise ValueError
            result[i] = np.nan if value is None else float(value)
        except ValueError:
            raise DataError(
                f"{where}, line {places[i]}: {_shown(value)} is no number, as {name!r} is declared to be; "
                "correct the value or the declaration"
            ) from None
    if any(value is not None and _LONG.match(value.strip()) and is_rounded(value) for value in values):
        exact = np.empty(len(values), dtype=object)
        pairs = zip(values, result, strict=True)
        exact[:] = [Decimal(value) if value is not None and np.isfinite(there) else None for value, there in pairs]
        return exact
    return result


def categories(
    values: Sequence[Value], declared: Sequence[str], name: str, places: Sequence[int], where: str
) -> pd.Categorical[Any]:
    """The values of a column with declared levels.

    Args:
        values: (n,) words.
        declared: its levels.
        name: name of the column.
        places: (n,) numbers of their lines, for messages.
        where: the file, for messages.

    Raises:
        DataError: a value is none of the levels; the message names its line.
    """
    known = list(dict.fromkeys(declared))
    code_of: dict[Value, int] = {level: i for i, level in enumerate(known)}
    code_of[None] = -1
    codes = np.empty(len(values), dtype=np.int64)
    for i, value in enumerate(values):
        found = code_of.get(value)
        if found is None:
            raise DataError(
                f"{where}, line {places[i]}: {_shown(value)} is none of the {len(known)} levels declared for {name!r}; "
                "correct the value or declare it"
            )
        codes[i] = found
    return pd.Categorical.from_codes(codes, categories=pd.Index(known, dtype=object))


def _shown(value: object) -> str:
    return repr(str(value)[:40])


def columns_of(rows: Sequence[Sequence[Value]], width: int) -> list[tuple[Any, ...]]:
    """The values column by column; as many empty columns for a table without rows."""
    return list(zip(*rows, strict=True)) if rows else [()] * width
