"""Inputs of a training run of one model: its rows, the settings of its optimiser, and what corrects it.

Shape letters here: n rows, d parameters.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from torch import Tensor

from picsc.equations.likelihood import Likelihood
from picsc.equations.penalties import Anchor, Penalty
from picsc.settings import Precision


@dataclass(frozen=True, slots=True)
class LabelledRows:
    """Rows that a model is trained on."""

    x: Tensor
    """Inputs (n, ...)."""
    y: Tensor
    """int64 (n,) class codes, or floats (n,)."""
    likelihood: Likelihood = "classes"
    """`classes` or `numbers`, as y is."""
    weight: Tensor | None = None
    """Row weights (n,), non-negative and not all 0: a step's loss is the weighted mean of its rows' losses. None gives
    all rows the same weight."""

    def take(self, rows: Tensor) -> LabelledRows:
        """Some of the rows, by number."""
        weight = None if self.weight is None else self.weight[rows]
        return LabelledRows(self.x[rows], self.y[rows], self.likelihood, weight)

    def __len__(self) -> int:
        """The number n."""
        return len(self.x)


@dataclass(frozen=True, slots=True)
class OptimizerSettings:
    """Steps, minibatches and optimiser of a training run."""

    steps: int
    """Updates, >= 0; with `patience` at most so many."""
    lr: float
    """Learning rate."""
    batch_size: int
    """Rows per step; all rows where there are no more than these. An epoch is n // batch_size steps."""
    seed: int
    """Seed of the minibatches and of the rows held out, the only random draws."""
    weight_decay: float = 0.0
    """Added to the gradient as weight_decay * parameter."""
    optimizer: Literal["adam", "sgd"] = "adam"
    """Adam, or gradient descent with momentum."""
    momentum: float = 0.9
    """Momentum of sgd, in [0, 1)."""
    patience: int | None = None
    """Epochs without a lower loss on a tenth of the rows, held out, before training stops; the best epoch's parameters
    are restored. The rule and the rows are the same for every method. None trains to the end."""
    precision: Precision = "float32"
    """Precision of the task's forward pass; tf32 and bfloat16 are faster on cuda."""


@dataclass(frozen=True, slots=True)
class Correction:
    """Corrections of a training run for shift: Algorithm 1's penalty, Eq. 16's anchor, or neither."""

    strength: float = 0.0
    """lambda of `penalty` and `anchor`, >= 0; 0 is plain training."""
    penalty: Penalty | None = None
    """Penalty between fragments; its steps are in the model's own precision, whatever `precision` says."""
    fragment: Tensor | None = None
    """int64 (n,), the fragment of each row, in 0..fragments-1; `penalty` needs it."""
    fragments: int | None = None
    """Number of fragments; None takes the highest number in `fragment`."""
    warmup: float = 0.0
    """Share of the steps over which the lambda of `penalty` rises linearly from 0, in [0, 1]."""
    anchor: Anchor | None = None
    """Mean and Fisher information of Eq. 16, (d,) in `parameters_to_vector` order."""


PLAIN = Correction()
"""No correction."""
