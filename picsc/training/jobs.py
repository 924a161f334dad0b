"""What one model is to learn and to be judged by, and what came of it; the interface of tables and of images."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from picsc.datasets.rows import Rows
from picsc.equations.penalties import Anchor


@dataclass(frozen=True, slots=True)
class TargetRows:
    """Rows of the target that weigh the rows of every step anew: dynamic importance weighting."""

    rows: Rows
    match: Literal["losses", "features"]
    """What is matched between a step's rows and these: their losses, for which these need labels, or hidden units."""


@dataclass(frozen=True, slots=True)
class TrainingJob:
    """The rows of one model."""

    train: Rows
    fragment: NDArray[np.int64]
    """(n,) fragment of each training row, in 0..k-1."""
    test: Rows
    seed: int
    """Of the initial weights and of minibatches."""
    weight: NDArray[np.float64] | None = None
    """(n,) weights of the training rows in the loss, of mean 1; None weighs all alike."""
    target_rows: TargetRows | None = None
    """What weighs rows while they are learned from; None without."""


@dataclass(frozen=True, slots=True)
class TrainedModels:
    """The models of one lesson, one per candidate."""

    outputs: NDArray[np.float32]
    """Of the tested rows: log-probabilities (a, n, c), or means (a, n)."""
    diverged: NDArray[np.int64]
    """(a,): epoch in which a model left the finite numbers; 0 if it did not."""
    penalty_share: NDArray[np.float64]
    """(a,)."""


class Trainer(Protocol):
    """How models are trained on one kind of data."""

    @property
    def lr(self) -> float:
        """Learning rate."""
        ...

    def train_jobs(
        self, lessons: Sequence[TrainingJob], strengths: NDArray[np.float64], decays: NDArray[np.float64]
    ) -> Iterator[TrainedModels]:
        """Train a candidates per lesson, by Algorithm 1 where a strength is not 0.

        Args:
            lessons: l of them.
            strengths: lambda, (l, a).
            decays: weight decay, (l, a).
        """
        ...

    def sequence_trainer(
        self,
        sequences: Sequence[Sequence[Rows]],
        seeds: Sequence[int],
        scaled_on: Sequence[Rows],
        *,
        candidates: int = 1,
    ) -> SequenceTrainer:
        """Models that are carried along sequences of fragments.

        Args:
            sequences: g of them, of equally many fragments.
            seeds: of the initial weights.
            scaled_on: rows that each sequence's encoding is fitted on.
            candidates: models per sequence, a.
        """
        ...

    def targets(self, train: Rows, rows: Rows) -> NDArray[np.int64] | NDArray[np.float64]:
        """Labels of rows as the models of a training part see them: codes, or numbers in its standard deviations."""
        ...


@dataclass(frozen=True, slots=True)
class TrainingRecipe:
    """How every model of a stack is trained."""

    epochs: int
    lr: float
    batch_size: int | None = None
    """Rows per step; None is all of a problem's rows."""
    optimizer: Literal["adam", "sgd"] = "adam"
    momentum: float = 0.9
    """Of sgd."""
    seed: int = 0
    """Of the order of minibatches."""
    warmup: float = 0.0
    """Share of the steps over which Algorithm 1's lambda rises linearly from 0."""
    patience: int | None = None
    """Epochs without a lower loss on rows held out before a model's training stops; None trains to the end."""


@dataclass(frozen=True, slots=True)
class Fitted:
    """Trained models."""

    theta: Tensor
    """(g, a, d) in `parameters_to_vector` order; not finite where a model diverged."""
    diverged: Tensor
    """int64 (g, a): the epoch, counted from 1, in which a model left the finite numbers; 0 if it did not."""
    penalty_share: Tensor
    """(g, a): norm of the penalty's gradient over the sum of both norms, mean over the steps looked at; in [0, 1]."""


class SequenceTrainer(Protocol):
    """Models of one shape and the fragments that they learn from."""

    def start(self) -> Tensor:
        """Initial parameters, (g, a, d)."""
        ...

    def fit(self, theta: Tensor, t: int, *, weight_decay: Tensor, strength: Tensor, anchor: Anchor | None) -> Fitted:
        """Train on fragment t from theta; weight decay and strength are (g, a)."""
        ...

    def fisher(self, theta: Tensor, t: int) -> Tensor:
        """Diagonal empirical Fisher on fragment t, (g, a, d)."""
        ...

    def shift(self, theta: Tensor, t: int) -> tuple[Tensor, Tensor]:
        """Eq. 14's tau of fragment t against t - 1 at theta, and its calibrated threshold, (g, a) each."""
        ...

    def outputs(self, theta: Tensor, rows: Sequence[NDArray[np.int64]]) -> list[NDArray[np.float32]]:
        """Log-probabilities (a, n, c), or means (a, n), of each sequence's rows."""
        ...
