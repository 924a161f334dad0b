"""A random part of the rows, stratified by class where possible, or of whole groups. Letters: n rows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import train_test_split

from picsc.datasets.rows import Rows
from picsc.datasets.table import Dataset
from picsc.errors import DataError
from picsc.fragments.groups import random_groups


def random_part(dataset: Dataset, rows: Rows, share: float, seed: int, groups: NDArray[np.int64] | None = None) -> Rows:
    """A random share of some rows, stratified by class if every class has at least two of them.

    Args:
        dataset: the table, whose rows all have a label.
        rows: row numbers to draw from.
        share: share of the rows that is drawn, in (0, 1).
        seed: seed of the draw.
        groups: (n,) group of each row of the table; given, the part has whole groups, about the share of the rows and
            about the share of each class.

    Returns:
        Row numbers, increasing.

    Raises:
        DataError: all rows are of one group.
    """
    balance, target = None, dataset.target
    codes = target.values[rows].astype(np.int64) if target is not None and target.kind == "classes" else None
    if groups is not None:
        if len(np.unique(groups[rows])) < 2:
            raise DataError(
                f"{dataset.name}: the {len(rows)} rows to draw a part from are of one group, and --group keeps groups "
                "whole: leave it out, or name another column"
            )
        return np.sort(rows[random_groups(groups[rows], share, seed, codes)])
    if codes is not None:
        balance = codes if np.bincount(codes)[codes].min() >= 2 else None
    try:
        _, part = train_test_split(rows, test_size=share, random_state=seed, stratify=balance)
    except ValueError:  # fewer rows than classes
        _, part = train_test_split(rows, test_size=share, random_state=seed)
    return np.sort(part).astype(np.int64)
