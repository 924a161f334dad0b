"""Permutations: piece labels under the null, of the whole table or of a subsample that stands for it.

Letters: n rows, m rows that a draw relabels, B draws (axis B + 1 has the observed labels first), C draws at a time, L
labels, K pieces, p per-row quantities.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from picsc.auditing.exchangeability import Contrast, Ints, draw_labels, subsample
from picsc.auditing.model_tests import label_sizes, label_sums
from picsc.auditing.multiplicity import Evidence, evidence

if TYPE_CHECKING:
    from picsc.auditing.design import Design

PerRow = Callable[[Ints], Tensor]
"""From row numbers (m,) to per-row quantities (m, p)."""

CELLS = 8_000_000
"""Most numbers in one chunk of draws, about."""
ROWS_AT_ONCE = 32_768
"""Most rows per step of a pass over the whole table."""
CELLS_AT_ONCE = 64_000_000
"""Most numbers per step of that pass, for rows that contribute thousands each."""
HEAVY_SHARE = 0.25
"""Share of the subsample's size that is kept whatever it drew: the rows that dominate the variance of some quantity."""


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
    effective: Tensor
    """(B + 1, K) n_eff = 1 / (1/n_piece + 1/n_reference) of the sample; the observed one is the whole table's."""
    sums: RowSums
    """Sums of the per-row quantities by label."""
    excess: float = 1.0
    """Factor by which observed squares are larger than drawn ones when nothing moved, see `Stream.excess`."""

    @property
    def whole(self) -> bool:
        """True when the draws permute all rows, so that the observed labels are one of them."""
        return len(self.rows) == len(self.observed)

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
class RowSums:
    """Per-row quantities, prepared so that sums by drawn label are sums of n rows."""

    matrix: Tensor
    """(m, p) quantities, in a subsample centred and scaled to stand for all rows."""
    offset: Tensor | None
    """(L, p) to be added to every draw's sums; None when these are all n rows."""
    observed: Tensor
    """(1, L, p) float64, sums over the whole table by its own labels."""


def label_draws(quantities: PerRow, design: Design, *, rows: int, draws: int, seed: int) -> LabelDraws:
    """Permute labels, of all rows or of a subsample.

    With a subsample, a draw's sum by label is: rows in the piece times the mean, plus deviations. Heavy rows, which
    dominate the variance of some quantity (a parameter that few rows move), are all kept; the deviations of the others
    are multiplied by the square root of how many rows each stands for. So mean and variance of every sum are those of
    permuting all n rows, in closed form, and rare large rows stay as rare and as large as they are.

    Args:
        quantities: numbers that each row contributes, (m, p); the statistics need no more than their sums by label.
        design: design of n rows.
        rows: most rows in the proportional sample.
        draws: B, number of permutations.
        seed: of the subsample and the permutations.
    """
    labels, contrast, scheme = design.labels, design.contrast, design.scheme
    excess = design.stream.excess
    sample = subsample(labels, scheme, rows=rows, seed=seed)
    drawn, sizes = [], []
    for chunk in draw_labels(labels[sample], scheme.among(sample), draws=draws, seed=seed, cells=CELLS):
        drawn.append(chunk.astype(np.int16))
        sizes.append(label_sizes(chunk, contrast))
    counted = torch.cat(sizes)
    counted[0] = label_sizes(labels[None], contrast)[0]
    effective = contrast.effective(counted)
    permuted = np.concatenate(drawn)
    matrix = quantities(sample)
    if len(sample) == len(labels):
        observed = label_sums(matrix, labels[None], contrast).double()
        sums = RowSums(matrix, None, observed)
        return LabelDraws(contrast, labels, sample, len(sample), permuted, effective, sums, excess)
    observed, influence = _one_pass(quantities, labels, contrast, matrix)
    if scheme.units is not None:  # a unit moves as a whole, so no row can be kept apart
        sums = RowSums(matrix, None, observed)
        return LabelDraws(contrast, labels, sample, len(sample), permuted, effective, sums, excess)
    heavy = np.argpartition(influence, -round(HEAVY_SHARE * rows))[-round(HEAVY_SHARE * rows) :]
    missed = np.setdiff1d(heavy, sample)
    every = np.concatenate([sample, missed])
    more = _labels_for(missed, design, draws=draws, seed=seed)
    matrix = torch.cat([matrix, quantities(missed)])
    sums = _scaled_to_all(matrix, every, heavy, design, observed)
    return LabelDraws(
        contrast, labels, every, len(sample), np.concatenate([permuted, more], 1), effective, sums, excess
    )


def _one_pass(
    quantities: PerRow, labels: Ints, contrast: Contrast, sample: Tensor
) -> tuple[Tensor, NDArray[np.float32]]:
    """Sums of the whole table by label, and the largest standardised square of each row's quantities."""
    centre, variance = sample.mean(0), sample.var(0).clamp(min=1e-12)
    total = None
    influence = np.empty(len(labels), np.float32)
    step = min(ROWS_AT_ONCE, max(1, CELLS_AT_ONCE // sample.shape[1]))
    for start in range(0, len(labels), step):
        rows = np.arange(start, min(start + step, len(labels)))
        part = quantities(rows)
        added = label_sums(part, labels[rows][None], contrast).double()
        total = added if total is None else total + added
        influence[rows] = part.sub_(centre).square_().div_(variance).amax(1).float().numpy()
    assert total is not None  # noqa: S101 - a table has rows
    return total, influence


def _strata(design: Design) -> Ints:
    """Stratum of each row, (n,): all 0 when labels are permuted freely."""
    return np.zeros(len(design.labels), np.int64) if design.scheme.strata is None else design.scheme.strata


def _labels_for(rows: Ints, design: Design, *, draws: int, seed: int) -> NDArray[np.int16]:
    """Labels of rows outside the sample, (B + 1, rows): each the label of a random row of the same stratum."""
    labels, strata = design.labels, _strata(design)
    rng = np.random.default_rng([seed, 4])
    drawn = np.empty((draws + 1, len(rows)), np.int16)
    drawn[0] = labels[rows]
    for stratum in np.unique(strata[rows]):
        inside = np.flatnonzero(strata[rows] == stratum)
        pool = labels[strata == stratum]
        drawn[1:, inside] = pool[rng.integers(len(pool), size=(draws, len(inside)))]
    return drawn


def _scaled_to_all(matrix: Tensor, rows: Ints, heavy: Ints, design: Design, observed: Tensor) -> RowSums:
    """Centre by stratum, and let each light row's deviation stand for the light rows that were not drawn."""
    labels, contrast, strata = design.labels, design.contrast, _strata(design)
    light = ~np.isin(rows, heavy)
    stands_for = (len(labels) - len(heavy)) / light.sum()
    weight = torch.from_numpy(np.where(light, np.sqrt(stands_for), 1.0)).to(matrix.dtype)
    offset = torch.zeros(observed.shape[1:], dtype=matrix.dtype)
    centred = torch.empty_like(matrix)
    for stratum in np.unique(strata):
        inside = torch.from_numpy(strata[rows] == stratum)
        typical = inside & torch.from_numpy(light)
        centre = matrix[typical if bool(typical.any()) else inside].mean(0) if bool(inside.any()) else 0.0
        centred[inside] = matrix[inside] - centre
        sizes = label_sizes(labels[strata == stratum][None], contrast)[0].to(matrix.dtype)
        offset += sizes[:, None] * centre
    return RowSums(centred * weight[:, None], offset, observed)
