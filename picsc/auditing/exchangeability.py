"""Exchangeability: the null hypothesis that pieces are exchangeable, drawn by permuting the labels of their rows.

Letters: n rows, L labels (K pieces, and one more when the reference is a file), C draws at a time.
A draw costs no training: everything that depends on a row is computed once, and a permutation only regroups it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

Ints = NDArray[np.int64]

STATISTICS_SEED = 0
"""Seed of all that is learned before labels are permuted: the contrast forest, the reference model, the features of
images. It is not the audit's: these are random functions of the pooled rows, so that any seed gives a valid test, and
each gives another p-value. A verdict that changes with the seed invites to try several."""
ROWS_PER_DRAW = 20_000
"""Most rows that the draws permute; of more, they permute a subsample, see `picsc.auditing.permutations`."""


@dataclass(frozen=True, slots=True)
class Contrast:
    """The labels that are tested, and the reference of each."""

    labels: int
    """L: number of different labels of the rows."""
    pieces: tuple[int, ...]
    """The K labels that are tested."""
    reference: tuple[int, ...] | Literal["rest"]
    """Label of the reference of each piece, (K,); "rest" for all rows that are not in the piece."""

    def split(self, sums: Tensor) -> tuple[Tensor, Tensor]:
        """Turn sums per label, (C, L, ...), into sums of each piece and of its reference, both (C, K, ...)."""
        piece = sums[:, list(self.pieces)]
        if self.reference == "rest":
            return piece, sums.sum(1, keepdim=True) - piece
        return piece, sums[:, list(self.reference)]

    def rows(self, labels: Ints, k: int) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """True for the rows of the k-th tested piece, and for those of its reference, from labels (n,); both (n,)."""
        piece = labels == self.pieces[k]
        return piece, ~piece if self.reference == "rest" else labels == self.reference[k]

    def effective(self, sizes: Tensor) -> Tensor:
        """n_eff = 1 / (1/n_piece + 1/n_reference) from rows per label, (C, L) to (C, K)."""
        piece, reference = self.split(sizes)
        return 1 / (1 / piece + 1 / reference)


@dataclass(frozen=True, slots=True)
class PermutationScheme:
    """The rows that may change places under the null."""

    units: Ints | None = None
    """(n,) id of the unit (a group, a block) whose rows move together; None when every row moves alone."""
    strata: Ints | None = None
    """(n,) class within which labels are permuted, as in a stratified split; None when they are permuted freely."""

    def among(self, rows: Ints) -> PermutationScheme:
        """The scheme of some of the rows."""
        return PermutationScheme(*(None if ids is None else ids[rows] for ids in (self.units, self.strata)))


def subsample(labels: Ints, scheme: PermutationScheme, *, rows: int, seed: int) -> Ints:
    """Row numbers of a subsample that is proportional by label and stratum, and keeps units whole.

    Returns:
        (m,) increasing, m close to `rows`; all rows when there are no more than that.
    """
    n = len(labels)
    if n <= rows:
        return np.arange(n)
    rng = np.random.default_rng([seed, 1])
    if scheme.units is not None:
        _, unit = np.unique(scheme.units, return_inverse=True)
        sizes = np.bincount(unit)
        order = rng.permutation(len(sizes))
        kept = order[: max(1, int(np.searchsorted(np.cumsum(sizes[order]), rows)))]
        return np.flatnonzero(np.isin(unit, kept))
    cell = labels if scheme.strata is None else labels * (scheme.strata.max() + 2) + scheme.strata + 1
    shuffled = rng.permutation(n)
    shuffled = shuffled[np.argsort(cell[shuffled], kind="stable")]  # cell by cell, in random order within
    # every n/rows-th place of that order: proportional in every cell, at least one row of cells that large
    return np.sort(shuffled[np.unique((np.arange(rows) * (n / rows)).astype(np.int64))])


def draw_labels(
    labels: Ints, scheme: PermutationScheme, *, draws: int, seed: int, cells: int = 4_000_000
) -> Iterator[Ints]:
    """Yield the observed labels, then `draws` permutations of them, in chunks of (C, n).

    Args:
        labels: (n,) label of each row.
        scheme: rows that may change places.
        draws: B, permutations after the observed labels.
        seed: of the permutations.
        cells: most numbers of a chunk, about.
    """
    rng = np.random.default_rng([seed, 2])
    n = len(labels)
    if scheme.units is None:
        first, unit = np.arange(n), None
    else:
        _, first, unit = np.unique(scheme.units, return_index=True, return_inverse=True)
    moving = labels[first]
    strata = np.zeros(len(first), np.int64) if scheme.strata is None else scheme.strata[first]
    members = [np.flatnonzero(strata == stratum) for stratum in np.unique(strata)]
    chunk = max(1, cells // max(n, 1))
    for start in range(0, draws + 1, chunk):
        drawn = np.tile(moving, (min(chunk, draws + 1 - start), 1))
        for rows in members:
            drawn[:, rows] = rng.permuted(drawn[:, rows], axis=1)
        if start == 0:
            drawn[0] = moving
        yield drawn if unit is None else drawn[:, unit.reshape(-1)]
