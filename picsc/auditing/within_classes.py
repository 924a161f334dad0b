"""Covariates within classes: columns as ranks, so that a piece with other class frequencies does not look shifted.

Letters: n rows, s strata (classes).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, cast

import numpy as np
import torch
from numpy.typing import NDArray

if TYPE_CHECKING:
    from picsc.datasets.table import Column, Dataset, Target

Ints = NDArray[np.int64]

PARTS = 10
"""Number of strata of a numeric target: tenths of its values."""


def strata_of(target: Target) -> Ints:
    """Stratum of each row: its class, or the tenth of all values that its number lies in; unlabelled rows are one more.

    Args:
        target: the target of n rows.

    Returns:
        (n,) stratum, from 0.
    """
    if target.kind == "classes":
        codes = target.values.astype(np.int64)
    else:
        present = target.values[~target.missing]
        edges = np.quantile(present, np.arange(1, PARTS) / PARTS) if len(present) else np.zeros(0)
        codes = np.searchsorted(edges, target.values, side="left")
    return np.unique(np.where(target.missing, -1, codes), return_inverse=True)[1].reshape(-1).astype(np.int64)


def within_classes(dataset: Dataset, strata: Ints, *, seed: int) -> Dataset:
    """Replace numbers by normal scores of their rank within the stratum; ties are broken at random.

    Within every stratum a column is then standard normal, so any mixture of strata is, too: the KS distance and the KL
    of a piece measure what differs beyond its class frequencies. A column of two levels counts as numbers. Columns of
    more levels have no ranks and stay as they are; for them only the null, which permutes within strata, allows for the
    classes. A random order of ties does not shrink the KS distance of a column with few values.

    Args:
        dataset: n rows.
        strata: (n,) stratum of each row, from 0.
        seed: of the order of ties.
    """
    rng = np.random.default_rng([seed, 7])
    return replace(dataset, columns=tuple(_scored(column, strata, rng) for column in dataset.columns))


def _scored(column: Column, strata: Ints, rng: np.random.Generator) -> Column:
    if column.coded and len(column.levels) > 2:
        return column
    present = np.flatnonzero(~column.missing)
    kept = strata[present]
    order = np.lexsort((rng.random(len(present)), column.values[present], kept))
    sizes = np.bincount(kept)
    place = np.arange(len(present)) - (np.cumsum(sizes) - sizes)[kept[order]]
    scores = np.full(len(column.values), np.nan)
    uniform = (place + 0.5) / sizes[kept[order]]
    scores[present[order]] = torch.special.ndtri(torch.from_numpy(uniform)).numpy()
    return replace(column, kind="numeric", levels=(), values=cast("NDArray[np.float64]", scores))
