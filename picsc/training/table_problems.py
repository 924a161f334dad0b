"""Training problems of a table: its rows encoded, weighted and stacked, and models' initial weights and predictions.

Both trainers of tables share it. Letters: g problems, a candidates, d parameters, n rows, f encoded features,
c classes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.utils import parameters_to_vector

from picsc.datasets.encoding import Encoder, fit
from picsc.datasets.rows import Rows
from picsc.datasets.running_encoding import encoder_of, numeric_values, scales_after
from picsc.datasets.table import Dataset
from picsc.equations.likelihood import Likelihood
from picsc.errors import DataError
from picsc.evaluation.target_units import TargetUnits
from picsc.training.batched.layout import Stack, TrainingProblem, stack_problems
from picsc.training.batched.mlp import predicted, unflatten
from picsc.training.jobs import Scaling, TrainingRecipe
from picsc.training.minibatches import held_out
from picsc.training.networks import mlp

HIDDEN = 4
"""Hidden units of the paper's network for tables."""


class ProblemRows(NamedTuple):
    """The rows of one problem."""

    scaling: Scaling
    """Fitted on the training part, or on it and on the pieces before it."""
    rows: Rows
    """Row numbers, (n,)."""
    fragment: NDArray[np.int64] | None = None
    """(n,) fragment of each row; None puts all rows into one."""
    weight: NDArray[np.float64] | None = None
    """(n,) weights, which multiply those of the table; None is 1 for all."""


