"""Training of one module after another, on inputs by row number. Letters: g sequences, a candidates, d parameters."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.utils import parameters_to_vector, vector_to_parameters

from picsc.datasets.encoding import of_numbers
from picsc.datasets.rows import Rows
from picsc.equations.covariate_kl import part_kl
from picsc.equations.penalties import PENALTIES, Anchor
from picsc.equations.trigger import calibrated_threshold, part_gaps, random_halves, summed_gaps, tau
from picsc.errors import NumericsError
from picsc.fisher.diagonal import empirical_fisher, row_scores
from picsc.fisher.subset_sums import part_squares
from picsc.runtime.devices import placed
from picsc.settings import PenaltyName, Precision
from picsc.training.jobs import Fitted, TrainedModels, TrainingJob, TrainingRecipe
from picsc.training.minibatches import epoch_steps
from picsc.training.network_inputs import Inputs, Read
from picsc.training.predict import predict
from picsc.training.single import TrainLog, train
from picsc.weighting.diw import TargetData

ROWS_PER_PASS = 256
"""Rows per pass where rows are only looked at."""
SCORED_FLOATS = 1 << 25
"""Squared scores of single rows held at once, in floats: 134 MB."""


@dataclass(frozen=True, slots=True)
class NetworkTrainer:
    """Networks on images or texts; implements `picsc.training.jobs.Trainer`."""

    inputs: Inputs
    recipe: TrainingRecipe
    penalty: PenaltyName
    device: torch.device
    precision: Precision

    @property
    def lr(self) -> float:
        """Learning rate."""
        return self.recipe.lr

    def targets(self, train: Rows, rows: Rows) -> NDArray[np.int64]:
        """Class codes; the same in every training part."""
        del train
        return self.inputs.labels[rows]

    def train_jobs(
        self, lessons: Sequence[TrainingJob], strengths: NDArray[np.float64], decays: NDArray[np.float64]
    ) -> Iterator[TrainedModels]:
        """Train every candidate of every lesson; see `picsc.training.jobs.Trainer`."""
        for i, lesson in enumerate(lessons):
            read = self.reader(lesson.train)
            x, y = read(lesson.train), self.labels(lesson.train)
            tested = read(lesson.test)
            weight = None if lesson.weight is None else placed(lesson.weight, self.device)
            guide = lesson.target_rows
            guided = None if guide is None else TargetData(read(guide.rows), self.labels(guide.rows), guide.match)
            outputs, diverged, shares = [], [], []
            for strength, decay in zip(strengths[i], decays[i], strict=True):
                model = self.model(lesson.seed)
                epoch, share = self.train(
                    model,
                    x,
                    y,
                    seed=lesson.seed,
                    strength=float(strength),
                    decay=float(decay),
                    fragment=lesson.fragment,
                    weight=weight,
                    guided=guided,
                )
                outputs.append(predict(model, tested, likelihood="classes").cpu().numpy())
                diverged.append(epoch)
                shares.append(share)
            yield TrainedModels(np.stack(outputs), np.array(diverged, np.int64), np.array(shares))

    def sequence_trainer(
        self,
        sequences: Sequence[Sequence[Rows]],
        seeds: Sequence[int],
        scaled_on: Sequence[Rows],
        *,
        candidates: int = 1,
    ) -> NetworkSequenceTrainer:
        """Models carried along sequences; see `picsc.training.jobs.Trainer`."""
        return NetworkSequenceTrainer(
            self, tuple(map(tuple, sequences)), tuple(seeds), tuple(map(self.reader, scaled_on)), candidates
        )

    def model(self, seed: int) -> nn.Sequential:
        """An untrained network."""
        return self.inputs.model(seed, self.device)

    def reader(self, fitted_on: Rows) -> Read:
        """How rows are read for networks that learn from some of them."""
        return self.inputs.reader(fitted_on, self.device)

    def labels(self, rows: Rows) -> Tensor:
        """Class codes, (n,)."""
        return torch.from_numpy(self.inputs.labels[rows]).to(self.device)

    def train(
        self,
        model: nn.Module,
        x: Tensor,
        y: Tensor,
        *,
        seed: int,
        strength: float = 0.0,
        decay: float = 0.0,
        fragment: NDArray[np.int64] | None = None,
        anchor: Anchor | None = None,
        weight: Tensor | None = None,
        guided: TargetData | None = None,
    ) -> tuple[int, float]:
        """Train in place; the epoch in which it diverged, or 0, and the penalty's share of the gradient.

        Args:
            model: its parameters are NaN afterwards if it diverged.
            x: inputs (n, ...).
            y: class codes (n,).
            seed: of minibatches.
            strength: lambda, of `fragment` or `anchor`.
            decay: weight decay.
            fragment: (n,) of Algorithm 1; None leaves its penalty out.
            anchor: of Eq. 16.
            weight: of the rows, (n,); not with `fragment`.
            guided: what weighs rows at every step; not with `fragment`.

        Raises:
            SettingsError: weights together with Algorithm 1's penalty.
        """
        batch = self.recipe.batch_size or len(x)
        penalised = strength > 0 and fragment is not None
        try:
            log: TrainLog = train(
                model,
                x,
                y,
                likelihood="classes",
                steps=self.recipe.epochs * epoch_steps(len(x), batch),
                lr=self.recipe.lr,
                batch_size=batch,
                seed=seed,
                weight_decay=decay,
                anchor=anchor if strength > 0 else None,
                penalty=PENALTIES[self.penalty] if penalised else None,
                fragment=torch.from_numpy(fragment).to(self.device) if penalised and fragment is not None else None,
                strength=strength,
                warmup=self.recipe.warmup,
                optimizer=self.recipe.optimizer,
                momentum=self.recipe.momentum,
                patience=self.recipe.patience,
                precision=self.precision,
                weight=weight,
                guided=guided,
            )
        except NumericsError as error:
            for parameter in model.parameters():
                parameter.data.fill_(torch.nan)
            return error.epoch or 1, 0.0
        return 0, log.penalty_share


@dataclass(frozen=True, slots=True)
class NetworkSequenceTrainer:
    """Implements `picsc.training.jobs.SequenceTrainer` for g sequences of fragments of one set of images or texts."""

    backend: NetworkTrainer
    sequences: tuple[tuple[Rows, ...], ...]
    seeds: tuple[int, ...]
    readers: tuple[Read, ...]
    candidates: int

    def start(self) -> Tensor:
        """Initial parameters, (g, a, d)."""
        drawn = [parameters_to_vector(self.backend.model(seed).parameters()).detach() for seed in self.seeds]
        return torch.stack(drawn)[:, None].repeat(1, self.candidates, 1)

    def fit(self, theta: Tensor, t: int, *, weight_decay: Tensor, strength: Tensor, anchor: Anchor | None) -> Fitted:
        """Train on fragment t."""
        after = theta.clone()
        diverged = torch.zeros(theta.shape[:2], dtype=torch.int64)
        shares = torch.zeros(theta.shape[:2])
        for g, a in self._each():
            same = self._same_before(g, a, theta, strength, weight_decay)
            if same is not None:  # candidates that are still alike are trained once
                after[g, a], diverged[g, a], shares[g, a] = after[g, same], diverged[g, same], shares[g, same]
                continue
            model = self._model(theta[g, a])
            held = None if anchor is None else Anchor(anchor.mean[g, a], anchor.fisher[g, a])
            with torch.enable_grad():
                diverged[g, a], shares[g, a] = self.backend.train(
                    model,
                    self.readers[g](self.sequences[g][t]),
                    self.backend.labels(self.sequences[g][t]),
                    seed=self.seeds[g] + t,
                    strength=float(strength[g, a]),
                    decay=float(weight_decay[g, a]),
                    anchor=held,
                )
            after[g, a] = parameters_to_vector(model.parameters()).detach()
        return Fitted(after, diverged, shares)

    def fisher(self, theta: Tensor, t: int) -> Tensor:
        """Diagonal empirical Fisher on fragment t, (g, a, d)."""
        found = torch.zeros_like(theta)
        for g, a in self._each():
            rows = self.sequences[g][t]
            model = self._model(theta[g, a])
            if bool(theta[g, a].isfinite().all()):
                x, y = self.readers[g](rows), self.backend.labels(rows)
                found[g, a] = empirical_fisher(model, x, y)
            else:
                found[g, a] = torch.nan
        return found

    @torch.no_grad()
    def shift(self, theta: Tensor, t: int) -> tuple[Tensor, Tensor]:
        """Eq. 14's tau of fragment t against t - 1 at theta, and its calibrated threshold, (g, a) each.

        Source: Eq. 14; the covariates are the activations before the last layer.
        """
        taus, gammas = (torch.full(theta.shape[:2], torch.nan) for _ in range(2))
        for g, a in self._each():
            same = self._same_before(g, a, theta)
            if same is not None:
                taus[g, a], gammas[g, a] = taus[g, same], gammas[g, same]
                continue
            if not bool(theta[g, a].isfinite().all()):
                continue
            model = self._model(theta[g, a])
            now, before = self.sequences[g][t], self.sequences[g][t - 1]
            rows = np.concatenate([now, before])
            x, y = self.readers[g](rows), self.backend.labels(rows)
            parts = random_halves(len(now), len(rows), seed=self.seeds[g] + t).to(x.device)
            features = torch.cat([model[:-1](part) for part in torch.split(x, ROWS_PER_PASS)])
            kl = part_kl(features, parts, of_numbers(features.shape[1]))
            taus[g, a], gammas[g, a] = calibrated_threshold(tau(_gaps(model, x, y, parts), kl))
        return taus.to(theta.device), gammas.to(theta.device)

    def outputs(self, theta: Tensor, rows: Sequence[Rows]) -> list[NDArray[np.float32]]:
        """Log-probabilities (a, n, c) of each sequence's rows."""
        found = []
        for g, part in enumerate(rows):
            x = self.readers[g](part)
            models = [self._model(theta[g, a]) for a in range(self.candidates)]
            found.append(np.stack([predict(model, x, likelihood="classes").cpu().numpy() for model in models]))
        return found

    def _same_before(self, g: int, a: int, *values: Tensor) -> int | None:
        """The first candidate before a whose values, (g, a, ...) each, are those of a."""
        alike = (b for b in range(a) if all(torch.equal(each[g, a], each[g, b]) for each in values))
        return next(alike, None)

    def _each(self) -> list[tuple[int, int]]:
        return [(g, a) for g in range(len(self.sequences)) for a in range(self.candidates)]

    def _model(self, theta: Tensor) -> nn.Sequential:
        model = self.backend.model(0)
        vector_to_parameters(theta.to(self.backend.device), model.parameters())
        return model


def _gaps(model: nn.Module, x: Tensor, y: Tensor, parts: Tensor) -> Tensor:
    """Fisher gap of every way to part the rows, (b,); of texts through the few words that a row reads."""
    if not x.is_floating_point():
        sums = part_squares(model, x, y, torch.cat([parts, parts.new_ones(1, len(x))]))
        return summed_gaps(sums[:-1], sums[-1], parts)
    d = sum(parameter.numel() for parameter in model.parameters())
    at_once = max(1, min(ROWS_PER_PASS, SCORED_FLOATS // d))
    chunks = zip(torch.split(x, at_once), torch.split(y, at_once), strict=True)
    return part_gaps((row_scores(model, x_c, y_c).square_() for x_c, y_c in chunks), parts)
