"""Rare codes: rows whose code is so rare that a subsample would hold too few of them.

An event of ten rows among 100,000 is two rows of a subsample: the largest difference that these can make is far smaller
than what chance does to the ten, so every chance would look like a shift. Such rows take part in all draws.

Letters: n rows, t codes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from picsc.auditing.exchangeability import Ints
    from picsc.auditing.ks_and_g_tests import Coded

FEWEST = 10
"""Rows of a code that a subsample must hold for each label, on average; a code of which it holds fewer is rare."""


def rare_rows(columns: Sequence[Coded], *, labels: int, rows: int) -> Ints:
    """Row numbers of rare codes, those of the rarest codes first.

    Args:
        columns: coded columns of n rows.
        labels: number of labels.
        rows: most rows of the subsample.

    Returns:
        Each row once; () when the table has no more rows than the subsample.
    """
    n = len(columns[0].codes) if columns else 0
    if n <= rows:
        return np.zeros(0, np.int64)
    bound = FEWEST * labels * n / rows
    found: list[Ints] = []
    sizes: list[NDArray[np.int64]] = []
    for column in columns:
        total = np.bincount(column.codes, minlength=column.t)
        inside = np.flatnonzero(is_rare(column, total, bound)[column.codes])
        found.append(inside)
        sizes.append(total[column.codes[inside]])
    every, order = np.concatenate(found), np.argsort(np.concatenate(sizes), kind="stable")
    rarest, first = np.unique(every[order], return_index=True)
    return np.asarray(rarest[np.argsort(first)])


def is_rare(column: Coded, total: NDArray[np.int64], bound: float) -> NDArray[np.bool_]:
    """True for rare codes, (t,).

    The distribution function of an ordered column is steady if two codes, or two sets of neighbours, are common; so its
    codes are rare only if all values but those of one code are few.

    Args:
        column: the column; its codes are not looked at.
        total: (t,) rows of each code.
        bound: most rows of a rare code.
    """
    rare = total <= bound
    if column.test == "ks":
        values = total[: -column.absent]
        few = values.sum() - values.max(initial=0) <= bound
        rare[: -column.absent] = few & (np.arange(len(values)) != values.argmax())
    return np.asarray(rare & (total > 0))
