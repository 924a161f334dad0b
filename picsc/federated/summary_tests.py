"""Tests for shifted clients that see their summaries alone (paper, Eq. 8, 14 and Algorithm 2).

Letters: K clients, n_k rows of client k, N of all, m rows of a client's halves, d parameters, b draws, c classes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

import torch
from scipy.stats import chi2_contingency
from torch import Tensor

from picsc.auditing.multiplicity import evidence, p_value, step_down
from picsc.datasets.encoding import Covariates
from picsc.equations.divergence import categorical_kl, fisher_gap
from picsc.equations.moment_kl import Moments, moments_kl
from picsc.equations.trigger import LEVEL, calibrated_threshold, tau
from picsc.errors import DataError
from picsc.evaluation.holm import holm
from picsc.federated.client_summary import FEWEST_ROWS, Summary
from picsc.federated.small_cells import only

KL_ORDER, GAP_ORDER = 1.0, 0.5
"""Powers of 1/a + 1/b that divergences between a and b rows of one distribution are proportional to."""
TAU_ORDER = KL_ORDER + GAP_ORDER


_Test = tuple[float, float | None, float | None, float | None, float | None]


@dataclass(frozen=True, slots=True)
class ClientVerdict:
    """One client against all the others together."""

    n: int
    """Number of rows of the client."""
    fisher_gap: float
    """||I_k - I_rest|| at the theta received, nats per squared parameter unit."""
    fisher_gap_relative: float
    """Fisher gap divided by ||I_rest||; 0 where both are 0."""
    kl: float
    """Covariate KL(client || rest), nats."""
    tau: float
    """Product of Fisher gap and covariate KL."""
    gamma: float
    """Threshold that tau exceeds with probability `level` without shift, for this client alone; inf without a test."""
    p: float | None
    """p-value of tau, for this client alone; at least 1 / (1 + b); None without a test."""
    p_adjusted: float | None
    """p-value of tau with the family-wise error over all clients controlled; None without a test."""
    p_gap: float | None
    """p-value of the Fisher gap, family-wise over clients: does the shift matter to the model? None without a test."""
    p_kl: float | None
    """p-value of the covariate KL, family-wise over clients: did the data move? None without a test."""
    label_kl: float | None
    """KL of class frequencies, client || rest, nats; None without label counts."""
    label_p: float | None
    """p-value of the chi-square test that classes are as frequent as in the rest, for this client alone."""
    label_p_adjusted: float | None
    """The same p-value, adjusted over clients by Holm's method."""
    reason: str = ""
    """Reason why the client could not be tested; empty if it was."""

    @property
    def fires(self) -> bool:
        """True if the client sets off Algorithm 2's trigger."""
        return self.tau > self.gamma


@torch.no_grad()
def run_client_tests(
    summaries: Sequence[Summary], covariates: Covariates, *, level: float = LEVEL
) -> tuple[ClientVerdict, ...]:
    """Compare every client with all the others, on summaries taken at one theta.

    Source: Eq. 14 with the rest as I_ref and Q; its "calibrated threshold gamma" as in Algorithm 2.
    Reading: the server has no rows to permute, so the null is scaled from random halves that clients made of their own
        rows. A difference of means of a and b rows of one distribution has variance s^2 (1/a + 1/b), so the Fisher gap,
        a norm of such differences, grows as its root; KL is quadratic in differences of moments and grows as the factor
        itself; tau, their product, as (1/a + 1/b)^1.5. Two halves of m rows have 1/a + 1/b = 4/m (permuted rows have
        the unbiased s^2), so tau of a client against the rest is distributed as tau between halves times
        ((1/n_k + 1/(N - n_k)) / (4/m))^1.5.
    Reading: alone, a small client's halves understate the null where squared scores or columns have long tails that its
        rows happen to miss: at a level of 5 %, 9 to 13 % false alarms of clients of 20 rows with long-tailed columns,
        and 13 to 20 % of audits of nine clients. Without shift the scaled halves of all clients are draws of one
        distribution, so every draw is raised to the same quantile of theirs together, weighted by m. That errs on the
        side of caution: 0 to 3 % at 20 and 50 rows, about 5 % from 500 rows on, at most 3 % of audits
        (benchmarks/federated_audit.py). tau is weak where only one of its factors moves (flipped labels leave the
        covariates alone), so both are also tested by themselves.

    Args:
        summaries: one per client, at the same theta, with the same features and draws.
        covariates: kinds of the features.
        level: rate of false alarms that gamma is calibrated to.

    Returns:
        One verdict per client, in their order.

    Raises:
        DataError: there are fewer than two clients, or their summaries do not fit together.
    """
    _check(summaries, covariates)
    total = sum(each.n for each in summaries)
    moments = [each.moments for each in summaries]
    all_moments = reduce(Moments.plus, moments)
    fisher_sum = torch.zeros_like(summaries[0].fisher, dtype=torch.float64)
    for each in summaries:
        fisher_sum.add_(each.fisher.double(), alpha=each.n)
    gaps, relative, kls = [], [], []
    for each, own in zip(summaries, moments, strict=True):
        rest = (fisher_sum - each.n * each.fisher.double()) / (total - each.n)
        gap, size = float(fisher_gap(each.fisher.double(), rest)), float(rest.norm())
        gaps.append(gap)
        relative.append(gap / size if size > 0 else math.inf if gap > 0 else 0.0)
        others = all_moments.minus(own)
        kls.append(float(moments_kl(own, others, only(covariates, (own.n > 0) & (others.n > 0)))))
    taus = [tau(gap, kl) for gap, kl in zip(gaps, kls, strict=True)]
    testable = [k for k, each in enumerate(summaries) if _has_null(each)]
    observed = torch.tensor([taus, gaps, kls], dtype=torch.float64)[:, testable]
    tests = iter(_tests([summaries[k] for k in testable], observed, total, level))
    labels = _label_tests(summaries)
    found = []
    for k, each in enumerate(summaries):
        test: _Test = next(tests) if _has_null(each) else (math.inf, None, None, None, None)
        reason = "" if _has_null(each) else f"{each.n} rows make no halves with a variance: need {FEWEST_ROWS}"
        found.append(ClientVerdict(each.n, gaps[k], relative[k], kls[k], taus[k], *test, *labels[k], reason))
    return tuple(found)


