"""Null statistics: draws of every family of statistics but the joint distribution: columns, model, target.

Letters: n rows, m rows that the draws permute, B draws (an axis of B + 1 has the observed value first), C draws at a
time, L labels, K pieces, f columns, d parameters.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from picsc.auditing.effects.ceilings import Ceilings
from picsc.auditing.ks_and_g_tests import Coded, ColumnShiftTest, shift
from picsc.auditing.long_tables.scaled_counts import drawn_counts
from picsc.auditing.model_tests import ModelShift, model_shift, moment_kl
from picsc.auditing.multiplicity import Evidence, p_among
from picsc.auditing.other_columns.new_levels import new_levels
from picsc.auditing.wide_ks import scan_columns, sorted_scan

if TYPE_CHECKING:
    from collections.abc import Sequence

    from picsc.auditing.effects.model_fit import RowFit
    from picsc.auditing.exchangeability import Contrast
    from picsc.auditing.other_columns.codes import Beside
    from picsc.auditing.permutations import LabelDraws, PerRow

Floats = NDArray[np.float64]

SCANNED_COLUMNS, SCANNED_ROWS = 1_000, 1_000
"""Fewest columns and most rows for which KS is taken by `picsc.auditing.wide_ks`; few columns cost little anyway."""

Side = Literal["values", "missing", "format", "new levels"]
"""What of a column is tested."""
_TESTS: tuple[Side, ...] = ("values", "missing")

COLUMNS_TOGETHER = 32
"""Scanned columns whose evidence is taken together: a call of torch costs as much as a column's numbers."""

COLUMNS_AT_ONCE = 1_000
"""Most columns whose Gaussian KL is taken at a time."""


@dataclass(frozen=True, slots=True)
class TestInputs:
    """The n rows as the tests see them; all of it is fixed before a label is permuted."""

    columns: tuple[Coded, ...]
    """Covariates; the f_numeric numeric ones in the order of `contributions`."""
    target: Coded | None
    """None without a target."""
    beside: tuple[Beside, ...]
    """What is tested besides: missing rates of the target and of columns left out, formats, levels that are new."""
    encoded: NDArray[np.float32]
    """Encoded covariates, (n, f), for the contrast forest."""
    contributions: PerRow
    """From row numbers to what these rows contribute, in one matrix: gradients of log p(y | x; theta) (d) and their
    squares (d), both 0 where there is no label; 1 where there is one; standardised numeric columns and a numeric
    target, 0 where missing, their squares, and 1 where present (3 times f_numeric, or f_numeric + 1 with a numeric
    target); 1."""
    parameters: int
    """d, number of parameters of the reference model; 0 without a model."""
    f_numeric: int
    """Number of numeric columns."""
    rows_per_draw: int
    """Most rows of the sample that a draw permutes."""
    monitored: frozenset[str] = frozenset()
    """Names of columns that never make a verdict."""
    alone: frozenset[str] = frozenset()
    """Names of columns that are tested by themselves alone: `encoded` and the covariate KL are without them."""
    fit: RowFit | None = None
    """The reference model's predictions, for what the report says of them; no test uses them. None without a model."""

    @property
    def encoded_columns(self) -> tuple[Coded, ...]:
        """The columns that `encoded` holds, in order."""
        return tuple(column for column in self.columns if column.name not in self.alone)

    @property
    def summed(self) -> tuple[int, ...]:
        """Positions, among the numeric columns, of those that the covariate KL is summed over."""
        numeric = [column.name for column in self.columns if column.test == "ks"]
        return tuple(i for i, name in enumerate(numeric) if name not in self.alone)

    @property
    def every_column(self) -> tuple[Coded, ...]:
        """Every column whose counts are compared with those of draws that stand for all rows."""
        target = () if self.target is None else (self.target,)
        return (*self.columns, *target, *(each.coded for each in self.beside if each.test != "new levels"))


@dataclass(frozen=True, slots=True)
class ColumnKl:
    """The test of one column's KL against every piece's reference. Arrays (K,)."""

    evidence: Floats
    """-log p before any correction."""
    p_adjusted: Floats
    """p-value corrected for the KL of all columns and pieces."""
    effect: Floats
    """Of numbers, the distance that has this KL; of levels, their total variation distance, since a new level has a
    large KL however rare it is."""


