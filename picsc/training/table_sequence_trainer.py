"""Training on sequences of a table's fragments: the paper's small networks, all sequences at once.

Letters: g sequences, a candidates, d parameters, n rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from picsc.datasets.encoding import Encoder, of_table
from picsc.datasets.rows import Rows
from picsc.equations.covariate_kl import part_kl
from picsc.equations.penalties import Anchor
from picsc.equations.trigger import calibrated_threshold, part_gaps, random_halves, tau
from picsc.training.batched.gradients import fragment_fishers, squared_scores
from picsc.training.batched.layout import Stack, stack_problems
from picsc.training.batched.mlp import flatten, unflatten
from picsc.training.batched.train import StackCorrection, train_stack
from picsc.training.jobs import Fitted
from picsc.training.table_problems import HIDDEN, ProblemRows, TableProblems


@dataclass(frozen=True, slots=True)
class TableSequenceTrainer:
    """Implements `picsc.training.jobs.SequenceTrainer` for g sequences of one table."""

    problems: TableProblems
    sequences: tuple[tuple[Rows, ...], ...]
    """Rows of each fragment of each sequence."""
    seeds: tuple[int, ...]
    """Seed of each sequence."""
    encoders: tuple[Encoder, ...]
    """Encoding of each sequence."""
    scaled_on: tuple[Rows, ...]
    """Rows that each sequence's encoding is fitted on."""
    candidates: int
    """Models per sequence, a."""

    def start(self) -> Tensor:
        """Initial parameters, (g, a, d)."""
        return self.problems.initial(self.seeds, self.candidates, len(self.encoders[0].names))

    def fit(self, theta: Tensor, t: int, *, weight_decay: Tensor, strength: Tensor, anchor: Anchor | None) -> Fitted:
        """Train on fragment t."""
        kept, held = [], []
        for sequence, seed, encoder, scaled_on in zip(
            self.sequences, self.seeds, self.encoders, self.scaled_on, strict=True
        ):
            inside, out = self.problems.split(sequence[t], np.zeros(len(sequence[t]), np.int64), seed + t)
            kept.append(sequence[t][inside])
            held.append(ProblemRows(encoder, scaled_on, sequence[t][out]))
        return train_stack(
            theta,
            self._stack(kept),
            replace(self.problems.recipe, seed=self.seeds[0] + t),
            hidden=HIDDEN,
            correction=StackCorrection(weight_decay, strength, anchor=anchor),
            held_out=self.problems.held_out(held),
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
        likelihood, outputs = self.problems.likelihood, self.problems.outputs
        covariates = of_table(self.problems.dataset)
        taus = torch.zeros(theta.shape[:2])
        gammas = torch.zeros(theta.shape[:2])
        for g, sequence in enumerate(self.sequences):
            rows = np.concatenate([sequence[t], sequence[t - 1]])
            problem = self.problems.problem(ProblemRows(self.encoders[g], self.scaled_on[g], rows))
            parts = random_halves(len(sequence[t]), len(rows), seed=self.seeds[g] + t)
            kl = part_kl(torch.from_numpy(problem.x), parts, covariates)
            stack = stack_problems([problem], likelihood=likelihood, outputs=outputs)
            for a in range(theta.shape[1]):
                weights = unflatten(theta[g, a].cpu()[None, None], stack.features, HIDDEN, stack.outputs)
                found = calibrated_threshold(tau(part_gaps([squared_scores(weights, stack)], parts), kl))
                taus[g, a], gammas[g, a] = found
        return taus.to(theta.device), gammas.to(theta.device)

    def outputs(self, theta: Tensor, rows: Sequence[Rows]) -> list[NDArray[np.float32]]:
        """Log-probabilities (a, n, c), or means (a, n), of each sequence's rows."""
        return [
            self.problems.predict(theta[g], self.encoders[g], self.scaled_on[g], part) for g, part in enumerate(rows)
        ]

    def _stack(self, rows: Sequence[Rows]) -> Stack:
        """Some rows of each sequence, side by side."""
        problems = [
            self.problems.problem(ProblemRows(encoder, scaled_on, part))
            for encoder, scaled_on, part in zip(self.encoders, self.scaled_on, rows, strict=True)
        ]
        return self.problems.stack(problems, self.seeds[0])