def _has_null(summary: Summary) -> bool:
    return len(summary.gap_halves) > 0


def _tests(summaries: Sequence[Summary], observed: Tensor, total: int, level: float) -> list[_Test]:
    """gamma, p and adjusted p of tau, adjusted p of Fisher gap and of covariate KL, of every client.

    Args:
        summaries: of K clients with a null.
        observed: their tau, Fisher gap and covariate KL, (3, K), float64.
        total: N.
        level: rate of false alarms that gamma is calibrated to.
    """
    if not summaries:
        return []
    sizes = torch.tensor([float(each.n) for each in summaries], dtype=torch.float64)
    m = torch.tensor([float(each.halves_n) for each in summaries], dtype=torch.float64)
    scale = 1 / sizes + 1 / (total - sizes)
    gap_halves = torch.stack([each.gap_halves for each in summaries], 1).double()
    kl_halves = torch.stack([each.kl_halves for each in summaries], 1).double()
    of_tau = _draws(observed[0], tau(gap_halves, kl_halves), scale, m, TAU_ORDER)
    of_gap = _draws(observed[1], gap_halves, scale, m, GAP_ORDER)
    of_kl = _draws(observed[2], kl_halves, scale, m, KL_ORDER)
    gammas = [calibrated_threshold(column, level=level).gamma for column in of_tau.T]
    columns = [p_value(of_tau), _adjusted(of_tau, TAU_ORDER), _adjusted(of_gap, GAP_ORDER), _adjusted(of_kl, KL_ORDER)]
    return list(zip(gammas, *(column.tolist() for column in columns), strict=True))


def _adjusted(draws: Tensor, order: float) -> Tensor:
    """Step-down over clients; at power 1 / order a draw is quadratic in means, whose tail is about exponential."""
    return step_down(evidence(draws.pow(1 / order)).value)


def _check(summaries: Sequence[Summary], covariates: Covariates) -> None:
    """Refuse summaries that cannot be compared with one another."""
    if len(summaries) < 2:
        raise DataError(f"{len(summaries)} client has no rest to compare it with: need at least 2 clients")
    first = summaries[0]
    features = 1 + max(
        [*covariates.numeric, *covariates.flags, *(stop - 1 for _, stop in covariates.levels)], default=-1
    )
    draws = next((len(each.gap_halves) for each in summaries if _has_null(each)), 0)
    for k, each in enumerate(summaries):
        for name, size, bound in (
            ("parameters", len(each.fisher), len(first.fisher)),
            ("features", len(each.means), features),
            ("draws", len(each.gap_halves) or draws, draws),
        ):
            if size != bound:
                raise DataError(f"the summary of client {k} has {size} {name}: need {bound}, as in all the others")


def _draws(observed: Tensor, halves: Tensor, scale: Tensor, m: Tensor, order: float) -> Tensor:
    """An observed divergence and its null for every client.

    Args:
        observed: of clients against their rest, (K,).
        halves: the same divergence between halves, (b, K).
        scale: 1/n_k + 1/(N - n_k), (K,).
        m: rows of both halves, (K,).
        order: power of the scale.

    Returns:
        (1 + b, K), float64.
    """
    unit = halves * (m / 4) ** order
    raised = torch.maximum(unit, _pooled_quantiles(unit, m)[unit.argsort(0).argsort(0)])
    return torch.cat([observed[None], raised * scale**order])


def _pooled_quantiles(unit: Tensor, weights: Tensor) -> Tensor:
    """Quantiles that the j-th smallest of b draws estimates, for all clients together.

    Args:
        unit: draws on one scale, (b, K).
        weights: weight of each client's draws, (K,).

    Returns:
        (b,), increasing.
    """
    b = len(unit)
    value, order = unit.flatten().sort()
    share = (weights / (b * weights.sum())).expand_as(unit).flatten()[order].cumsum(0)
    wanted = torch.arange(1, b + 1, dtype=share.dtype) / (b + 1)
    return value[torch.searchsorted(share, wanted).clamp(max=len(value) - 1)]


def _label_tests(summaries: Sequence[Summary]) -> list[tuple[float | None, float | None, float | None]]:
    """Label KL, p and adjusted p of every client that sends counts, against the others that do; None for the rest.

    Reading: a client sends all its counts or, where one is a small cell, none, so that every test is between clients
        whose counts are known as they are.
    """
    sending = [k for k, each in enumerate(summaries) if each.label_counts is not None]
    found: list[tuple[float | None, float | None, float | None]] = [(None, None, None)] * len(summaries)
    counts = [each.label_counts.double() for each in summaries if each.label_counts is not None]
    if len(counts) < 2:
        return found
    everything = torch.stack(counts).sum(0)
    kls, ps = [], []
    for own in counts:
        rest = everything - own
        kls.append(float(categorical_kl(own, rest)))
        table = torch.stack([own, rest])[:, everything > 0]
        can_differ = table.shape[1] > 1 and bool((table.sum(1) > 0).all())
        ps.append(float(chi2_contingency(table.numpy(), correction=False).pvalue) if can_differ else 1.0)
    for k, *each in zip(sending, kls, ps, holm(ps), strict=True):
        found[k] = (each[0], each[1], each[2])
    return found
