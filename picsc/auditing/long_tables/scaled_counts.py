"""Scaled counts: rows by label and code in every draw, as they would be if all rows were permuted.

Small counts have another distribution than large ones: chance makes the G of many levels, and their Kullback-Leibler
divergence, larger in a subsample than in all rows, even free of size. So counts are scaled, and not statistics.

Letters: n rows, m kept rows, C draws at a time, L labels, S strata, t codes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from picsc.auditing.ks_and_g_tests import count

if TYPE_CHECKING:
    from collections.abc import Iterator

    from picsc.auditing.ks_and_g_tests import Coded
    from picsc.auditing.permutations import LabelDraws, Standing

DECIMALS = 3
"""Counts are rounded to so many places, so that what is a whole number but for rounding errors is one."""


def drawn_counts(column: Coded, null: LabelDraws) -> Iterator[Tensor]:
    """Counts of one column in all draws, (C, L, t) at a time; those of the observed labels are the whole table's.

    Of a subsample, the counts of a draw are: rows of each label times the code's share, plus the deviations of the rows
    that were drawn, those of light rows times the root of how many rows each stands for. Mean and variance are those of
    permuting all rows, and of a code whose rows are all heavy the whole distribution.

    Args:
        column: n rows.
        null: permuted labels of m of them.
    """
    contrast, standing = null.contrast, null.standing
    width = max(len(null.rows), contrast.labels * column.t)
    if standing is None:
        for chunk in null.chunks(width):
            yield count(column, chunk, contrast, null.rows)
        return
    shares = _shares(column.codes[null.rows], column.t, standing)
    first = True
    for chunk in null.chunks(width):
        counts = torch.zeros((len(chunk), contrast.labels, column.t), dtype=torch.float64)
        left = standing.sizes.repeat(len(chunk), 1, 1)
        for rows, weight in ((standing.light, standing.weight), (~standing.light, 1.0)):
            at = np.flatnonzero(rows)
            labels = chunk[:, at]
            counts += weight * count(column, labels, contrast, null.rows[at])
            left -= weight * _by_stratum(labels, standing.strata[at], standing.sizes.shape)
        counts = (counts + left @ shares).round(decimals=DECIMALS).clamp(min=0)
        if first:
            counts[0] = count(column, null.observed[None], contrast)[0]
            first = False
        yield counts


def _shares(codes: np.ndarray, t: int, standing: Standing) -> Tensor:
    """Share of each code among the light rows of a stratum, (S, t); among all its rows where none is light."""
    found = torch.zeros((standing.sizes.shape[1], t), dtype=torch.float64)
    for stratum, share in enumerate(found):
        inside = standing.strata == stratum
        typical = inside & standing.light
        chosen = codes[typical if typical.any() else inside]
        share += torch.from_numpy(np.bincount(chosen, minlength=t) / max(len(chosen), 1))
    return found


def _by_stratum(labels: np.ndarray, strata: np.ndarray, shape: torch.Size) -> Tensor:
    """Rows by label and stratum in every draw, (C, L, S) float64."""
    cells = shape.numel()
    place = labels.astype(np.int64) * shape[1] + strata + np.arange(len(labels))[:, None] * cells
    return torch.from_numpy(np.bincount(place.reshape(-1), minlength=len(labels) * cells)).reshape(-1, *shape).double()
