"""Weights of rows from a column of the table. Letters: n rows."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from picsc.datasets.rows import take
from picsc.datasets.table import Dataset
from picsc.errors import DataError
from picsc.phrases import share
from picsc.reports.common import Finding


def check_weights(dataset: Dataset, column: str, option: str) -> None:
    """Refuse a column that is no weight of each row.

    Args:
        dataset: the table as it was read, so that row numbers are those of the file.
        column: one of its keys.
        option: that names it, for the message.

    Raises:
        DataError: a weight is missing, no number, negative or not finite, or all are 0.
    """
    named = f"{option} {column}: {dataset.name}"
    if column not in dataset.keys:
        raise DataError(f"{dataset.name}: {option} names no column {column!r} of this table")
    values = dataset.keys[column]
    weights = row_weights(dataset, column)
    if not np.isfinite(weights).any() and not pd.isna(values).all():
        raise DataError(f"{named} holds no numbers; choose another")
    bad = np.flatnonzero(~(np.isfinite(weights) & (weights >= 0)))
    if len(bad):
        value = values[bad[0]]
        held = (
            "no finite number"
            if pd.isna(value)
            else f"{value:g}"
            if isinstance(value, int | float)
            else repr(str(value))
        )
        raise DataError(f"{named} holds {held} in row {bad[0] + 1}; weights must be numbers of at least 0")
    if not weights.any():
        raise DataError(f"{named} holds 0 in all {dataset.n} rows: some weight must be above 0")


def row_weights(dataset: Dataset, column: str) -> NDArray[np.float64]:
    """The weights of all rows, (n,); NaN where there is no number.

    Args:
        dataset: the table.
        column: one of its keys.
    """
    return np.asarray(pd.to_numeric(pd.Series(dataset.keys[column]), errors="coerce"), np.float64)


def without_weightless(dataset: Dataset, column: str, findings: list[Finding]) -> Dataset:
    """The rows whose weight is above 0: a row of weight 0 has no part in any training, score or test.

    Args:
        dataset: a table with good weights.
        column: of the weights.
        findings: receives a note if rows are left out.

    Raises:
        DataError: no row is left.
    """
    kept = np.flatnonzero(row_weights(dataset, column) > 0)
    gone = dataset.n - len(kept)
    if not gone:
        return dataset
    if not len(kept):
        raise DataError(f"{dataset.name}: all rows with a label have weight 0 in {column!r}: some must be above 0")
    message = f"{share(gone, dataset.n)} rows have weight 0 in {column!r} and are left out"
    findings.append(Finding("rows-of-weight-0", "note", message))
    return take(dataset, kept)
