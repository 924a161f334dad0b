"""Weighted and repeated rows in one arrangement: a row of weight 2 is the row twice. Letters: n rows.

The numbers of training depend on the order of rows by rounding, and on that of classes. Rows that are all different and
have no weights stay as they are, and give the numbers of `picsc.cross_validate`; others are put into an order that
hangs on what they hold alone, so that a model of weighted rows is that of repeated ones to the last digits.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from picsc.datasets.row_hashes import row_hashes
from picsc.datasets.rows import left_out_of_rows, of_rows
from picsc.datasets.table import Dataset

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

MOST_REPEATED = 100_000
"""Most rows that whole weights are spelled out as; beyond it they are weights of the loss."""
_WHOLE = 1e-9
"""Largest distance from a whole number, relative, of a weight that is a number of rows."""


def repetitions(weight: Floats | None) -> Ints | None:
    """How often each row stands for itself; None where weights are no whole multiples of one number.

    Args:
        weight: (n,), all above 0; None is 1 for all.

    Returns:
        (n,), whole numbers without a common divisor.
    """
    if weight is None:
        return None
    whole = bool((weight == np.floor(weight)).all()) and float(weight.max()) < 2**53
    times = weight / (np.gcd.reduce(weight.astype(np.int64)) if whole else weight.min())
    near = np.rint(times)
    if (np.abs(times - near) > _WHOLE * near).any() or near.sum() > MOST_REPEATED:
        return None
    return np.asarray(near, np.int64)


def same_rows(table: Dataset, fragment: Ints | None) -> NDArray[np.uint64]:
    """A number for each row, (n,), equal for rows that are equal in every column, their label and their fragment."""
    parts: list[NDArray[np.generic]] = [cast("NDArray[np.generic]", column.values) for column in table.columns]
    parts += [] if table.target is None else [table.target.values]
    parts += [] if fragment is None else [fragment]
    return row_hashes(parts, table.n)


def arranged(table: Dataset, rows: Ints) -> Dataset:
    """The table with these rows, in this order; a row may occur several times."""
    target = table.target
    return replace(
        table,
        n=len(rows),
        columns=tuple(of_rows(column, rows) for column in table.columns),
        left_out=left_out_of_rows(table.left_out, rows),
        target=None if target is None else of_rows(cast("Any", target), rows),
        raws={},
    )
