"""Density ratios from a logistic regression that separates target rows from training rows.

Letters: n training and m target rows, N = n + m; f columns, q of them kept and 1 for the intercept; k folds;
P = (ridge strengths) x (folds) regressions, all fitted at once.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor
from torch.nn.functional import softplus

from picsc.runtime.devices import as_sums, sum_dtype
from picsc.runtime.threads import solve
from picsc.weighting.checks import FLOOR, checked, normalised

FOLDS = 5
"""Folds, so that each row's ratio comes from a regression that has not seen it."""
RIDGES = (1.0, 1e-1, 1e-2, 1e-3, 1e-4)
"""Penalties of half the squared coefficients of standardised columns, added to the mean log-loss."""
NEWTON_STEPS = 20
"""Steps of Newton's method at most."""
LENGTHS = (1.0, 0.5, 0.25, 0.125, 0.03, 0.0)
"""Shares of a Newton step that are tried."""
SETTLED = 1e-9
"""Gain of a step in mean log-loss, in nats, below which a fit has converged."""
WIDEST, NARROWEST, WORK = 256, 64, 2e9
"""Columns kept at most, at least, and N q^2, the cost of a Newton step, in between."""
HELD = 8_000_000
"""Numbers held at once for a Hessian."""


def logistic(x: Tensor, z: Tensor, *, seed: int, clip: float | None = None, ratio: Tensor | None = None) -> Tensor:
    """Weights (n/m) p(target | x) / p(training | x), each row's from a regression that has not seen it.

    Source: paper, "vs. state of the art" (importance weighting); Bickel, Brückner and Scheffer 2009.
    Reading: weights are cut at a multiple of their mean (truncated importance sampling, Ionides 2008) and then scaled
        to mean 1 again.

    Args:
        x: training rows, (n, f), n >= 2.
        z: target rows, (m, f), m >= 2.
        seed: of the folds.
        clip: largest weight before the last scaling, in units of the mean; None is sqrt n.
        ratio: (n,) `log_ratio` of the training rows, where it is known already; None computes it.

    Returns:
        (n,) weights, non-negative, of mean 1.

    Raises:
        DataError: rows that cannot be weighted.
        NumericsError: the training rows do not cover the targets.
    """
    of_x = log_ratio(x, z, seed=seed)[0] if ratio is None else ratio
    # Far apart, the ratio underflows; its mean shows that, and the shifted weights would not.
    normalised(of_x.clamp(max=60).exp(), name="iw", floor=FLOOR)
    weights = normalised((of_x - of_x.max()).exp(), name="iw")
    return normalised(weights.clamp(max=math.sqrt(len(x)) if clip is None else clip), name="iw")


def log_ratio(x: Tensor, z: Tensor, *, seed: int, fold: Tensor | None = None) -> tuple[Tensor, Tensor]:
    """Log of (n/m) p(target | row) / p(training | row), out of fold, in nats.

    Above 256 columns (fewer for very many or few rows), the leading principal components of all rows stand for them;
    these use no label.

    Args:
        x: training rows, (n, f).
        z: target rows, (m, f).
        seed: of folds, and of the search for principal components.
        fold: (n + m,) fold of each training row and each target row, in 0..k-1, of which each leaves rows of both
            kinds; None draws folds row by row.

    Returns:
        (n,) of the training rows and (m,) of the target rows, both from the ridge strength of the least held-out loss.

    Raises:
        DataError: rows that cannot be weighted.
    """
    x, z = checked(x, z, least=2)
    n, m = len(x), len(z)
    k = min(FOLDS, n, m) if fold is None else int(fold.max()) + 1
    generator = torch.Generator().manual_seed(seed)
    if fold is None:
        fold = torch.cat([torch.arange(rows)[torch.randperm(rows, generator=generator)] % k for rows in (n, m)])
    fold = fold.to(x.device)
    label = torch.cat([x.new_zeros(n), x.new_ones(m)])
    columns = design(x, z, generator)
    logits = fit(columns, label, fold, k)
    own = logits.gather(2, fold[:, None, None].expand(-1, len(RIDGES), 1)).squeeze(2)
    loss = (softplus(own) - label.to(own)[:, None] * own).mean(0)
    best = own[:, int(loss.argmin())]
    targets_left = m - torch.bincount(fold[n:], minlength=k)
    rows_left = n - torch.bincount(fold[:n], minlength=k)
    odds = (rows_left.to(best) / targets_left.to(best)).log()
    ratio = best + odds[fold]
    return ratio[:n], ratio[n:]


