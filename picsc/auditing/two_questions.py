"""The two questions of an audit: did the data move, and does the model care?

Each question combines several statistics into one p-value per piece. Statistics are kept "free of size": multiplied by
the power of n_eff = 1 / (1/n_piece + 1/n_reference) that makes their null distribution settle as pieces grow, so that
pieces of unequal size are compared on one scale.

Letters: B draws (an axis of B + 1 has the observed value first), K pieces.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from picsc.auditing.model_tests import ModelShift
from picsc.auditing.multiplicity import Evidence, evidence, p_value, step_down
from picsc.auditing.null_statistics import (
    ColumnDraws,
    ColumnTest,
    RowDraws,
    TestInputs,
    columns_of,
    domain_of,
    rows_of,
    target_of,
)
from picsc.auditing.permutations import label_draws
from picsc.equations.trigger import tau

if TYPE_CHECKING:
    from picsc.auditing.design import Design

Floats = NDArray[np.float64]

DATA_WEIGHTS = {"columns": 0.6, "domain classifier": 0.35, "covariate KL": 0.05}
MODEL_WEIGHTS = {"score": 0.4, "Fisher gap": 0.3, "Fisher KL": 0.15, "target": 0.15}
"""Share of the level for each statistic of a question, as in a weighted Bonferroni correction; fixed before data are
seen."""

POWER = 0.8416
"""Standard normal quantile of 80 % power."""


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
    """Effect of the leader: a difference of probabilities for the data; relative to the reference for the model."""
    noise: Floats
    """Noise band: the effect that is exceeded with probability `level` when nothing moved, at each piece's size."""


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
    """Held-out AUC of the domain classifier, in [0, 1]; 0.5 when it finds nothing."""
    smallest_effect: Floats
    """KS distance that is found with 80 % power at the corrected level; NaN without a numeric column."""
    rows_drawn: int
    """Rows that the null permuted."""
    mean_kl: Floats | None = None
    """(B + 1,) covariate KL, mean over columns and pieces, at the pieces' own sizes; None without columns."""


def shift_test(inputs: TestInputs, design: Design, *, level: float, draws: int, seed: int, jobs: int) -> ShiftTest:
    """Test every piece against its reference, with one permutation null for all statistics.

    Source: Eq. 1, 5, 8 and 14 for the statistics.
    Reading: their null is ours, since the paper's raw threshold has no error rate.

    Args:
        inputs: n rows as the tests see them.
        design: design of these rows.
        level: family-wise error rate over both questions, all pieces, columns and statistics.
        draws: B, number of permutations.
        seed: of the draws and the domain classifier.
        jobs: threads; never changes a number.
    """
    null = label_draws(inputs.contributions, design, rows=inputs.rows_per_draw, draws=draws, seed=seed)
    with ThreadPoolExecutor(jobs) as pool:  # each family is on its own, so the order they end in changes nothing
        classified = pool.submit(domain_of, inputs, null, seed=seed, jobs=jobs)
        counted = pool.submit(columns_of, inputs, null)
        summed = pool.submit(rows_of, inputs, null)
    (auc, domain, separation), columns, rows = classified.result(), counted.result(), summed.result()
    fisher = rows.fisher if inputs.parameters else None
    # the two parts of the covariate KL are drawn at different sizes; free of size they add up
    free_kl = null.effective * columns.kl + rows.effective * rows.kl
    data = {
        "columns": evidence(columns.joint),
        "domain classifier": evidence(domain),
        "covariate KL": evidence(free_kl),
    }
    combined = [_combined(data, DATA_WEIGHTS)]
    target, target_effect = None, None
    model: dict[str, Evidence] = {}
    if fisher is not None and inputs.target is not None:
        target, target_statistic, target_effect = target_of(inputs, null, rows)
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
        Question(
            p_value(each.value).numpy(),
            p.numpy(),
            _names(family, weights),
            effect[0].numpy(),
            torch.quantile(effect[1:], 1 - level, dim=0).numpy(),
        )
        for each, p, family, weights, effect in zip(
            combined,
            adjusted,
            (data, model),
            (DATA_WEIGHTS, MODEL_WEIGHTS),
            (_data_effect(data, columns, separation), _model_effect(model, fisher, target_effect)),
            strict=False,
        )
    ]
    return ShiftTest(
        columns=columns.tests(rows.column_kl),
        target=target,
        data=questions[0],
        model=questions[1] if len(questions) > 1 else None,
        fisher=None if fisher is None else ModelShift(*(each[0] for each in fisher)),
        kl=(columns.kl[0] + rows.kl[0]).numpy(),
        missing_kl=columns.missing_kl.numpy(),
        **_tau(fisher, free_kl, rows, level),
        domain_auc=auc.numpy(),
        smallest_effect=_smallest_effect(joint, combined[0], data["columns"], columns, null.effective[0], level),
        rows_drawn=null.sampled,
        mean_kl=(free_kl / null.effective[0]).mean(1).numpy() / len(inputs.columns) if inputs.columns else None,
    )


