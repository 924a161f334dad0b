"""Draws of every family of statistics: columns, per-row quantities, the domain classifier, the target.

Letters: n rows, m rows that the draws permute, B draws (an axis of B + 1 has the observed value first), C draws at a
time, L labels, K pieces, f columns, d parameters.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from picsc.auditing.column_tests import Coded, ColumnShiftTest, count, missing_shift, shift
from picsc.auditing.domain_classifier import held_out_ranks
from picsc.auditing.model_tests import ModelShift, label_sums, model_shift, moment_kl
from picsc.auditing.multiplicity import Evidence, evidence, p_among
from picsc.auditing.wide_ks import SortedScan, ks_distances, sorted_scan, untied_distances

if TYPE_CHECKING:
    from collections.abc import Sequence

    from picsc.auditing.exchangeability import Contrast
    from picsc.auditing.permutations import LabelDraws, PerRow

Floats = NDArray[np.float64]

SCANNED_COLUMNS, SCANNED_ROWS = 1_000, 1_000
"""From so many columns, and up to so many rows, KS is taken by `picsc.auditing.wide_ks`; few columns cost little
anyway."""

_TESTS: tuple[Literal["values", "missing"], ...] = ("values", "missing")

COLUMNS_TOGETHER = 32
"""Of those, columns whose evidence is taken together: a call of torch costs as much as a column's numbers."""

COLUMNS_AT_ONCE = 1_000
"""Columns whose Gaussian KL is taken at a time."""


@dataclass(frozen=True, slots=True)
class TestInputs:
    """What the tests see of n rows; all of it is fixed before a label is permuted."""

    columns: tuple[Coded, ...]
    """Covariates; the f_numeric numeric ones in the order of `contributions`."""
    target: Coded | None
    encoded: NDArray[np.float32]
    """(n, f) for the domain classifier."""
    contributions: PerRow
    """Rows to what they contribute, side by side: gradients of log p(y | x; theta) (d) and their squares (d), both 0
    where there is no label; 1 where there is one; standardised numeric columns and a numeric target, 0 where missing,
    their squares, and 1 where present (3 times f_numeric, or f_numeric + 1 with a numeric target); 1."""
    parameters: int
    """d; 0 without a model."""
    f_numeric: int
    rows_per_draw: int
    """Most rows of the sample that a draw permutes."""


@dataclass(frozen=True, slots=True)
class ColumnTest:
    """One column of the table, or its missing rate, against every piece's reference. All arrays (K,)."""

    name: str
    test: Literal["values", "missing", "target"]
    effect: Floats
    """KS or total variation distance, or difference of missing rates; NaN when a side is empty."""
    kl: Floats
    """Nats."""
    evidence: Floats
    """-log p before any correction."""
    p_adjusted: Floats
    """Over all columns and pieces."""


@dataclass(frozen=True, slots=True)
class Members:
    """What was tested of the columns, one after the other: the values of each, and where it has any, its missing rate.

    Few large arrays: small ones between the draws that come and go would keep the memory from being used again.
    """

    names: tuple[str, ...]
    tests: tuple[Literal["values", "missing"], ...]
    effect: Tensor
    """(members, K) observed, as are the others."""
    kl: Tensor
    """NaN for numeric columns, whose KL comes from moments."""
    evidence: Tensor
    start: Tensor
    """Of the fitted tail of a KS column, see `Evidence`; NaN for the others."""
    slope: Tensor

    @property
    def tails(self) -> Evidence:
        """The fits of the KS columns, (columns, K), with no draws."""
        numeric = ~self.start.isnan().all(1)
        return Evidence(self.evidence[:0], self.start[numeric], self.slope[numeric])


def _members(columns: Sequence[Coded], pieces: int) -> tuple[Members, list[int]]:
    """Room for all columns, and the place of each column's values."""
    both = [(column.name, test) for column in columns for test in _TESTS[: 1 + column.has_missing]]
    places = np.cumsum([0, *(1 + column.has_missing for column in columns)])[:-1].tolist()
    room = (torch.full((len(both), pieces), torch.nan, dtype=torch.float64) for _ in range(5))
    return Members(tuple(name for name, _ in both), tuple(test for _, test in both), *room), places