@dataclass(frozen=True, slots=True)
class ColumnTest:
    """One column of the table or the target, or its missing rate, against every piece's reference. All arrays (K,)."""

    name: str
    test: Side | Literal["target"]
    effect: Floats
    """KS or total variation distance, difference of missing rates, or share of rows with a new level in excess of
    chance; NaN when a side is empty."""
    kl: Floats
    """Nats."""
    evidence: Floats
    """-log p before any correction."""
    p_adjusted: Floats
    """p-value corrected for all columns and pieces."""
    of_kl: ColumnKl | None = None
    """The test of this column's KL; None where it was not asked for, for missing rates, and for the target."""


@dataclass(frozen=True, slots=True)
class Members:
    """The family of column tests: each column's values and, if some are missing, missing rate; last the target's.

    A few large arrays: small ones, allocated between the draws, would keep the memory of the draws from being reused.
    """

    names: tuple[str, ...]
    tests: tuple[Side, ...]
    effect: Tensor
    """(members, K) observed, like the other arrays."""
    kl: Tensor
    """NaN for numeric columns, whose KL comes from moments."""
    evidence: Tensor
    start: Tensor
    """Start of the fitted tail of a KS column, see `Evidence`; NaN for the others."""
    slope: Tensor
    """Slope of that tail; NaN for the others."""
    kl_evidence: Tensor
    """Evidence of the KL over levels; NaN for numeric columns and missing rates."""

    @property
    def tails(self) -> Evidence:
        """The fitted tails of the KS columns, (columns, K), without draws."""
        numeric = ~self.start.isnan().all(1)
        return Evidence(self.evidence[:0], self.start[numeric], self.slope[numeric])


def _members(columns: Sequence[Coded], others: Sequence[Beside], pieces: int) -> tuple[Members, list[int]]:
    """Empty arrays for all columns, and the place of each column's values in them."""
    both = [(column.name, test) for column in columns for test in _TESTS[: 1 + column.has_missing]]
    both += [(each.coded.name, each.test) for each in others]
    places = np.cumsum([0, *(1 + column.has_missing for column in columns)])[:-1].tolist()
    room = (torch.full((len(both), pieces), torch.nan, dtype=torch.float64) for _ in range(6))
    return Members(tuple(name for name, _ in both), tuple(test for _, test in both), *room), places


@dataclass(frozen=True, slots=True)
class ColumnDraws:
    """All columns in every draw, combined, and each column's observed values."""

    joint: Tensor
    """(B + 1, K) log of the mean of exp(evidence) over columns: large when one column, or many, are significant."""
    largest: Tensor
    """(B + 1,) largest evidence over columns and pieces."""
    effect: Tensor
    """(B + 1, K) effect of the column with the most evidence in each piece, at the piece's own size."""
    kl: Tensor
    """(B + 1, K) KL over categorical columns."""
    missing_kl: Tensor
    """(K,) observed."""
    largest_kl: Tensor
    """(B + 1,) largest evidence of the KL over levels, over categorical columns and pieces."""
    members: Members
    """Observed values of each column."""
    ceilings: Ceilings | None = None
    """Upper ends of effects; None where they were not asked for."""

    def tests(self, moments: Tensor) -> tuple[ColumnTest, ...]:
        """Add the Gaussian KL (f_numeric, K) of the numeric columns to their KS, and correct all p-values."""
        gaussian, members = iter(moments), self.members
        found = []
        for name, test, effect, kl, observed in zip(
            members.names, members.tests, members.effect, members.kl, members.evidence, strict=True
        ):
            divergence = next(gaussian) if kl.isnan().all() else kl
            p = p_among(observed, self.largest)
            effects, kls, seen = (each.double().numpy() for each in (effect, divergence, observed))
            found.append(ColumnTest(name, test, effects, kls, seen, p.numpy()))
        return tuple(found)


