"""Training jobs and trained models, and the interface of the trainers of tables, images and texts.

Letters: l jobs, g sequences, a candidates, n rows, c classes, d parameters.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from picsc.datasets.encoding import Encoder
from picsc.datasets.rows import Rows
from picsc.equations.penalties import Anchor
from picsc.evaluation.target_units import TargetUnits


@dataclass(frozen=True, slots=True)
class TargetRows:
    """Rows of the target that every step's rows are weighted to match: dynamic importance weighting."""

    rows: Rows
    """Row numbers, (m,)."""
    match: Literal["losses", "features"]
    """Values that are matched between a step's rows and these: losses, for which these need labels, or hidden units."""


@dataclass(frozen=True, slots=True)
class TrainingJob:
    """The rows that one model is trained and tested on."""

    train: Rows
    """Training rows, (n,)."""
    fragment: NDArray[np.int64]
    """(n,) fragment of each training row, in 0..k-1."""
    test: Rows
    """Rows that the trained model predicts; it sees none of their labels."""
    seed: int
    """Seed of the initial weights and of minibatches."""
    weight: NDArray[np.float64] | None = None
    """(n,) weights of the training rows in the loss, of mean 1; None gives all the same weight."""
    target_rows: TargetRows | None = None
    """Rows of the target that the training rows are weighted to match during training; None keeps their weights."""
    sequence: tuple[Rows, ...] | None = None
    """Pieces of a sequence whose first `place` ones are seen before the training rows: the encoding is fitted on those
    and on the training rows, as that of models carried along the sequence is. None fits it on the training rows."""
    place: int = 0
    """Number of pieces before, with `sequence`."""
    updates: int | None = None
    """Updates of the model, whatever its rows; None is those of the recipe."""
    choose_on: Rows | None = None
    """Rows on which lambda or weight decay is chosen, which no model learns from; None chooses on training rows."""


class Scaling(NamedTuple):
    """The units in which a model of a table sees its features and its target."""

    encoder: Encoder
    """The encoding of the features."""
    units: TargetUnits | None
    """Units of a numeric target; None for classes."""


@dataclass(frozen=True, slots=True)
class TableNetwork:
    """One trained network of a table, apart from the rows that it was trained on."""

    theta: NDArray[np.float32]
    """(d,), in `parameters_to_vector` order."""
    scaling: Scaling


@dataclass(frozen=True, slots=True)
class TrainedModels:
    """The models of one job, one per candidate."""

    outputs: NDArray[np.float32]
    """Predictions for the test rows: log-probabilities (a, n, c) in nats, or means (a, n) in the units of `targets`."""
    diverged: NDArray[np.int64]
    """(a,): epoch, counted from 1, in which a model left the finite numbers; 0 if it did not."""
    penalty_share: NDArray[np.float64]
    """(a,): norm of the penalty's gradient over the sum of both norms, mean over the steps measured, in [0, 1]."""
    networks: tuple[TableNetwork, ...] = ()
    """The networks themselves, a of them, of a table; none of images and texts."""


class Trainer(Protocol):
    """The training of models on one kind of data."""

    @property
    def lr(self) -> float:
        """Learning rate."""
        ...

    @property
    def groups(self) -> NDArray[np.int64] | None:
        """Group of each row of the data, (n,), which no split of training rows divides; None without groups."""
        ...

    @property
    def counts(self) -> NDArray[np.float64] | None:
        """How much each row of the data counts in scores, (n,); None is the same for all."""
        ...

    def updates(self, rows: int) -> int:
        """Updates of a model that is trained on so many rows."""
        ...

    def train_jobs(
        self, jobs: Sequence[TrainingJob], strengths: NDArray[np.float64], decays: NDArray[np.float64]
    ) -> Iterator[TrainedModels]:
        """Train a candidates per job, by Algorithm 1 where a strength is not 0.

        Args:
            jobs: l of them.
            strengths: lambda, (l, a).
            decays: weight decay, (l, a).
        """
        ...

    def sequence_trainer(
        self,
        sequences: Sequence[Sequence[Rows]],
        seeds: Sequence[int],
        scaled_on: Sequence[Rows] | None = None,
        *,
        candidates: int = 1,
    ) -> SequenceTrainer:
        """A trainer of models whose parameters are carried along sequences of fragments.

        Args:
            sequences: g of them, of equally many fragments.
            seeds: of the initial weights.
            scaled_on: rows that each sequence's encoding is fitted on once; None lets it grow with the fragments: at
                each it is fitted on its rows and on those of all before it.
            candidates: models per sequence, a.
        """
        ...

    def targets(self, rows: Rows) -> NDArray[np.int64] | NDArray[np.float64]:
        """Labels of rows in the units of every model's outputs: codes, or numbers in the data set's deviations."""
        ...


