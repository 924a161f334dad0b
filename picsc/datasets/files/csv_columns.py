"""The type of a column of delimited text, decided on the whole column: whole numbers, numbers or words."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from picsc.datasets.columns.exact import LARGEST, is_rounded
from picsc.datasets.columns.missing_words import MissingWords

_ASKED = 64
"""Number of words that are tried first."""
_LONG = "^[-+]?[0-9]{16}"
_ZERO, _NINE, _HEX = ord("0"), ord("9"), (ord("x"), ord("X"))


class TypedColumn:
    """Collects the blocks of a column as numbers until a block is not numeric, and as words from then on.

    A code with leading zeros, such as 00123, turns its whole column into words, since a number would lose the zeros.
    The same holds for a number with more digits than float64 has, unless all numbers are whole and fit in 64 bits.
    Earlier blocks, which were read as numbers, are then missing: the column is `incomplete` and must be read again.
    """

    def __init__(self, source: str, words: MissingWords, *, decimal: str = ".") -> None:
        """Start without blocks.

        Args:
            source: name of the column in the reader.
            words: the words that are missing values.
            decimal: decimal mark, point or comma. With a comma, points are no part of numbers here, not even between
                thousands: 1.234 stays a word, which `picsc.datasets.columns.numbers` reads with all others.
        """
        self.source = source
        self._decimal = decimal
        self._always, self._in_numbers = (pa.array(sorted(each)) for each in (words.always, words.in_numbers))
        self._blocks: list[Any] = []
        self._words = False
        self._large, self._rounded = False, False
        self.incomplete = False

    def restart(self) -> TypedColumn:
        """Drop the blocks, but keep the type that was found."""
        self._blocks, self.incomplete = [], False
        return self

    def add(self, block: Any) -> None:
        """Add the next block, an Arrow array of strings."""
        if not self._words:
            numbers = _as_numbers(block, self._in_numbers, self._decimal)
            if numbers is not None and self._hold(numbers):
                self._blocks.append(numbers)
                return
            self._words = True
            self.incomplete = bool(self._blocks)
        if not self.incomplete:
            self._blocks.append(_tidy(block, self._always))

    def _hold(self, numbers: Any) -> bool:
        """True if the blocks so far and this one keep every digit in one type."""
        if numbers.type == pa.float64():
            self._rounded = True
        elif len(numbers) > numbers.null_count:
            limits = pc.min_max(numbers).as_py()
            self._large = self._large or limits["max"] > LARGEST or limits["min"] < -LARGEST
        return not (self._large and self._rounded)

    def finish(self) -> pd.Series[Any]:
        """The whole column: int64, float64 with NaN where missing, or strings. Releases the blocks."""
        blocks, self._blocks = self._blocks, []
        if self._words:
            words: pd.Series[Any] = pa.chunked_array(blocks, pa.string()).to_pandas()
            return words
        if self._large:
            chunks: pd.Series[Any] = pa.chunked_array(blocks, pa.int64()).to_pandas(types_mapper=_NULLABLE.get)
            return chunks
        whole = all(block.type == pa.int64() and block.null_count == 0 for block in blocks)
        arrays = [_to_numpy(block, np.int64 if whole else np.float64) for block in blocks]
        return pd.Series(np.concatenate(arrays), copy=False)


_NULLABLE = {pa.int64(): pd.Int64Dtype()}


def _to_numpy(block: Any, dtype: type[np.int64 | np.float64]) -> Any:
    values = block.to_numpy(zero_copy_only=False)
    return values.astype(dtype, copy=False)


def _tidy(words: Any, missing: Any) -> Any:
    """The words without surrounding blanks, and missing where the rest is one of the words in `missing`."""
    stripped = pc.utf8_trim_whitespace(words)
    return pc.if_else(pc.is_in(stripped, missing), pa.scalar(None, pa.string()), stripped)


def _as_numbers(words: Any, missing: Any, decimal: str) -> Any | None:
    """An int64 or float64 array; None if a word is neither a number nor missing among numbers."""
    numbers = _cast(_pointed(words, decimal))
    if numbers is None:
        tidy = _tidy(words, missing)
        if tidy.equals(words):
            return None
        words, numbers = tidy, _cast(_pointed(tidy, decimal))
    if numbers is None or _has_codes(words, numbers):
        return None
    return None if numbers.type == pa.float64() and _has_rounded(_pointed(words, decimal)) else numbers


def _has_rounded(words: Any) -> bool:
    """True if any number has 16 digits or more before its decimal point, and float64 rounds it."""
    longest = pc.max(pc.binary_length(words)).as_py()
    if longest is None or longest < 16:
        return False
    long = words.filter(pc.match_substring_regex(words, _LONG))
    return any(map(is_rounded, long.drop_null().to_pylist()))


def _pointed(words: Any, decimal: str) -> Any:
    """The words with a point as decimal mark; any other point is replaced so that the word is no number."""
    if decimal == ".":
        return words
    return pc.replace_substring(pc.replace_substring(words, ".", "_"), decimal, ".")


def _cast(words: Any) -> Any | None:
    for kind in (pa.int64(), pa.float64()):
        try:
            # A failing cast composes a message for every word, which costs 30 times as much as a successful one.
            pc.cast(words.slice(0, _ASKED), kind)
            return pc.cast(words, kind)
        except pa.ArrowInvalid:
            continue
    return None


def _has_codes(words: Any, numbers: Any) -> bool:
    """True if any word is 0 followed by digits only, or a hexadecimal number, which Arrow reads as a whole number.

    Compares the first two bytes of all words at once; a regular expression per word would cost as much as parsing.
    """
    _, ends, content = words.buffers()
    if content is None or len(content) == 0:
        return False
    offsets = np.frombuffer(ends, dtype=np.int32)[words.offset : words.offset + len(words) + 1]
    letters = np.frombuffer(content, dtype=np.uint8)
    zero = np.flatnonzero(letters.take(offsets[:-1], mode="clip") == _ZERO)
    start = offsets[zero]
    second = letters[start[offsets[zero + 1] - start >= 2] + 1]
    digit = (second >= _ZERO) & (second <= _NINE)
    if numbers.type == pa.int64():
        return bool(digit.any() or np.isin(second, _HEX).any())
    return bool(digit.any()) and bool(pc.any(pc.match_substring_regex(words, "^0[0-9]+$")).as_py())
