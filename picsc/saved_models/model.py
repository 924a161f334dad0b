"""A trained network of a table with the encoding of its columns, which predicts new rows.

Letters: n rows, f encoded features, c classes, d parameters.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.utils import vector_to_parameters

from picsc.datasets.encoding import Encoder
from picsc.datasets.files.npz import frame_of_arrays
from picsc.datasets.frames import read_exported
from picsc.datasets.memory import as_array
from picsc.datasets.new_rows import KnownColumns, known_columns, new_rows
from picsc.datasets.rows import Rows, take
from picsc.errors import DataError
from picsc.evaluation.target_units import TargetUnits
from picsc.saved_models.input_shift import input_shift
from picsc.saved_models.training_rows import TrainingRows, summarised
from picsc.training.batched.mlp import predicted, unflatten
from picsc.training.jobs import TableNetwork
from picsc.training.networks import mlp

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from picsc.datasets.memory import Frame
    from picsc.datasets.table import Dataset
    from picsc.reports.common import Finding
    from picsc.reports.predict import ColumnShift
    from picsc.settings import ReadSettings

CHUNK = 65_536
"""Rows that are predicted at once."""
_UNIT = TargetUnits(0.0, 1.0)


@dataclass(frozen=True, slots=True)
class ModelTarget:
    """What a model predicts."""

    name: str
    kind: Literal["classes", "numbers"]
    classes: tuple[str, ...]
    """Names of the outputs; () for numbers."""
    numbered: bool = False
    """True where the names of the classes are whole numbers, and predictions are numbers too."""
    units: TargetUnits | None = None
    """Units of the output, of numbers; None for classes."""

    @property
    def outputs(self) -> int:
        """Outputs of the network: classes, or 1."""
        return max(1, len(self.classes))


@dataclass(frozen=True, slots=True)
class TableModel:
    """A trained network of the paper's "Model architectures" for tables, and all that new rows need."""

    known: KnownColumns
    encoder: Encoder
    target: ModelTarget
    theta: NDArray[np.float32]
    """(d,), in `parameters_to_vector` order."""
    hidden: int
    """Hidden units."""
    training_rows: TrainingRows | None = None
    """Counts of the training rows, for a comparison with new ones; None where the rows came in batches."""

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns that new rows must have."""
        return self.known.names

    @property
    def classes(self) -> NDArray[Any]:
        """The classes, (c,), as `predict` returns them; empty for numbers."""
        names = self.target.classes
        return np.asarray([int(name) for name in names] if self.target.numbered else names)

    @property
    def module(self) -> nn.Sequential:
        """The plain network of torch, float32, whose inputs `encode` makes.

        It maps encoded rows (n, f) to logits (n, c), or to means (n, 1) in standard deviations of the training rows.
        """
        module = mlp(len(self.encoder.names), self.target.outputs, self.hidden, seed=0)
        vector_to_parameters(torch.from_numpy(self.theta.copy()), module.parameters())
        return module.eval()

    def predict(self, rows: Frame | ArrayLike) -> NDArray[Any]:
        """The most probable class of each row, or its number, (n,).

        Args:
            rows: a frame with the columns of the model, in any order, or an array (n, columns) in theirs.

        Raises:
            DataError: a column is missing, or holds values of another kind.
        """
        return self.predicted(self.outputs(self.read(rows)[0]))

    def predict_proba(self, rows: Frame | ArrayLike) -> NDArray[np.float64]:
        """The probability of each class, (n, c), in the order of `classes`.

        Args:
            rows: as for `predict`.

        Raises:
            DataError: the model predicts numbers; or as for `predict`.
        """
        if self.target.kind == "numbers":
            raise DataError(f"{self.target.name!r} is a number, which has no probabilities; use predict")
        return np.exp(self.outputs(self.read(rows)[0]))

    def shift(self, rows: Frame | ArrayLike) -> tuple[ColumnShift, ...]:
        """The columns of new rows against the training rows; see `picsc.saved_models.input_shift`.

        Args:
            rows: as for `predict`.

        Raises:
            DataError: the model has learned from batches, of which it keeps no counts; or as for `predict`.
        """
        if self.training_rows is None:
            raise DataError("the model has no counts of its training rows, which came in batches")
        return input_shift(self.training_rows, self.read(rows)[0])

    def encode(self, rows: Frame | ArrayLike) -> Tensor:
        """The inputs of `module`, float32 (n, f)."""
        return torch.from_numpy(self.encoder.transform(self.read(rows)[0]).matrix)

    def read(self, rows: Frame | ArrayLike, where: str = "the new rows") -> tuple[Dataset, list[Finding]]:
        """New rows as a table of the model's columns, and findings on them.

        Args:
            rows: as for `predict`.
            where: their name, for messages.
        """
        return new_rows(self._frame(rows, where), self.known, where=where)

    def outputs(self, table: Dataset) -> NDArray[np.float64]:
        """Log-probabilities (n, c), or means (n,) in the numbers of the target.

        In double precision, so that a row's prediction does not depend on the rows beside it.

        Args:
            table: rows as `read` makes them.
        """
        parts = [self._chunk(table, start) for start in range(0, table.n, CHUNK)]
        return np.concatenate(parts) if parts else self._chunk(table, 0)

    def predicted(self, outputs: NDArray[np.float64]) -> NDArray[Any]:
        """Predictions of outputs, (n,): classes, or the numbers themselves."""
        return outputs if self.target.kind == "numbers" else self.classes[outputs.argmax(1)]

    def with_theta(self, theta: NDArray[np.float32]) -> TableModel:
        """The same model with other weights, (d,)."""
        return replace(self, theta=theta)

    def _chunk(self, table: Dataset, start: int) -> NDArray[np.float64]:
        rows = np.arange(start, min(start + CHUNK, table.n))
        x = torch.from_numpy(self.encoder.transform(table, rows).matrix).double()
        inputs = torch.cat([x, x.new_ones(len(x), 1)], 1)
        theta = torch.from_numpy(self.theta.copy()).double()
        weights = unflatten(theta[None, None], x.shape[1], self.hidden, self.target.outputs)
        found = np.asarray(predicted(weights, inputs, self.target.kind)[0].numpy())
        return found if self.target.units is None else self.target.units.converted(found, _UNIT)

    def _frame(self, rows: Frame | ArrayLike, where: str) -> pd.DataFrame:
        array = as_array(rows)
        if array is None:
            return rows if isinstance(rows, pd.DataFrame) else read_exported(rows, self.known.read, where)[0]
        frame = frame_of_arrays(array, None, where)
        if set(self.columns) <= set(frame.columns):
            return frame  # the model has learned from an array, and knows the names that its columns get
        if frame.shape[1] != len(self.columns):
            raise DataError(
                f"{where}: an array of {frame.shape[1]} columns, and the model has learned from {len(self.columns)}: "
                "give a frame with the names of its columns"
            )
        return frame.set_axis(list(self.columns), axis=1)


def model_of(
    network: TableNetwork,
    dataset: Dataset,
    read: ReadSettings,
    *,
    hidden: int,
    numbered: bool = False,
    rows: Rows | None = None,
) -> TableModel:
    """A trained network with all that new rows need.

    Args:
        network: its parameters and the units of its inputs and its target.
        dataset: the rows that its columns are known by, of which no row is kept.
        read: how they were read.
        hidden: hidden units of the network.
        numbered: the names of the classes are whole numbers.
        rows: those that it was trained on, increasing; None is all.
    """
    target = dataset.target
    assert target is not None  # noqa: S101 - it was trained on one
    return TableModel(
        known_columns(dataset, read),
        network.scaling.encoder,
        ModelTarget(target.name, target.kind, target.levels, numbered, network.scaling.units),
        np.asarray(network.theta, np.float32),
        hidden,
        summarised(dataset if rows is None else take(dataset, rows)),
    )
