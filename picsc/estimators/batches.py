"""Algorithm 2 along batches that arrive one by one: the state between two calls of `partial_fit`.

The state is some numbers for each parameter and each column, whatever the number of batches, and the rows of the last
batch, which the trigger compares the next one with. Letters: n rows of a batch, d parameters.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from picsc.datasets.new_rows import KnownColumns, known_columns
from picsc.datasets.rows import Rows
from picsc.datasets.running_encoding import Moments
from picsc.datasets.table import Dataset
from picsc.equations.penalties import Anchor
from picsc.settings import CvSettings
from picsc.training.algorithm_2 import Algorithm2Settings, State, initial_state, learn_fragment
from picsc.training.jobs import Fitted, Scaling, TableNetwork, TrainingRecipe
from picsc.training.sequence_methods import EVALUATED
from picsc.training.table_problems import TableProblems
from picsc.training.table_sequence_trainer import TableSequenceTrainer

STRENGTH = 0.1
"""Lambda where it is left open: batches that are still to come cannot choose it."""


@dataclass(frozen=True, slots=True)
class BatchTraining:
    """Settings of training along batches."""

    settings: CvSettings
    recipe: TrainingRecipe
    device: torch.device
    hidden: int

    @property
    def algorithm_2(self) -> Algorithm2Settings:
        """Settings of Algorithm 2; where lambda is left open it is `STRENGTH`, or once the weight of the rows seen."""
        penalty = self.settings.penalty
        posterior = penalty.strength == "posterior"
        strength = 1.0 if posterior else STRENGTH if penalty.strength == "auto" else float(penalty.strength)
        zero = torch.zeros(1, 1, device=self.device)
        return Algorithm2Settings(
            zero + strength,
            zero,
            penalty.alpha,
            penalty.gamma,
            penalty.when_quiet,
            merge=(penalty.merge or "fisher") == "fisher",
            posterior=posterior,
        )


@dataclass(frozen=True, slots=True)
class Stream:
    """The state of Algorithm 2 between two batches."""

    known: KnownColumns
    """The columns of the first batch, which all others have."""
    state: State
    moments: Moments
    """Means and deviations of the columns with numbers, and of a numeric target, over all rows seen."""
    scaling: Scaling
    """Encoding of the last batch."""
    t: int
    """Number of batches seen."""
    last: Dataset | None
    """The rows of the last batch; None where they are not known, and the trigger does not compare."""
    flagged: bool
    """True where the last batch was shifted against the one before it."""

    def network(self, training: BatchTraining) -> TableNetwork:
        """The network that is evaluated."""
        which = EVALUATED[training.settings.penalty.merge or "fisher"]
        theta = {"merged": self.state.merged, "last": self.state.theta, "mean": self.state.mean}[which]
        return TableNetwork(theta[0, 0].cpu().numpy(), self.scaling)


def settled(batch: Dataset) -> Dataset:
    """The first batch, with indicators of missing values for those columns that have some in it."""
    known = known_columns(batch, CvSettings().read)
    columns = zip(batch.columns, known.columns, strict=True)
    return replace(
        batch,
        columns=tuple(replace(column, indicator=of.indicator, raw=None) for column, of in columns),
        left_out=(),
        raws={},
    )


def learned(
    stream: Stream | None,
    batch: Dataset,
    training: BatchTraining,
    *,
    weight: NDArray[np.float64] | None = None,
    network: TableNetwork | None = None,
) -> Stream:
    """Learn a batch.

    Args:
        stream: of the batches before; None for the first one.
        batch: n rows with labels; the first one `settled`.
        training: settings.
        weight: (n,) weights of the rows in the loss; None gives all the same.
        network: one that was trained on these rows, which are the first batch, and is taken as it is.
    """
    rows = np.arange(batch.n)
    alone = TableProblems(batch, training.recipe, weight, training.device, hidden=training.hidden)
    values = alone.scaled_values()
    moments = (Moments.none(values) if stream is None else stream.moments).joined(values, rows)
    scaling = alone.scaling_of(moments.scales) if network is None else network.scaling
    t = 0 if stream is None else stream.t
    before = None if stream is None else stream.last
    both = batch
    sequence: tuple[Rows, ...] = (rows,)
    scalings: tuple[Scaling, ...] = (scaling,)
    if stream is not None:
        first = 0 if before is None else before.n
        both = batch if before is None else _joined(before, batch)
        sequence, scalings = (np.arange(first), rows + first), (stream.scaling, scaling)
        weight = None if weight is None else np.concatenate([np.ones(first), weight])
    seed = training.settings.seed + t - len(sequence) + 1
    window = _Window(
        TableSequenceTrainer(
            TableProblems(both, training.recipe, weight, training.device, hidden=training.hidden),
            (sequence,),
            (seed,),
            (scalings,),
            1,
        ),
        t - len(sequence) + 1,
        before is not None,
        None if network is None else torch.from_numpy(network.theta)[None, None].to(training.device),
    )
    state = initial_state(window) if stream is None else stream.state
    after, step = learn_fragment(state, window, t, training.algorithm_2)
    known = known_columns(batch, training.settings.read) if stream is None else stream.known
    kept = None if network is not None else batch
    return Stream(known, after, moments, scaling, t + 1, kept, bool(step.flagged[0, 0]))


@dataclass(frozen=True, slots=True)
class _Window:
    """The last batch and the new one, by their numbers in the whole sequence.

    Implements `picsc.training.jobs.SequenceTrainer`.
    """

    inner: TableSequenceTrainer
    first: int
    """Number in the sequence of the first batch in the window."""
    compares: bool
    """False where the rows of the batch before are not known."""
    trained: Tensor | None
    """Parameters that were trained on the new batch already, (1, 1, d)."""

    def start(self) -> Tensor:
        """Initial parameters, (1, 1, d)."""
        return self.inner.start()

    def sizes(self, t: int) -> Tensor:
        """Number of rows of batch t, (1,)."""
        return self.inner.sizes(t - self.first)

    def fit(self, theta: Tensor, t: int, *, weight_decay: Tensor, strength: Tensor, anchor: Anchor | None) -> Fitted:
        """Train on batch t, or take what was trained on it."""
        if self.trained is not None:
            nothing = torch.zeros(1, 1, device=theta.device)
            return Fitted(self.trained, nothing.to(torch.int64), nothing)
        return self.inner.fit(theta, t - self.first, weight_decay=weight_decay, strength=strength, anchor=anchor)

    def fisher(self, theta: Tensor, t: int) -> Tensor:
        """Diagonal empirical Fisher on batch t, (1, 1, d)."""
        return self.inner.fisher(theta, t - self.first)

    def shift(self, theta: Tensor, t: int, *, calibrated: bool = True) -> tuple[Tensor, Tensor]:
        """Eq. 14's tau of batch t against t - 1, and its threshold; 0 below infinity where t - 1 is not known."""
        if not self.compares:
            zero = torch.zeros(theta.shape[:2], device=theta.device)
            return zero, zero + torch.inf
        return self.inner.shift(theta, t - self.first, calibrated=calibrated)

    def rebased(self, theta: Tensor, t: int) -> Tensor:
        """Parameters of the same functions in the encoding of batch t, (1, 1, d)."""
        return self.inner.rebased(theta, t - self.first)

    def rebased_precision(self, fisher: Tensor, t: int) -> Tensor:
        """Fisher informations of the same models in the encoding of batch t, (1, 1, d)."""
        return self.inner.rebased_precision(fisher, t - self.first)

    def outputs(self, theta: Tensor, t: int, rows: Sequence[Rows]) -> list[NDArray[np.float32]]:
        """Outputs for rows of the window, in the encoding of batch t."""
        return self.inner.outputs(theta, t - self.first, rows)

    def network(self, theta: Tensor, t: int, g: int) -> TableNetwork:
        """The network with parameters (d,) of the encoding of batch t."""
        return self.inner.network(theta, t - self.first, g)


def _joined(first: Dataset, second: Dataset) -> Dataset:
    """The rows of two batches of the same columns."""
    assert first.target is not None and second.target is not None  # noqa: S101, PT018 - both have labels
    columns = tuple(
        replace(one, values=cast("Any", np.concatenate([one.values, two.values])), exact=None, absent=None, raw=None)
        for one, two in zip(first.columns, second.columns, strict=True)
    )
    labels = cast("Any", np.concatenate([first.target.values, second.target.values]))
    return replace(
        first, n=first.n + second.n, columns=columns, target=replace(first.target, values=labels), left_out=(), raws={}
    )