def columns_of(inputs: TestInputs, null: LabelDraws, *, certified: float | None = None) -> ColumnDraws:
    """KS, G and missingness of every column in every draw, one column in memory at a time, or a few of many.

    Args:
        inputs: n rows.
        null: draws of these rows.
        certified: level at which upper ends of effects hold; None if they are not asked for.
    """
    shape = null.effective.shape
    joint = torch.full(shape, -math.inf, dtype=torch.float64)
    largest, largest_kl = (torch.zeros(shape[0], dtype=torch.float64) for _ in range(2))
    kl, missing_kl = torch.zeros(shape, dtype=torch.float64), torch.zeros(shape[1], dtype=torch.float64)
    members, places = _members(inputs.columns, inputs.beside, shape[1])
    leading, effect = torch.full(shape, -1.0, dtype=torch.float64), torch.zeros(shape, dtype=torch.float64)
    many = len(inputs.columns) >= SCANNED_COLUMNS and null.whole and null.sampled <= SCANNED_ROWS
    scan = sorted_scan(null.labels, null.contrast) if many else None
    together = COLUMNS_TOGETHER if many else 1
    groups = [(inputs.columns[i : i + together], places[i : i + together]) for i in range(0, len(places), together)]

    ceilings = None if certified is None else Ceilings.none(shape[1])

    def combine(value: Tensor, effects: Tensor, names: Sequence[str]) -> None:
        """Take evidence and effects of a few members, (B + 1, members, K), into those of all."""
        nonlocal joint, largest, leading, effect, ceilings
        held = [i for i, name in enumerate(names) if name not in inputs.monitored]
        if certified is not None and ceilings is not None and held:
            sized = at_own_size(effects[:, held], null.effective[:, None])
            ceilings = ceilings.joined(sized, [names[i] for i in held], level=certified, excess=null.excess)
        joint = torch.logaddexp(joint, value.logsumexp(1))
        largest = torch.maximum(largest, value.amax((1, 2)))
        here, which = value.max(1)
        larger = here > leading
        own = effects.gather(1, which[:, None])[:, 0]
        leading, effect = torch.where(larger, here, leading), torch.where(larger, own, effect)

    for columns, at in groups:
        scanned = {} if scan is None else scan_columns(columns, scan)
        drawn = [scanned[i] if i in scanned else _shifts(column, null) for i, column in enumerate(columns)]
        for place, column, each in zip(at, columns, drawn, strict=True):
            if column.name not in inputs.alone:
                missing_kl += each.missing_kl[0]
            if column.test == "g":
                if column.name not in inputs.alone:
                    kl += each.level_kl
                found = null.evidence(null.effective * each.level_kl).value
                members.kl_evidence[place] = found[0]
                largest_kl = torch.maximum(largest_kl, found.amax(1))
        combine(*_values_evidence(columns, drawn, null, members, at), [column.name for column in columns])
        some = [i for i, column in enumerate(columns) if column.has_missing]
        if some:
            rates = _missing_evidence([drawn[i] for i in some], null, members, [at[i] + 1 for i in some])
            combine(*rates, [columns[i].name for i in some])
    null = replace(null, whole_table=None)  # these are not counted in all rows of a table that is not in memory
    for place, other in enumerate(inputs.beside, start=len(members.names) - len(inputs.beside)):
        if other.test == "missing":
            each = _shifts(other.coded, null)
            missing_kl += each.missing_kl[0]
            combine(*_missing_evidence([each], null, members, [place]), [other.coded.name])
        else:
            each = new_levels(other.coded, null) if other.test == "new levels" else _shifts(other.coded, null)
            combine(*_values_evidence([other.coded], [each], null, members, [place]), [other.coded.name])
    effect = at_own_size(effect.nan_to_num(0.0), null.effective)
    return ColumnDraws(
        joint - math.log(len(members.names)), largest, effect, kl, missing_kl, largest_kl, members, ceilings
    )


def _values_evidence(
    columns: Sequence[Coded], drawn: Sequence[ColumnShiftTest], null: LabelDraws, members: Members, at: Sequence[int]
) -> tuple[Tensor, Tensor]:
    """Evidence and effect of the values of a few columns, (B + 1, columns, K); `members` gets the observed ones."""
    found = null.evidence(torch.stack([each.statistic for each in drawn], 1))
    effect = torch.stack([each.effect for each in drawn], 1)
    members.effect[at], members.evidence[at] = effect[0].double(), found.value[0].double()
    for i, column in enumerate(columns):
        if column.test == "ks":
            members.start[at[i]], members.slope[at[i]] = found.start[i], found.slope[i]
        else:
            members.kl[at[i]] = drawn[i].level_kl[0]
    return found.value, effect


