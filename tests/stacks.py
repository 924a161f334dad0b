"""Training problems drawn at random, and the plain networks that stacked ones must equal."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor, nn

from picsc.training.batched.layout import TrainingProblem
from picsc.training.networks import mlp

KINDS = (("classes", 2), ("classes", 3), ("numbers", 1))
"""Likelihoods and numbers of outputs: one readout, several, and means."""
UNEVEN = ((9, 61, 20), (40, 7, 12))
"""Rows per fragment of two problems; the largest fragments take several tiles."""


def draw_problem(
    sizes: Sequence[int],
    f: int = 5,
    *,
    likelihood: str = "classes",
    outputs: int = 2,
    seed: int = 0,
    weighted: bool = False,
) -> TrainingProblem:
    """One problem whose fragment j has sizes[j] rows, in random order; classes can be learned from the features."""
    rng = np.random.default_rng(seed)
    n = sum(sizes)
    fragment = rng.permutation(np.repeat(np.arange(len(sizes)), sizes))
    codes = rng.integers(0, outputs, n) if likelihood == "classes" else rng.normal(size=n)
    x = rng.normal(size=(n, f)) + 0.7 * np.asarray(codes)[:, None] + 0.5 * fragment[:, None] * (np.arange(f) == 0)
    weight = rng.exponential(size=n) if weighted else None
    return TrainingProblem(x.astype(np.float32), codes, fragment, weight)


def draw_problems(
    sizes: Sequence[Sequence[int]] = UNEVEN,
    f: int = 5,
    *,
    likelihood: str = "classes",
    outputs: int = 2,
    weighted: bool = False,
) -> list[TrainingProblem]:
    """One problem per line of sizes."""
    return [
        draw_problem(line, f, likelihood=likelihood, outputs=outputs, seed=seed, weighted=weighted)
        for seed, line in enumerate(sizes)
    ]


def tensors(problem: TrainingProblem, dtype: torch.dtype = torch.float64) -> tuple[Tensor, Tensor, Tensor]:
    """The problem's x, y and fragments."""
    y = torch.from_numpy(problem.y)
    x = torch.from_numpy(problem.x).to(dtype)
    return x, y.to(dtype) if y.is_floating_point() else y, torch.from_numpy(problem.fragment)


def networks(
    g: int, a: int, f: int = 5, c: int = 2, h: int = 4, dtype: torch.dtype = torch.float64
) -> list[list[nn.Sequential]]:
    """A networks for each of g problems."""
    return [[mlp(f, c, h, seed=100 * i + j, dtype=dtype) for j in range(a)] for i in range(g)]


def vector(model: nn.Module) -> Tensor:
    """All parameters, (d,)."""
    return nn.utils.parameters_to_vector(model.parameters()).detach()


def vectors(models: Sequence[Sequence[nn.Module]]) -> Tensor:
    """All parameters of all networks, (g, a, d)."""
    return torch.stack([torch.stack([vector(model) for model in line]) for line in models])
