"""Permutations: piece labels under the null, of the whole table or of a subsample that stands for it.

Letters: n rows, m rows that a draw relabels, B draws (axis B + 1 has the observed labels first), C draws at a time, L
labels, K pieces, p per-row quantities.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from picsc.auditing.exchangeability import Contrast, Ints, PermutationScheme, draw_labels, subsample
from picsc.auditing.model_tests import label_sizes, label_sums
from picsc.auditing.multiplicity import Evidence, evidence

if TYPE_CHECKING:
    from picsc.auditing.design import Design
    from picsc.auditing.long_tables.whole_counts import WholeCounts

PerRow = Callable[[Ints], Tensor]
"""From row numbers (m,) to per-row quantities (m, p)."""

CELLS = 8_000_000
"""Most numbers in one chunk of draws, about."""
ROWS_AT_ONCE = 16_384
"""Most rows per step of a pass over the whole table."""
CELLS_AT_ONCE = 64_000_000
"""Most numbers per step of that pass, for rows that contribute thousands each."""
HEAVY_SHARE = 0.25
"""Share of the subsample's size that is kept whatever it drew: the rows that dominate the variance of some quantity.
As many more may be kept because a column's code is rare."""


@dataclass(frozen=True, slots=True)
class LabelDraws:
    """B permutations of the labels of m rows, and sums over these rows that stand for sums over n."""

    contrast: Contrast
    """Labels that are tested, and the reference of each."""
    observed: Ints
    """(n,) labels of the whole table."""
    rows: Ints
    """(m,) the proportional sample first, then heavy rows that it missed."""
    sampled: int
    """Number of `rows` that are the proportional sample."""
    labels: NDArray[np.int16]
    """(B + 1, m) labels of these rows in every draw, the observed ones first."""
    sizes: Tensor
    """(B + 1, L) rows of the proportional sample by label, float64."""
    effective: Tensor
    """(B + 1, K) n_eff = 1 / (1/n_piece + 1/n_reference) of the whole table: in a subsample sums and counts stand for
    all rows, and label sizes stay as observed."""
    sums: RowSums
    """Sums of the per-row quantities by label."""
    excess: float = 1.0
    """Factor by which observed squares are larger than drawn ones when nothing moved, see `Stream.excess`."""
    standing: Standing | None = None
    """What the rows stand for in a subsample; None when they are all rows."""
    whole_table: WholeCounts | None = None
    """Counts of all rows of a table of which the n rows are a sample; None where they are the table."""

    @property
    def whole(self) -> bool:
        """True when the draws permute all rows, so that the observed labels are one of them."""
        return len(self.rows) == len(self.observed)

    def in_another_order(self) -> LabelDraws:
        """The same draws one place on, so that no statistic of them goes with one of the same draw here.

        A statistic of all rows of a table that is not in memory has little to do with one of a sample of them. Drawn
        from the same labels they would move together, and the largest of both would look rarer than it is.
        """
        order = np.r_[0, 2 : len(self.labels), 1]
        standing = self.standing
        if standing is not None:
            standing = replace(standing, rest=standing.rest[torch.from_numpy(order)])
        return replace(self, labels=self.labels[order], effective=self.effective[order], standing=standing)

    def evidence(self, statistic: Tensor) -> Evidence:
        """Evidence of a quadratic statistic in every draw, (B + 1, ...)."""
        return evidence(statistic, self.excess)

    def chunks(self, width: int, rows: int | None = None) -> Iterator[NDArray[np.int16]]:
        """Yield labels of the first `rows` rows, (C, rows) at a time, with C * width at most CELLS."""
        step = max(1, CELLS // max(width, 1))
        for start in range(0, len(self.labels), step):
            yield self.labels[start : start + step, :rows]

    def reduced(self, reduce: Callable[[Tensor], Tensor]) -> Tensor:
        """Sum the per-row quantities by label in every draw, and reduce each chunk of sums (C, L, p) to (C, ...)."""
        matrix, offset = self.sums.matrix, self.sums.offset
        width = self.contrast.labels * max(matrix.shape)
        parts = []
        for chunk in self.chunks(width):
            sums = label_sums(matrix, chunk, self.contrast)
            parts.append(reduce(sums if offset is None else sums + offset))
        drawn = torch.cat(parts)
        if not self.whole:
            drawn[0] = reduce(self.sums.observed)[0]
        return drawn


@dataclass(frozen=True, slots=True)
class Standing:
    """What the m rows of a subsample stand for, for sums and counts of n rows."""

    light: NDArray[np.bool_]
    """(m,) True for rows that stand for others as well; the others, which are heavy, for themselves alone."""
    weight: float
    """Weight of a light row's deviation from the mean: root of how many rows it stands for, so that variances add up to
    those of all rows."""
    strata: Ints
    """(m,) stratum of each row, from 0."""
    sizes: Tensor
    """(L, S) rows of the whole table by label and stratum, float64."""
    rest: Tensor
    """(B + 1, L, S) rows of the whole table that none of the m rows stands for in a draw, float64; they are as the mean
    says."""


@dataclass(frozen=True, slots=True)
class RowSums:
    """Per-row quantities, prepared so that sums by drawn label are sums of n rows."""

    matrix: Tensor
    """(m, p) quantities, in a subsample centred and scaled to stand for all rows."""
    offset: Tensor | None
    """(L, p) to be added to every draw's sums; None when these are all n rows."""
    observed: Tensor
    """(1, L, p) float64, sums over the whole table by its own labels."""


def label_draws(
    quantities: PerRow, design: Design, *, rows: int, draws: int, seed: int, rare: Ints | None = None
) -> LabelDraws:
    """Permute labels, of all rows or of a subsample.

    With a subsample, a draw's sum by label is: rows in the piece times the mean, plus deviations. Heavy rows, which
    dominate the variance of some quantity (a parameter that few rows move, a rare event), are all kept; the deviations
    of the others are multiplied by the square root of how many rows each stands for. So mean and variance of every sum
    are those of permuting all n rows, in closed form, and rare large rows stay as rare and as large as they are.

    Args:
        quantities: numbers that each row contributes, (m, p); the statistics need no more than their sums by label.
        design: design of n rows.
        rows: most rows in the proportional sample.
        draws: B, number of permutations.
        seed: of the subsample and the permutations.
        rare: row numbers that are heavy whatever they contribute, the most important first; None for none.
    """
    labels, contrast, scheme = design.labels, design.contrast, design.scheme
    excess = design.stream.excess
    sample = subsample(labels, scheme, rows=rows, seed=seed)
    drawn, sizes = [], []
    for chunk in draw_labels(labels[sample], scheme.among(sample), draws=draws, seed=seed, cells=CELLS):
        drawn.append(chunk.astype(np.int16))
        # rows that move one by one keep the size of each label
        sizes.append(label_sizes(chunk if scheme.units is not None else chunk[:1], contrast).expand(len(chunk), -1))
    permuted = np.concatenate(drawn)
    of_sample = torch.cat(sizes)
    matrix = quantities(sample)
    if len(sample) == len(labels):
        observed = label_sums(matrix, labels[None], contrast).double()
        effective = contrast.effective(of_sample)
        sums = RowSums(matrix, None, observed)
        return LabelDraws(contrast, labels, sample, len(sample), permuted, of_sample, effective, sums, excess)
    effective = contrast.effective(label_sizes(labels[None], contrast)).repeat(draws + 1, 1)
    observed, influence = _one_pass(quantities, labels, contrast, matrix)
    heavy = _heavy(influence, np.zeros(0, np.int64) if rare is None else rare, scheme, round(HEAVY_SHARE * rows))
    missed = np.setdiff1d(heavy, sample)
    every = np.concatenate([sample, missed])
    strata = _strata(design)
    permuted = np.concatenate([permuted, _labels_for(missed, design, strata, draws=draws, seed=seed)], 1)
    standing = _standing(every, heavy, design, strata, permuted)
    sums = _scaled_to_all(torch.cat([matrix, quantities(missed)]), standing, observed)
    return LabelDraws(contrast, labels, every, len(sample), permuted, of_sample, effective, sums, excess, standing)


def _one_pass(
    quantities: PerRow, labels: Ints, contrast: Contrast, sample: Tensor
) -> tuple[Tensor, NDArray[np.float32]]:
    """Sums of the whole table by label, and the largest standardised square of each row's quantities."""
    centre, scale = sample.mean(0), sample.var(0).clamp(min=1e-12).rsqrt()
    total = None
    influence = np.empty(len(labels), np.float32)
    step = min(ROWS_AT_ONCE, max(1, CELLS_AT_ONCE // sample.shape[1]))
    for start in range(0, len(labels), step):
        rows = np.arange(start, min(start + step, len(labels)))
        part = quantities(rows)
        added = label_sums(part, labels[rows][None], contrast).double()
        total = added if total is None else total + added
        influence[rows] = part.sub_(centre).mul_(scale).abs_().amax(1).square().float().numpy()
    assert total is not None  # noqa: S101 - a table has rows
    return total, influence


def _heavy(influence: NDArray[np.float32], rare: Ints, scheme: PermutationScheme, most: int) -> Ints:
    """Row numbers, increasing: the `most` rows with the largest influence and the first `most` of `rare`.

    Where units move as wholes, whole units: those of such rows, as long as they have no more than `most` rows together.
    """
    if scheme.units is None:
        largest = np.argpartition(influence, -most)[-most:]
        return np.union1d(largest, rare[:most])
    _, unit = np.unique(scheme.units, return_inverse=True)
    sizes = np.bincount(unit)
    kept = np.zeros(len(sizes), bool)
    for rows in (np.argsort(-influence, kind="stable"), rare):
        found, first = np.unique(unit[rows], return_index=True)
        found = found[np.argsort(first)]  # in the order of the rows
        kept[found[np.cumsum(sizes[found]) <= most]] = True
    return np.flatnonzero(kept[unit])


def _strata(design: Design) -> Ints:
    """Stratum of each row, (n,), from 0: all 0 when labels are permuted freely; a unit's is that of its first row."""
    scheme = design.scheme
    if scheme.strata is None:
        return np.zeros(len(design.labels), np.int64)
    strata = np.unique(scheme.strata, return_inverse=True)[1].astype(np.int64)
    if scheme.units is None:
        return strata
    _, first, unit = np.unique(scheme.units, return_index=True, return_inverse=True)
    return np.asarray(strata[first][unit])


def _labels_for(rows: Ints, design: Design, strata: Ints, *, draws: int, seed: int) -> NDArray[np.int16]:
    """Labels of rows outside the sample, (B + 1, rows): each that of a random row, or unit, of the same stratum."""
    labels, units = design.labels, design.scheme.units
    rng = np.random.default_rng([seed, 4])
    first, unit = rows, np.arange(len(rows))
    pool_of = np.arange(len(labels))
    if units is not None:
        _, at, unit = np.unique(units[rows], return_index=True, return_inverse=True)
        first, pool_of = rows[at], np.unique(units, return_index=True)[1]
    drawn = np.empty((draws + 1, len(first)), np.int16)
    drawn[0] = labels[first]
    for stratum in np.unique(strata[first]):
        inside = np.flatnonzero(strata[first] == stratum)
        pool = labels[pool_of[strata[pool_of] == stratum]]
        drawn[1:, inside] = pool[rng.integers(len(pool), size=(draws, len(inside)))]
    return drawn[:, unit]


def _standing(rows: Ints, heavy: Ints, design: Design, strata: Ints, permuted: NDArray[np.int16]) -> Standing:
    """What the m kept rows stand for, with their labels in every draw, (B + 1, m)."""
    labels, own = design.labels, strata[rows]
    light = ~np.isin(rows, heavy)
    stands_for = (len(labels) - len(heavy)) / max(light.sum(), 1)
    weight, shape = float(np.sqrt(stands_for)), (design.contrast.labels, int(strata.max()) + 1)
    sizes = _by_stratum(labels, strata, shape)
    rest = torch.stack(
        [
            sizes - weight * _by_stratum(of_light, own[light], shape) - _by_stratum(of_heavy, own[~light], shape)
            for of_light, of_heavy in zip(permuted[:, light], permuted[:, ~light], strict=True)
        ]
    )
    return Standing(light, weight, own, sizes, rest)


def _by_stratum(labels: NDArray[np.int16] | Ints, strata: Ints, shape: tuple[int, int]) -> Tensor:
    """Rows by label and stratum, (L, S) float64."""
    place = labels.astype(np.int64) * shape[1] + strata
    return torch.from_numpy(np.bincount(place, minlength=shape[0] * shape[1]).reshape(shape)).double()


def _scaled_to_all(matrix: Tensor, standing: Standing, observed: Tensor) -> RowSums:
    """Centre by stratum, and let each light row's deviation stand for the light rows that were not drawn."""
    weight = torch.from_numpy(np.where(standing.light, standing.weight, 1.0)).to(matrix.dtype)
    offset = torch.zeros(observed.shape[1:], dtype=matrix.dtype)
    centred = torch.empty_like(matrix)
    light = torch.from_numpy(standing.light)
    for stratum, sizes in enumerate(standing.sizes.to(matrix.dtype).T):
        inside = torch.from_numpy(standing.strata == stratum)
        typical = inside & light
        centre = matrix[typical if bool(typical.any()) else inside].mean(0) if bool(inside.any()) else 0.0
        centred[inside] = matrix[inside] - centre
        offset += sizes[:, None] * centre
    return RowSums(centred * weight[:, None], offset, observed)
