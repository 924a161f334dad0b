"""What one model is to learn and to be judged by, and what came of it; the interface of tables and of images."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from picsc.datasets.rows import Rows
from picsc.training.algorithm_2 import Learner


@dataclass(frozen=True, slots=True)
class Guide:
    """Rows of the target that weigh the rows of every step anew: dynamic importance weighting."""

    rows: Rows
    on: Literal["losses", "features"]
    """What is matched between a step's rows and these: their losses, for which these need labels, or hidden units."""


@dataclass(frozen=True, slots=True)
class Lesson:
    """The rows of one model."""

    train: Rows
    fragment: NDArray[np.int64]
    """(n,) fragment of each training row, in 0..k-1."""
    test: Rows
    seed: int
    """Of the initial weights and of minibatches."""
    weight: NDArray[np.float64] | None = None
    """(n,) weights of the training rows in the loss, of mean 1; None weighs all alike."""
    guide: Guide | None = None
    """What weighs rows while they are learned from; None without."""


@dataclass(frozen=True, slots=True)
class Learned:
    """The models of one lesson, one per candidate."""

    outputs: NDArray[np.float32]
    """Of the tested rows: log-probabilities (a, n, c), or means (a, n)."""
    diverged: NDArray[np.int64]
    """(a,): epoch in which a model left the finite numbers; 0 if it did not."""
    penalty_share: NDArray[np.float64]
    """(a,)."""


class Backend(Protocol):
    """How models are trained on one kind of data."""

    @property
    def lr(self) -> float:
        """Learning rate."""
        ...

    def learn(
        self, lessons: Sequence[Lesson], strengths: NDArray[np.float64], decays: NDArray[np.float64]
    ) -> Iterator[Learned]:
        """Train a candidates per lesson, by Algorithm 1 where a strength is not 0.

        Args:
            lessons: l of them.
            strengths: lambda, (l, a).
            decays: weight decay, (l, a).
        """
        ...

    def learner(
        self,
        sequences: Sequence[Sequence[Rows]],
        seeds: Sequence[int],
        scaled_on: Sequence[Rows],
        *,
        candidates: int = 1,
    ) -> Learner:
        """Models that are carried along sequences of fragments.

        Args:
            sequences: g of them, of equally many fragments.
            seeds: of the initial weights.
            scaled_on: rows that each sequence's encoding is fitted on.
            candidates: models per sequence, a.
        """
        ...

    def targets(self, lesson_train: Rows, rows: Rows) -> NDArray[np.int64] | NDArray[np.float64]:
        """Labels of rows as the models of a training part see them: codes, or numbers in its standard deviations."""
        ...
