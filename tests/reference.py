"""Slow twins that are obviously correct: one row at a time, one definition at a time."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import log_softmax

from picsc.equations.divergence import fisher_kl


def log_density(output: Tensor, y: Tensor, likelihood: str) -> Tensor:
    """Log p(y | x) of a batch of one row, by its definition."""
    if likelihood == "numbers":
        return -0.5 * (y[0] - output.flatten()[0]) ** 2
    return log_softmax(output.reshape(1, -1), 1)[0, y[0]]


def scores_by_row(model: nn.Module, x: Tensor, y: Tensor, likelihood: str = "classes") -> Tensor:
    """The gradient of every row's log-likelihood from a forward and a backward pass of its own, (n, d)."""
    rows = []
    for i in range(len(x)):
        log_p = log_density(model(x[i : i + 1]), y[i : i + 1], likelihood)
        gradients = torch.autograd.grad(log_p, list(model.parameters()), allow_unused=True, materialize_grads=True)
        rows.append(torch.cat([gradient.flatten() for gradient in gradients]))
    return torch.stack(rows)


def fisher_by_row(model: nn.Module, x: Tensor, y: Tensor, likelihood: str = "classes") -> Tensor:
    """Eq. 1: square per row, then average, (d,) in float64."""
    return scores_by_row(model, x, y, likelihood).double().square().mean(0)


def expected_fisher_by_row(model: nn.Module, x: Tensor, classes: int) -> Tensor:
    """Eq. 1 with the expectation over p(y | x; theta), class by class, (d,)."""
    probability = model(x).detach().softmax(1)
    total = torch.zeros(())
    for j in range(classes):
        scores = scores_by_row(model, x, torch.full((len(x),), j))
        total = total + (probability[:, j, None] * scores.square()).mean(0)
    return total


def pairwise_kl_by_pairs(fishers: Tensor) -> Tensor:
    """Algorithm 1's d_ij, one ordered pair after the other, then their mean; fishers (k, d)."""
    k = len(fishers)
    pairs = [fisher_kl(fishers[i], fishers[j]) for i in range(k) for j in range(k) if i != j]
    return torch.stack(pairs).mean()


def frobenius_by_fragment(fishers: Tensor) -> Tensor:
    """Mean over fragments of ||I_i - I_bar||^2; fishers (k, d)."""
    centre = sum(fishers) / len(fishers)
    return torch.stack([((fisher - centre) ** 2).sum() for fisher in fishers]).mean()


def trace_by_fragment(fishers: Tensor) -> Tensor:
    """Mean over fragments of tr I_i; fishers (k, d)."""
    return torch.stack([fisher.sum() for fisher in fishers]).mean()


PENALTIES_BY_LOOP = {"kl": pairwise_kl_by_pairs, "frobenius": frobenius_by_fragment, "trace": trace_by_fragment}


def objective(
    model: nn.Module,
    x: Tensor,
    y: Tensor,
    fragment: Tensor,
    *,
    likelihood: str = "classes",
    weight: Tensor | None = None,
    penalty: str = "kl",
    strength: float = 0.0,
    anchor: tuple[Tensor, Tensor] | None = None,
) -> Tensor:
    """The loss of Eq. 7 or 16 with everything spelt out, row by row, differentiable in the model's parameters."""
    share = torch.full((len(x),), 1 / len(x), dtype=x.dtype) if weight is None else weight / weight.sum()
    rows = [log_density(model(x[i : i + 1]), y[i : i + 1], likelihood) for i in range(len(x))]
    loss = -(share * torch.stack(rows)).sum()
    if anchor is not None:
        theta = torch.cat([parameter.flatten() for parameter in model.parameters()])
        return loss + strength * ((theta - anchor[0]) ** 2 * anchor[1]).sum()
    if strength == 0:
        return loss
    squares = []
    for row in rows:
        score = torch.autograd.grad(row, list(model.parameters()), create_graph=True)
        squares.append(torch.cat([part.flatten() for part in score]).square())
    by_row = torch.stack(squares)
    fishers = torch.stack([by_row[fragment == j].mean(0) for j in range(int(fragment.max()) + 1)])
    return loss + strength * PENALTIES_BY_LOOP[penalty](fishers)


def squared_distance(a: Sequence[float], b: Sequence[float]) -> float:
    """Feature by feature, first to last."""
    total = 0.0
    for u, v in zip(a, b, strict=True):
        total += (u - v) * (u - v)
    return total


