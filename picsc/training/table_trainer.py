"""Training on tables: many small networks at once. Letters: g problems, a candidates, d parameters, n rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.utils import parameters_to_vector

from picsc.datasets.encoding import Encoder, fit, of_table
from picsc.datasets.rows import Rows
from picsc.datasets.table import Dataset
from picsc.equations.covariate_kl import part_kl
from picsc.equations.likelihood import Likelihood
from picsc.equations.penalties import PENALTIES, Anchor
from picsc.equations.trigger import calibrated_threshold, part_gaps, random_halves, tau
from picsc.errors import DataError
from picsc.settings import PenaltyName
from picsc.training.batched.diw import StackGuide
from picsc.training.batched.layout import Stack, TrainingProblem, stack_problems
from picsc.training.batched.mlp import flatten, fragment_fishers, predicted, squared_scores, unflatten
from picsc.training.batched.train import problems_per_stack, train_stack
from picsc.training.jobs import Fitted, TargetRows, TrainedModels, TrainingJob, TrainingRecipe
from picsc.training.minibatches import held_out
from picsc.training.networks import mlp

HIDDEN = 4
"""Units of the paper's network for tables."""


@dataclass(frozen=True, slots=True)
class TableTrainer:
    """Networks of the paper's "Model architectures" on one table whose rows all have a label."""

    dataset: Dataset
    recipe: TrainingRecipe
    penalty: PenaltyName
    weights: NDArray[np.float64] | None
    """(n,) row weights; None weighs all alike."""
    device: torch.device

    @property
    def lr(self) -> float:
        """Learning rate."""
        return self.recipe.lr

    @property
    def likelihood(self) -> Likelihood:
        """Of the target."""
        assert self.dataset.target is not None  # noqa: S101 - the verb refuses tables without one
        return self.dataset.target.kind

    @property
    def classes(self) -> int:
        """Outputs of a model."""
        assert self.dataset.target is not None  # noqa: S101 - as above
        return max(1, len(self.dataset.target.levels))

    def targets(self, train: Rows, rows: Rows) -> NDArray[np.int64] | NDArray[np.float64]:
        """Class codes, or numbers in the training part's standard deviations."""
        assert self.dataset.target is not None  # noqa: S101 - as above
        values = self.dataset.target.values
        if self.likelihood == "classes":
            return values[rows].astype(np.int64)
        part = values[train].astype(np.float64)
        standard: NDArray[np.float64] = (values[rows] - part.mean()) / (part.std() or 1.0)
        return standard

    def train_jobs(
        self, lessons: Sequence[TrainingJob], strengths: NDArray[np.float64], decays: NDArray[np.float64]
    ) -> Iterator[TrainedModels]:
        """Train every candidate of every lesson; see `picsc.training.jobs.Trainer`."""
        a = strengths.shape[1]
        largest = max(len(lesson.train) for lesson in lessons)
        per_stack = problems_per_stack(largest, a, HIDDEN)
        # a stack's problems have equally many fragments, and match the same values with those of the target
        kinds = [(int(lesson.fragment.max()), lesson.target_rows and lesson.target_rows.match) for lesson in lessons]
        start = 0
        for stop in range(1, len(lessons) + 1):
            full = stop == len(lessons) or stop - start == per_stack
            if full or kinds[stop] != kinds[start]:
                part = slice(start, stop)
                yield from self._learn_stack(lessons[part], strengths[part], decays[part])
                start = stop

    def _learn_stack(
        self, lessons: Sequence[TrainingJob], strengths: NDArray[np.float64], decays: NDArray[np.float64]
    ) -> Iterator[TrainedModels]:
        penalised = bool((strengths != 0).any())
        encoders = [fit(self.dataset, lesson.train) for lesson in lessons]
        # without a penalty and with all rows in every step, fragments do not matter, and one long tile is fastest
        divided = penalised or self.recipe.batch_size is not None
        problems, held = [], []
        for encoder, lesson in zip(encoders, lessons, strict=True):
            kept, out = self._parted(lesson.fragment, lesson.seed)
            fragment = lesson.fragment[kept] if divided else None
            problems.append(
                self._problem(encoder, lesson.train, lesson.train[kept], fragment, _part(lesson.weight, kept))
            )
            held.append((encoder, lesson.train, lesson.train[out], _part(lesson.weight, out)))
        stack = self._stacked(problems, lessons[0].seed)
        a = strengths.shape[1]
        theta = self._initial([lesson.seed for lesson in lessons], a, stack.features)
        fitted = train_stack(
            theta,
            stack,
            replace(self.recipe, seed=lessons[0].seed),
            hidden=HIDDEN,
            weight_decay=self._placed(decays),
            strength=self._placed(strengths),
            penalty=PENALTIES[self.penalty],
            held=self._held(held),
            guided=self._guided(encoders, lessons),
        )
        for g, (encoder, lesson) in enumerate(zip(encoders, lessons, strict=True)):
            yield TrainedModels(
                self._outputs(fitted.theta[g], self._x(encoder, lesson.test)),
                fitted.diverged[g].cpu().numpy(),
                fitted.penalty_share[g].double().cpu().numpy(),
            )

    def sequence_trainer(
        self,
        sequences: Sequence[Sequence[Rows]],
        seeds: Sequence[int],
        scaled_on: Sequence[Rows],
        *,
        candidates: int = 1,
    ) -> TableSequenceTrainer:
        """Models carried along sequences; see `picsc.training.jobs.Trainer`."""
        return TableSequenceTrainer(
            self,
            tuple(map(tuple, sequences)),
            tuple(seeds),
            tuple(fit(self.dataset, rows) for rows in scaled_on),
            tuple(scaled_on),
            candidates,
        )

    def _x(self, encoder: Encoder, rows: Rows) -> NDArray[np.float32]:
        return encoder.transform(self.dataset, rows).matrix

    def _problem(
        self,
        encoder: Encoder,
        scaled_on: Rows,
        rows: Rows,
        fragment: NDArray[np.int64] | None,
        weight: NDArray[np.float64] | None = None,
    ) -> TrainingProblem:
        """Rows encoded; a lesson's weights of them multiply those of the table."""
        if self.weights is not None:
            weight = self.weights[rows] if weight is None else self.weights[rows] * weight
        return TrainingProblem(
            self._x(encoder, rows),
            self.targets(scaled_on, rows),
            np.zeros(len(rows), np.int64) if fragment is None else fragment,
            weight,
        )

    def _guided(self, encoders: Sequence[Encoder], lessons: Sequence[TrainingJob]) -> StackGuide | None:
        """The rows of the target that weigh each lesson's, encoded as these are; all lessons have them, or none."""
        problems, ons = [], []
        for encoder, lesson in zip(encoders, lessons, strict=True):
            if lesson.target_rows is not None:
                problems.append(self._guide(encoder, lesson.train, lesson.target_rows))
                ons.append(lesson.target_rows.match)
        if not problems:
            return None
        return StackGuide(self._stacked(problems, lessons[0].seed), ons[0], [lesson.seed for lesson in lessons])

    def _guide(self, encoder: Encoder, scaled_on: Rows, guide: TargetRows) -> TrainingProblem:
        x = self._x(encoder, guide.rows)
        nothing = np.zeros(len(x), np.int64)
        # labels that must not be looked at do not come along
        y = self.targets(scaled_on, guide.rows) if guide.match == "losses" else nothing
        return TrainingProblem(x, y, nothing)

    def _parted(self, fragment: NDArray[np.int64], seed: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Positions of a problem's rows that are learned from, and of those held out for early stopping.

        Reading: the draw does not depend on whether a method looks at fragments, so that all are stopped by the same
            rows.
        """
        if self.recipe.patience is None:
            return np.arange(len(fragment)), np.empty(0, np.int64)
        kept, out = held_out(len(fragment), torch.from_numpy(fragment), seed=seed)
        if not len(out):
            raise DataError(
                f"{self.dataset.name}: early stopping holds out a tenth of the rows, but every piece that is learned "
                "from has one row only; leave out --patience"
            )
        return kept.numpy(), out.numpy()

    def _held(self, parts: Sequence[tuple[Encoder, Rows, Rows, NDArray[np.float64] | None]]) -> Stack | None:
        """The rows held out of each problem; by encoder, rows that scale the target, the rows, and their weights."""
        if self.recipe.patience is None:
            return None
        problems = []
        for encoder, scaled_on, out, weight in parts:
            weighs = weight is not None and bool(weight.any())  # a few rows may all have weight 0: they are alike then
            problems.append(self._problem(encoder, scaled_on, out, None, weight if weighs else None))
        return self._stacked(problems, 0)

    def _stacked(self, problems: Sequence[TrainingProblem], seed: int) -> Stack:
        return stack_problems(
            problems,
            likelihood=self.likelihood,
            outputs=self.classes,
            shuffle=None if self.recipe.batch_size is None else seed,
            device=self.device,
        )

    def _initial(self, seeds: Sequence[int], a: int, f: int) -> Tensor:
        """The same first weights for every candidate, (g, a, d)."""
        drawn = {
            seed: parameters_to_vector(mlp(f, self.classes, HIDDEN, seed=seed).parameters()) for seed in set(seeds)
        }
        theta = torch.stack([drawn[seed].detach() for seed in seeds])
        return theta[:, None].expand(-1, a, -1).contiguous().to(self.device)

    def _placed(self, values: NDArray[np.float64]) -> Tensor:
        return torch.from_numpy(values).to(device=self.device, dtype=torch.float32)

    @torch.no_grad()
    def _outputs(self, theta: Tensor, x: NDArray[np.float32]) -> NDArray[np.float32]:
        """Log-probabilities (a, n, c), or means (a, n), of one problem's models, (a, d)."""
        f = x.shape[1]
        inputs = torch.from_numpy(x).to(self.device)
        constant = inputs.new_ones(len(x), 1)
        weights = unflatten(theta[None], f, HIDDEN, self.classes)
        return np.asarray(predicted(weights, torch.cat([inputs, constant], 1), self.likelihood).cpu().numpy())


@dataclass(frozen=True, slots=True)
class TableSequenceTrainer:
    """Implements `picsc.training.jobs.SequenceTrainer` for g sequences of one table."""

    backend: TableTrainer
    sequences: tuple[tuple[Rows, ...], ...]
    seeds: tuple[int, ...]
    encoders: tuple[Encoder, ...]
    scaled_on: tuple[Rows, ...]
    candidates: int

    def start(self) -> Tensor:
        """Initial parameters, (g, a, d)."""
        return self.backend._initial(self.seeds, self.candidates, len(self.encoders[0].names))

    def fit(self, theta: Tensor, t: int, *, weight_decay: Tensor, strength: Tensor, anchor: Anchor | None) -> Fitted:
        """Train on fragment t."""
        learned, held = [], []
        for sequence, seed, encoder, scaled_on in zip(
            self.sequences, self.seeds, self.encoders, self.scaled_on, strict=True
        ):
            kept, out = self.backend._parted(np.zeros(len(sequence[t]), np.int64), seed + t)
            learned.append(sequence[t][kept])
            held.append((encoder, scaled_on, sequence[t][out], None))
        return train_stack(
            theta,
            self._stack(learned),
            replace(self.backend.recipe, seed=self.seeds[0] + t),
            hidden=HIDDEN,
            weight_decay=weight_decay,
            strength=strength,
            anchor=anchor,
            held=self.backend._held(held),
        )

    @torch.no_grad()
    def fisher(self, theta: Tensor, t: int) -> Tensor:
        """Diagonal empirical Fisher on fragment t, (g, a, d)."""
        stack = self._stack([sequence[t] for sequence in self.sequences])
        fishers = fragment_fishers(unflatten(theta, stack.features, HIDDEN, stack.outputs), stack)
        return flatten(type(fishers)(*(part[:, 0] for part in fishers)))

    @torch.no_grad()
    def shift(self, theta: Tensor, t: int) -> tuple[Tensor, Tensor]:
        """Eq. 14's tau of fragment t against t - 1 at theta, and its calibrated threshold, (g, a) each."""
        covariates = of_table(self.backend.dataset)
        taus = torch.zeros(theta.shape[:2])
        gammas = torch.zeros(theta.shape[:2])
        for g, sequence in enumerate(self.sequences):
            rows = np.concatenate([sequence[t], sequence[t - 1]])
            problem = self.backend._problem(self.encoders[g], self.scaled_on[g], rows, None)
            parts = random_halves(len(sequence[t]), len(rows), seed=self.seeds[g] + t)
            kl = part_kl(torch.from_numpy(problem.x), parts, covariates)
            stack = stack_problems([problem], likelihood=self.backend.likelihood, outputs=self.backend.classes)
            for a in range(theta.shape[1]):
                weights = unflatten(theta[g, a].cpu()[None, None], stack.features, HIDDEN, stack.outputs)
                found = calibrated_threshold(tau(part_gaps([squared_scores(weights, stack)], parts), kl))
                taus[g, a], gammas[g, a] = found
        return taus.to(theta.device), gammas.to(theta.device)

    def outputs(self, theta: Tensor, rows: Sequence[Rows]) -> list[NDArray[np.float32]]:
        """Log-probabilities (a, n, c), or means (a, n), of each sequence's rows."""
        inputs = [self.backend._x(encoder, part) for encoder, part in zip(self.encoders, rows, strict=True)]
        return [self.backend._outputs(theta[g], x) for g, x in enumerate(inputs)]

    def _stack(self, rows: Sequence[Rows]) -> Stack:
        problems = [
            self.backend._problem(encoder, scaled, part, None)
            for encoder, scaled, part in zip(self.encoders, self.scaled_on, rows, strict=True)
        ]
        return self.backend._stacked(problems, self.seeds[0])


def _part(weight: NDArray[np.float64] | None, positions: NDArray[np.int64]) -> NDArray[np.float64] | None:
    """The weights of some of a lesson's rows."""
    return None if weight is None else weight[positions]
