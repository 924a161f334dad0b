"""Ways of writing numbers: thousands, decimal marks, currencies, percent, signs, hexadecimal, durations.

A column is read in one way only, the one that most of its rows agree on; a word of another way is no number there, so
that one spelling never has two meanings in a column. Letters: u distinct words.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from picsc.datasets.columns.exact import is_rounded

_BLANKS, _MINUSES = "[\u00a0\u2007\u2009\u202f]", "[\u2012\u2013\u2212\ufe63\uff0d]"
_APOSTROPHES = "[\u2019\u02bc]"
_CURRENCY = r"[A-Z]{1,2}\p{Sc}|\p{Sc}|[A-Z]{3}|kr\.?|Fr\.|Rs\.?"
_UNIT = r"%|‰|\p{Sc}|[\p{L}°][\p{L}°/²³]{0,5}"
_MARK = r"^(?:%|‰|\p{Sc})?$"
_WORD = (
    rf"^(?P<open>\()? ?(?P<sign>[-+])? ?(?P<before>{_CURRENCY})? ?(?P<inner>[-+])? ?"
    rf"(?P<body>[0-9.,][0-9.,'_ ]*?)(?P<power>[eEdD][-+]?[0-9]+)? ?(?P<after>{_UNIT})? ?(?P<trailing>[-+])? ?"
    r"(?P<close>\))?$"
)
_PLAIN = r"^[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?$"
_HEXADECIMAL = r"^[-+]?0[xX][0-9a-fA-F]+$"
_CLOCK = r"[0-9]+:[0-5][0-9](?::[0-5][0-9](?:\.[0-9]+)?)?"
_DURATION = rf"^-?(?:[0-9]+ ?(?:d|days?),?(?: [-+]?{_CLOCK})?|{_CLOCK}|P[0-9DTHMS.]*[0-9][DHMS])$"
_INFINITE = r"(?i)^[-+]?inf(?:inity)?$"
_LARGE = r"^[-+]?[0-9]{16}"
_SCALES = {"%": Decimal("0.01"), "‰": Decimal("0.001")}


@dataclass(frozen=True, slots=True)
class _Marks:
    """Decimal mark, and the mark between thousands."""

    decimal: str
    thousands: str
    words: str

    @property
    def pattern(self) -> str:
        """Pattern of a number without sign, currency and power of ten."""
        point = re.escape(self.decimal)
        if not self.thousands:
            return rf"^(?:[0-9]+{point}?[0-9]*|{point}[0-9]+)$"
        mark = re.escape(self.thousands)
        whole = rf"[0-9]{{1,3}}|[1-9][0-9]{{0,2}}(?:{mark}[0-9]{{3}})+"
        if self.thousands == ",":  # 12,34,567, as in India
            whole += r"|[1-9][0-9]?(?:,[0-9]{2})+,[0-9]{3}"
        if self.thousands == "_":
            whole = r"[0-9]+(?:_[0-9]+)*"
        return rf"^(?:(?:{whole})(?:{point}[0-9]*)?|{point}[0-9]+)$"


_WAYS = (
    _Marks(".", "", ""),
    _Marks(".", ",", "commas between thousands"),
    _Marks(",", "", "decimal comma"),
    _Marks(",", ".", "points between thousands, decimal comma"),
    _Marks(".", " ", "blanks between thousands"),
    _Marks(",", " ", "blanks between thousands, decimal comma"),
    _Marks(".", "'", "apostrophes between thousands"),
    _Marks(",", "'", "apostrophes between thousands, decimal comma"),
    _Marks(".", "_", "underscores between digits"),
)
"""From the plainest on: of ways that fit equally many rows the first is taken."""


@dataclass(frozen=True, slots=True)
class Written:
    """The distinct words of a column, as far as they are numbers written in one way."""

    numbers: NDArray[np.float64]
    """(u,) numbers; NaN for a word that is none, and infinity for a word such as inf."""
    exact: dict[int, int | Decimal]
    """Exact values by position, of all numbers, if some have more digits than float64 holds; else empty."""
    way: str
    """The way in words; empty for plain numbers."""
    decimal: str
    """Decimal mark that the words prove; empty if they prove none."""
    doubt: str
    """The other way in which the same words can be read; empty if there is none."""
    any_way: NDArray[np.bool_]
    """(u,) words that are numbers in one way of writing or another."""

    def rows(self, counts: NDArray[np.int64]) -> int:
        """Number of rows with a number.

        Args:
            counts: (u,) number of rows with each word.
        """
        return int(counts[~np.isnan(self.numbers)].sum())


def as_written(words: Sequence[str], rows: NDArray[np.int64], decimal: str | None) -> Written:
    """Read words as numbers, in the way that most rows agree on.

    Reading: where commas can be thousands as well as decimal marks in all words (1,234), they are taken for thousands,
        and the result says so in `doubt`.

    Args:
        words: u distinct words without surrounding blanks.
        rows: (u,) number of rows with each word.
        decimal: decimal mark, point or comma; None leaves it open.
    """
    spelled = pa.array(words, pa.string())
    tidy, minus = spelled, np.zeros(len(spelled), bool)
    if not _mask(pc.string_is_ascii(spelled)).all():
        minus = _mask(pc.match_substring_regex(spelled, _MINUSES))
        for pattern, usual in ((_BLANKS, " "), (_MINUSES, "-"), (_APOSTROPHES, "'")):
            tidy = pc.replace_substring_regex(tidy, pattern, usual)
    plain = _mask(pc.match_substring_regex(tidy, _PLAIN))
    if decimal != "," and 2 * rows[plain].sum() > rows.sum() and not _joins_plain(tidy.filter(pa.array(~plain))):
        numbers = tidy.filter(pa.array(plain))
        nothing = Written(np.full(len(tidy), np.nan), {}, "", ".", "", plain)
        candidates = [_valued(numbers, np.flatnonzero(plain), nothing)]
    else:
        candidates = [_in_marks(tidy, rows, decimal), _hexadecimal(tidy), _durations(tidy)]
    best = max(candidates, key=lambda found: found.rows(rows))
    values = best.numbers.copy()
    others = np.flatnonzero(np.isnan(values))
    rest = tidy.filter(pa.array(np.isnan(values)))
    infinite = _mask(pc.match_substring_regex(rest, _INFINITE))
    negative = _mask(pc.starts_with(rest, "-"))
    values[others[infinite]] = np.where(negative[infinite], -np.inf, np.inf)
    way = ", ".join(filter(None, (best.way, "typographic minus signs" if minus[~np.isnan(values)].any() else "")))
    any_way = ~np.isnan(values) | np.any([found.any_way for found in candidates], axis=0)
    return Written(values, best.exact, way, best.decimal, best.doubt, any_way)


def _joins_plain(others: Any) -> bool:
    """True if a word that is no plain number may be written in a way that holds for plain numbers, too."""
    parts = pc.extract_regex(others, _WORD)
    fits = pa.array(~_mask(pc.is_null(parts)))
    units = (_mask(pc.not_equal(parts.field(name).filter(fits), "")) for name in ("before", "after"))
    return not np.logical_or(*units).all()


def _mask(found: Any) -> NDArray[np.bool_]:
    result: NDArray[np.bool_] = found.to_numpy(zero_copy_only=False).astype(bool)
    return result


def _in_marks(tidy: Any, rows: NDArray[np.int64], decimal: str | None) -> Written:
    """The words in the best of `_WAYS`, with the unit that most rows have."""
    nothing = np.full(len(tidy), np.nan)
    parts = pc.extract_regex(tidy, _WORD)
    fits = ~_mask(pc.is_null(parts))
    if not fits.any():
        return Written(nothing, {}, "", "", "", fits)
    at = np.flatnonzero(fits)
    part = {name: parts.field(name).take(pa.array(at)) for name in ("body", "power", "before", "after")}
    has = {
        name: _mask(pc.equal(parts.field(name).take(pa.array(at)), sign))
        for name, sign in (("open", "("), ("close", ")"), ("sign", "-"), ("inner", "-"), ("trailing", "-"))
    }
    negatives = np.sum([has[name] for name in ("open", "sign", "inner", "trailing")], axis=0)
    signed = (has["open"] == has["close"]) & (negatives <= 1)
    # the unit that most rows have; a word of another unit is no number of this column
    units = pc.binary_join_element_wise(part["before"], part["after"], "\n")
    codes, names = pd.factorize(np.asarray(units.to_pylist(), dtype=object))
    most = int(np.argmax(np.bincount(codes, weights=rows[at] * signed, minlength=len(names))))
    usable = signed & (codes == most)
    before, after = names[most].split("\n")

    present = {"", *(mark for mark in ",.' _" if _mask(pc.match_substring(part["body"], mark)).any())}
    ways = [way for way in _WAYS if decimal in (None, way.decimal) and way.thousands in present]
    ways = [way for way in ways if decimal is not None or way.decimal == "." or "," in present]
    matched = [_mask(pc.match_substring_regex(part["body"], way.pattern)) for way in ways]
    any_way = fits.copy()
    any_way[at] = signed & np.any(matched, axis=0) & _mask(pc.match_substring_regex(part["after"], _MARK))
    taken = [usable & mask for mask in matched]
    counted = [int(rows[at][mask].sum()) for mask in taken]
    best = int(np.argmax(counted))
    if not counted[best]:
        return Written(nothing, {}, "", "", "", any_way)
    way, mask = ways[best], taken[best]
    negative = negatives[mask] == 1
    numbers = _pointed(part, way, mask, negative)
    doubt = ""
    if decimal is None and way.thousands == ",":
        rivals = [i for i, other in enumerate(ways) if other.decimal == "," and counted[i] == counted[best]]
        doubt = next((ways[i].words for i in rivals), "")
    proven = (
        ""
        if doubt or not (way.thousands or _mask(pc.match_substring(part["body"], way.decimal)).any())
        else way.decimal
    )
    signs = (("parentheses for negative amounts", "open"), ("minus signs behind", "trailing"))
    odd_signs = [name for name, sign in signs if has[sign][mask].any()]
    powers = [_mask(pc.starts_with(part["power"], letter))[mask].any() for letter in "dD"]
    unit = [{"%": "percent"}.get(word, word) for word in (before, after) if word]
    words = ", ".join(
        [*filter(None, [way.words]), *unit, *odd_signs, *(["powers of ten with D"] if any(powers) else [])]
    )
    return _valued(numbers, at[mask], Written(nothing, {}, words, proven, doubt, any_way), _SCALES.get(after))


def _pointed(part: dict[str, Any], way: _Marks, mask: NDArray[np.bool_], negative: NDArray[np.bool_]) -> Any:
    """The words under `mask` as plain numbers with a decimal point and, where negative, a minus."""
    chosen = pa.array(mask)
    body = part["body"].filter(chosen)
    if way.thousands:
        body = pc.replace_substring(body, way.thousands, "")
    if way.decimal == ",":
        body = pc.replace_substring(body, ",", ".")
    power = pc.replace_substring(pc.replace_substring(part["power"].filter(chosen), "d", "e"), "D", "e")
    return pc.binary_join_element_wise(pc.if_else(pa.array(negative), "-", ""), body, power, "")


def _valued(numbers: Any, at: NDArray[Any], empty: Written, scale: Decimal | None = None) -> Written:
    """The values of plain numbers, of which number i is the word at[i]; all else is that of `empty`."""
    values = empty.numbers.copy()
    if _mask(pc.starts_with(numbers, "+")).any():  # Arrow reads no plus in front
        numbers = pc.replace_substring_regex(numbers, r"^\+", "")
    values[at] = pc.cast(numbers, pa.float64()).to_numpy(zero_copy_only=False)
    if scale is not None:
        values /= float(1 / scale)
    exact: dict[int, int | Decimal] = {}
    if scale is None and len(numbers) and pc.max(pc.utf8_length(numbers)).as_py() >= 16:
        texts = numbers.to_pylist()
        large = numbers.filter(pc.match_substring_regex(numbers, _LARGE)).to_pylist()
        if any(map(is_rounded, large)):
            exact = {int(i): exact_value(text) for i, text in zip(at, texts, strict=True)}
    return replace(empty, numbers=values, exact=exact)


def exact_value(text: str) -> int | Decimal:
    """The value of a plain number, whatever its length."""
    value = Decimal(text)
    whole = value.as_tuple().exponent == 0  # of 1e999999 no whole number is made
    return int(value) if whole else value


def _hexadecimal(tidy: Any) -> Written:
    mask = _mask(pc.match_substring_regex(tidy, _HEXADECIMAL))
    at = np.flatnonzero(mask)
    values = np.full(len(tidy), np.nan)
    whole = [int(word, 16) for word in tidy.filter(pa.array(mask)).to_pylist()]
    for i, value in zip(at, whole, strict=True):
        values[i] = float(value) if abs(value) < 2**1000 else np.nan
    large = any(abs(value) > 2**53 for value in whole)
    exact = {int(i): value for i, value in zip(at, whole, strict=True)} if large else {}
    return Written(values, dict(exact), "hexadecimal", "", "", mask)


def _durations(tidy: Any) -> Written:
    mask = _mask(pc.match_substring_regex(tidy, _DURATION))
    values = np.full(len(tidy), np.nan)
    if mask.any():
        words = pc.replace_substring_regex(tidy.filter(pa.array(mask)), r"(^|[-+ ])([0-9]+:[0-9]+)$", r"\1\2:00")
        spans = pd.to_timedelta(pd.Series(words.to_pylist(), dtype=object), errors="coerce")
        values[mask] = spans.dt.total_seconds().to_numpy(dtype=np.float64)
    return Written(values, {}, "durations in seconds", "", "", mask)
