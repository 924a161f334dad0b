"""Frames of several files as one frame, column by column under the types that all files agree on."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Any

import numpy as np
import pandas as pd

from picsc.datasets.columns.joining import followed_by
from picsc.datasets.columns.raw import Raw, moments, raw


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
    if len({part.dtype for part in parts}) == 1:
        return pd.concat(list(parts), ignore_index=True)
    return _series(reduce(followed_by, [raw(part) for part in parts]))


def _series(column: Raw) -> pd.Series[Any]:
    if column.coded:
        words: Any = np.asarray([*column.levels, None], dtype=object)[column.data]
        return pd.Series(words)
    if column.form == "dates":
        return pd.Series(moments(column.data))
    if column.exact is not None:
        exact: Any = np.asarray([*column.exact.distinct.tolist(), None], dtype=object)[column.exact.ranks]
        return pd.Series(exact)
    return pd.Series(column.data)
