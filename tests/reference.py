"""Slow twins that are obviously correct: one row at a time, one definition at a time."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.functional import log_softmax

from picsc.divergence import fisher_kl


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
