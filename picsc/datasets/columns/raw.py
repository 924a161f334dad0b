"""The values of one column of a pandas frame as plain numpy: numbers, dates or coded words.

No other module asks pandas about dtypes, so that `str` and `object` strings, nullable and numpy numbers, and pandas 2
and 3 give the same values. Letters: n rows.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from picsc.datasets.columns.exact import LARGEST, Absent, Exact, exact_of_objects, exact_of_whole, needs_exact

Form = Literal["numbers", "integers", "dates", "booleans", "words"]


@dataclass(frozen=True, slots=True)
class Raw:
    """The values of one column, before its kind is decided."""

    form: Form
    """`integers` are whole numbers, whatever their dtype."""
    data: NDArray[Any]
    """numbers and dates (seconds since 1970): float64 (n,), NaN where missing; integers: int64 (n,) or, with missing
    values or `exact` ones, such floats; booleans and words: int64 (n,) codes into `levels`, -1 where missing."""
    levels: tuple[str, ...] = ()
    """Distinct words in order of first appearance, without surrounding blanks."""
    declared: bool = False
    """The frame itself declares the column categorical."""
    infinite: int = 0
    """Number of infinite values, which count as missing."""
    exact: Exact | None = None
    """Exact values of numbers that float64 does not tell apart; None where `data` are exact."""
    absent: Absent | None = None
    """Words that stood where numbers should; None for none."""
    note: str = ""
    """A remark for the report on how words were read as numbers or dates; empty for none."""

    @property
    def coded(self) -> bool:
        """True where `data` are codes into `levels`."""
        return self.form in ("booleans", "words")

    @property
    def missing(self) -> NDArray[np.bool_]:
        """True for rows without a value, bool (n,)."""
        return self.data < 0 if self.coded else np.isnan(self.data)

    @property
    def present(self) -> NDArray[Any]:
        """The values that are not missing, in row order."""
        return self.data[~self.missing] if self.data.dtype.kind == "f" or self.coded else self.data

    @property
    def ordered(self) -> NDArray[Any]:
        """The values that are not missing, or numbers that are equal, and ordered, as these are."""
        return self.present if self.exact is None else self.exact.ranks[self.exact.ranks >= 0]

    def take(self, rows: NDArray[np.int64]) -> Raw:
        """The values of some rows, in any order."""
        exact = None if self.exact is None else self.exact.take(rows)
        absent = None if self.absent is None else self.absent.take(rows)
        return replace(self, data=self.data[rows], exact=exact, absent=absent)

    def as_words(self) -> Raw:
        """The same column as coded words: `3` for 3.0, ISO format for dates."""
        if self.coded:
            return self
        if self.exact is not None:
            ranks = self.exact.ranks
            codes, uniques = pd.factorize(np.where(ranks < 0, -1, ranks))
            spelled_out = ["" if rank < 0 else spelled(self.exact.distinct[rank]) for rank in uniques.tolist()]
            return _words(codes, spelled_out, "words")
        codes, uniques = pd.factorize(self.data)
        spell = spelled_date if self.form == "dates" else spelled
        return _words(codes, [spell(value) for value in uniques.tolist()], "words")


def raw(series: pd.Series[Any]) -> Raw:
    """The values of one column of a frame."""
    dtype = series.dtype
    if dtype in (
        np.float64,
        np.int64,
    ):  # the common case; asking pandas about the dtype costs more than reading the values
        plain = series.to_numpy()
        return _integers(plain) if dtype.kind == "i" else _numbers(plain)
    types = pd.api.types
    if isinstance(dtype, pd.CategoricalDtype):
        codes, uniques = pd.factorize(series)
        return _words(codes, [spelled(value) for value in uniques], "words", declared=True)
    if isinstance(dtype, pd.PeriodDtype):
        return _dates(series.dt.to_timestamp())
    if types.is_datetime64_any_dtype(dtype):
        return _dates(series)
    if types.is_bool_dtype(dtype):
        codes, uniques = pd.factorize(series)
        return _words(codes, [str(bool(value)) for value in uniques], "booleans")
    if types.is_timedelta64_dtype(dtype):
        return _numbers(series.dt.total_seconds().to_numpy(dtype=np.float64))
    if types.is_integer_dtype(dtype):
        missing = series.isna().to_numpy()
        width: Any = getattr(dtype, "numpy_dtype", dtype)
        if not missing.any():
            return _integers(series.to_numpy(dtype=width))
        whole = series.fillna(0).to_numpy(dtype=width)
        if _beyond(whole):
            return _exact(exact_of_whole(whole, missing))
    if types.is_numeric_dtype(dtype) and not types.is_complex_dtype(dtype):
        return _numbers(series.to_numpy(dtype=np.float64, na_value=np.nan))
    return _objects(series)


def digest(names: list[str], columns: list[Raw]) -> str:
    """SHA-256 of a table from memory; equal tables give equal digests under every version of pandas."""
    total = hashlib.sha256()
    for name, column in zip(names, columns, strict=True):
        total.update(f"{name}\0{column.form}\0".encode())
        total.update(column.data.tobytes())
        total.update("\0".join(column.levels).encode("utf-8", "surrogatepass"))
        if column.exact is not None:
            total.update("\0".join(map(spelled, column.exact.distinct.tolist())).encode())
            total.update(column.exact.ranks.tobytes())
    return total.hexdigest()


def spelled(value: object) -> str:
    """A value as a person would write it: `3` for 3.0."""
    if isinstance(value, Decimal):
        return str(int(value)) if value.is_finite() and value == value.to_integral_value() else str(value)
    if isinstance(value, (float, np.floating)) and float(value).is_integer():
        return str(int(value))
    if isinstance(value, (float, np.floating)):
        return repr(float(value))
    return str(value)


def moments(seconds: NDArray[np.float64]) -> NDArray[np.datetime64]:
    """Seconds since 1970 as datetime64[us], NaT where NaN."""
    missing = np.isnan(seconds)
    found = np.rint(np.where(missing, 0.0, seconds) * 1e6).astype(np.int64).astype("datetime64[us]")
    found[missing] = np.datetime64("NaT")
    return found


def spelled_date(seconds: float) -> str:
    """A date in ISO format, without midnight."""
    text = str(np.datetime_as_string(np.datetime64(round(seconds * 1e6), "us"), unit="auto"))
    return text.replace("T", " ")


def _integers(values: NDArray[Any]) -> Raw:
    """Integers of any width, without missing values."""
    return _exact(exact_of_whole(values)) if _beyond(values) else Raw("integers", values.astype(np.int64, copy=False))


def _beyond(values: NDArray[Any]) -> bool:
    """True if float64 does not hold all of these integers."""
    return bool(values.size) and (int(values.max()) > LARGEST or int(values.min()) < -LARGEST)


def _exact(exact: Exact) -> Raw:
    rounded = exact.rounded
    whole = exact.distinct.dtype.kind in "iu" or all(_is_whole(value) for value in exact.distinct.tolist())
    return Raw("integers" if whole else "numbers", rounded, exact=exact)


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) or bool(
        value == (value.to_integral_value() if isinstance(value, Decimal) else value // 1)
    )


def numbers_of(values: NDArray[np.float64], exact: Exact | None = None) -> Raw:
    """Numbers, of which infinite ones count as missing.

    Args:
        values: (n,), NaN where missing.
        exact: the same values, if float64 does not tell them apart.
    """
    return _numbers(values) if exact is None else _exact(exact)


def _numbers(values: NDArray[np.float64]) -> Raw:
    infinite = np.isinf(values)
    count = int(np.count_nonzero(infinite))
    if count:
        values = np.where(infinite, np.nan, values)
    head = values[:1000]
    whole = _whole(head) and _whole(values)  # most columns of fractions have one among their first rows
    return Raw("integers" if whole else "numbers", values, infinite=count)


def _whole(values: NDArray[np.float64]) -> bool:
    return bool(np.all(np.isnan(values) | (values == np.floor(values))))


def _dates(series: pd.Series[Any]) -> Raw:
    if isinstance(series.dtype, pd.DatetimeTZDtype):
        series = series.dt.tz_convert("UTC").dt.tz_localize(None)
    moments = series.to_numpy(dtype="datetime64[us]")
    seconds = moments.astype(np.int64) / 1e6
    seconds[np.isnat(moments)] = np.nan
    return Raw("dates", seconds)


def _finite(value: Any, missing: bool) -> Any:
    """One of Python's numbers; None for what is missing or infinite."""
    if missing:
        return None
    value = value.item() if isinstance(value, np.generic) else value
    return value if not isinstance(value, float | Decimal) or np.isfinite(float(value)) else None


