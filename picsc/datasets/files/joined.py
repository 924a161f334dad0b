"""Frames of several files as one frame, column by column under the types that all files agree on.

A column of numbers in one file and of words in another is words in both, so that its kind is decided on all of its
values; whole numbers 0 and 1 are the truth values of another file.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from picsc.datasets.columns.dates import read_dates
from picsc.datasets.columns.raw import raw

TRUTH = {"true": 1, "false": 0}


def joined(frames: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """The rows of all frames, one frame after the other.

    Args:
        frames: with unique column names.

    Returns:
        All columns, in the order of the first frame that has them; missing where a frame lacks the column.
    """
    names = dict.fromkeys(name for frame in frames for name in frame.columns)
    columns = {name: _column([_of(frame, name) for frame in frames]) for name in names}
    return pd.DataFrame(columns, copy=False)


def _of(frame: pd.DataFrame, name: str) -> pd.Series[Any]:
    if name in frame.columns:
        return frame[name]
    return pd.Series(np.full(len(frame), np.nan), index=frame.index)


def _column(parts: Sequence[pd.Series[Any]]) -> pd.Series[Any]:
    held = [part for part in parts if not part.isna().all()]
    if len({_family(part) for part in held}) <= 1:
        empty = {id(part) for part in parts} - {id(part) for part in held}
        if held and empty and _family(held[0]) != "numbers":
            gone: Any = pd.NaT if _family(held[0]) == "dates" else None
            kept = [pd.Series([gone] * len(p), dtype=held[0].dtype) if id(p) in empty else p for p in parts]
            return pd.concat(kept, ignore_index=True)
        return pd.concat(list(parts), ignore_index=True)
    return pd.concat([pd.Series(values) for values in _as_one_type(parts)], ignore_index=True)


def _family(part: pd.Series[Any]) -> str:
    types, dtype = pd.api.types, part.dtype
    if types.is_bool_dtype(dtype):
        return "booleans"
    if types.is_datetime64_any_dtype(dtype):
        return f"dates {dtype}" if isinstance(dtype, pd.DatetimeTZDtype) else "dates"
    if isinstance(dtype, pd.CategoricalDtype):
        return "categories"
    return "numbers" if types.is_numeric_dtype(dtype) and not types.is_complex_dtype(dtype) else "words"


def _as_one_type(parts: Sequence[pd.Series[Any]]) -> list[Any]:
    """The values of parts of different types: truth values as 0 and 1, dates as dates, and anything else as words."""
    for convert in (_as_truth, _as_dates):
        found = [convert(part) for part in parts]
        if all(values is not None for values in found):
            return found
    return [_as_words(part) for part in parts]


def _as_truth(part: pd.Series[Any]) -> pd.Series[Any] | None:
    """0 and 1, NaN where missing; None unless all values are 0 and 1, or true and false in any spelling."""
    words = part.map(lambda value: TRUTH.get(str(value).strip().lower(), value), na_action="ignore")
    numbers = pd.to_numeric(words.astype(object), errors="coerce").astype(np.float64)
    return numbers if (numbers.isin([0.0, 1.0]) | part.isna()).all() else None


def _as_dates(part: pd.Series[Any]) -> pd.Series[Any] | None:
    """Moments; None unless all values are dates."""
    values = raw(part)
    if values.form == "dates":
        seconds = values.data
    elif values.form == "words":
        found = read_dates(values.levels)
        if found is None:
            return None
        seconds = np.append(found.seconds, np.nan)[values.data]
    else:
        return None if len(values.present) else pd.Series(np.full(len(part), np.datetime64("NaT"), "datetime64[us]"))
    micro = np.where(np.isnan(seconds), 0.0, np.rint(seconds * 1e6)).astype(np.int64).astype("datetime64[us]")
    micro[np.isnan(seconds)] = np.datetime64("NaT")
    return pd.Series(micro)


def _as_words(part: pd.Series[Any]) -> pd.Series[Any]:
    words = raw(part).as_words()
    values: Any = np.asarray([*words.levels, None], dtype=object)[words.data]
    return pd.Series(values)
