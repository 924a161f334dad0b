"""Training on images: LeNets one after another. Letters: g sequences, a candidates, d parameters, n images."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.utils import parameters_to_vector, vector_to_parameters

from picsc.covariates import of_numbers, part_kl
from picsc.datasets.images import ImageSet, pixel_scale
from picsc.datasets.rows import Rows
from picsc.early_stopping import predict
from picsc.engine import TrainLog, train
from picsc.errors import NumericsError
from picsc.fisher import empirical_fisher, row_scores
from picsc.lessons import Learned, Lesson
from picsc.minibatches import epoch_steps
from picsc.models import lenet
from picsc.penalty import PENALTIES, Anchor
from picsc.settings import PenaltyName, Precision
from picsc.stacked_training import Fitted, Recipe
from picsc.trigger import part_gaps, random_halves, threshold

SCORED_AT_ONCE = 256
"""Images whose squared scores are held at once: 46 MB for 44,426 parameters."""


@dataclass(frozen=True, slots=True)
class ImageBackend:
    """LeNets on one set of images."""

    images: ImageSet
    recipe: Recipe
    penalty: PenaltyName
    device: torch.device
    precision: Precision

    @property
    def lr(self) -> float:
        """Learning rate."""
        return self.recipe.lr

    def targets(self, lesson_train: Rows, rows: Rows) -> NDArray[np.int64]:
        """Class codes; the same in every training part."""
        del lesson_train
        return self.images.labels[rows]

    def learn(
        self, lessons: Sequence[Lesson], strengths: NDArray[np.float64], decays: NDArray[np.float64]
    ) -> Iterator[Learned]:
        """Train every candidate of every lesson; see `picsc.lessons.Backend`."""
        for i, lesson in enumerate(lessons):
            scale = self.scale(lesson.train)
            tested = self.pixels(lesson.test, scale)
            outputs, diverged, shares = [], [], []
            for strength, decay in zip(strengths[i], decays[i], strict=True):
                model = self.model(lesson.seed)
                epoch, share = self.train(
                    model,
                    lesson.train,
                    scale,
                    seed=lesson.seed,
                    strength=float(strength),
                    decay=float(decay),
                    fragment=lesson.fragment,
                )
                outputs.append(predict(model, tested, likelihood="classes").cpu().numpy())
                diverged.append(epoch)
                shares.append(share)
            yield Learned(np.stack(outputs), np.array(diverged, np.int64), np.array(shares))

    def learner(
        self,
        sequences: Sequence[Sequence[Rows]],
        seeds: Sequence[int],
        scaled_on: Sequence[Rows],
        *,
        candidates: int = 1,
    ) -> ImageLearner:
        """Models carried along sequences; see `picsc.lessons.Backend`."""
        return ImageLearner(
            self, tuple(map(tuple, sequences)), tuple(seeds), tuple(map(self.scale, scaled_on)), candidates
        )

    def model(self, seed: int) -> nn.Sequential:
        """An untrained LeNet."""
        _, channels, side, _ = self.images.pixels.shape
        return lenet(channels, side, len(self.images.classes), seed=seed, device=self.device)

    def scale(self, rows: Rows) -> tuple[float, float]:
        """Mean and standard deviation of the pixels of some images."""
        mean, deviation = pixel_scale(self.images.pixels[rows])
        return mean, deviation or 1.0

    def pixels(self, rows: Rows, scale: tuple[float, float]) -> Tensor:
        """Standardised images, (n, c, s, s)."""
        mean, deviation = scale
        return torch.from_numpy(self.images.pixels[rows]).to(self.device).float().sub_(mean).div_(deviation)

    def labels(self, rows: Rows) -> Tensor:
        """Class codes, (n,)."""
        return torch.from_numpy(self.images.labels[rows]).to(self.device)

    def train(
        self,
        model: nn.Module,
        rows: Rows,
        scale: tuple[float, float],
        *,
        seed: int,
        strength: float,
        decay: float,
        fragment: NDArray[np.int64] | None = None,
        anchor: Anchor | None = None,
    ) -> tuple[int, float]:
        """Train in place; the epoch in which it diverged, or 0, and the penalty's share of the gradient."""
        batch = self.recipe.batch_size or len(rows)
        penalised = strength > 0 and fragment is not None
        try:
            log: TrainLog = train(
                model,
                self.pixels(rows, scale),
                self.labels(rows),
                likelihood="classes",
                steps=self.recipe.epochs * epoch_steps(len(rows), batch),
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
            )
        except NumericsError as error:
            for parameter in model.parameters():
                parameter.data.fill_(torch.nan)
            return error.epoch or 1, 0.0
        return 0, log.penalty_share


@dataclass(frozen=True, slots=True)
class ImageLearner:
    """Implements `picsc.sequence.Learner` for g sequences of fragments of one set of images."""

    backend: ImageBackend
    sequences: tuple[tuple[Rows, ...], ...]
    seeds: tuple[int, ...]
    scales: tuple[tuple[float, float], ...]
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
                    self.sequences[g][t],
                    self.scales[g],
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
                x, y = self.backend.pixels(rows, self.scales[g]), self.backend.labels(rows)
                found[g, a] = empirical_fisher(model, x, y)
            else:
                found[g, a] = torch.nan
        return found

    @torch.no_grad()
    def shift(self, theta: Tensor, t: int) -> tuple[Tensor, Tensor]:
        """Eq. 14's tau of fragment t against t - 1 at theta, and its calibrated threshold, (g, a) each.

        Source: Eq. 14; the covariates of images are the activations before the last layer.
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
            x, y = self.backend.pixels(rows, self.scales[g]), self.backend.labels(rows)
            parts = random_halves(len(now), len(rows), seed=self.seeds[g] + t).to(x.device)
            features = torch.cat([model[:-1](part) for part in torch.split(x, SCORED_AT_ONCE)])
            squares = (
                row_scores(model, x_c, y_c).square_()
                for x_c, y_c in zip(torch.split(x, SCORED_AT_ONCE), torch.split(y, SCORED_AT_ONCE), strict=True)
            )
            kl = part_kl(features, parts, of_numbers(features.shape[1]))
            taus[g, a], gammas[g, a] = threshold(part_gaps(squares, parts) * kl)
        return taus.to(theta.device), gammas.to(theta.device)

    def outputs(self, theta: Tensor, rows: Sequence[Rows]) -> list[NDArray[np.float32]]:
        """Log-probabilities (a, n, c) of each sequence's rows."""
        found = []
        for g, part in enumerate(rows):
            x = self.backend.pixels(part, self.scales[g])
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
