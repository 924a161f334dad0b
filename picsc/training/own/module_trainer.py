"""The trainer of the user's torch modules on a table: one model after another, by automatic differentiation.

Letters: l jobs, a candidates, n rows, c classes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from picsc.datasets.rows import Rows
from picsc.equations.likelihood import Likelihood
from picsc.errors import SettingsError
from picsc.runtime.devices import placed
from picsc.settings import PenaltyName, Precision
from picsc.training.jobs import Scaling, TrainedModels, TrainingJob, TrainingRecipe
from picsc.training.network_inputs import Read
from picsc.training.network_sequence_trainer import NetworkSequenceTrainer
from picsc.training.network_trainer import train_candidates
from picsc.training.own.checked_module import checked_module
from picsc.training.own.named import OwnModel
from picsc.training.single import updates_by_recipe
from picsc.training.single_inputs import LabelledRows
from picsc.training.table_trainer import TableTrainer
from picsc.weighting.diw import TargetData


@dataclass(frozen=True, slots=True)
class ModuleTrainer:
    """Modules of the user on one table whose rows all have a label; implements `picsc.training.jobs.Trainer`.

    Reading: parameters that are carried along pieces belong to one encoding, because those of any module cannot be
        brought from one encoding to the next: that of the first piece, whatever pieces follow.
    """

    table: TableTrainer
    """The table, its weights, its groups, and the recipe of training."""
    own: OwnModel
    inputs: int
    """Encoded columns."""
    precision: Precision
    """Precision of the task's forward pass."""

    @property
    def lr(self) -> float:
        """Learning rate."""
        return self.table.lr

    @property
    def recipe(self) -> TrainingRecipe:
        """Epochs, minibatches and optimiser."""
        return self.table.recipe

    @property
    def penalty(self) -> PenaltyName:
        """Divergence between fragments in Algorithm 1."""
        return self.table.penalty

    @property
    def device(self) -> torch.device:
        """Device of the modules."""
        return self.table.device

    @property
    def likelihood(self) -> Likelihood:
        """The likelihood of the target."""
        return self.table.problems.likelihood

    @property
    def groups(self) -> NDArray[np.int64] | None:
        """Group of each row; see `picsc.training.jobs.Trainer`."""
        return self.table.groups

    @property
    def counts(self) -> NDArray[np.float64] | None:
        """How much each row counts; see `picsc.training.jobs.Trainer`."""
        return self.table.counts

    def targets(self, rows: Rows) -> NDArray[np.int64] | NDArray[np.float64]:
        """Class codes, or numbers in standard deviations; see `picsc.training.jobs.Trainer`."""
        return self.table.targets(rows)

    def updates(self, rows: int) -> int:
        """Updates of a module that is trained on so many rows."""
        return updates_by_recipe(self.recipe, rows)

    def model(self, seed: int) -> nn.Module:
        """An untrained module.

        Raises:
            DataError: it takes other inputs, or has another number of outputs.
        """
        outputs = self.table.problems.outputs
        return checked_module(self.own, seed, (self.inputs, outputs), self.likelihood, self.device)

    def features(self, model: nn.Module, x: Tensor) -> Tensor:
        """The covariates of Eq. 14: the encoded columns, as for the paper's network of tables."""
        del model
        return x

    def labels(self, rows: Rows) -> Tensor:
        """Class codes, or numbers in the units of `targets`, (n,)."""
        y = torch.from_numpy(self.targets(rows))
        return y.to(self.device) if self.likelihood == "classes" else y.float().to(self.device)

    def reader_of_scale(self, scale: Scaling) -> Read:
        """A function that reads rows in an encoding."""

        def read(rows: Rows) -> Tensor:
            return torch.from_numpy(self.table.problems.inputs(scale.encoder, rows)).to(self.device)

        return read

    def train_jobs(
        self, jobs: Sequence[TrainingJob], strengths: NDArray[np.float64], decays: NDArray[np.float64]
    ) -> Iterator[TrainedModels]:
        """Train every candidate of every job; see `picsc.training.jobs.Trainer`."""
        for i, job in enumerate(jobs):
            read = self.reader_of_scale(self.table.problems.scaling(job.sequence[0] if job.sequence else job.train))
            weight = self.table.problems.row_weights(job.train, job.weight)
            placed_weight = None if weight is None else placed(weight, self.device)
            rows = LabelledRows(read(job.train), self.labels(job.train), self.likelihood, placed_weight)
            tested, target_rows = read(job.test), None
            if job.target_rows is not None:
                if job.target_rows.match == "features":
                    raise SettingsError(f"--model {self.own.name}: --match features is for picsc's own networks")
                target = job.target_rows.rows
                target_rows = TargetData(read(target), self.labels(target), "losses")
            if rows.weight is not None and bool((strengths[i] > 0).any()):
                raise SettingsError(
                    f"--model {self.own.name}: rows have weights, and the penalty of picsc on a module of your "
                    "own takes none: add --method st-cv, or leave out the weights"
                )
            yield train_candidates(
                self, job, rows, tested, strengths=strengths[i], decays=decays[i], target_rows=target_rows
            )

    def sequence_trainer(
        self,
        sequences: Sequence[Sequence[Rows]],
        seeds: Sequence[int],
        scaled_on: Sequence[Rows] | None = None,
        *,
        candidates: int = 1,
    ) -> NetworkSequenceTrainer[Scaling]:
        """Modules carried along sequences; see `picsc.training.jobs.Trainer`."""
        on = [sequence[0] for sequence in sequences] if scaled_on is None else scaled_on
        scales = [(self.table.problems.scaling(rows),) * len(each) for rows, each in zip(on, sequences, strict=True)]
        return NetworkSequenceTrainer(self, tuple(map(tuple, sequences)), tuple(seeds), tuple(scales), candidates)
