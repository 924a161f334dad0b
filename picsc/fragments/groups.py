"""Splits that keep the rows of one group together: parts, pieces and inner folds of whole groups.

Where rows of one group lie on both sides of a split, a model may recognise the group in place of what it should learn.
Letters: n rows, m groups, c classes, k pieces.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from picsc.datasets.table import Dataset
from picsc.errors import DataError
from picsc.fragments.even_pieces import ends_near, piece_of_unit
from picsc.fragments.keys import group_codes, key
from picsc.settings import CutSettings

Ints = NDArray[np.int64]
DRAWS, MOST_DRAWN = 32, 20_000
"""Random parts of which the most even one is taken, and the most groups that are drawn in all for them."""


def groups_of(dataset: Dataset, settings: CutSettings) -> Ints | None:
    """Number of the group of each row, (n,); None without `group`.

    Raises:
        DataError: rows have no group, and the settings do not say what they are.
    """
    if settings.group is None:
        return None
    gone = np.flatnonzero(pd.isna(key(dataset, settings.group)))
    if len(gone) and settings.group_missing == "refuse":
        first = ", ".join(str(row + 1) for row in gone[:5]) + (", ..." if len(gone) > 5 else "")
        raise DataError(
            f"{dataset.name}: group column {settings.group!r} has no value in {len(gone)} of {dataset.n} rows (rows "
            f"{first}, the first data row being 1); fill them in, or say --group-missing own (each such row is a "
            "group) or together (they are one)"
        )
    return group_codes(dataset, settings.group, settings.group_missing)


def batches_of_groups(groups: Ints, k: int) -> Ints:
    """Number of the batch of each row: groups in order of their first row, batches as equal in size as these allow.

    Args:
        groups: (n,) of at least k different values.
        k: number of batches.
    """
    _, first, code, size = np.unique(groups, return_index=True, return_inverse=True, return_counts=True)
    order = np.argsort(first)
    batch = np.empty(len(order), np.int64)
    batch[order] = piece_of_unit(ends_near(size[order], len(groups) * np.arange(1, k + 1) / k))
    return batch[code.ravel()]


def dealt_out(groups: Ints, sizes: Ints, generator: np.random.Generator) -> Ints:
    """Number of the piece of each row: whole groups at random, pieces of nearly the sizes asked for.

    Args:
        groups: (n,) of at least k different values.
        sizes: (k,) rows of each piece, n in all.
        generator: draws the order of the groups.
    """
    _, code, size = np.unique(groups, return_inverse=True, return_counts=True)
    order = generator.permutation(len(size))
    piece = np.empty(len(size), np.int64)
    piece[order] = piece_of_unit(ends_near(size[order], np.cumsum(sizes).astype(np.float64)))
    return piece[code.ravel()]


def random_groups(groups: Ints, share: float, seed: int | list[int], classes: Ints | None = None) -> NDArray[np.bool_]:
    """A random part of whole groups: of several draws the one that is nearest in size and in its share of each class.

    Args:
        groups: (n,) of at least two different values.
        share: share of the rows that is wanted in the part, in (0, 1).
        seed: seed of the draws.
        classes: (n,) class codes; None for rows without classes.

    Returns:
        (n,) True for rows of the part; neither side is empty.
    """
    _, code, size = np.unique(groups, return_inverse=True, return_counts=True)
    code, m, n = code.ravel(), len(size), len(groups)
    held = size[:, None]
    if classes is not None:
        _, column = np.unique(classes, return_inverse=True)
        c = int(column.max()) + 1
        held = np.bincount(code * c + column.ravel(), minlength=m * c).reshape(m, c)
    wanted = share * held.sum(0)
    generator = np.random.default_rng(seed)
    best, least = np.empty(0, np.int64), np.inf
    for _ in range(max(1, min(DRAWS, MOST_DRAWN // m))):
        order = generator.permutation(m)
        upto = np.cumsum(held[order], 0)[: m - 1]
        stop = int(np.abs(upto.sum(1) - share * n).argmin())
        unlike = float(np.abs(upto[stop] - wanted).sum())
        if unlike < least:
            best, least = order[: stop + 1], unlike
    inside = np.zeros(m, np.bool_)
    inside[best] = True
    return inside[code]


def inner_folds_of_groups(groups: Ints, fragment: Ints, k: int, generator: np.random.Generator) -> Ints:
    """Number of the inner fold of each row: whole groups, dealt out fragment by fragment, the largest first.

    With two groups or more no fold has all rows; with fewer groups than folds some folds have none.

    Args:
        groups: (n,).
        fragment: (n,) fragment of each row; a group may lie in several.
        k: number of folds.
        generator: draws the order of groups of the same size.
    """
    _, code, size = np.unique(groups, return_inverse=True, return_counts=True)
    code = code.ravel()
    home = np.full(len(size), np.iinfo(np.int64).max)
    np.minimum.at(home, code, fragment)
    order = np.lexsort((generator.permutation(len(size)), -size, home))
    fold = np.empty(len(size), np.int64)
    fold[order] = np.arange(len(size)) % k
    return fold[code]


def of_other_groups(rows: Ints, groups: Ints | None, others: Ints) -> Ints:
    """Those of some rows whose group has no row among the others; all of them without groups.

    Args:
        rows: row numbers.
        groups: group of every row of the table.
        others: row numbers.
    """
    if groups is None:
        return rows
    return rows[~np.isin(groups[rows], groups[others])]
