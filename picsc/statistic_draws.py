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

from picsc.column_shift import Coded, Shift, count, shift
from picsc.domain_classifier import held_out_ranks
from picsc.model_shift import ModelShift, label_sums, model_shift, moment_kl
from picsc.multiplicity import Evidence, evidence, p_among

if TYPE_CHECKING:
    from picsc.label_draws import LabelDraws, PerRow
    from picsc.nulls import Contrast

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Table:
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
class ColumnDraws:
    """All columns in every draw, combined, and each column's observed values."""

    joint: Tensor
    """(B + 1, K) log of the mean of exp(evidence) over columns: large when one column, or many, speak."""
    loudest: Tensor
    """(B + 1,) largest evidence over columns and pieces."""
    kl: Tensor
    """(B + 1, K) KL over categorical columns."""
    missing_kl: Tensor
    """(K,) observed."""
    members: tuple[tuple[str, Literal["values", "missing"], Tensor, Tensor, Tensor], ...]
    """name, test, and the observed effect, KL and evidence, (K,)."""
    tails: tuple[Evidence, ...]
    """Fits of the KS columns, without their draws."""

    @property
    def strongest_effect(self) -> Tensor:
        """(K,) effect of the loudest column of each piece."""
        effects = torch.stack([effect.nan_to_num(0.0) for _, _, effect, _, _ in self.members])
        loud = torch.stack([spoken for *_, spoken in self.members]).argmax(0)
        return effects.gather(0, loud[None])[0]

    def tests(self, moments: Tensor) -> tuple[ColumnTest, ...]:
        """Put the Gaussian KL (f_numeric, K) of the numeric columns beside their KS, and correct all p-values."""
        gaussian = iter(moments)
        found = []
        for name, test, effect, kl, spoken in self.members:
            divergence = next(gaussian) if kl.isnan().all() else kl
            p = p_among(spoken, self.loudest)
            found.append(ColumnTest(name, test, *(each.double().numpy() for each in (effect, divergence, spoken, p))))
        return tuple(found)


def columns_of(table: Table, null: LabelDraws) -> ColumnDraws:
    """KS, G and missingness of every column in every draw, one column in memory at a time."""
    shape = null.effective.shape
    joint, loudest = torch.full(shape, -math.inf, dtype=torch.float64), torch.zeros(shape[0], dtype=torch.float64)
    kl, missing_kl = torch.zeros(shape, dtype=torch.float64), torch.zeros(shape[1], dtype=torch.float64)
    members: list[tuple[str, Literal["values", "missing"], Tensor, Tensor, Tensor]] = []
    tails = []
    for column in table.columns:
        drawn = _shifts(column, null)
        kl += drawn.level_kl
        missing_kl += drawn.missing_kl[0]
        levels = torch.full_like(drawn.effect[0], torch.nan) if column.test == "ks" else drawn.level_kl[0]
        spoken = evidence(drawn.statistic)
        parts = [spoken.value]
        members.append((column.name, "values", drawn.effect[0], levels, spoken.value[0]))
        if column.test == "ks":
            tails.append(spoken._replace(value=spoken.value[:0]))
        if column.has_missing:
            missing = evidence(drawn.missing_statistic).value
            parts.append(missing)
            members.append((column.name, "missing", drawn.missing_effect[0], drawn.missing_kl[0], missing[0]))
        for part in parts:
            joint = torch.logaddexp(joint, part)
            loudest = torch.maximum(loudest, part.amax(1))
    return ColumnDraws(joint - math.log(len(members)), loudest, kl, missing_kl, tuple(members), tuple(tails))


def _shifts(column: Coded, null: LabelDraws) -> Shift:
    """All draws of one column, (B + 1, K) each; the observed row is the whole table's."""
    contrast, rows = null.contrast, null.rows[: null.sampled]
    width = max(null.sampled, contrast.labels * column.t)
    parts = [
        shift(column, count(column, chunk, contrast, rows), contrast) for chunk in null.chunks(width, null.sampled)
    ]
    drawn = Shift(*(torch.cat(each) for each in zip(*parts, strict=True)))
    if not null.whole:
        whole = shift(column, count(column, null.observed[None], contrast), contrast)
        for each, observed in zip(drawn, whole, strict=True):
            each[0] = observed[0]
    return drawn


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


def rows_of(table: Table, null: LabelDraws) -> RowDraws:
    """Fisher gap, Fisher KL, score and Gaussian KL in every draw, from one product of labels and rows."""
    d, f, contrast = table.parameters, table.f_numeric, null.contrast
    observed = null.sums.observed
    pooled = observed[0, :, d : 2 * d].sum(0) / observed[0, :, 2 * d].sum(0).clamp(min=1)

    def reduce(sums: Tensor) -> Tensor:
        scores, squares, labelled, moments, rows = sums.tensor_split([d, 2 * d, 2 * d + 1, sums.shape[-1] - 1], dim=-1)
        cares = model_shift(scores, squares, labelled[..., 0].double(), pooled.to(sums.dtype), contrast)
        kl = _moment_kl(moments, contrast)[..., :f].sum(-1)
        return torch.stack([*cares, kl, contrast.effective(rows[..., 0].double())], 1)

    *cares, kl, effective = null.reduced(reduce).nan_to_num(0.0, posinf=0.0).unbind(1)
    column_kl = _moment_kl(observed[..., 2 * d + 1 : -1], contrast)[0].T
    target_kl = column_kl[f] if len(column_kl) > f else torch.zeros(len(contrast.pieces), dtype=torch.float64)
    return RowDraws(ModelShift(*cares), kl, effective, column_kl[:f], target_kl)


def _moment_kl(sums: Tensor, contrast: Contrast) -> Tensor:
    """Gaussian KL from sums of values, squares and counts side by side, (C, L, 3 f)."""
    values, squares, sizes = sums.double().chunk(3, dim=-1)
    return moment_kl(values, squares, sizes, contrast)


def target_of(table: Table, null: LabelDraws, rows: RowDraws) -> tuple[ColumnTest, Tensor]:
    """The target's own test, and its statistic in every draw."""
    assert table.target is not None  # noqa: S101 - the caller has one
    drawn = _shifts(table.target, null)
    spoken = evidence(drawn.statistic).value
    kl = rows.target_kl if table.target.test == "ks" else drawn.level_kl[0]
    p = p_among(spoken[0], spoken.amax(1))
    test = ColumnTest(table.target.name, "target", *(each.numpy() for each in (drawn.effect[0], kl, spoken[0], p)))
    return test, drawn.statistic


def domain_of(table: Table, null: LabelDraws, *, seed: int, jobs: int) -> tuple[Tensor, Tensor]:
    """Held-out AUC of the domain classifier (K,), and its statistic (B + 1, K).

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
    return 0.5 + difference[0], statistic
