"""Trend: columns that move little from each batch to the next, and far over all of them.

Each piece is compared with the one before, so a steady drift is small in every comparison. Its test is the correlation
of the batch's number with a column's values: normal scores of numbers, shares of the most frequent levels, missing
rates. The labels are those of the same draws as all other statistics.

Letters: m rows that the draws permute, B draws (an axis of B + 1 has the observed value first), C draws at a time, K
batches, q series.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.special import ndtri
from torch import Tensor

from picsc.auditing.multiplicity import evidence, p_among
from picsc.fragments.dependence import levels_followed

if TYPE_CHECKING:
    from picsc.auditing.design import Design
    from picsc.auditing.ks_and_g_tests import Coded
    from picsc.auditing.null_statistics import TestInputs
    from picsc.auditing.permutations import LabelDraws

Floats = NDArray[np.float64]

SHARE = 0.1
"""Share of the level that the trend has beside all comparisons of a piece with the one before."""
FEWEST = 4
"""Fewest batches that can move steadily."""
CELLS = 16_000_000
"""Most numbers of the series that are in memory at a time, about."""
LATER = 6.0
"""How much better, in units of the noise's variance, a drift that begins later must fit to be said to begin there."""

SeriesKind = Literal["values", "level", "missing"]


@dataclass(frozen=True, slots=True)
class Trending:
    """One series that moves over the batches."""

    column: str
    """Name of the column."""
    kind: SeriesKind
    code: int
    """Code of the level whose share moves; -1 for other kinds."""
    per_batch: float
    """Move from one batch to the next, signed: standard deviations of normal scores, or a difference of shares."""
    first: int
    """Position of the last batch before it moves, from 0."""
    steps: int
    """Number of batches after that one."""
    jumps: bool
    """True if one jump between two batches fits better than a steady move."""
    p_adjusted: float
    """p-value corrected for all series."""

    @property
    def total(self) -> float:
        """Move from that batch to the last one."""
        return self.per_batch * self.steps

    @property
    def effect(self) -> float:
        """The move to the last batch as a difference of probabilities: KS distance of two normals, or of shares."""
        return math.erf(abs(self.total) / 2 / math.sqrt(2)) if self.kind == "values" else abs(self.total)


@dataclass(frozen=True, slots=True)
class Trend:
    """The test of all series."""

    evidence: Tensor
    """(B + 1,) of all series together."""
    found: tuple[Trending, ...]
    """The series that are significant by themselves, or where none is, the one with the most evidence; strongest
    first. () where no series varies."""
    p_adjusted: float = 1.0
    """p-value corrected for all questions and pieces as well."""


@dataclass(frozen=True, slots=True)
class _Series:
    """One series of m rows."""

    column: str
    kind: SeriesKind
    code: int
    values: NDArray[np.float32]
    """(m,) with mean 0."""


