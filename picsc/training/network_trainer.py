"""Training of networks on images and texts: one model after another, on inputs by row number.

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
from picsc.equations.penalties import PENALTIES
from picsc.errors import NumericsError
from picsc.runtime.devices import placed
from picsc.settings import PenaltyName, Precision
from picsc.training.jobs import TrainedModels, TrainingJob, TrainingRecipe
from picsc.training.minibatches import epoch_steps
from picsc.training.network_inputs import Inputs, Read, Scale
from picsc.training.network_sequence_trainer import NetworkSequenceTrainer
from picsc.training.predict import predict
from picsc.training.single import train
from picsc.training.single_inputs import PLAIN, Correction, LabelledRows, OptimizerSettings
from picsc.weighting.diw import TargetData


@dataclass(frozen=True, slots=True)
class NetworkTrainer:
    """Networks on images or texts; implements `picsc.training.jobs.Trainer`."""

    inputs: Inputs
    """The data as inputs of their network."""
    recipe: TrainingRecipe
    penalty: PenaltyName
    """Divergence between fragments in Algorithm 1."""
    device: torch.device
    precision: Precision
    """Precision of the task's forward pass."""

    @property
    def lr(self) -> float:
        """Learning rate."""
        return self.recipe.lr

    @property
    def groups(self) -> None:
        """Images and texts have no columns, and so no groups."""
        return

    @property
    def counts(self) -> None:
        """Images and texts have no columns, and so no weights."""
        return

    @property
    def likelihood(self) -> Likelihood:
        """Images and texts have classes."""
        return "classes"

    def features(self, model: nn.Module, x: Tensor) -> Tensor:
        """The activations before the last layer."""
        assert isinstance(model, nn.Sequential)  # noqa: S101 - as `self.model` is
        return model[:-1](x)  # type: ignore[no-any-return] # a Sequential returns a tensor

    def targets(self, rows: Rows) -> NDArray[np.int64]:
        """Class codes of rows."""
        return self.inputs.labels[rows]

    def updates(self, rows: int) -> int:
        """Updates of a network that is trained on so many rows."""
        return self.recipe.steps or self.recipe.epochs * epoch_steps(rows, self.recipe.batch_size or rows)

    def train_jobs(
        self, jobs: Sequence[TrainingJob], strengths: NDArray[np.float64], decays: NDArray[np.float64]
    ) -> Iterator[TrainedModels]:
        """Train every candidate of every job; see `picsc.training.jobs.Trainer`."""
        for i, job in enumerate(jobs):
            read = self._reader_of(job)
            weight = None if job.weight is None else placed(job.weight, self.device)
            rows = LabelledRows(read(job.train), self.labels(job.train), "classes", weight)
            tested = read(job.test)
            target, target_rows = job.target_rows, None
            if target is not None:
                target_rows = TargetData(read(target.rows), self.labels(target.rows), target.match)
            outputs, diverged, shares = [], [], []
            for strength, decay in zip(strengths[i], decays[i], strict=True):
                model = self.model(job.seed)
                correction = self._correction(float(strength), job.fragment)
                epoch, share = self.train(
                    model,
                    rows,
                    seed=job.seed,
                    updates=job.updates,
                    decay=float(decay),
                    correction=correction,
                    target_rows=target_rows,
                )
                outputs.append(predict(model, tested, likelihood="classes").cpu().numpy())
                diverged.append(epoch)
                shares.append(share)
            yield TrainedModels(np.stack(outputs), np.array(diverged, np.int64), np.array(shares))

    def sequence_trainer(
        self,
        sequences: Sequence[Sequence[Rows]],
        seeds: Sequence[int],
        scaled_on: Sequence[Rows] | None = None,
        *,
        candidates: int = 1,
    ) -> NetworkSequenceTrainer[Scale]:
        """Models carried along sequences; see `picsc.training.jobs.Trainer`."""
        if scaled_on is None:
            scales = [self.inputs.scales_after(sequence, list(enumerate(sequence))) for sequence in sequences]
        else:
            scales = [
                self.inputs.scales_after((), [(0, rows)]) * len(sequence)
                for sequence, rows in zip(sequences, scaled_on, strict=True)
            ]
        return NetworkSequenceTrainer(
            self, tuple(map(tuple, sequences)), tuple(seeds), tuple(map(tuple, scales)), candidates
        )

    def model(self, seed: int) -> nn.Sequential:
        """An untrained network."""
        return self.inputs.model(seed, self.device)

    def reader(self, fitted_on: Rows) -> Read:
        """A function that reads rows for networks that are trained on some of them."""
        return self.reader_of_scale(*self.inputs.scales_after((), [(0, fitted_on)]))

    def reader_of_scale(self, scale: Scale) -> Read:
        """A function that reads rows standardised by a scale."""
        return self.inputs.reader(scale, self.device)

    def _reader_of(self, job: TrainingJob) -> Read:
        """A function that reads rows for the network of a job."""
        return self.reader_of_scale(*self.inputs.scales_after(job.sequence or (), [(job.place, job.train)]))

    def labels(self, rows: Rows) -> Tensor:
        """Class codes, (n,)."""
        return torch.from_numpy(self.inputs.labels[rows]).to(self.device)

    def train(
        self,
        model: nn.Module,
        rows: LabelledRows,
        *,
        seed: int,
        updates: int | None = None,
        decay: float = 0.0,
        correction: Correction = PLAIN,
        target_rows: TargetData | None = None,
    ) -> tuple[int, float]:
        """Train in place; the epoch in which the model diverged, or 0, and the penalty's share of the gradient.

        Args:
            model: its parameters are NaN afterwards if it diverged.
            rows: the training rows.
            seed: of minibatches.
            updates: number of them; None is that of the recipe.
            decay: weight decay.
            correction: the penalty between fragments or the anchor.
            target_rows: as in `picsc.training.single.train`.

        Raises:
            SettingsError: weights together with Algorithm 1's penalty.
        """
        return train_network(
            model,
            rows,
            self.recipe,
            self.precision,
            seed=seed,
            updates=updates,
            decay=decay,
            correction=correction,
            target_rows=target_rows,
        )

    def _correction(self, strength: float, fragment: NDArray[np.int64]) -> Correction:
        """Algorithm 1's correction of a given lambda."""
        if strength <= 0:
            return PLAIN
        of_rows = torch.from_numpy(fragment).to(self.device)
        return Correction(strength, PENALTIES[self.penalty], of_rows, warmup=self.recipe.warmup)


