"""Sums over the rows of each piece and of its reference, from which means, spreads and their errors follow.

Rows that the null moves together (a group, a block) depend on each other, so errors come from the sums of such units:
of v_u = (rows, sum, sum of squares) of every unit u, a side keeps the sum of v_u and of v_u v_u'. Both add up over
pieces, so that "the rest" costs nothing. A row that moves alone is a unit of its own.

Letters: n rows, L labels, K pieces, U units.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch
from numpy.typing import NDArray

if TYPE_CHECKING:
    from picsc.auditing.design import Design
    from picsc.auditing.exchangeability import Contrast, Ints

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Cells:
    """The units of each piece."""

    of_row: Ints
    """(n,) unit of each row, from 0."""
    label: Ints
    """(U,) piece of each unit."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean, or another smooth function of sums, with the variance of its error. Arrays (K,); NaN without values."""

    value: Floats
    variance: Floats
    units: Floats
    """Number of independent units that the value is of."""


@dataclass(frozen=True, slots=True)
class Side:
    """Sums of one side of K comparisons."""

    total: Floats
    """(K, 3) rows with a value, their sum, and the sum of their squares."""
    products: Floats
    """(K, 3, 3) sum over units of the products of these three."""
    units: Floats
    """(K,) units with a value."""

    @property
    def mean(self) -> Estimate:
        """Mean of the values."""
        with np.errstate(all="ignore"):
            rows, mean = self.total[:, 0], self.total[:, 1] / self.total[:, 0]
            influence = np.stack([-mean, np.ones_like(mean), np.zeros_like(mean)], 1) / rows[:, None]
            return Estimate(mean, self._variance(influence), self.units)

    @property
    def deviation(self) -> Floats:
        """(K,) standard deviation of the values."""
        with np.errstate(all="ignore"):
            mean, square = (self.total[:, i] / self.total[:, 0] for i in (1, 2))
            return np.sqrt(np.maximum(square - mean**2, 0.0))

    @property
    def log_deviation(self) -> Estimate:
        """Logarithm of the standard deviation; infinite where all values are equal.

        Source: delta method; the influence of a value on log s is ((x - mean)^2 - s^2) / (2 s^2).
        """
        with np.errstate(all="ignore"):
            rows, mean, variance = self.total[:, 0], self.total[:, 1] / self.total[:, 0], self.deviation**2
            influence = np.stack([mean**2 - variance, -2 * mean, np.ones_like(mean)], 1)
            influence /= (2 * variance * rows)[:, None]
            return Estimate(np.log(variance) / 2, self._variance(influence), self.units)

    def _variance(self, influence: Floats) -> Floats:
        """Variance of a sum over units, (K,), of influences linear in rows, sum and squares."""
        spread = np.maximum(np.einsum("ki,kij,kj->k", influence, self.products, influence), 0.0)
        return np.asarray(spread * self.units / (self.units - 1), np.float64)


def cells_of(design: Design) -> Cells | None:
    """The units whose rows move together, each within one piece; None where every row moves alone."""
    if design.scheme.units is None:
        return None
    labels = design.contrast.labels
    cells, inverse = np.unique(design.scheme.units * labels + design.labels, return_inverse=True)
    return Cells(inverse.reshape(-1).astype(np.int64), cells % labels)


def sides_of(values: Floats, design: Design, cells: Cells | None) -> tuple[Side, Side]:
    """Sums of each piece and of its reference.

    Args:
        values: (n,), NaN where missing; of the order of 1, so that their fourth powers are exact enough.
        design: labels of these rows, and what is compared with what.
        cells: by `cells_of`.
    """
    present = np.flatnonzero(~np.isnan(values))
    kept, labels, count = values[present], design.labels[present], design.contrast.labels
    powers = [kept**i for i in range(5 if cells is None else 3)]
    if cells is None:
        sums = np.stack([_sums(labels, power, count) for power in powers], 1)
        total, products, units = sums[:, :3], sums[:, np.add.outer(range(3), range(3))], sums[:, 0]
    else:
        of_unit = np.stack([_sums(cells.of_row[present], power, len(cells.label)) for power in powers], 1)
        products = np.zeros((count, 3, 3))
        np.add.at(products, cells.label, of_unit[:, :, None] * of_unit[:, None, :])
        total = np.stack([_sums(cells.label, of_unit[:, i], count) for i in range(3)], 1)
        units = _sums(cells.label, (of_unit[:, 0] > 0).astype(np.float64), count)
    piece, reference = (
        Side(*each) for each in zip(*(split(sums, design.contrast) for sums in (total, products, units)), strict=True)
    )
    return piece, reference


def _sums(of: Ints, values: Floats, count: int) -> Floats:
    """Sums of values by their label or unit, (count,)."""
    return np.asarray(np.bincount(of, values, count), np.float64)


def split(per_label: Floats, contrast: Contrast) -> tuple[Floats, Floats]:
    """Sums per label, (L, ...), as sums of each piece and of its reference, (K, ...)."""
    piece, reference = contrast.split(torch.from_numpy(np.ascontiguousarray(per_label, np.float64))[None])
    return piece[0].numpy(), reference[0].numpy()