def trend_of(inputs: TestInputs, null: LabelDraws, design: Design, *, level: float) -> Trend | None:
    """Test whether columns move steadily over the batches.

    Args:
        inputs: n rows as the tests see them.
        null: labels of m of these rows.
        design: design of the n rows.
        level: family-wise error rate.

    Returns:
        None unless at least `FEWEST` batches are each compared with the one before.
    """
    batches = null.contrast.labels
    chain = null.contrast.pieces == tuple(range(1, batches)) and null.contrast.reference == tuple(range(batches - 1))
    if not chain or batches < FEWEST:
        return None
    columns = [*inputs.columns, *([] if inputs.target is None else [inputs.target])]
    rows = null.rows[: null.sampled]
    variances: list[Floats] = []
    named: list[tuple[str, SeriesKind, int]] = []
    drawn, means, counts = [], [], None
    for some in _together(_series(columns, rows), max(1, CELLS // len(rows))):
        matrix = torch.from_numpy(np.stack([each.values for each in some], 1))
        statistic, observed, counts = _correlations(matrix, null)
        drawn.append(statistic)
        variances.append(matrix.double().square().mean(0).numpy())
        means.append(observed)
        named += [(each.column, each.kind, each.code) for each in some]
    if counts is None:
        return Trend(torch.zeros(len(null.labels), dtype=torch.float64), ())
    statistic = torch.cat(drawn, 1)
    alone = evidence(statistic, design.stream.excess_of_trend)
    together = evidence((alone.value.logsumexp(1) - math.log(statistic.shape[1])).clamp(min=0))
    p = p_among(alone.value[0], alone.value.amax(1)).numpy()
    order = np.argsort(-alone.value[0].numpy(), kind="stable")
    leading = [int(i) for i in order if p[i] <= level] or [int(order[0])]
    of_batches = torch.cat(means, 1).numpy()
    noise = statistic[1:].mean(0).numpy() * np.concatenate(variances)
    found = tuple(_trending(named[i], of_batches[:, i], counts, float(noise[i]), float(p[i])) for i in leading)
    return Trend(together.value, found if float(alone.value[0].max()) > 0 else ())


def with_share(pieces: Tensor, trend: Trend | None) -> Tensor:
    """Evidence of all hypotheses, (B + 1, h), and last that of the trend, which gets `SHARE` of the level.

    Args:
        pieces: (B + 1, h) evidence of the pieces' questions.
        trend: the test of the trend; None adds nothing.
    """
    if trend is None:
        return pieces
    weight = pieces.shape[1] * SHARE / (1 - SHARE)
    return torch.cat([pieces, trend.evidence[:, None] + math.log(weight)], 1)


def _together(series: Iterator[_Series], most: int) -> Iterator[list[_Series]]:
    """The series, at most so many at a time."""
    some: list[_Series] = []
    for each in series:
        some.append(each)
        if len(some) == most:
            yield some
            some = []
    if some:
        yield some


def _series(columns: list[Coded], rows: NDArray[np.int64]) -> Iterator[_Series]:
    """Every series, of the given rows."""
    for column in columns:
        codes = column.codes[rows].astype(np.int64)
        values = column.t - column.absent
        missing = codes >= values
        if column.has_missing and missing.any():
            yield _Series(column.name, "missing", -1, _centred(missing, np.ones(len(codes), bool)))
        if missing.all():
            continue
        count = np.bincount(codes[~missing], minlength=values)[:values]
        if column.test == "ks":
            # the rank of a code is the mean rank of its rows
            scores = ndtri((np.cumsum(count) - count / 2) / count.sum())
            yield _Series(column.name, "values", -1, _centred(np.append(scores, 0.0)[codes.clip(max=values)], ~missing))
            continue
        for code in levels_followed(count):
            yield _Series(column.name, "level", code, _centred(codes == code, ~missing))


def _centred(x: NDArray[np.bool_] | Floats, present: NDArray[np.bool_]) -> NDArray[np.float32]:
    """Deviations from the mean of the values present, 0 where there is none."""
    return np.where(present, x - x[present].mean(dtype=np.float64), 0.0).astype(np.float32)


def _correlations(matrix: Tensor, null: LabelDraws) -> tuple[Tensor, Tensor, Floats]:
    """Correlate series (m, q) with the batch's number.

    Returns:
        m times the squared correlation in every draw, (B + 1, q); the observed means of the batches, (K, q); and their
        rows, (K,).
    """
    batches, m = null.contrast.labels, len(matrix)
    number = torch.arange(batches, dtype=torch.float32) - (batches - 1) / 2
    squares = matrix.double().square().sum(0)
    parts = []
    for chunk in null.chunks(m, m):
        numbers = number[torch.from_numpy(chunk).long()]
        numbers -= numbers.mean(1, keepdim=True)
        products = (numbers @ matrix).double()
        parts.append(m * products.square() / (numbers.double().square().sum(1, keepdim=True) * squares))
    observed = torch.from_numpy(null.labels[0, :m].astype(np.int64))
    sums = torch.zeros(batches, matrix.shape[1], dtype=torch.float64).index_add_(0, observed, matrix.double())
    counts = torch.bincount(observed, minlength=batches).double()
    return torch.cat(parts).nan_to_num(0.0), sums / counts.clamp(min=1)[:, None], counts.numpy()


def _trending(name: tuple[str, SeriesKind, int], means: Floats, counts: Floats, noise: float, p: float) -> Trending:
    """Fit a move that begins after some batch to the means of the batches.

    Args:
        name: column, kind and code of the series.
        means: (K,) of a series.
        counts: (K,) rows.
        noise: variance of the series under the null: its long-run variance.
        p: its p-value.
    """
    k = np.arange(len(means))

    def fit(moved: Floats) -> tuple[float, float]:
        centred = moved - np.average(moved, weights=counts)
        slope = float((counts * centred * means).sum() / (counts * centred**2).sum())
        rest = means - np.average(means, weights=counts) - slope * centred
        return float((counts * rest**2).sum()), slope

    fits = [fit(np.maximum(k - first, 0.0)) for first in range(len(means) - FEWEST + 2)]
    jump = min(fit((k > last).astype(np.float64))[0] for last in range(len(means) - 1))
    best = int(np.argmin([rest for rest, _ in fits]))
    first = best if fits[0][0] - fits[best][0] > LATER * max(noise, 1e-12) else 0
    steps, jumps = len(means) - 1 - first, jump < fits[best][0]
    return Trending(*name, fits[first][1], first, steps, jumps, p)