def balanced_folds_by_row(classes: list[int], table: list[list[float]], k: int, rng: np.random.Generator) -> list[int]:
    """DOB-SCV as printed, with the fold to start at moving on; `rng` is asked once per group."""
    fold, full_groups, leftovers = [-1] * len(classes), 0, 0
    for c in sorted(set(classes)):
        unassigned = [i for i, own in enumerate(classes) if own == c]
        while unassigned:
            e0 = unassigned[int(rng.integers(len(unassigned)))]
            others = [i for i in unassigned if i != e0]
            group = [e0, *sorted(others, key=lambda i: (squared_distance(table[i], table[e0]), i))[: k - 1]]
            start = full_groups if len(group) == k else leftovers
            for place, i in enumerate(group):
                fold[i] = (start + place) % k
            full_groups += len(group) == k
            leftovers += len(group) % k
            unassigned = [i for i in unassigned if i not in group]
    return fold


def shifted_folds_by_row(classes: list[int], table: list[list[float]], k: int, rng: np.random.Generator) -> list[int]:
    """MS-SCV as printed, with leftovers of a class going on where those of the class before ended."""
    fold, leftovers = [-1] * len(classes), 0
    for c in sorted(set(classes)):
        unassigned = [i for i, own in enumerate(classes) if own == c]
        n = len(unassigned)
        larger = {(leftovers + j) % k for j in range(n % k)}
        leftovers += n % k
        e = unassigned[int(rng.integers(n))]
        for f in range(k):
            for _ in range(n // k + (f in larger)):
                fold[e] = f
                unassigned.remove(e)
                e = min(unassigned, key=lambda i: (squared_distance(table[i], table[e]), i), default=e)
    return fold


def leave_one_out_by_refitting(nu: Tensor, de: Tensor, pairs: int, ridge: float, alpha: float) -> tuple[Tensor, Tensor]:
    """(Ru)LSIF fitted anew without the i-th row of both, for kernel values (n_nu, b) and (n_de, b)."""
    thetas, scores = [], []
    for i in range(pairs):
        of_nu, of_de = (torch.cat([rows[:i], rows[i + 1 :]]) for rows in (nu, de))
        h = alpha * of_nu.mT @ of_nu / len(of_nu) + (1 - alpha) * of_de.mT @ of_de / len(of_de)
        theta = torch.linalg.solve(h + ridge * torch.eye(len(h), dtype=h.dtype), of_nu.mean(0)).clamp(min=0)
        at_nu, at_de = nu[i] @ theta, de[i] @ theta
        thetas.append(theta)
        scores.append(alpha * at_nu**2 / 2 + (1 - alpha) * at_de**2 / 2 - at_nu)
    return torch.stack(thetas, 1), torch.stack(scores)


def leave_one_out_as_printed(nu: Tensor, de: Tensor, pairs: int, ridge: float) -> Tensor:
    """Kanamori, Hido and Sugiyama's matrices for uLSIF, (b, pairs), from kernel values (n_nu, b) and (n_de, b)."""
    n_nu, n_de = len(nu), len(de)
    h, mean = de.mT @ de / n_de, nu.mean(0)[:, None]
    x_nu, x_de = nu[:pairs].mT, de[:pairs].mT
    inverse = torch.linalg.inv(h + ridge * (n_de - 1) / n_de * torch.eye(len(h), dtype=h.dtype))
    v = inverse @ x_de
    den = n_de - (x_de * v).sum(0)
    b0 = inverse @ mean @ torch.ones(1, pairs, dtype=h.dtype) + v @ torch.diag((mean.mT @ v).flatten() / den)
    b1 = inverse @ x_nu + v @ torch.diag((x_nu * v).sum(0) / den)
    return ((n_de - 1) / (n_de * (n_nu - 1)) * (n_nu * b0 - b1)).clamp(min=0)


def mean_matching_by_small_steps(
    gram: Tensor, towards: Tensor, bound: float, least: float, most: float, steps: int = 300
) -> Tensor:
    """Plain projected gradient for 1/2 b'Kb - k'b with 0 <= b <= bound and least <= sum b <= most."""
    b = torch.ones_like(towards)
    length = 1 / torch.linalg.eigvalsh(gram)[-1]
    for _ in range(steps):
        v = b - length * (gram @ b - towards)
        total = v.clamp(0, bound).sum()
        wanted, low, high = total.clamp(least, most), v.min() - bound, v.max()
        for _ in range(40 if total != wanted else 0):
            middle = (low + high) / 2
            low, high = (middle, high) if (v - middle).clamp(0, bound).sum() > wanted else (low, middle)
        b = (v - low if total != wanted else v).clamp(0, bound)
    return b
