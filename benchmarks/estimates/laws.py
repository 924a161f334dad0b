"""Made tables of many rows. Letters: n rows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
ROWS = 50_000


def linear(seed: int = 1) -> tuple[Floats, NDArray[np.int64]]:
    """Twenty Gaussian columns; the log-odds are a sum of the first five, 0.8 each; half of the rows are positive."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(ROWS, 20))
    odds = 0.8 * x[:, :5].sum(1)
    return x, (rng.random(ROWS) < 1 / (1 + np.exp(-odds))).astype(np.int64)


def curved(seed: int = 2) -> tuple[Floats, NDArray[np.int64]]:
    """Ten uniform columns; the log-odds are those of Friedman's first function, less its median, halved."""
    rng = np.random.default_rng(seed)
    x = rng.random((ROWS, 10))
    f = 10 * np.sin(np.pi * x[:, 0] * x[:, 1]) + 20 * (x[:, 2] - 0.5) ** 2 + 10 * x[:, 3] + 5 * x[:, 4]
    return x, (rng.random(ROWS) < 1 / (1 + np.exp(-(f - np.median(f)) / 2))).astype(np.int64)


def hastie(seed: int = 5) -> tuple[Floats, NDArray[np.int64]]:
    """Ten Gaussian columns; a row is positive where their squares sum to more than 9.34 (Hastie et al. 2009, 10.2)."""
    x = np.random.default_rng(seed).normal(size=(ROWS, 10))
    return x, ((x**2).sum(1) > 9.34).astype(np.int64)


def grouped(seed: int = 3) -> tuple[Floats, NDArray[np.int64], NDArray[np.int64]]:
    """500 groups of 100 rows. Each has a Gaussian mark in all ten columns, of sd 1.5 around which its rows vary by 0.5,
    and an effect of sd 1.5 in the log-odds; within groups the first two columns count 1 each."""
    rng = np.random.default_rng(seed)
    group = np.repeat(np.arange(500), 100)
    noise = 0.5 * rng.normal(size=(len(group), 10))
    x = 1.5 * rng.normal(size=(500, 10))[group] + noise
    odds = 1.5 * rng.normal(size=500)[group] + x[:, :2].sum(1)
    return x, (rng.random(len(group)) < 1 / (1 + np.exp(-odds))).astype(np.int64), group


def drifting(seed: int = 4) -> tuple[Floats, NDArray[np.int64]]:
    """Eight Gaussian columns whose effects, 1 each in the mean, and means wander: random walks that go about one
    standard deviation within 2,000 rows."""
    rng = np.random.default_rng(seed)

    def walk() -> Floats:
        return np.cumsum(rng.normal(size=(ROWS, 8)), 0) / np.sqrt(2000)

    effects = 1.5 * np.sin(walk() + 1)
    x = rng.normal(size=(ROWS, 8)) + np.sin(walk())
    odds = (effects * x).sum(1)
    return x, (rng.random(ROWS) < 1 / (1 + np.exp(-odds))).astype(np.int64)
