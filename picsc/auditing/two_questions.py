"""The two questions of an audit: did the data move, and does the model care?

Each question combines several statistics into one p-value per piece. Statistics are kept "free of size": multiplied by
the power of n_eff = 1 / (1/n_piece + 1/n_reference) that makes their null distribution settle as pieces grow, so that
pieces of unequal size are compared on one scale.

Letters: B draws (an axis of B + 1 has the observed value first), K pieces.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from picsc.auditing.exchangeability import STATISTICS_SEED
from picsc.auditing.explanation.effects_of_columns import effects_of_columns, jointly_alone
from picsc.auditing.explanation.kl_by_column import with_kl_by_column
from picsc.auditing.joint_distribution import joint_of, leading_columns
from picsc.auditing.long_tables.rare_codes import rare_rows
from picsc.auditing.model_tests import ModelShift
from picsc.auditing.multiplicity import Evidence, evidence, p_among, p_value, step_down
from picsc.auditing.null_statistics import (
    ColumnDraws,
    ColumnTest,
    RowDraws,
    TestInputs,
    beyond_chance,
    columns_of,
    rows_of,
    target_of,
)
from picsc.auditing.permutations import label_draws
from picsc.auditing.streams.trend import Trend, trend_of, with_share
from picsc.equations.trigger import tau

if TYPE_CHECKING:
    from picsc.auditing.design import Design
    from picsc.auditing.effects.ceilings import Ceilings
    from picsc.auditing.long_tables.whole_counts import WholeCounts

Floats = NDArray[np.float64]

DATA_WEIGHTS = {"columns": 0.35, "joint distribution": 0.6, "covariate KL": 0.05}
MODEL_WEIGHTS = {"score": 0.4, "Fisher gap": 0.3, "Fisher KL": 0.15, "target": 0.15}
"""Share of the level for each statistic of a question, as in a weighted Bonferroni correction; fixed before data are
seen."""

POWER = 0.8416
"""Standard normal quantile of 80 % power."""


@dataclass(frozen=True, slots=True)
class Statistic:
    """One statistic of a question, for every piece. All arrays (K,)."""

    p_adjusted: Floats
    """p-value corrected for all statistics of both questions and all pieces."""
    effect: Floats
    """Its own effect; of `columns` and `covariate KL`, that of the largest significant column, or where none is, of the
    one with the most evidence."""


@dataclass(frozen=True, slots=True)
class Question:
    """The answer to one of the two questions, for every piece. All arrays (K,)."""

    p: Floats
    """p-value over all statistics of the question, one piece at a time."""
    p_adjusted: Floats
    """p-value corrected for both questions and all pieces."""
    leader: tuple[str, ...]
    """Name of the statistic with the most evidence, by piece."""
    effect: Floats
    """The largest effect of the significant statistics, or where none is, the effect of the leader: a difference of
    probabilities for the data; relative to the reference for the model."""
    noise: Floats
    """Noise band: the leader's effect that is exceeded with probability `level` when nothing moved, at each piece's
    size."""
    statistics: Mapping[str, Statistic]
    """Every statistic of the question by itself, by name."""


@dataclass(frozen=True, slots=True)
class ShiftTest:
    """Statistics and p-values of K pieces. Arrays are (K,)."""

    columns: tuple[ColumnTest, ...]
    target: ColumnTest | None
    """Test of the target's distribution; None without a target."""
    data: Question
    """Answer to the data question."""
    model: Question | None
    """Answer to the model question; None without a target."""
    fisher: ModelShift | None
    """Observed Fisher quantities, each (K,); None without a target."""
    kl: Floats
    """Covariate KL summed over columns, without missingness, in nats."""
    missing_kl: Floats
    """KL of the missing rates summed over columns, in nats."""
    tau: Floats | None
    """Eq. 14's tau; None without a target."""
    tau_quantile: Floats | None
    """The tau that is exceeded with probability `level` when nothing moved; None without a target."""
    domain_auc: Floats
    """AUC by which rows of the piece are told from its reference, each left out of what it is compared with; 0.5 when
    nothing tells them apart."""
    smallest_effect: Floats
    """KS distance that is found with 80 % power at the corrected level; NaN without a numeric column."""
    rows_drawn: int
    """Rows that the null permuted."""
    classifier_columns: Mapping[int, tuple[str, ...]] | None = None
    """The columns whose relation to the others sets a piece apart, by the position of each piece whose joint
    distribution is significant and no column is."""
    evidence: Floats | None = None
    """-log p of the question with the stronger answer, beyond the largest draw as well, not corrected: it ranks pieces
    that differ, whatever the unit of their effects."""
    trend: Trend | None = None
    """The test of a steady move over all pieces; None unless each is compared with the one before."""
    ceilings: Ceilings | None = None
    """Upper ends of effects; None where they were not asked for."""
    mean_kl: Floats | None = None
    """(B + 1,) covariate KL, mean over columns and pieces, at the pieces' own sizes; None without columns."""

    @property
    def p(self) -> Floats:
        """Adjusted p-value of the question with the stronger answer, (K,)."""
        return self.data.p_adjusted if self.model is None else np.minimum(self.data.p_adjusted, self.model.p_adjusted)


