"""Draws of the share of rows whose level the reference does not have.

Letters: m rows that the draws permute, B draws (an axis of B + 1 has the observed value first), C draws at a time, K
pieces, t codes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor

from picsc.auditing.ks_and_g_tests import ColumnShiftTest, count

if TYPE_CHECKING:
    from picsc.auditing.exchangeability import Contrast
    from picsc.auditing.ks_and_g_tests import Coded
    from picsc.auditing.permutations import LabelDraws


def new_levels(column: Coded, null: LabelDraws) -> ColumnShiftTest:
    """The share of new levels in every draw, as a test: (B + 1, K) each.

    Reading: some levels are absent from a reference by chance, more of them the smaller it is. The statistic and the
        effect are what exceeds the mean of the draws. The observed share is that of the rows that the draws permute,
        as fewer rows lack more levels.

    Args:
        column: n rows.
        null: permuted labels.
    """
    contrast, rows = null.contrast, null.rows[: null.sampled]
    width = max(null.sampled, contrast.labels * column.t)
    shares = torch.cat(
        [_share(count(column, chunk, contrast, rows), contrast) for chunk in null.chunks(width, null.sampled)]
    )
    chance = shares[1:].nanmean(0).nan_to_num(0.0)
    excess = ((shares - chance) / (1 - chance).clamp(min=1e-12)).clamp(min=0)
    none = torch.zeros_like(excess)
    statistic = (null.effective[0] * excess.square()).nan_to_num(0.0)
    return ColumnShiftTest(statistic, excess, none, none, none, none)


def _share(counts: Tensor, contrast: Contrast) -> Tensor:
    """Share of each piece's rows whose code its reference does not have, (C, K); NaN for a piece without values."""
    piece, reference = contrast.split(counts[..., :-1])
    return torch.where(reference == 0, piece, 0).sum(-1).double() / piece.sum(-1).double()