def _missing_evidence(
    drawn: Sequence[ColumnShiftTest], null: LabelDraws, members: Members, place: Sequence[int]
) -> tuple[Tensor, Tensor]:
    """Evidence and effect of the missing rates of a few columns; `members` gets the observed ones."""
    value = null.evidence(torch.stack([each.missing_statistic for each in drawn], 1)).value
    effect = torch.stack([each.missing_effect for each in drawn], 1)
    members.effect[place], members.evidence[place] = effect[0].double(), value[0].double()
    members.kl[place] = torch.stack([each.missing_kl[0] for each in drawn]).double()
    return value, effect


def at_own_size(effect: Tensor, effective: Tensor) -> Tensor:
    """Draws of a distance, (B + 1, K), as they would be at the observed size: chance shrinks like 1 / sqrt(n_eff)."""
    return (effect * (effective / effective[0]).sqrt()).clamp(max=1)


def beyond_chance(free: Tensor, size: Tensor) -> Tensor:
    """Root of a squared distance in excess of its mean under the null, at the piece's own size, (B + 1, K).

    Args:
        free: (B + 1, K) squared distance times n_eff.
        size: (K,) observed n_eff.
    """
    return ((free - free[1:].mean(0)) / size).clamp(min=0).sqrt()


def _shifts(column: Coded, null: LabelDraws) -> ColumnShiftTest:
    """All draws of one column, (B + 1, K) each; the observed row is the whole table's."""
    parts = [shift(column, counts, null.contrast) for counts in drawn_counts(column, null)]
    return ColumnShiftTest(*(torch.cat(each) for each in zip(*parts, strict=True)))


@dataclass(frozen=True, slots=True)
class RowDraws:
    """Draws of all statistics that follow from sums of per-row quantities."""

    fisher: ModelShift
    """Fisher quantities, (B + 1, K) each."""
    kl: Tensor
    """(B + 1, K) Gaussian KL summed over numeric columns, nats."""
    effective: Tensor
    """(B + 1, K) n_eff that the sums stand for."""
    column_kl: Tensor
    """(f_numeric, K) observed Gaussian KL of each numeric column."""
    target_kl: Tensor
    """(K,) observed Gaussian KL of a numeric target; 0 for classes."""


def rows_of(inputs: TestInputs, null: LabelDraws) -> RowDraws:
    """Fisher gap, Fisher KL, score and Gaussian KL in every draw, from one product of labels and rows."""
    d, f, contrast = inputs.parameters, inputs.f_numeric, null.contrast
    summed = list(inputs.summed)
    observed = null.sums.observed
    pooled = observed[0, :, d : 2 * d].sum(0) / observed[0, :, 2 * d].sum(0).clamp(min=1)

    def reduce(sums: Tensor) -> Tensor:
        scores, squares, labelled, moments, rows = sums.tensor_split([d, 2 * d, 2 * d + 1, sums.shape[-1] - 1], dim=-1)
        fisher = model_shift(scores, squares, labelled[..., 0].double(), pooled.to(sums.dtype), contrast)
        if len(summed) < f:
            moments = torch.cat([side[..., summed] for side in moments.chunk(3, dim=-1)], -1)
        kl = _summed_kl(moments, len(summed), contrast)
        return torch.stack([*fisher, kl, contrast.effective(rows[..., 0].double())], 1)

    *fisher, kl, effective = null.reduced(reduce).nan_to_num(0.0, posinf=0.0).unbind(1)
    column_kl = _moment_kl(observed[..., 2 * d + 1 : -1], contrast)[0].T
    target_kl = column_kl[f] if len(column_kl) > f else torch.zeros(len(contrast.pieces), dtype=torch.float64)
    return RowDraws(ModelShift(*fisher), kl, effective, column_kl[:f], target_kl)


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


def target_of(inputs: TestInputs, null: LabelDraws, rows: RowDraws) -> tuple[ColumnTest, Tensor, Tensor]:
    """The test of the target's distribution; its statistic, and its effect at the piece's own size, in every draw."""
    assert inputs.target is not None  # noqa: S101 - the caller has one
    drawn = _shifts(inputs.target, null)
    found = null.evidence(drawn.statistic).value
    kl = rows.target_kl if inputs.target.test == "ks" else drawn.level_kl[0]
    p = p_among(found[0], found.amax(1))
    effect, kls, seen = (each.numpy() for each in (drawn.effect[0], kl, found[0]))
    test = ColumnTest(inputs.target.name, "target", effect, kls, seen, p.numpy())
    return test, drawn.statistic, at_own_size(drawn.effect.nan_to_num(0.0), null.effective)
