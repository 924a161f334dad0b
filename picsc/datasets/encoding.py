"""Typed columns as one matrix of numbers for models. Letters: n rows, f encoded features.

The whole table decides the shape of the matrix, so that it is the same for every training part; means and standard
deviations are fitted on the training rows alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from picsc.datasets.table import Column, Dataset
from picsc.errors import DataError

LARGEST = 8.0
"""Standardised values are clipped to [-8, 8], so that a single outlier cannot dominate a model."""
AT_ONCE = 16_384
"""Rows that are encoded at a time, which stay in the cache."""


@dataclass(frozen=True, slots=True)
class Encoded:
    """A matrix of numbers and the names of its columns."""

    matrix: NDArray[np.float32]
    """(n, f): numbers standardised, levels one-hot, missing values all zeros with an indicator column next to them."""
    names: tuple[str, ...]
    """f names, such as `age`, `colour=red`, `age missing`."""


@dataclass(frozen=True, slots=True)
class Encoder:
    """An encoding fitted on the training rows, which encodes any rows of the same table."""

    scales: tuple[tuple[float, float], ...]
    """Mean and population standard deviation of each column, in the unit of the column; (0, 0) for a coded column. The
    deviation of a constant is 0, and the mean of a column without values is NaN."""
    names: tuple[str, ...]
    """Names of the f encoded columns."""

    def transform(self, dataset: Dataset, rows: NDArray[np.int64] | None = None) -> Encoded:
        """Encode rows of the table that this was fitted on.

        Args:
            dataset: the table.
            rows: row numbers, (n,); None means all.

        Raises:
            DataError: the table does not have the columns of the table that this was fitted on.
        """
        if encoded_names(dataset) != self.names:
            raise DataError(f"{dataset.name}: its columns are not those of the table that the encoding was fitted on")
        n = dataset.n if rows is None else len(rows)
        matrix = np.zeros((n, len(self.names)), dtype=np.float32)
        indicated = [has_indicator(column) for column in dataset.columns]
        for start in range(0, n, AT_ONCE):
            some = slice(start, start + AT_ONCE) if rows is None else rows[start : start + AT_ONCE]
            self._encode(dataset, some, indicated, matrix[start : start + AT_ONCE])
        return Encoded(matrix, self.names)

    def _encode(
        self,
        dataset: Dataset,
        rows: NDArray[np.int64] | slice,
        indicated: Sequence[bool],
        matrix: NDArray[np.float32],
    ) -> None:
        """Encode a few rows into a matrix of zeros, (n, f)."""
        j = 0
        for column, (mean, deviation), with_indicator in zip(dataset.columns, self.scales, indicated, strict=True):
            part = column.values[rows]
            if column.coded:
                present = np.flatnonzero(part >= 0)
                matrix[present, j + part[present].astype(np.int64)] = 1.0
                gone = part < 0
                j += len(column.levels)
            else:
                gone = np.isnan(part)
                if deviation > 0:
                    with np.errstate(over="ignore"):  # an infinite z is clipped like any other
                        z = np.clip((part - mean) / deviation, -LARGEST, LARGEST)
                    z[gone] = 0.0
                    matrix[:, j] = z
                j += 1
            if with_indicator:
                matrix[:, j] = gone
                j += 1


def encode(dataset: Dataset, rows: NDArray[np.int64] | None = None) -> Encoded:
    """Fit an encoding on rows and encode the same rows.

    Args:
        dataset: the table.
        rows: row numbers, (n,); None means all.
    """
    return fit(dataset, rows).transform(dataset, rows)


def fit(dataset: Dataset, rows: NDArray[np.int64] | None = None) -> Encoder:
    """Fit means and standard deviations on the training rows.

    Args:
        dataset: the table; its levels and its columns with missing values decide the shape.
        rows: row numbers, (n,); None means all.
    """
    parts = (column.values if rows is None else column.values[rows] for column in dataset.columns)
    scales = tuple(
        (0.0, 0.0) if column.coded else scale_of(part) for column, part in zip(dataset.columns, parts, strict=True)
    )
    return Encoder(scales, encoded_names(dataset))


def scale_of(part: NDArray[np.generic]) -> tuple[float, float]:
    """Mean and population standard deviation of the values that are present."""
    gone = np.isnan(part)
    present = (part[~gone] if gone.any() else part).astype(np.float64, copy=False)
    if not len(present):
        return np.nan, 0.0
    if present.min() == present.max():
        return float(present[0]), 0.0
    largest = float(np.abs(present).max())
    unit = present / largest  # squares of the values themselves may be infinite
    return float(unit.mean()) * largest, float(unit.std()) * largest


def has_indicator(column: Column) -> bool:
    """True if an indicator of missing values stands beside a column in the matrix."""
    return bool(column.missing.any()) if column.indicator is None else column.indicator


def encoded_names(dataset: Dataset) -> tuple[str, ...]:
    """Names of the columns of the matrix that `fit` and `encode` make of a table."""
    names: list[str] = []
    for column in dataset.columns:
        names.extend(f"{column.name}={level}" for level in column.levels) if column.coded else names.append(column.name)
        if has_indicator(column):
            names.append(f"{column.name} missing")
    return tuple(names)


@dataclass(frozen=True, slots=True)
class Covariates:
    """The kind of each encoded feature, which decides how its divergence is computed from sums over rows."""

    numeric: tuple[int, ...]
    """Positions of the numeric features."""
    flags: tuple[int, ...]
    """Positions of the indicators of missing values."""
    levels: tuple[tuple[int, int], ...]
    """Start and end of each one-hot block; the end is excluded."""


def of_numbers(f: int) -> Covariates:
    """The kinds of f features that are all numeric."""
    return Covariates(tuple(range(f)), (), ())


def of_table(dataset: Dataset) -> Covariates:
    """The kinds of the features that `fit` and `encode` make of a table's columns."""
    numeric, flags, levels = [], [], []
    j = 0
    for column in dataset.columns:
        if column.coded:
            levels.append((j, j + len(column.levels)))
            j += len(column.levels)
        else:
            numeric.append(j)
            j += 1
        if has_indicator(column):
            flags.append(j)
            j += 1
    return Covariates(tuple(numeric), tuple(flags), tuple(levels))