def _objects(series: pd.Series[Any]) -> Raw:
    """The values of a column of strings, or of Python objects of one or several types."""
    held = pd.api.types.infer_dtype(series, skipna=True)
    if held == "empty":
        return Raw("numbers", np.full(len(series), np.nan))
    if held == "boolean":
        codes, uniques = pd.factorize(series)
        return _words(codes, [str(bool(value)) for value in uniques], "booleans")
    if held in ("integer", "floating", "mixed-integer-float", "decimal"):
        missing = series.isna().to_numpy()
        if any(map(needs_exact, series)):
            return _exact(exact_of_objects([_finite(v, bool(gone)) for v, gone in zip(series, missing, strict=True)]))
        values = np.asarray([np.nan if gone else float(v) for v, gone in zip(series, missing, strict=True)])
        return _numbers(values)
    if held in ("datetime64", "datetime", "date"):
        dates = pd.to_datetime(series, errors="coerce", utc=True)
        if dates.notna().equals(series.notna()):
            return _dates(dates)
    if held != "string":
        # One column, one type: the number 1 and the word "1" are the same level.
        missing = series.isna().to_numpy()
        words = [None if gone else spelled(value) for value, gone in zip(series, missing, strict=True)]
        series = pd.Series(words, dtype=object)
    codes, uniques = pd.factorize(series)
    return _words(codes, [str(value) for value in uniques], "words")


_SPELLINGS = 2**4 + 2**5
"""Number of ways to spell true and false in upper and lower case."""


def with_truth(column: Raw, *, several: bool = False) -> Raw:
    """A column of the words true and false, in any case, with the levels True and False; any other column as it is.

    Args:
        column: its values.
        several: only if true or false is spelled in several ways.
    """
    if column.form != "words" or not column.levels or len(column.levels) > _SPELLINGS:
        return column
    spellings = {level.lower() for level in column.levels}
    if not spellings <= {"true", "false"}:
        return column
    if several and len(spellings) == len(column.levels):
        return column
    levels = [level.lower().capitalize() for level in column.levels]
    return _words(np.where(column.data < 0, -1, column.data), levels, "words", declared=column.declared)


def _words(codes: NDArray[Any], levels: list[str], form: Form, *, declared: bool = False) -> Raw:
    """Coded words: levels are stripped of blanks, levels that become equal are merged, and empty ones are missing."""
    number: dict[str, int] = {}
    new = np.empty(len(levels) + 1, dtype=np.int64)
    new[-1] = -1  # code -1 indexes the last entry
    for i, level in enumerate(levels):
        word = level.strip()
        new[i] = number.setdefault(word, len(number)) if word else -1
    return Raw(form, new[codes], tuple(number), declared)
