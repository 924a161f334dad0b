"""Typed columns as one matrix of numbers for models. Letters: n rows, f encoded features.

The shape of the matrix is decided by the whole table, so that it is the same in every training part; means and
deviations are fitted on the training rows alone.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from picsc.datasets.table import Column, Dataset
from picsc.errors import DataError

LARGEST = 8.0
"""Standardised values are clipped to [-8, 8], so that one wild value cannot rule a model."""


@dataclass(frozen=True, slots=True)
class Encoded:
    """A matrix and what its columns mean."""

    matrix: NDArray[np.float32]
    """(n, f): numbers standardised, levels one-hot, missing values all zeros beside an indicator."""
    names: tuple[str, ...]
    """f names: `age`, `colour=red`, `age missing`."""


@dataclass(frozen=True, slots=True)
class Encoder:
    """The numbers fitted on the training rows: how to write any rows of the same table."""

    scales: tuple[tuple[float, float], ...]
    """Mean and population standard deviation of each column in its own unit; (0, 0) for a coded one, deviation 0 for a
    constant one."""
    names: tuple[str, ...]
    """f names of the encoded columns."""

    def transform(self, dataset: Dataset, rows: NDArray[np.int64] | None = None) -> Encoded:
        """Write rows of the table that this was fitted on.

        Args:
            dataset: the table.
            rows: row numbers, (n,); None means all.

        Raises:
            DataError: the table has other columns than the one fitted on.
        """
        if _names(dataset) != self.names:
            raise DataError(f"{dataset.name}: its columns are not those of the table that the encoding was fitted on")
        n = dataset.n if rows is None else len(rows)
        matrix = np.zeros((n, len(self.names)), dtype=np.float32)
        j = 0
        for column, (mean, deviation) in zip(dataset.columns, self.scales, strict=True):
            part = column.values if rows is None else column.values[rows]
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
            if _may_be_missing(column):
                matrix[:, j] = gone
                j += 1
        return Encoded(matrix, self.names)


def encode(dataset: Dataset, rows: NDArray[np.int64] | None = None) -> Encoded:
    """Fit on rows and write the same rows.

    Args:
        dataset: the table.
        rows: row numbers, (n,); None means all.
    """
    return fit(dataset, rows).transform(dataset, rows)


def fit(dataset: Dataset, rows: NDArray[np.int64] | None = None) -> Encoder:
    """Fit means and deviations on the training rows.

    Args:
        dataset: the table; its levels, and which columns have missing values, give the shape.
        rows: row numbers, (n,); None means all.
    """
    parts = (column.values if rows is None else column.values[rows] for column in dataset.columns)
    scales = tuple(
        (0.0, 0.0) if column.coded else _scale(part) for column, part in zip(dataset.columns, parts, strict=True)
    )
    return Encoder(scales, _names(dataset))


def _scale(part: NDArray[np.generic]) -> tuple[float, float]:
    """Mean and population standard deviation of the values present."""
    present = part[~np.isnan(part)].astype(np.float64)
    if not len(present) or present.min() == present.max():
        return 0.0, 0.0
    largest = float(np.abs(present).max())
    unit = present / largest  # squares of the values themselves may be infinite
    return float(unit.mean()) * largest, float(unit.std()) * largest


def _may_be_missing(column: Column) -> bool:
    return bool(column.missing.any())


def _names(dataset: Dataset) -> tuple[str, ...]:
    names: list[str] = []
    for column in dataset.columns:
        names.extend(f"{column.name}={level}" for level in column.levels) if column.coded else names.append(column.name)
        if _may_be_missing(column):
            names.append(f"{column.name} missing")
    return tuple(names)


@dataclass(frozen=True, slots=True)
class Covariates:
    """What each encoded feature is, so that sums of rows give divergences."""

    numeric: tuple[int, ...]
    """Positions of numbers."""
    flags: tuple[int, ...]
    """Positions of indicators of missing values."""
    levels: tuple[tuple[int, int], ...]
    """First and last-but-one position of each one-hot block."""


def of_numbers(f: int) -> Covariates:
    """All f features are numbers."""
    return Covariates(tuple(range(f)), (), ())


def of_table(dataset: Dataset) -> Covariates:
    """What `picsc.datasets.encoding` makes of a table's columns."""
    numeric, flags, levels = [], [], []
    j = 0
    for column in dataset.columns:
        if column.coded:
            levels.append((j, j + len(column.levels)))
            j += len(column.levels)
        else:
            numeric.append(j)
            j += 1
        if column.missing.any():
            flags.append(j)
            j += 1
    return Covariates(tuple(numeric), tuple(flags), tuple(levels))