@dataclass(frozen=True, slots=True)
class ColumnDraws:
    """All columns in every draw, combined, and each column's observed values."""

    joint: Tensor
    """(B + 1, K) log of the mean of exp(evidence) over columns: large when one column, or many, speak."""
    loudest: Tensor
    """(B + 1,) largest evidence over columns and pieces."""
    effect: Tensor
    """(B + 1, K) effect of the loudest column of each piece, at the piece's own size."""
    kl: Tensor
    """(B + 1, K) KL over categorical columns."""
    missing_kl: Tensor
    """(K,) observed."""
    members: Members

    def tests(self, moments: Tensor) -> tuple[ColumnTest, ...]:
        """Put the Gaussian KL (f_numeric, K) of the numeric columns beside their KS, and correct all p-values."""
        gaussian, seen = iter(moments), self.members
        found = []
        for name, test, effect, kl, spoken in zip(
            seen.names, seen.tests, seen.effect, seen.kl, seen.evidence, strict=True
        ):
            divergence = next(gaussian) if kl.isnan().all() else kl
            p = p_among(spoken, self.loudest)
            found.append(ColumnTest(name, test, *(each.double().numpy() for each in (effect, divergence, spoken, p))))
        return tuple(found)


def columns_of(table: TestInputs, null: LabelDraws) -> ColumnDraws:
    """KS, G and missingness of every column in every draw, one column in memory at a time, or a few of many."""
    shape = null.effective.shape
    joint, loudest = torch.full(shape, -math.inf, dtype=torch.float64), torch.zeros(shape[0], dtype=torch.float64)
    kl, missing_kl = torch.zeros(shape, dtype=torch.float64), torch.zeros(shape[1], dtype=torch.float64)
    members, places = _members(table.columns, shape[1])
    loud, strongest = torch.full(shape, -1.0, dtype=torch.float64), torch.zeros(shape, dtype=torch.float64)
    many = len(table.columns) >= SCANNED_COLUMNS and null.whole and null.sampled <= SCANNED_ROWS
    scan = sorted_scan(null.labels, null.contrast) if many else None
    together = COLUMNS_TOGETHER if many else 1
    for start in range(0, len(table.columns), together):
        columns, at = table.columns[start : start + together], places[start : start + together]
        drawn = [_shifts(column, null) for column in columns] if scan is None else _of_many(columns, null, scan)
        for each in drawn:
            kl += each.level_kl
            missing_kl += each.missing_kl[0]
        parts = [_spoken(columns, drawn, members, at)]
        if any(column.has_missing for column in columns):
            parts.append(_missing_spoken(columns, drawn, members, at))
        for value, effect in parts:  # (B + 1, columns, K)
            joint = torch.logaddexp(joint, value.logsumexp(1))
            loudest = torch.maximum(loudest, value.amax((1, 2)))
            here, which = value.max(1)
            louder = here > loud
            own = effect.gather(1, which[:, None])[:, 0]
            loud, strongest = torch.where(louder, here, loud), torch.where(louder, own, strongest)
    effect = at_own_size(strongest.nan_to_num(0.0), null.effective)
    return ColumnDraws(joint - math.log(len(members.names)), loudest, effect, kl, missing_kl, members)


def _spoken(
    columns: Sequence[Coded], drawn: Sequence[ColumnShiftTest], members: Members, at: Sequence[int]
) -> tuple[Tensor, Tensor]:
    """Evidence and effect of the values of a few columns, (B + 1, columns, K); what was observed goes to its place."""
    spoken = evidence(torch.stack([each.statistic for each in drawn], 1))
    effect = torch.stack([each.effect for each in drawn], 1)
    members.effect[at], members.evidence[at] = effect[0].double(), spoken.value[0].double()
    for i, column in enumerate(columns):
        if column.test == "ks":
            members.start[at[i]], members.slope[at[i]] = spoken.start[i], spoken.slope[i]
        else:
            members.kl[at[i]] = drawn[i].level_kl[0]
    return spoken.value, effect


