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

from picsc.datasets.encoding import of_table
from picsc.datasets.rows import Rows
from picsc.equations.covariate_kl import part_kl
from picsc.equations.penalties import Anchor
from picsc.equations.trigger import DRAWS, calibrated_threshold, part_gaps, random_halves, tau
from picsc.training.batched.gradients import fragment_fishers, squared_scores
from picsc.training.batched.layout import Stack, stack_problems
from picsc.training.batched.mlp import flatten, unflatten
from picsc.training.batched.train import StackCorrection, train_stack
from picsc.training.jobs import Fitted, Scaling, TableNetwork
from picsc.training.rebasing import Rebasing, between_encoders, between_units
from picsc.training.table_problems import ProblemRows, TableProblems


@dataclass(frozen=True, slots=True)
class TableSequenceTrainer:
    """Implements `picsc.training.jobs.SequenceTrainer` for g sequences of one table."""

    problems: TableProblems
    sequences: tuple[tuple[Rows, ...], ...]
    """Rows of each fragment of each sequence."""
    seeds: tuple[int, ...]
    """Seed of each sequence."""
    scalings: tuple[tuple[Scaling, ...], ...]
    """Scaling of each fragment of each sequence."""
    candidates: int
    """Models per sequence, a."""

    @property
    def length(self) -> int:
        """Fragments of a sequence."""
        return len(self.sequences[0])

    def start(self) -> Tensor:
        """Initial parameters, (g, a, d)."""
        return self.problems.initial(self.seeds, self.candidates, len(self.scalings[0][0].encoder.names))

    def sizes(self, t: int) -> Tensor:
        """Number of rows of fragment t of each sequence, (g,)."""
        return torch.tensor([len(sequence[t]) for sequence in self.sequences])

    def fit(self, theta: Tensor, t: int, *, weight_decay: Tensor, strength: Tensor, anchor: Anchor | None) -> Fitted:
        """Train on fragment t."""
        kept, held = [], []
        for sequence, seed, scalings in zip(self.sequences, self.seeds, self.scalings, strict=True):
            inside, out = self.problems.split(sequence[t], np.zeros(len(sequence[t]), np.int64), seed + t)
            kept.append(sequence[t][inside])
            held.append(ProblemRows(scalings[t], sequence[t][out]))
        return train_stack(
            theta,
            self._stack(kept, t),
            replace(self.problems.recipe.of_fragment(t, self.length), seed=self.seeds[0] + t),
            hidden=self.problems.hidden,
            correction=StackCorrection(weight_decay, strength, anchor=anchor),
            held_out=self.problems.held_out(held),
        )

    @torch.no_grad()
    def fisher(self, theta: Tensor, t: int) -> Tensor:
        """Diagonal empirical Fisher on fragment t, (g, a, d)."""
        stack = self._stack([sequence[t] for sequence in self.sequences], t)
        fishers = fragment_fishers(unflatten(theta, stack.features, self.problems.hidden, stack.outputs), stack)
        return flatten(type(fishers)(*(part[:, 0] for part in fishers)))

    @torch.no_grad()
    def shift(self, theta: Tensor, t: int, *, calibrated: bool = True) -> tuple[Tensor, Tensor]:
        """Eq. 14's tau of fragment t against t - 1 at theta, and its calibrated threshold, (g, a) each."""
        likelihood, outputs = self.problems.likelihood, self.problems.outputs
        covariates = of_table(self.problems.dataset)
        taus = torch.zeros(theta.shape[:2])
        gammas = torch.zeros(theta.shape[:2])
        for g, sequence in enumerate(self.sequences):
            rows = np.concatenate([sequence[t], sequence[t - 1]])
            problem = self.problems.problem(ProblemRows(self.scalings[g][t], rows))
            parts = random_halves(len(sequence[t]), len(rows), seed=self.seeds[g] + t, draws=DRAWS if calibrated else 0)
            kl = part_kl(torch.from_numpy(problem.x), parts, covariates)
            stack = stack_problems([problem], likelihood=likelihood, outputs=outputs)
            for a in range(theta.shape[1]):
                weights = unflatten(theta[g, a].cpu()[None, None], stack.features, self.problems.hidden, stack.outputs)
                found = calibrated_threshold(tau(part_gaps([squared_scores(weights, stack)], parts), kl))
                taus[g, a], gammas[g, a] = found
        return taus.to(theta.device), gammas.to(theta.device)

    def rebased(self, theta: Tensor, t: int) -> Tensor:
        """Parameters of the same functions in the encoding of fragment t, from that of t - 1, (g, a, d)."""
        change = self._change(theta, t)
        return change.parameters(theta) if change.changes else theta

    def rebased_precision(self, fisher: Tensor, t: int) -> Tensor:
        """Fisher informations of the same models in the encoding of fragment t, from that of t - 1, (g, a, d)."""
        change = self._change(fisher, t)
        return change.precision(fisher) if change.changes else fisher

    def outputs(self, theta: Tensor, t: int, rows: Sequence[Rows]) -> list[NDArray[np.float32]]:
        """Log-probabilities (a, n, c), or means (a, n), of each sequence's rows, in the encoding of fragment t."""
        return [self.problems.predict(theta[g], self.scalings[g][t], part) for g, part in enumerate(rows)]

    def network(self, theta: Tensor, t: int, g: int) -> TableNetwork:
        """The network of sequence g with parameters (d,) of the encoding of fragment t."""
        return TableNetwork(theta.cpu().numpy(), self.scalings[g][t])

    def _change(self, like: Tensor, t: int) -> Rebasing:
        """The change of encoding from fragment t - 1 to t."""
        pairs = [(scalings[t - 1], scalings[t]) for scalings in self.scalings]
        factor, shift, flag = between_encoders(
            [old.encoder for old, _ in pairs], [new.encoder for _, new in pairs], self.problems.dataset
        )
        return Rebasing(
            torch.from_numpy(factor).to(like),
            torch.from_numpy(shift).to(like),
            torch.from_numpy(flag).to(like.device),
            tuple(between_units(old.units, new.units) for old, new in pairs),
            self.problems.hidden,
            self.problems.outputs,
        )

    def _stack(self, rows: Sequence[Rows], t: int) -> Stack:
        """Some rows of each sequence, side by side, in the encoding of fragment t."""
        problems = [
            self.problems.problem(ProblemRows(scalings[t], part))
            for scalings, part in zip(self.scalings, rows, strict=True)
        ]
        return self.problems.stack(problems, self.seeds[0])