def shift_test(
    inputs: TestInputs,
    design: Design,
    *,
    level: float,
    draws: int,
    seed: int,
    jobs: int,
    certified: bool = False,
    whole: WholeCounts | None = None,
) -> ShiftTest:
    """Test every piece against its reference, with one permutation null for all statistics.

    Source: Eq. 1, 5, 8 and 14 for the statistics.
    Reading: their null is ours, since the paper's raw threshold has no error rate.

    Args:
        inputs: n rows as the tests see them.
        design: design of these rows.
        level: family-wise error rate over both questions, all pieces, columns and statistics.
        draws: B, number of permutations.
        seed: of the draws.
        jobs: threads; never changes a number.
        certified: find the upper ends of effects as well.
        whole: counts of the table of which the n rows are a sample; columns and target are then tested in all rows, and
            the joint distribution, the model and the KL of numbers in the sample.
    """
    rare = rare_rows(inputs.every_column, labels=design.contrast.labels, rows=inputs.rows_per_draw)
    null = label_draws(inputs.contributions, design, rows=inputs.rows_per_draw, draws=draws, seed=seed, rare=rare)
    counting = null
    if whole is not None:
        effective = whole.effective(null.contrast).repeat(draws + 1, 1)
        counting = replace(null.in_another_order(), effective=effective, whole_table=whole)
    with ThreadPoolExecutor(jobs) as pool:  # each family is on its own, so the order they end in changes nothing
        together = pool.submit(joint_of, inputs, null, seed=STATISTICS_SEED, jobs=jobs)
        counted = pool.submit(columns_of, inputs, counting, certified=level if certified else None)
        summed = pool.submit(rows_of, inputs, null)
    jointly, columns, rows = together.result(), counted.result(), summed.result()
    fisher = rows.fisher if inputs.parameters else None
    # the two parts of the covariate KL are drawn at different sizes; free of size they add up
    free_kl = counting.effective * columns.kl + rows.effective * rows.kl
    data = _Family(
        DATA_WEIGHTS,
        {
            "columns": evidence(columns.joint),
            "joint distribution": null.evidence(jointly.statistic),
            "covariate KL": null.evidence(free_kl),
        },
        {"columns": columns.effect, "joint distribution": jointly.effect, "covariate KL": columns.effect},
    )
    target, families, ceilings = None, [data], columns.ceilings
    if fisher is not None and inputs.target is not None:
        target, target_statistic, target_effect = target_of(inputs, counting, rows)
        if ceilings is not None:
            of_target = target_effect[:, None], [target.name]
            ceilings = ceilings.joined(*of_target, level=level, excess=null.excess)
        model = {
            "score": null.evidence(fisher.effective * fisher.score),
            "Fisher gap": null.evidence(fisher.effective * fisher.gap.square()),
            "Fisher KL": null.evidence(fisher.effective * fisher.kl),
            "target": null.evidence(target_statistic),
        }
        families.append(_Family(MODEL_WEIGHTS, model, _model_effects(fisher, target_effect)))

    combined = [family.combined() for family in families]
    joint = torch.stack([each.value for each in combined], 1)  # (B + 1, questions, K)
    trend = trend_of(inputs, null, design, level=level)
    hypotheses = with_share(joint.flatten(1), trend)
    corrected = step_down(hypotheses)
    adjusted = corrected[: joint[0].numel()].reshape(joint.shape[1:])
    own_p = _own_p(families)
    tests = columns.tests(rows.column_kl)
    if bool((own_p[0]["covariate KL"] <= level).any()):
        tests = with_kl_by_column(tests, inputs, null, columns)
    effects = [{name: effect[0].numpy() for name, effect in family.effects.items()} for family in families]
    effects[0] |= effects_of_columns(tests, effects[0], level)
    covariates = len(inputs.encoded_columns)
    questions = [
        _question(family, each, p.numpy(), own, effect, level=level, excess=null.excess)
        for family, each, p, own, effect in zip(families, combined, adjusted, own_p, effects, strict=True)
    ]
    alone = jointly_alone(questions[0].statistics["joint distribution"].p_adjusted, tests, level)
    return ShiftTest(
        columns=tests,
        target=target,
        data=questions[0],
        model=questions[1] if len(questions) > 1 else None,
        fisher=None if fisher is None else ModelShift(*(each[0] for each in fisher)),
        kl=(columns.kl[0] + rows.kl[0]).numpy(),
        missing_kl=columns.missing_kl.numpy(),
        **_tau(fisher, free_kl, rows, level, null.excess),
        domain_auc=jointly.auc.numpy(),
        smallest_effect=_smallest_effect(
            hypotheses, combined[0], data.statistics["columns"], columns, counting.effective[0] / null.excess, level
        ),
        rows_drawn=null.sampled,
        classifier_columns=leading_columns(jointly, inputs, null, alone, seed=STATISTICS_SEED),
        trend=None if trend is None else replace(trend, p_adjusted=float(corrected[-1])),
        evidence=joint[0].amax(0).double().numpy(),
        ceilings=ceilings,
        mean_kl=(free_kl / counting.effective[0]).mean(1).numpy() / covariates if covariates else None,
    )


