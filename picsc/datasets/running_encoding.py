"""Encodings along a sequence of pieces: means and deviations that grow with the pieces seen so far.

Letters: c numeric columns, n rows of a piece.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from picsc.datasets.encoding import Encoder, encoded_names
from picsc.datasets.rows import Rows
from picsc.datasets.table import Dataset

Numbers = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Moments:
    """Count, mean, spread and range of the present values of c columns, (c,) each, in units of `unit`."""

    unit: Numbers
    """Power of two of each column, so that the squares of its largest values are finite and nothing is rounded."""
    count: Numbers
    mean: Numbers
    """0 where there is no value yet."""
    squares: Numbers
    """Sum of squared distances from the mean."""
    low: Numbers
    high: Numbers

    @classmethod
    def none(cls, columns: Sequence[NDArray[np.generic]]) -> Moments:
        """The moments of no row.

        Args:
            columns: all values of each column, NaN where one is missing.
        """
        unit = np.array([_power_of_two(column) for column in columns])
        zero = np.zeros(len(columns))
        return cls(unit, zero, zero, zero, zero + np.inf, zero - np.inf)

    def joined(self, columns: Sequence[NDArray[np.generic]], rows: Rows) -> Moments:
        """The moments with some more rows.

        Source: Chan, Golub and LeVeque 1979, pairwise updating of sums of squares.

        Args:
            columns: all values of each column, NaN where one is missing.
            rows: row numbers, (n,).
        """
        count, mean, squares, low, high = (
            values.copy() for values in (self.count, self.mean, self.squares, self.low, self.high)
        )
        for j, column in enumerate(columns):
            part = column[rows]
            present = part[~np.isnan(part)].astype(np.float64) / self.unit[j]
            if not len(present):
                continue
            more, centre = float(len(present)), float(present.mean())
            apart = centre - mean[j] if count[j] else 0.0
            squares[j] += float(((present - centre) ** 2).sum()) + apart**2 * count[j] * more / (count[j] + more)
            mean[j] = mean[j] + apart * more / (count[j] + more) if count[j] else centre
            count[j] += more
            low[j], high[j] = min(low[j], float(present.min())), max(high[j], float(present.max()))
        return Moments(self.unit, count, mean, squares, low, high)

    @property
    def scales(self) -> list[tuple[float, float]]:
        """Mean and population standard deviation of each column, as in `Encoder.scales`."""
        varying = self.low < self.high
        deviation = np.where(varying, np.sqrt(self.squares / np.maximum(self.count, 1)), 0.0)
        mean = np.where(self.count > 0, np.where(varying, self.mean, self.low), np.nan)
        return [(float(m) * float(u), float(s) * float(u)) for m, s, u in zip(mean, deviation, self.unit, strict=True)]


def scales_after(
    columns: Sequence[NDArray[np.generic]], pieces: Sequence[Rows], parts: Sequence[tuple[int, Rows]]
) -> list[list[tuple[float, float]]]:
    """Mean and deviation of each column over the first pieces of a sequence and some more rows, in one pass.

    Args:
        columns: all values of each column, NaN where one is missing.
        pieces: row numbers of each piece, in the order of the sequence.
        parts: the number of pieces that come first, and the rows that follow them.

    Returns:
        Scales of the columns for each part, as in `Encoder.scales`.
    """
    found: list[list[tuple[float, float]]] = [[] for _ in parts]
    moments, joined = Moments.none(columns), 0
    for i in sorted(range(len(parts)), key=lambda i: parts[i][0]):
        place, rows = parts[i]
        for piece in pieces[joined:place]:
            moments = moments.joined(columns, piece)
        joined = place
        found[i] = moments.joined(columns, rows).scales
    return found


def numeric_values(dataset: Dataset) -> list[NDArray[np.float64] | NDArray[np.int32]]:
    """The values of the columns that an encoding standardises."""
    return [column.values for column in dataset.columns if not column.coded]


def encoder_of(dataset: Dataset, scales: Sequence[tuple[float, float]]) -> Encoder:
    """The encoding of a table with given means and deviations of its numeric columns.

    Levels and indicators of missing values need no fit: the whole table decides their places.

    Args:
        dataset: the table.
        scales: of its numeric columns, in their order.
    """
    scale = iter(scales)
    of_columns = tuple((0.0, 0.0) if column.coded else next(scale) for column in dataset.columns)
    return Encoder(of_columns, encoded_names(dataset))


def _power_of_two(column: NDArray[np.generic]) -> float:
    """A power of two near the largest absolute value; 1 where there is none, or where it would not be a float."""
    with np.errstate(invalid="ignore"):
        present = np.abs(column[~np.isnan(column)].astype(np.float64))
    largest = float(present.max()) if len(present) else 0.0
    if not 0 < largest < np.inf:
        return 1.0
    return float(2.0 ** np.clip(np.frexp(largest)[1], -1000, 1000))