def _missing_spoken(
    columns: Sequence[Coded], drawn: Sequence[ColumnShiftTest], members: Members, at: Sequence[int]
) -> tuple[Tensor, Tensor]:
    """The same of the missing rates of those columns that have missing values."""
    some = [i for i, column in enumerate(columns) if column.has_missing]
    place = [at[i] + 1 for i in some]
    value = evidence(torch.stack([drawn[i].missing_statistic for i in some], 1)).value
    effect = torch.stack([drawn[i].missing_effect for i in some], 1)
    members.effect[place], members.evidence[place] = effect[0].double(), value[0].double()
    members.kl[place] = torch.stack([drawn[i].missing_kl[0] for i in some]).double()
    return value, effect


def at_own_size(effect: Tensor, effective: Tensor) -> Tensor:
    """Draws of a distance, (B + 1, K), as they would be at the observed size: chance shrinks like 1 / sqrt(n_eff)."""
    return (effect * (effective / effective[0]).sqrt()).clamp(max=1)


def _shifts(column: Coded, null: LabelDraws) -> ColumnShiftTest:
    """All draws of one column, (B + 1, K) each; the observed row is the whole table's."""
    contrast, rows = null.contrast, null.rows[: null.sampled]
    width = max(null.sampled, contrast.labels * column.t)
    parts = [
        shift(column, count(column, chunk, contrast, rows), contrast) for chunk in null.chunks(width, null.sampled)
    ]
    drawn = ColumnShiftTest(*(torch.cat(each) for each in zip(*parts, strict=True)))
    if not null.whole:
        whole = shift(column, count(column, null.observed[None], contrast), contrast)
        for each, observed in zip(drawn, whole, strict=True):
            each[0] = observed[0]
    return drawn


def _of_many(columns: Sequence[Coded], null: LabelDraws, scan: SortedScan) -> list[ColumnShiftTest]:
    """All draws of a few columns of a short table that has many."""
    untied = [i for i, c in enumerate(columns) if c.test == "ks" and not c.has_missing and c.t == len(c.codes) + 1]
    drawn: dict[int, ColumnShiftTest] = {}
    if untied:
        distances = untied_distances([columns[i].codes for i in untied], scan)
        n, n_r = (torch.from_numpy(size).double() for size in scan.sizes)
        none = torch.zeros_like(n)
        statistics = (distances.square() / (1 / n + 1 / n_r)).nan_to_num(0.0)
        pairs = zip(statistics, distances, strict=True)
        drawn = {i: ColumnShiftTest(*pair, none, none, none, none) for i, pair in zip(untied, pairs, strict=True)}
    return [
        drawn[i] if i in drawn else _shifts(column, null) if column.test == "g" else _scanned(column, scan)
        for i, column in enumerate(columns)
    ]


def _scanned(column: Coded, scan: SortedScan) -> ColumnShiftTest:
    """All draws of one numeric column of a short table that has many."""
    distance, n, n_r = ks_distances(column.codes, column.t - 1 if column.has_missing else None, scan)
    none = torch.zeros_like(n)
    missing = none, none, none
    if column.has_missing:
        total, total_r = (torch.from_numpy(size).double() for size in scan.sizes)
        missing = missing_shift(total - n, n, total_r - n_r, n_r)
    return ColumnShiftTest((distance.square() / (1 / n + 1 / n_r)).nan_to_num(0.0), distance, *missing, none)


@dataclass(frozen=True, slots=True)
class RowDraws:
    """What follows from sums of per-row quantities."""

    fisher: ModelShift
    """(B + 1, K) each."""
    kl: Tensor
    """(B + 1, K) Gaussian KL summed over numeric columns, nats."""
    effective: Tensor
    """(B + 1, K) n_eff that the sums stand for."""
    column_kl: Tensor
    """(f_numeric, K) observed Gaussian KL of each numeric column."""
    target_kl: Tensor
    """(K,) observed Gaussian KL of a numeric target; 0 for classes."""


def rows_of(table: TestInputs, null: LabelDraws) -> RowDraws:
    """Fisher gap, Fisher KL, score and Gaussian KL in every draw, from one product of labels and rows."""
    d, f, contrast = table.parameters, table.f_numeric, null.contrast
    observed = null.sums.observed
    pooled = observed[0, :, d : 2 * d].sum(0) / observed[0, :, 2 * d].sum(0).clamp(min=1)

    def reduce(sums: Tensor) -> Tensor:
        scores, squares, labelled, moments, rows = sums.tensor_split([d, 2 * d, 2 * d + 1, sums.shape[-1] - 1], dim=-1)
        cares = model_shift(scores, squares, labelled[..., 0].double(), pooled.to(sums.dtype), contrast)
        kl = _summed_kl(moments, f, contrast)
        return torch.stack([*cares, kl, contrast.effective(rows[..., 0].double())], 1)

    *cares, kl, effective = null.reduced(reduce).nan_to_num(0.0, posinf=0.0).unbind(1)
    column_kl = _moment_kl(observed[..., 2 * d + 1 : -1], contrast)[0].T
    target_kl = column_kl[f] if len(column_kl) > f else torch.zeros(len(contrast.pieces), dtype=torch.float64)
    return RowDraws(ModelShift(*cares), kl, effective, column_kl[:f], target_kl)