@dataclass(frozen=True, slots=True)
class TableProblems:
    """One table whose rows all have a label, as training problems."""

    dataset: Dataset
    recipe: TrainingRecipe
    weights: NDArray[np.float64] | None
    """(n,) row weights of the table; None gives all rows the same weight."""
    device: torch.device
    groups: NDArray[np.int64] | None = None
    """(n,) group of each row of the table; None without groups."""
    hidden: int = HIDDEN
    """Hidden units of every network."""

    @property
    def likelihood(self) -> Likelihood:
        """The likelihood of the target."""
        assert self.dataset.target is not None  # noqa: S101 - the verb refuses tables without one
        return self.dataset.target.kind

    @property
    def outputs(self) -> int:
        """Outputs of a model: classes, or 1 for a numeric target."""
        assert self.dataset.target is not None  # noqa: S101 - as above
        return max(1, len(self.dataset.target.levels))

    def targets(self, rows: Rows) -> NDArray[np.int64] | NDArray[np.float64]:
        """Class codes of rows, or their numbers in the units in which all models are scored."""
        return self._targets(rows, self._units(None))

    def training_targets(self, scaling: Scaling, rows: Rows) -> NDArray[np.int64] | NDArray[np.float64]:
        """Class codes of rows, or their numbers in the units in which a model is trained."""
        return self._targets(rows, scaling.units)

    def _targets(self, rows: Rows, units: TargetUnits | None) -> NDArray[np.int64] | NDArray[np.float64]:
        """Class codes of rows, or their numbers in some units."""
        assert self.dataset.target is not None  # noqa: S101 - as above
        values = self.dataset.target.values[rows]
        return values.astype(np.int64) if units is None else units.scaled(values)

    def _units(self, rows: Rows | None) -> TargetUnits | None:
        """The units of a numeric target over some rows; None is all rows of the data set. Classes have none."""
        assert self.dataset.target is not None  # noqa: S101 - as above
        values = self.dataset.target.values
        if self.likelihood == "classes":
            return None
        return TargetUnits.of(values if rows is None else values[rows])

    def scaling(self, rows: Rows) -> Scaling:
        """The scaling of a model that is trained on some rows."""
        return Scaling(fit(self.dataset, rows), self._units(rows))

    def scalings_after(self, pieces: Sequence[Rows], parts: Sequence[tuple[int, Rows]]) -> list[Scaling]:
        """The scalings of models that are trained on some rows after the first pieces of a sequence.

        Args:
            pieces: rows of each piece.
            parts: the number of pieces that come first, and the rows of the model.
        """
        return [self.scaling_of(scales) for scales in scales_after(self.scaled_values(), pieces, parts)]

    def scaled_values(self) -> list[NDArray[np.float64] | NDArray[np.int32]]:
        """The values of all columns that have a scale: those with numbers, and a numeric target as the last one."""
        assert self.dataset.target is not None  # noqa: S101 - as above
        columns = numeric_values(self.dataset)
        if self.likelihood == "numbers":
            columns.append(self.dataset.target.values.astype(np.float64))
        return columns

    def scaling_of(self, scales: Sequence[tuple[float, float]]) -> Scaling:
        """The scaling with these means and deviations of `scaled_values`."""
        if self.likelihood != "numbers":
            return Scaling(encoder_of(self.dataset, scales), None)
        *of_columns, (mean, deviation) = scales
        return Scaling(encoder_of(self.dataset, of_columns), TargetUnits(mean, deviation or 1.0))

    def inputs(self, encoder: Encoder, rows: Rows) -> NDArray[np.float32]:
        """Encoded features of rows, (n, f)."""
        return encoder.transform(self.dataset, rows).matrix

    def problem(self, of: ProblemRows) -> TrainingProblem:
        """The rows of one problem, encoded and weighted."""
        return TrainingProblem(
            self.inputs(of.scaling.encoder, of.rows),
            self.training_targets(of.scaling, of.rows),
            np.zeros(len(of.rows), np.int64) if of.fragment is None else of.fragment,
            self.row_weights(of.rows, of.weight),
        )

    def row_weights(self, rows: Rows, weight: NDArray[np.float64] | None) -> NDArray[np.float64] | None:
        """Weights of training rows, (n,): those of the table times those of a job; None where all have the same."""
        if self.weights is None:
            return weight
        return self.weights[rows] if weight is None else self.weights[rows] * weight

    def stack(self, problems: Sequence[TrainingProblem], seed: int | None) -> Stack:
        """Problems side by side; the seed orders rows within tiles where there are minibatches, None does not."""
        return stack_problems(
            problems,
            likelihood=self.likelihood,
            outputs=self.outputs,
            shuffle=None if self.recipe.batch_size is None else seed,
            device=self.device,
        )

    def split(self, rows: Rows, fragment: NDArray[np.int64], seed: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Positions of the rows that a problem is trained on, and of those held out for early stopping.

        Reading: the draw does not depend on whether a method uses fragments, so that all are stopped by the same rows.

        Args:
            rows: row numbers of the problem, (n,).
            fragment: (n,) fragment of each row.
            seed: of the draw.

        Raises:
            DataError: no row can be held out.
        """
        if self.recipe.patience is None:
            return np.arange(len(fragment)), np.empty(0, np.int64)
        groups = None if self.groups is None else torch.from_numpy(self.groups[rows])
        kept, out = held_out(len(fragment), torch.from_numpy(fragment), seed=seed, groups=groups)
        if not len(out):
            only = "has one row only" if groups is None else "is of one group, and --group keeps groups whole"
            raise DataError(
                f"{self.dataset.name}: early stopping holds out a tenth of the rows, but every piece that is learned "
                f"from {only}; leave out --patience"
            )
        return kept.numpy(), out.numpy()

    def held_out(self, parts: Sequence[ProblemRows]) -> Stack | None:
        """The rows held out of each problem, side by side; None without early stopping."""
        if self.recipe.patience is None:
            return None
        problems = []
        for part in parts:
            # a few rows may all have weight 0: they count alike then
            used = part.weight is not None and bool(part.weight.any())
            problems.append(self.problem(part if used else part._replace(weight=None)))
        return self.stack(problems, 0)

    def initial(self, seeds: Sequence[int], candidates: int, features: int) -> Tensor:
        """Initial parameters, the same for every candidate, (g, a, d).

        Args:
            seeds: of the initial weights of each problem.
            candidates: a.
            features: f.
        """
        drawn = {
            seed: parameters_to_vector(mlp(features, self.outputs, self.hidden, seed=seed).parameters())
            for seed in set(seeds)
        }
        theta = torch.stack([drawn[seed].detach() for seed in seeds])
        return theta[:, None].expand(-1, candidates, -1).contiguous().to(self.device)

    @torch.no_grad()
    def predict(self, theta: Tensor, scaling: Scaling, rows: Rows) -> NDArray[np.float32]:
        """Log-probabilities (a, n, c), or means (a, n) in the units of `targets`, of one problem's models.

        Args:
            theta: their parameters, (a, d).
            scaling: that they were trained in.
            rows: to predict, (n,).
        """
        x = self.inputs(scaling.encoder, rows)
        inputs = torch.from_numpy(x).to(self.device)
        constant = inputs.new_ones(len(x), 1)
        weights = unflatten(theta[None], x.shape[1], self.hidden, self.outputs)
        found = np.asarray(predicted(weights, torch.cat([inputs, constant], 1), self.likelihood).cpu().numpy())
        units = self._units(None)
        return found if scaling.units is None or units is None else scaling.units.converted(found, units)
