"""Training of networks on images and texts: one model after another, on inputs by row number.

Letters: l jobs, a candidates, n rows, c classes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from picsc.datasets.rows import Rows
from picsc.equations.likelihood import Likelihood
from picsc.equations.penalties import PENALTIES
from picsc.runtime.devices import placed
from picsc.settings import PenaltyName, Precision
from picsc.training.jobs import TrainedModels, TrainingJob, TrainingRecipe
from picsc.training.network_inputs import Inputs, Read, Scale
from picsc.training.network_sequence_trainer import NetworkSequenceTrainer, OneNetwork
from picsc.training.predict import predict
from picsc.training.single import train_by_recipe, updates_by_recipe
from picsc.training.single_inputs import PLAIN, Correction, LabelledRows
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
        return updates_by_recipe(self.recipe, rows)

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


class CandidateTraining(OneNetwork[Any], Protocol):
    """A trainer of one network at a time whose candidates differ in the lambda of Algorithm 1 and in weight decay."""

    @property
    def penalty(self) -> PenaltyName:
        """Divergence between fragments in Algorithm 1."""
        ...


def train_candidates(
    trainer: CandidateTraining,
    job: TrainingJob,
    rows: LabelledRows,
    tested: Tensor,
    *,
    strengths: NDArray[np.float64],
    decays: NDArray[np.float64],
    target_rows: TargetData | None,
) -> TrainedModels:
    """Train every candidate of a job, and predict its test rows.

    Args:
        trainer: makes the networks.
        job: their seed, updates and fragments.
        rows: the training rows.
        tested: inputs of the test rows.
        strengths: lambda, (a,).
        decays: weight decay, (a,).
        target_rows: as in `picsc.training.single.train`.
    """
    outputs, diverged, shares = [], [], []
    for strength, decay in zip(strengths, decays, strict=True):
        model = trainer.model(job.seed)
        correction = PLAIN
        if strength > 0:
            fragment = torch.from_numpy(job.fragment).to(trainer.device)
            penalty, warmup = PENALTIES[trainer.penalty], trainer.recipe.warmup
            correction = Correction(float(strength), penalty, fragment, warmup=warmup)
        epoch, share = train_by_recipe(
            model,
            rows,
            trainer.recipe,
            trainer.precision,
            seed=job.seed,
            updates=job.updates,
            decay=float(decay),
            correction=correction,
            target_rows=target_rows,
        )
        outputs.append(predict(model, tested, likelihood=rows.likelihood).cpu().numpy())
        diverged.append(epoch)
        shares.append(share)
    return TrainedModels(np.stack(outputs), np.array(diverged, np.int64), np.array(shares))