def _moment_kl(sums: Tensor, contrast: Contrast) -> Tensor:
    """Gaussian KL from sums of values, squares and counts side by side, (C, L, 3 f)."""
    values, squares, sizes = sums.double().chunk(3, dim=-1)
    return moment_kl(values, squares, sizes, contrast)


def _summed_kl(sums: Tensor, f: int, contrast: Contrast) -> Tensor:
    """Gaussian KL over the first f columns, (C, K); a block of many columns at a time, which stays in the cache."""
    values, squares, sizes = sums.chunk(3, dim=-1)
    total = torch.zeros(())
    for start in range(0, max(f, 1), COLUMNS_AT_ONCE):
        block = slice(start, min(start + COLUMNS_AT_ONCE, f))
        sides = values[..., block].double(), squares[..., block].double(), sizes[..., block].double()
        total = total + moment_kl(*sides, contrast).sum(-1)
    return total


def target_of(table: TestInputs, null: LabelDraws, rows: RowDraws) -> tuple[ColumnTest, Tensor, Tensor]:
    """The target's own test; its statistic, and its effect at the piece's own size, in every draw."""
    assert table.target is not None  # noqa: S101 - the caller has one
    drawn = _shifts(table.target, null)
    spoken = evidence(drawn.statistic).value
    kl = rows.target_kl if table.target.test == "ks" else drawn.level_kl[0]
    p = p_among(spoken[0], spoken.amax(1))
    test = ColumnTest(table.target.name, "target", *(each.numpy() for each in (drawn.effect[0], kl, spoken[0], p)))
    return test, drawn.statistic, at_own_size(drawn.effect.nan_to_num(0.0), null.effective)


def domain_of(table: TestInputs, null: LabelDraws, *, seed: int, jobs: int) -> tuple[Tensor, Tensor, Tensor]:
    """Held-out AUC of the domain classifier (K,); its statistic and its effect 2 AUC - 1, (B + 1, K).

    A draw permutes the labels of both halves at once, as if the halves' AUCs were independent. They are not: a chance
    difference that both halves share is learned from one and confirmed in the other. With correlation at most 1, the
    observed mean of two AUCs varies at most like one of them, so its square is halved against the draws: valid whatever
    the correlation is.
    """
    rows = null.rows[: null.sampled]
    ranks = held_out_ranks(table.encoded[rows], null.observed[rows], null.contrast, seed=seed, jobs=jobs)

    def reduce(sums: Tensor) -> Tensor:
        piece, reference = (side.double() for side in null.contrast.split(sums))
        size_p, size_r = piece[..., -1], reference[..., -1]
        own = torch.diagonal(piece[..., :-1], dim1=1, dim2=2) / size_p
        other = torch.diagonal(reference[..., :-1], dim1=1, dim2=2) / size_r
        return torch.stack([(own - other).nan_to_num(0.0), 1 / (1 / size_p + 1 / size_r)], 1)

    matrix = torch.cat([torch.from_numpy(ranks), torch.ones(len(ranks), 1)], 1)
    width = null.contrast.labels * max(matrix.shape)
    drawn = torch.cat([reduce(label_sums(matrix, chunk, null.contrast)) for chunk in null.chunks(width, null.sampled)])
    difference, size = drawn.unbind(1)
    statistic = size * difference.clamp(min=0).square()
    statistic[0] /= 2
    effect = at_own_size(2 * math.sqrt(2) * difference.clamp(min=0), size)  # halved against the draws, likewise
    effect[0] = (2 * (0.5 + difference[0]) - 1).clamp(min=0)
    return 0.5 + difference[0], statistic, effect
