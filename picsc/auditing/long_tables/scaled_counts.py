"""Scaled counts: rows by label and code in every draw, as they would be if all rows were permuted.

Small counts have another distribution than large ones: chance makes the G of many levels, and their Kullback-Leibler
divergence, larger in a subsample than in all rows, even free of size. So counts are scaled, and not statistics.

Letters: n rows, m kept rows, C draws at a time, L labels, S strata, t codes.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, cast

import numpy as np
import torch
from torch import Tensor

from picsc.auditing.ks_and_g_tests import count
from picsc.auditing.long_tables.whole_counts import drawn_whole_counts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

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
    if null.whole_table is not None and column.name in null.whole_table.counts:
        yield from drawn_whole_counts(column, null, null.whole_table)
        return
    width = max(len(null.rows), (1 if standing is None else 2) * contrast.labels * column.t)
    if standing is None:
        for chunk in null.chunks(width):
            yield count(column, chunk, contrast, null.rows)
        return
    codes = column.codes[null.rows]
    shares = _shares(codes, column.t, standing)
    # heavy rows are counted in the same pass, as further codes; there may be too many of these for 16 bits
    wide = np.where(standing.light, codes, codes.astype(np.int32) + column.t)
    apart = replace(column, codes=cast("NDArray[np.int16]", wide), t=2 * column.t)
    start = 0
    for chunk in null.chunks(width):
        light, heavy = count(apart, chunk, contrast).double().chunk(2, dim=-1)
        rest = standing.rest[start : start + len(chunk)] @ shares
        counts = light.mul_(standing.weight).add_(heavy).add_(rest).round_(decimals=DECIMALS).clamp_(min=0)
        if start == 0:
            counts[0] = count(column, null.observed[None], contrast)[0]
        start += len(chunk)
        yield counts


def _shares(codes: NDArray[np.int16], t: int, standing: Standing) -> Tensor:
    """Share of each code among the light rows of a stratum, (S, t); among all its rows where none is light."""
    found = torch.zeros((standing.rest.shape[2], t), dtype=torch.float64)
    for stratum, share in enumerate(found):
        inside = standing.strata == stratum
        typical = inside & standing.light
        chosen = codes[typical if typical.any() else inside]
        share += torch.from_numpy(np.bincount(chosen, minlength=t) / max(len(chosen), 1))
    return found
