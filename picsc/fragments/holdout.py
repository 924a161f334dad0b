"""A random part of the rows, stratified by class where possible."""

from __future__ import annotations

import numpy as np
from sklearn.model_selection import train_test_split

from picsc.datasets.rows import Rows
from picsc.datasets.table import Dataset


def random_part(dataset: Dataset, rows: Rows, share: float, seed: int) -> Rows:
    """A random share of some rows, stratified by class if every class has at least two of them.

    Args:
        dataset: the table, whose rows all have a label.
        rows: row numbers to draw from.
        share: share of the rows that is drawn, in (0, 1).
        seed: seed of the draw.

    Returns:
        Row numbers, increasing.
    """
    balance, target = None, dataset.target
    if target is not None and target.kind == "classes":
        codes = target.values[rows].astype(np.int64)
        balance = codes if np.bincount(codes)[codes].min() >= 2 else None
    try:
        _, part = train_test_split(rows, test_size=share, random_state=seed, stratify=balance)
    except ValueError:  # fewer rows than classes
        _, part = train_test_split(rows, test_size=share, random_state=seed)
    return np.sort(part).astype(np.int64)