@dataclass(frozen=True, slots=True)
class _Family:
    """The statistics of one question in every draw."""

    weights: Mapping[str, float]
    """Share of the level of each statistic."""
    statistics: Mapping[str, Evidence]
    """Evidence of each, (B + 1, K)."""
    effects: Mapping[str, Tensor]
    """Effect of each, (B + 1, K)."""

    def weighted(self) -> Tensor:
        """Evidence in the light of each statistic's share of the level, (statistics, B + 1, K)."""
        return torch.stack([self.statistics[name].value + math.log(weight) for name, weight in self.weights.items()])

    def combined(self) -> Evidence:
        """Evidence of the whole question: the log of the weighted mean of exp(evidence), calibrated by its own draws.

        The mean of inverse p-values acts like the smallest p-value when one statistic is significant, and has more
        power when several are.
        """
        return evidence(self.weighted().logsumexp(0).clamp(min=0))

    def led(self) -> tuple[Tensor, Tensor]:
        """Position of the statistic with the most evidence in every draw, and its effect, (B + 1, K) each."""
        leaders = self.weighted().argmax(0)
        return leaders, torch.stack([self.effects[name] for name in self.weights]).gather(0, leaders[None])[0]


def _own_p(families: Sequence[_Family]) -> list[dict[str, Floats]]:
    """p-value of every statistic by itself, (K,), corrected for all statistics of all families and all pieces."""
    weighted = [family.weighted() for family in families]
    largest = torch.cat(weighted).amax((0, 2))  # (B + 1,)
    return [
        {name: p_among(own[0], largest).numpy() for name, own in zip(family.weights, each, strict=True)}
        for family, each in zip(families, weighted, strict=True)
    ]