def design(x: Tensor, z: Tensor, generator: torch.Generator) -> Tensor:
    """Standardised columns of all rows, or their leading principal components, after a column of ones; (N, q + 1)."""
    n, m = len(x), len(z)
    mean = (x.mean(0) * n + z.mean(0) * m) / (n + m)
    scale = (((x - mean).square().mean(0) * n + (z - mean).square().mean(0) * m) / (n + m)).sqrt()
    scale = torch.where(scale > 1e-6 * (mean.abs() + 1e-30), scale, 1.0)
    width = int(min(WIDEST, max(NARROWEST, math.sqrt(WORK / (n + m)))))
    kept = min(width, x.shape[1], n + m)
    rows = torch.ones(n + m, kept + 1, dtype=torch.float32, device=x.device)
    if kept == x.shape[1]:
        rows[:n, 1:] = (x - mean) / scale
        rows[n:, 1:] = (z - mean) / scale
        return rows
    # Randomised range finder with one power step (Halko, Martinsson and Tropp 2011, Algorithm 4.3).
    tables = [(part - mean) / scale for part in (x, z)]
    probe = torch.randn(x.shape[1], kept, generator=generator).to(x)
    seen = sum(as_sums(table.mT @ (table @ probe)) for table in tables)
    basis = torch.linalg.qr(torch.as_tensor(seen)).Q.to(x.dtype).to(x.device)
    rows[:, 1:] = torch.cat([table @ basis for table in tables])
    rows[:, 1:] /= rows[:, 1:].square().mean().sqrt()
    return rows


def fit(columns: Tensor, label: Tensor, fold: Tensor, k: int) -> Tensor:
    """Ridge-penalised logistic regressions without each fold, by Newton's method with a line search.

    Args:
        columns: (N, q + 1), ones first; the intercept is not penalised.
        label: (N,), 1 for target rows.
        fold: (N,), in 0..k-1.
        k: folds.

    Returns:
        (N, ridges, k) log-odds of all rows.
    """
    dtype = sum_dtype(columns.device)
    rows, width = columns.shape
    ridge = torch.tensor(RIDGES, dtype=dtype, device=columns.device).repeat_interleave(k)
    penalty = ridge[:, None] * torch.ones(width, dtype=dtype, device=columns.device)
    penalty[:, 0] = 0
    problems = len(ridge)
    counted = (fold[:, None] != torch.arange(k, device=fold.device)).to(dtype)
    counted = (counted / counted.sum(0)).repeat(1, len(RIDGES))
    truth = label.to(dtype)[:, None]
    beta = torch.zeros(problems, width, dtype=dtype, device=columns.device)
    logits = torch.zeros(rows, problems, dtype=dtype, device=columns.device)
    chunk = max(1, HELD // (problems * width))
    for _ in range(NEWTON_STEPS):
        gradient, hessian = penalty * beta, torch.diag_embed(as_sums(penalty + 1e-7))
        for at in range(0, rows, chunk):
            part, share = columns[at : at + chunk], counted[at : at + chunk]
            p = logits[at : at + chunk].sigmoid()
            gradient = gradient + ((p - truth[at : at + chunk]) * share).mT @ part.to(dtype)
            curvature = (p * (1 - p) * share).mT.to(part.dtype)
            hessian += as_sums((curvature[:, None, :] * part.mT) @ part)
        step = -solve(hessian, as_sums(gradient)).to(dtype).to(columns.device)
        ahead = torch.cat([part.to(dtype) @ step.mT for part in torch.split(columns, chunk)])
        losses = torch.stack(
            [
                ((softplus(moved) - truth * moved) * counted).sum(0)
                + (penalty * (beta + length * step).square()).sum(1) / 2
                for length in LENGTHS
                for moved in (logits + length * ahead,)
            ]
        )
        best, at_length = losses.min(0)
        taken = torch.tensor(LENGTHS, dtype=dtype, device=columns.device)[at_length]
        beta += taken[:, None] * step
        logits += taken * ahead
        if bool((losses[-1] - best <= SETTLED).all()):
            break
    return logits.reshape(rows, len(RIDGES), k)