def train_network(
    model: nn.Module,
    rows: LabelledRows,
    recipe: TrainingRecipe,
    precision: Precision,
    *,
    seed: int,
    updates: int | None = None,
    decay: float = 0.0,
    correction: Correction = PLAIN,
    target_rows: TargetData | None = None,
) -> tuple[int, float]:
    """Train in place; the epoch in which the model diverged, or 0, and the penalty's share of the gradient.

    Args:
        model: its parameters are NaN afterwards if it diverged.
        rows: the training rows.
        recipe: epochs, minibatches and optimiser.
        precision: of the task's forward pass.
        seed: of minibatches.
        updates: number of them; None is that of the recipe.
        decay: weight decay.
        correction: the penalty between fragments or the anchor.
        target_rows: as in `picsc.training.single.train`.

    Raises:
        SettingsError: weights together with Algorithm 1's penalty.
    """
    batch = recipe.batch_size or len(rows)
    settings = OptimizerSettings(
        steps=updates or recipe.steps or recipe.epochs * epoch_steps(len(rows), batch),
        lr=recipe.lr,
        batch_size=batch,
        seed=seed,
        weight_decay=decay,
        optimizer=recipe.optimizer,
        momentum=recipe.momentum,
        patience=recipe.patience,
        precision=precision,
    )
    try:
        log = train(model, rows, settings, correction=correction, target_rows=target_rows)
    except NumericsError as error:
        for parameter in model.parameters():
            parameter.data.fill_(torch.nan)
        return error.epoch or 1, 0.0
    return 0, log.penalty_share