@dataclass(frozen=True, slots=True)
class TrainingRecipe:
    """Epochs, minibatches and optimiser of every model that a trainer trains."""

    epochs: int
    """Passes over the training rows; with `patience` at most so many."""
    lr: float
    """Learning rate."""
    batch_size: int | None = None
    """Rows per step; None is all training rows of a model."""
    optimizer: Literal["adam", "sgd"] = "adam"
    """Adam, or gradient descent with momentum."""
    momentum: float = 0.9
    """Momentum of sgd, in [0, 1)."""
    seed: int = 0
    """Seed of the order of minibatches."""
    warmup: float = 0.0
    """Share of the steps over which Algorithm 1's lambda rises linearly from 0, in [0, 1]."""
    patience: int | None = None
    """Epochs without a lower loss on rows held out before a model's training stops; None trains to the end."""
    steps: int | None = None
    """Updates of every model in place of `epochs`: models that are carried along a sequence share them out among its
    fragments. None counts epochs."""

    def of_fragment(self, t: int, fragments: int) -> TrainingRecipe:
        """The recipe of one of several fragments that a model is carried along; each has at least one update."""
        if self.steps is None:
            return self
        share, more = divmod(self.steps, fragments)
        return replace(self, steps=max(1, share + (t < more)))


@dataclass(frozen=True, slots=True)
class Fitted:
    """Models after training on one fragment or one set of rows."""

    theta: Tensor
    """(g, a, d) in `parameters_to_vector` order; not finite where a model diverged."""
    diverged: Tensor
    """int64 (g, a): the epoch, counted from 1, in which a model left the finite numbers; 0 if it did not."""
    penalty_share: Tensor
    """(g, a): norm of the penalty's gradient over the sum of both norms, mean over the steps measured; in [0, 1]."""


class SequenceTrainer(Protocol):
    """Models of one shape, and the sequences of fragments that they are trained on.

    Parameters belong to the encoding of a fragment. All functions take those of the encoding of fragment t; `rebased`
    brings them there from that of t - 1.
    """

    def start(self) -> Tensor:
        """Initial parameters, (g, a, d)."""
        ...

    def sizes(self, t: int) -> Tensor:
        """Number of rows of fragment t of each sequence, (g,)."""
        ...

    def fit(self, theta: Tensor, t: int, *, weight_decay: Tensor, strength: Tensor, anchor: Anchor | None) -> Fitted:
        """Train on fragment t from theta; weight decay and strength are (g, a)."""
        ...

    def fisher(self, theta: Tensor, t: int) -> Tensor:
        """Diagonal empirical Fisher on fragment t, (g, a, d)."""
        ...

    def shift(self, theta: Tensor, t: int, *, calibrated: bool = True) -> tuple[Tensor, Tensor]:
        """Eq. 14's tau of fragment t against t - 1 at theta, and its calibrated threshold, (g, a) each.

        The threshold costs a hundred times as much; it is NaN unless it is asked for.
        """
        ...

    def rebased(self, theta: Tensor, t: int) -> Tensor:
        """Parameters of the same functions in the encoding of fragment t, from that of t - 1, (g, a, d)."""
        ...

    def rebased_precision(self, fisher: Tensor, t: int) -> Tensor:
        """Fisher informations of the same models in the encoding of fragment t, from that of t - 1, (g, a, d)."""
        ...

    def outputs(self, theta: Tensor, t: int, rows: Sequence[NDArray[np.int64]]) -> list[NDArray[np.float32]]:
        """Log-probabilities (a, n, c), or means (a, n) in the units of `targets`, of each sequence's rows."""
        ...

    def network(self, theta: Tensor, t: int, g: int) -> TableNetwork | None:
        """The network of sequence g with parameters (d,) of the encoding of fragment t; None of images and texts."""
        ...
