"""Whole counts: rows of a table that is not in memory, by label and code, and draws of a sample that stand for them.

Letters: N rows of the whole table, m sampled rows that the draws permute, C draws at a time, L labels, S strata, t
codes.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from picsc.auditing.ks_and_g_tests import count
from picsc.auditing.long_tables.rare_codes import FEWEST, is_rare

if TYPE_CHECKING:
    from picsc.auditing.exchangeability import Contrast
    from picsc.auditing.ks_and_g_tests import Coded
    from picsc.auditing.permutations import LabelDraws

Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class WholeCounts:
    """Counts of the whole table."""

    counts: Mapping[str, Ints]
    """Rows by label and code, (L, t), of each column and of the target, by name."""
    sizes: Ints
    """Rows by label and stratum, (L, S)."""
    strata: Ints
    """(n,) stratum of each row of the sample that the audit holds, from 0."""
    seed: int
    """Of the draws of rare codes."""

    @property
    def rows(self) -> int:
        """N."""
        return int(self.sizes.sum())

    def effective(self, contrast: Contrast) -> Tensor:
        """n_eff of each piece, (1, K)."""
        return contrast.effective(torch.from_numpy(self.sizes.sum(1)[None].astype(np.float64)))


def drawn_whole_counts(column: Coded, null: LabelDraws, whole: WholeCounts) -> Iterator[Tensor]:
    """Counts of one column in all draws as those of the whole table, (C, L, t) at a time; first the observed ones.

    A row of the sample stands for N / m rows: deviations of a draw's counts from their mean are multiplied by the root
    of that number, so that mean and variance are those of permuting all rows. Rows of a rare code, of which the sample
    would hold too few, are dealt out by themselves: code by code in proportion to the labels' sizes. As these are less
    than `FEWEST` L / m of all rows, drawing them with or without replacement makes a difference of that share.

    Args:
        column: the rows of the sample.
        null: permuted labels of m of them.
        whole: counts of the whole table.
    """
    contrast, rows = null.contrast, null.rows[: null.sampled]
    observed = torch.from_numpy(whole.counts[column.name])
    weight = float(np.sqrt(whole.rows / len(rows)))
    strata, sizes = whole.strata[rows], torch.from_numpy(whole.sizes).double()
    shares = torch.zeros((sizes.shape[1], column.t), dtype=torch.float64)
    held = torch.zeros_like(sizes)
    labels = torch.from_numpy(null.labels[0, : null.sampled].astype(np.int64))
    for stratum, share in enumerate(shares):
        inside = strata == stratum
        share += torch.from_numpy(np.bincount(column.codes[rows][inside], minlength=column.t) / max(inside.sum(), 1))
        held[:, stratum] = torch.bincount(labels[torch.from_numpy(inside)], minlength=contrast.labels).double()
    # a permutation within strata leaves the sizes as they are
    rest = (sizes - weight * held) @ shares
    rare = is_rare(column, whole.counts[column.name].sum(0), FEWEST * contrast.labels * whole.rows / len(rows))
    rng = np.random.default_rng([whole.seed, 8, zlib.crc32(column.name.encode())])
    share_of_label = whole.sizes.sum(1) / whole.rows
    here, start = replace(column, codes=column.codes[rows]), 0
    for chunk in null.chunks(max(len(rows), contrast.labels * column.t), null.sampled):
        counts = count(here, chunk, contrast).double().mul_(weight).add_(rest).clamp_(min=0)
        for code in np.flatnonzero(rare).tolist():
            total = int(observed[:, code].sum())
            counts[:, :, code] = torch.from_numpy(rng.multinomial(total, share_of_label, len(chunk)).astype(np.float64))
        if start == 0:
            counts[0] = observed
        start += len(chunk)
        yield counts
