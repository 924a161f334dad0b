"""Every statistic of every piece, and its draws under the null: did the data move, and does the model care?

Statistics are kept "free of size": multiplied by the power of n_eff = 1 / (1/n_piece + 1/n_reference) that makes their
null distribution settle as pieces grow. So draws of a subsample serve a table of any length, and pieces of unequal size
are compared on one scale.

Letters: n rows, m rows that the draws permute, B draws (an axis of B + 1 has the observed value first), C draws at a
time, L labels, K pieces, f columns, d parameters.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from picsc.column_shift import Coded, Shift, count, shift
from picsc.domain_classifier import held_out_ranks
from picsc.model_shift import ModelShift, label_sizes, label_sums, model_shift, moment_kl
from picsc.multiplicity import Evidence, evidence, p_value, step_down
from picsc.nulls import Contrast, Exchange, Ints, draw_labels, subsample

Floats = NDArray[np.float64]
PerRow = Callable[[Ints], Tensor]
"""Row numbers (m,) to per-row quantities (m, p)."""

DATA_WEIGHTS = {"columns": 0.6, "domain classifier": 0.35, "covariate KL": 0.05}
MODEL_WEIGHTS = {"score": 0.4, "Fisher gap": 0.3, "Fisher KL": 0.15, "target": 0.15}
"""How the level is shared inside each question, as in a weighted Bonferroni correction; fixed before data are seen."""

POWER = 0.8416
"""Standard normal quantile of 80 % power."""

CELLS = 8_000_000
"""About how many numbers one chunk of draws may hold."""


@dataclass(frozen=True, slots=True)
class Table:
    """What the tests see of n rows; all of it is fixed before a label is permuted."""

    columns: tuple[Coded, ...]
    """Covariates; the numeric ones in the order of `numbers`."""
    numbers: PerRow
    """Standardised numeric columns, 0 where missing, then 1 where present: (m, 2 f_numeric)."""
    encoded: NDArray[np.float32]
    """(n, f) for the domain classifier."""
    target: Coded | None
    target_number: PerRow | None
    """Likewise the target if it is a number: (m, 2)."""
    scores: PerRow | None
    """Gradients of log p(y | x; theta), 0 where there is no label, then 1 where there is one: (m, d + 1)."""
    rows_per_draw: int
    """Most rows that a draw permutes."""


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
class Question:
    """One of the two questions, answered for every piece. All arrays (K,)."""

    p: Floats
    """Over all statistics of the question, one piece at a time."""
    p_adjusted: Floats
    """Over both questions and all pieces."""
    leader: tuple[str, ...]
    """The statistic that speaks loudest, by piece."""
    effect: Floats
    """Of the leader: a difference of probabilities for the data; relative to the reference for the model."""


@dataclass(frozen=True, slots=True)
class ShiftTest:
    """All that is known about K pieces. Arrays are (K,)."""

    columns: tuple[ColumnTest, ...]
    target: ColumnTest | None
    data: Question
    model: Question | None
    """None without a target."""
    fisher: ModelShift | None
    """Observed; each (K,)."""
    kl: Floats
    """Covariate KL summed over columns, missingness apart."""
    missing_kl: Floats
    tau: Floats | None
    tau_quantile: Floats | None
    domain_auc: Floats
    smallest_effect: Floats
    """KS distance found with 80 % power at the adjusted level; NaN without a numeric column."""
    rows_drawn: int


def shift_test(
    table: Table,
    labels: Ints,
    contrast: Contrast,
    exchange: Exchange,
    *,
    level: float,
    draws: int,
    seed: int,
    jobs: int,
) -> ShiftTest:
    """Test every piece against its reference, with one permutation null for all statistics.

    Source: Eq. 1, 5, 8 and 14 for the statistics.
    Reading: their null is ours, since the paper's raw threshold has no error rate.

    Args:
        table: n rows.
        labels: (n,) label of each row, 0 <= label < contrast.labels.
        contrast: which labels are pieces and what each is compared with.
        exchange: what may change places under the null.
        level: family-wise error rate over both questions, all pieces, columns and statistics.
        draws: B.
        seed: of the draws and the domain classifier.
        jobs: threads; never changes a number.
    """
    null = _Null.draw(labels, contrast, exchange, rows=table.rows_per_draw, draws=draws, seed=seed)
    with ThreadPoolExecutor(jobs) as pool:  # each family is on its own, so the order they end in changes nothing
        classified = pool.submit(_domain_draws, table, null, seed=seed, jobs=jobs)
        counted = pool.submit(_column_draws, table, null)
        summed = pool.submit(_moment_draws, table.numbers, null)
        cared = pool.submit(_model_draws, table.scores, null)
    (auc, domain), (moments, column_moments) = classified.result(), summed.result()
    columns, fisher = counted.result(), cared.result()
    kl = columns.kl + moments
    data = {
        "columns": evidence(columns.joint),
        "domain classifier": evidence(domain),
        "covariate KL": evidence(null.effective * kl),
    }
    combined = [_combined(data, DATA_WEIGHTS)]
    target = None
    model: dict[str, Evidence] = {}
    if fisher is not None and table.target is not None:
        target, target_statistic = _target_draws(table, null)
        model = {
            "score": evidence(fisher.effective * fisher.score),
            "Fisher gap": evidence(fisher.effective * fisher.gap.square()),
            "Fisher KL": evidence(fisher.effective * fisher.kl),
            "target": evidence(target_statistic),
        }
        combined.append(_combined(model, MODEL_WEIGHTS))

    joint = torch.stack([each.value for each in combined], 1)  # (B + 1, questions, K)
    adjusted = step_down(joint.flatten(1)).reshape(joint.shape[1:])
    questions = [
        Question(p_value(each.value).numpy(), p.numpy(), _leaders(family, weights), effect)
        for each, p, family, weights, effect in zip(
            combined,
            adjusted,
            (data, model),
            (DATA_WEIGHTS, MODEL_WEIGHTS),
            (_data_effect(data, columns, auc), _model_effect(model, fisher, target)),
            strict=False,
        )
    ]
    return ShiftTest(
        columns=columns.tests(column_moments),
        target=target,
        data=questions[0],
        model=questions[1] if len(questions) > 1 else None,
        fisher=None if fisher is None else ModelShift(*(each[0] for each in fisher)),
        kl=kl[0].numpy(),
        missing_kl=columns.missing_kl.numpy(),
        **_tau(fisher, kl, null, level),
        domain_auc=auc.numpy(),
        smallest_effect=_smallest_effect(joint, combined[0], data["columns"], columns, null, level),
        rows_drawn=len(null.rows),
    )


class _Null(NamedTuple):
    """Piece labels under the null, and the rows they belong to."""

    contrast: Contrast
    rows: Ints
    """(m,)"""
    labels: NDArray[np.int16]
    """(B + 1, m), observed first."""
    observed: Ints
    """(n,) labels of the whole table."""
    effective: Tensor
    """(B + 1, K) n_eff of each draw; the observed one is the whole table's."""

    @classmethod
    def draw(cls, labels: Ints, contrast: Contrast, exchange: Exchange, *, rows: int, draws: int, seed: int) -> _Null:
        kept = subsample(labels, exchange, rows=rows, seed=seed)
        moved = Exchange(*(None if ids is None else ids[kept] for ids in (exchange.units, exchange.strata)))
        drawn, sizes = [], []
        for chunk in draw_labels(labels[kept], moved, draws=draws, seed=seed, cells=CELLS):
            drawn.append(chunk.astype(np.int16))
            sizes.append(label_sizes(chunk, contrast))
        counted = torch.cat(sizes)
        counted[0] = label_sizes(labels[None], contrast)[0]
        piece, reference = contrast.split(counted)
        return cls(contrast, kept, np.concatenate(drawn), labels, 1 / (1 / piece + 1 / reference))

    @property
    def whole(self) -> bool:
        """Whether the draws permute all rows, so that the observed sums are one of them."""
        return len(self.rows) == len(self.observed)

    def chunks(self, width: int) -> Iterator[Ints]:
        """Labels, (C, m) at a time, with C * width at most CELLS."""
        step = max(1, CELLS // max(width, 1))
        for start in range(0, len(self.labels), step):
            yield self.labels[start : start + step].astype(np.int64)

    def reduced(self, per_row: PerRow, reduce: Callable[[Tensor], Tensor]) -> Tensor:
        """Sum per-row quantities by label in every draw and reduce each chunk of sums (C, L, p) to (C, ...)."""
        matrix = per_row(self.rows)
        width = self.contrast.labels * max(matrix.shape)
        return torch.cat([reduce(label_sums(matrix, chunk, self.contrast)) for chunk in self.chunks(width)])

    def observed_sums(self, per_row: PerRow, rows_at_once: int = 65_536) -> Tensor:
        """Sums of the whole table by its own labels, (1, L, p) float64, in one pass of bounded memory."""
        total = None
        for start in range(0, len(self.observed), rows_at_once):
            rows = np.arange(start, min(start + rows_at_once, len(self.observed)))
            part = label_sums(per_row(rows), self.observed[rows][None], self.contrast).double()
            total = part if total is None else total + part
        assert total is not None  # noqa: S101 - a table has rows
        return total


@dataclass(frozen=True, slots=True)
class _ColumnDraws:
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
            reached = (self.loudest[1:, None] >= spoken - 1e-5 * spoken.abs()).sum(0)
            p = (1 + reached) / len(self.loudest)
            found.append(ColumnTest(name, test, *(each.double().numpy() for each in (effect, divergence, spoken, p))))
        return tuple(found)


def _column_draws(table: Table, null: _Null) -> _ColumnDraws:
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
    return _ColumnDraws(joint - math.log(len(members)), loudest, kl, missing_kl, tuple(members), tuple(tails))


def _shifts(column: Coded, null: _Null) -> Shift:
    """All draws of one column, (B + 1, K) each; the observed row is the whole table's."""
    width = max(len(null.rows), null.contrast.labels * column.t)
    parts = [
        shift(column, count(column, chunk, null.contrast, null.rows), null.contrast) for chunk in null.chunks(width)
    ]
    drawn = Shift(*(torch.cat(each) for each in zip(*parts, strict=True)))
    if not null.whole:
        whole = shift(column, count(column, null.observed[None], null.contrast), null.contrast)
        for each, observed in zip(drawn, whole, strict=True):
            each[0] = observed[0]
    return drawn


def _moment_draws(numbers: PerRow, null: _Null) -> tuple[Tensor, Tensor]:
    """Gaussian KL summed over numeric columns, (B + 1, K), and the observed one of each, (f_numeric, K); nats."""
    observed = _observed_moments(numbers, null)
    drawn = null.reduced(_with_squares(numbers), lambda sums: _moment_kl(sums, null.contrast).sum(-1))
    if not null.whole:
        drawn[0] = observed.sum(0)
    return drawn, observed


def _observed_moments(numbers: PerRow, null: _Null) -> Tensor:
    """Gaussian KL of each numeric column, (f_numeric, K) nats."""
    return _moment_kl(null.observed_sums(_with_squares(numbers)), null.contrast)[0].T


def _with_squares(numbers: PerRow) -> PerRow:
    def per_row(rows: Ints) -> Tensor:
        values, present = numbers(rows).chunk(2, dim=1)
        return torch.cat([values, values.square(), present], 1)

    return per_row


def _moment_kl(sums: Tensor, contrast: Contrast) -> Tensor:
    values, squares, sizes = sums.double().chunk(3, dim=-1)
    return moment_kl(values, squares, sizes, contrast)


def _model_draws(scores: PerRow | None, null: _Null) -> ModelShift | None:
    """Fisher gap, KL and score in every draw, (B + 1, K) each; None without a model."""
    if scores is None:
        return None
    pooled = scores(null.rows)[:, :-1].square().mean(0)

    def per_row(rows: Ints) -> Tensor:
        gradient = scores(rows)
        return torch.cat([gradient[:, :-1], gradient[:, :-1].square(), gradient[:, -1:]], 1)

    def reduce(sums: Tensor) -> Tensor:
        d = (sums.shape[-1] - 1) // 2
        return torch.stack(
            model_shift(sums[..., :d], sums[..., d:-1], sums[..., -1].double(), pooled, null.contrast), 1
        )

    drawn = null.reduced(per_row, reduce)
    if not null.whole:
        drawn[0] = reduce(null.observed_sums(per_row))[0]
    return ModelShift(*drawn.nan_to_num(0.0).unbind(1))


def _target_draws(table: Table, null: _Null) -> tuple[ColumnTest, Tensor]:
    """The target's own test, and its statistic in every draw."""
    assert table.target is not None  # noqa: S101 - the caller has one
    drawn = _shifts(table.target, null)
    spoken = evidence(drawn.statistic).value
    kl = drawn.level_kl[0] if table.target_number is None else _observed_moments(table.target_number, null)[0]
    p = p_value(spoken.amax(1, keepdim=True).expand_as(spoken).clone().index_copy(0, torch.tensor([0]), spoken[:1]))
    test = ColumnTest(table.target.name, "target", *(each.numpy() for each in (drawn.effect[0], kl, spoken[0], p)))
    return test, drawn.statistic


def _domain_draws(table: Table, null: _Null, *, seed: int, jobs: int) -> tuple[Tensor, Tensor]:
    """Held-out AUC of the domain classifier (K,), and its statistic (B + 1, K).

    A draw permutes the labels of both halves at once, as if the halves' AUCs were independent. They are not: a chance
    difference that both halves share is learned from one and confirmed in the other. With correlation at most 1, the
    observed mean of two AUCs varies at most like one of them, so its square is halved against the draws: valid whatever
    the correlation is.
    """
    labels = null.observed[null.rows]
    ranks = held_out_ranks(table.encoded[null.rows], labels, null.contrast, seed=seed, jobs=jobs)

    def reduce(sums: Tensor) -> Tensor:
        piece, reference = (side.double() for side in null.contrast.split(sums))
        size_p, size_r = piece[..., -1], reference[..., -1]
        own = torch.diagonal(piece[..., :-1], dim1=1, dim2=2) / size_p
        other = torch.diagonal(reference[..., :-1], dim1=1, dim2=2) / size_r
        return torch.stack([(own - other).nan_to_num(0.0), 1 / (1 / size_p + 1 / size_r)], 1)

    matrix = torch.cat([torch.from_numpy(ranks), torch.ones(len(ranks), 1)], 1)
    width = null.contrast.labels * max(matrix.shape)
    drawn = torch.cat([reduce(label_sums(matrix, chunk, null.contrast)) for chunk in null.chunks(width)])
    difference, size = drawn.unbind(1)
    statistic = size * difference.clamp(min=0).square()
    statistic[0] /= 2
    return 0.5 + difference[0], statistic


def _combined(family: Mapping[str, Evidence], weights: Mapping[str, float]) -> Evidence:
    """Evidence of a whole question: the log of the weighted mean of exp(evidence), calibrated by its own draws.

    The mean of inverse p-values is close to their minimum when one statistic speaks, and gains when several do.
    """
    weighed = torch.stack([family[name].value + math.log(weight) for name, weight in weights.items()])
    return evidence(weighed.logsumexp(0).clamp(min=0))


def _leaders(family: Mapping[str, Evidence], weights: Mapping[str, float]) -> tuple[str, ...]:
    names = tuple(weights)
    weighed = torch.stack([family[name].value[0] + math.log(weights[name]) for name in names])
    return tuple(names[i] for i in weighed.argmax(0).tolist())


def _data_effect(family: Mapping[str, Evidence], columns: _ColumnDraws, auc: Tensor) -> Floats:
    """Effect of the leading statistic, in [0, 1]: distance of the loudest column, or 2 AUC - 1."""
    by_classifier = torch.tensor([name == "domain classifier" for name in _leaders(family, DATA_WEIGHTS)])
    return torch.where(by_classifier, (2 * auc - 1).clamp(min=0), columns.strongest_effect).numpy()


def _model_effect(family: Mapping[str, Evidence], fisher: ModelShift | None, target: ColumnTest | None) -> Floats:
    """Effect of the leading statistic in excess of its mean under the null.

    Fisher gap and KL: the relative gap. Score: root of the standardised score, the mean gradient in units of its root
    mean square. Target: total variation or KS distance.
    """
    if fisher is None or target is None:
        return np.zeros(0)
    size = fisher.effective[0]

    def excess(square: Tensor) -> Tensor:
        return (square[0] - (fisher.effective * square)[1:].mean(0) / size).clamp(min=0).sqrt()

    gap = excess(fisher.gap.square()) / fisher.reference_norm[0].clamp(min=1e-30)
    effects = {
        "Fisher gap": gap.numpy(),
        "Fisher KL": gap.numpy(),
        "score": excess(fisher.score).numpy(),
        "target": np.nan_to_num(target.effect),
    }
    return np.array([effects[name][k] for k, name in enumerate(_leaders(family, MODEL_WEIGHTS))])


def _tau(fisher: ModelShift | None, kl: Tensor, null: _Null, level: float) -> dict[str, Floats | None]:
    """Eq. 14's tau, and the quantile that it exceeds with probability `level` when nothing moved, at each piece's size.

    Source: Eq. 14. Reading: the paper compares tau with one gamma; its null depends on the size of the piece, so the
    quantile is drawn for each.
    """
    if fisher is None:
        return {"tau": None, "tau_quantile": None}
    tau = fisher.gap * kl
    free = null.effective.pow(1.5) * tau
    quantile = torch.quantile(free[1:], 1 - level, dim=0) / null.effective[0].pow(1.5)
    return {"tau": tau[0].numpy(), "tau_quantile": quantile.numpy()}


def _smallest_effect(
    joint: Tensor, data: Evidence, family: Evidence, columns: _ColumnDraws, null: _Null, level: float
) -> Floats:
    """KS distance that one numeric column must have to be called with 80 % power, (K,)."""
    if not columns.tails:
        return np.full(joint.shape[-1], np.nan)
    needed = torch.quantile(joint.flatten(1).amax(1)[1:], 1 - level)
    for_question = data.statistic_at(needed)
    for_columns = family.statistic_at(for_question - math.log(DATA_WEIGHTS["columns"]))
    for_one = for_columns + math.log(len(columns.members))
    squares = torch.stack([tail.statistic_at(for_one) for tail in columns.tails]).median(0).values
    size = null.effective[0]
    return ((squares / size).sqrt() + POWER * 0.5 / size.sqrt()).clamp(max=1).numpy()
