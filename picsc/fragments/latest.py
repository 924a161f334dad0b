"""The latest rows of a table in time, set aside to test models that learn from the past alone.

Rows of equal time stay together. Letters: n rows, m rows with a time.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from picsc.errors import DataError
from picsc.fragments.even_pieces import ends_near
from picsc.fragments.time_gap import far_enough, openings


@dataclass(frozen=True, slots=True)
class Latest:
    """The latest rows, and the rows before them."""

    rows: NDArray[np.int64]
    """Row numbers of the latest rows, increasing; rows in a gap before them are left out."""
    before: NDArray[np.int64]
    """Row numbers of the earlier rows, and of those without a time, increasing."""


def latest_rows(values: NDArray[Any], column: str, *, share: float, gap: str | None, table: str) -> Latest:
    """The rows of the latest times.

    Args:
        values: (n,) datetime64, NaT where missing, or numbers, NaN where missing.
        column: name of the column, for messages.
        share: share of the rows with a time that is wanted, in (0, 1).
        gap: a length of time between the rows before and the latest rows, as the user wrote it; None for no gap.
        table: name of the table, for messages.

    Raises:
        SettingsError: `gap` cannot be read as a positive length.
        DataError: the column holds no times, or one only, or the gap leaves no rows.
    """
    where = f"{table}: time column {column!r}"
    if values.dtype.kind not in "Mfiu":
        raise DataError(f"{table}: column {column!r} holds neither dates nor numbers, so it cannot order rows by time")
    timed = np.flatnonzero(~pd.isna(values))
    distinct, code, count = np.unique(values[timed], return_inverse=True, return_counts=True)
    if len(distinct) < 2:
        raise DataError(f"{where} has {len(distinct)} distinct times, too few to test on later ones; choose another")
    edge = int(ends_near(count, len(timed) * np.array([1 - share, 1.0]))[0])
    late = code.ravel() >= edge
    if gap is not None:
        opens = openings(distinct[[edge - 1, -1]], gap, column)
        late &= far_enough(values[timed], late.astype(np.int64), opens, gap, where)
    return Latest(timed[late], np.setdiff1d(np.arange(len(values)), timed[code.ravel() >= edge]))