def _combined(family: Mapping[str, Evidence], weights: Mapping[str, float]) -> Evidence:
    """Evidence of a whole question: the log of the weighted mean of exp(evidence), calibrated by its own draws.

    The mean of inverse p-values acts like the smallest p-value when one statistic is significant, and has more power
    when several are.
    """
    weighted = torch.stack([family[name].value + math.log(weight) for name, weight in weights.items()])
    return evidence(weighted.logsumexp(0).clamp(min=0))


def _leaders(family: Mapping[str, Evidence], weights: Mapping[str, float]) -> Tensor:
    """Position of the statistic with the most evidence in every draw, (B + 1, K)."""
    return torch.stack([family[name].value + math.log(weight) for name, weight in weights.items()]).argmax(0)


def _names(family: Mapping[str, Evidence], weights: Mapping[str, float]) -> tuple[str, ...]:
    """Names of the observed leaders, (K,)."""
    names = tuple(weights)
    return tuple(names[i] for i in _leaders(family, weights)[0].tolist())


def _data_effect(family: Mapping[str, Evidence], columns: ColumnDraws, separation: Tensor) -> Tensor:
    """Effect of the leading statistic in every draw, (B + 1, K) in [0, 1].

    Args:
        family: evidence of the data question's statistics.
        columns: distance of the strongest column.
        separation: (B + 1, K) 2 AUC - 1 of the domain classifier.
    """
    by_classifier = _leaders(family, DATA_WEIGHTS) == tuple(DATA_WEIGHTS).index("domain classifier")
    return torch.where(by_classifier, separation, columns.effect)


def _model_effect(family: Mapping[str, Evidence], fisher: ModelShift | None, target: Tensor | None) -> Tensor:
    """Effect of the leading statistic in excess of its mean under the null, in every draw, (B + 1, K).

    Fisher gap and KL: the relative gap. Score: root of the standardised score, the mean gradient in units of its root
    mean square. Target: total variation or KS distance.
    """
    if fisher is None or target is None:
        return torch.zeros(0)
    size = fisher.effective[0]

    def excess(square: Tensor) -> Tensor:
        free = fisher.effective * square
        own = free / size  # at the piece's own size
        own[0] = square[0]
        return (own - free[1:].mean(0) / size).clamp(min=0).sqrt()

    gap = excess(fisher.gap.square()) / fisher.reference_norm.clamp(min=1e-30)
    effects = {"Fisher gap": gap, "Fisher KL": gap, "score": excess(fisher.score), "target": target}
    stacked = torch.stack([effects[name] for name in MODEL_WEIGHTS])
    return stacked.gather(0, _leaders(family, MODEL_WEIGHTS)[None])[0]


def _tau(fisher: ModelShift | None, free_kl: Tensor, rows: RowDraws, level: float) -> dict[str, Floats | None]:
    """Eq. 14's tau, and the quantile that it exceeds with probability `level` when nothing moved, at each piece's size.

    Source: Eq. 14.
    Reading: the paper compares tau with one gamma; its null depends on the size of the piece, so the quantile is drawn
        for each.
    """
    if fisher is None:
        return {"tau": None, "tau_quantile": None}
    taus = tau(fisher.gap, free_kl) / rows.effective
    free = rows.effective.pow(1.5) * taus
    quantile = torch.quantile(free[1:], 1 - level, dim=0) / rows.effective[0].pow(1.5)
    return {"tau": taus[0].numpy(), "tau_quantile": quantile.numpy()}


def _smallest_effect(
    joint: Tensor, data: Evidence, family: Evidence, columns: ColumnDraws, size: Tensor, level: float
) -> Floats:
    """KS distance that one numeric column must have to be found with 80 % power, (K,)."""
    tails = columns.members.tails
    if not len(tails.start):
        return np.full(joint.shape[-1], np.nan)
    needed = torch.quantile(joint.flatten(1).amax(1)[1:], 1 - level)
    for_question = data.statistic_at(needed)
    for_columns = family.statistic_at(for_question - math.log(DATA_WEIGHTS["columns"]))
    for_one = for_columns + math.log(len(columns.members.names))
    squares = tails.statistic_at(for_one).median(0).values
    return ((squares / size).sqrt() + POWER * 0.5 / size.sqrt()).clamp(max=1).numpy()