def _question(
    family: _Family,
    combined: Evidence,
    adjusted: Floats,
    own_p: dict[str, Floats],
    own: dict[str, Floats],
    *,
    level: float,
    excess: float,
) -> Question:
    """The answer to one question.

    Args:
        family: the question's statistics.
        combined: evidence of all of them together.
        adjusted: (K,) p-values of `combined`, corrected for both questions and all pieces.
        own_p: p-value of each statistic by itself.
        own: observed effect of each statistic.
        level: family-wise error rate.
        excess: factor by which observed squares are larger than drawn ones when nothing moved.
    """
    leaders, led = family.led()
    names = tuple(family.weights)
    leader = tuple(names[i] for i in leaders[0].tolist())
    largest = np.max([np.where(own_p[name] <= level, own[name], -1.0) for name in names], axis=0)
    of_leader = np.array([own[name][k] for k, name in enumerate(leader)])
    return Question(
        p=p_value(combined.value).numpy(),
        p_adjusted=adjusted,
        leader=leader,
        effect=np.where(largest >= 0, largest, of_leader),
        noise=math.sqrt(excess) * torch.quantile(led[1:], 1 - level, dim=0).numpy(),
        statistics={name: Statistic(own_p[name], own[name]) for name in names},
    )


def _model_effects(fisher: ModelShift, target: Tensor) -> dict[str, Tensor]:
    """Effect of each statistic in excess of its mean under the null, in every draw, (B + 1, K).

    Fisher gap and KL: the relative gap. Score: root of the standardised score, the mean gradient in units of its root
    mean square. Target: total variation or KS distance.
    """
    gap_free, score_free = (fisher.effective * square for square in (fisher.gap.square(), fisher.score))
    gap = beyond_chance(gap_free, fisher.effective[0]) / fisher.reference_norm.clamp(min=1e-30)
    score = beyond_chance(score_free, fisher.effective[0])
    return {"Fisher gap": gap, "Fisher KL": gap, "score": score, "target": target}


def _tau(
    fisher: ModelShift | None, free_kl: Tensor, rows: RowDraws, level: float, excess: float
) -> dict[str, Floats | None]:
    """Eq. 14's tau, and the quantile that it exceeds with probability `level` when nothing moved, at each piece's size.

    Source: Eq. 14.
    Reading: the paper compares tau with one gamma; its null depends on the size of the piece, so the quantile is drawn
        for each.
    """
    if fisher is None:
        return {"tau": None, "tau_quantile": None}
    taus = tau(fisher.gap, free_kl) / rows.effective
    free = rows.effective.pow(1.5) * taus
    quantile = torch.quantile(free[1:], 1 - level, dim=0) * (excess / rows.effective[0]).pow(1.5)
    return {"tau": taus[0].numpy(), "tau_quantile": quantile.numpy()}


def _smallest_effect(
    hypotheses: Tensor, data: Evidence, family: Evidence, columns: ColumnDraws, size: Tensor, level: float
) -> Floats:
    """KS distance that one numeric column must have to be found with 80 % power, (K,)."""
    tails = columns.members.tails
    if not len(tails.start):
        return np.full(len(size), np.nan)
    needed = torch.quantile(hypotheses.amax(1)[1:], 1 - level)
    for_question = data.statistic_at(needed)
    for_columns = family.statistic_at(for_question - math.log(DATA_WEIGHTS["columns"]))
    for_one = for_columns + math.log(len(columns.members.names))
    squares = tails.statistic_at(for_one).median(0).values
    return ((squares / size).sqrt() + POWER * 0.5 / size.sqrt()).clamp(max=1).numpy()
