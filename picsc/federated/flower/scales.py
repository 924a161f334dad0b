"""Means and deviations of numeric columns over the rows of all clients, from what each of them sends once."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict

from picsc.datasets.encoding import scale_of
from picsc.federated.cell_sizes import FEW_VALUES


class Scale(BaseModel):
    """Number, mean and population deviation of the present values of one column at one client."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    n: int
    """0 where there are no values, and where so few rows have one of them that the client does not send them."""
    mean: float = 0.0
    deviation: float = 0.0
    """0 exactly where all values are equal."""


def sent_scale(values: NDArray[np.generic], fewest: int) -> Scale:
    """The scale that a client sends of some of its rows.

    Reading: mean and deviation of a column of two or three values give the counts of these values, see
        `picsc.federated.small_cells`; so they are not sent where such a count is small.

    Args:
        values: numbers, NaN where one is missing, (n,).
        fewest: fewest rows of a value whose count is sent.
    """
    present = values[~np.isnan(values)].astype(np.float64)
    different, counts = np.unique(present, return_counts=True)
    if not len(present) or len(present) < fewest or (len(different) <= FEW_VALUES and counts.min() < fewest):
        return Scale(n=0)
    mean, deviation = scale_of(present)
    return Scale(n=len(present), mean=mean, deviation=deviation)


def pooled_scale(parts: Sequence[Scale]) -> tuple[float, float]:
    """Mean and population deviation over the values of all clients, as in `picsc.datasets.encoding.Encoder.scales`.

    Args:
        parts: of each client.
    """
    held = [part for part in parts if part.n]
    if not held:
        return math.nan, 0.0
    if all(part.deviation == 0 and part.mean == held[0].mean for part in held):
        return held[0].mean, 0.0
    unit = max(max(abs(part.mean), part.deviation) for part in held)  # squares of the numbers may be infinite
    n = sum(part.n for part in held)
    mean = math.fsum(part.n * (part.mean / unit) for part in held) / n
    square = math.fsum(part.n * ((part.deviation / unit) ** 2 + (part.mean / unit - mean) ** 2) for part in held) / n
    return mean * unit, math.sqrt(square) * unit
