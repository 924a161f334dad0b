"""Training on tables: the paper's small networks, many jobs at once.

Letters: l jobs, a candidates, n rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from picsc.datasets.rows import Rows
from picsc.datasets.table import Dataset
from picsc.equations.penalties import PENALTIES
from picsc.settings import PenaltyName
from picsc.training.batched.diw import StackTarget
from picsc.training.batched.layout import TrainingProblem
from picsc.training.batched.train import StackCorrection, problems_per_stack, train_stack
from picsc.training.jobs import Scaling, TableNetwork, TargetRows, TrainedModels, TrainingJob, TrainingRecipe
from picsc.training.table_problems import HIDDEN, ProblemRows, TableProblems
from picsc.training.table_sequence_trainer import TableSequenceTrainer


@dataclass(frozen=True, slots=True)
class TableTrainer:
    """Networks of the paper's "Model architectures" on one table whose rows all have a label.

    Implements `picsc.training.jobs.Trainer`.
    """

    dataset: Dataset
    recipe: TrainingRecipe
    penalty: PenaltyName
    """Divergence between fragments in Algorithm 1."""
    weights: NDArray[np.float64] | None
    """(n,) row weights of the table; None gives all rows the same weight."""
    device: torch.device
    groups: NDArray[np.int64] | None = None
    """(n,) group of each row, which no split of training rows divides; None without groups."""
    hidden: int = HIDDEN
    """Hidden units of every network."""
    counts: NDArray[np.float64] | None = None
    """(n,) how much each row counts in scores, such as those that choose lambda; None is the same for all."""

    @property
    def lr(self) -> float:
        """Learning rate."""
        return self.recipe.lr

    @property
    def problems(self) -> TableProblems:
        """The table as training problems."""
        return TableProblems(self.dataset, self.recipe, self.weights, self.device, self.groups, self.hidden)

    def targets(self, rows: Rows) -> NDArray[np.int64] | NDArray[np.float64]:
        """Class codes of rows, or their numbers in standard deviations of the whole table's from their mean."""
        return self.problems.targets(rows)

    def updates(self, rows: int) -> int:
        """Updates of a model that is trained on so many rows."""
        batch = self.recipe.batch_size or rows
        return self.recipe.steps or self.recipe.epochs * -(-rows // batch)

    def train_jobs(
        self, jobs: Sequence[TrainingJob], strengths: NDArray[np.float64], decays: NDArray[np.float64]
    ) -> Iterator[TrainedModels]:
        """Train every candidate of every job; see `picsc.training.jobs.Trainer`."""
        a = strengths.shape[1]
        largest = max(len(job.train) for job in jobs)
        per_stack = problems_per_stack(largest, a, self.hidden)
        # a stack's problems have equally many fragments and updates, draw their minibatches in the same way, and match
        # the same values with those of the target
        kinds = [
            (
                int(job.fragment.max()),
                job.target_rows and job.target_rows.match,
                job.updates,
                self._in_shares(job, strengths[i]),
            )
            for i, job in enumerate(jobs)
        ]
        start = 0
        for stop in range(1, len(jobs) + 1):
            full = stop == len(jobs) or stop - start == per_stack
            if full or kinds[stop] != kinds[start]:
                part = slice(start, stop)
                yield from self._train_stack(jobs[part], strengths[part], decays[part])
                start = stop

    def _train_stack(
        self, jobs: Sequence[TrainingJob], strengths: NDArray[np.float64], decays: NDArray[np.float64]
    ) -> Iterator[TrainedModels]:
        penalised = bool((strengths != 0).any())
        in_shares = self._in_shares(jobs[0], strengths[0])
        # without a penalty and with all rows in every step, fragments do not matter, and one long tile is fastest
        divided = penalised or self.recipe.batch_size is not None
        table = self.problems
        scalings = _scalings(table, jobs)
        problems, held, fragments = [], [], []
        for scaling, job in zip(scalings, jobs, strict=True):
            kept, out = table.split(job.train, job.fragment, job.seed)
            fragment = job.fragment[kept] if divided and not in_shares else None
            fragments.append(torch.from_numpy(job.fragment[kept]))
            rows = ProblemRows(scaling, job.train[kept], fragment, _part(job.weight, kept))
            problems.append(table.problem(rows))
            held.append(ProblemRows(scaling, job.train[out], None, _part(job.weight, out)))
        stack = table.stack(problems, None if in_shares else jobs[0].seed)
        theta = table.initial([job.seed for job in jobs], strengths.shape[1], stack.features)
        correction = StackCorrection(
            self._placed(decays),
            self._placed(strengths),
            PENALTIES[self.penalty],
            fragments=tuple(fragments) if in_shares else None,
        )
        fitted = train_stack(
            theta,
            stack,
            replace(self.recipe, seed=jobs[0].seed, steps=jobs[0].updates or self.recipe.steps),
            hidden=self.hidden,
            correction=correction,
            held_out=table.held_out(held),
            target_rows=self._stack_target(scalings, jobs),
        )
        for g, (scaling, job) in enumerate(zip(scalings, jobs, strict=True)):
            yield TrainedModels(
                table.predict(fitted.theta[g], scaling, job.test),
                fitted.diverged[g].cpu().numpy(),
                fitted.penalty_share[g].double().cpu().numpy(),
                tuple(TableNetwork(one, scaling) for one in fitted.theta[g].cpu().numpy()),
            )

    def _in_shares(self, job: TrainingJob, strengths: NDArray[np.float64]) -> bool:
        """True if a job's minibatches hold equally many rows of every fragment, for a penalty between them.

        It depends on the job alone, so that no number depends on the jobs beside it.
        """
        batch = self.recipe.batch_size
        return batch is not None and len(job.train) > batch and bool((strengths != 0).any())

    def sequence_trainer(
        self,
        sequences: Sequence[Sequence[Rows]],
        seeds: Sequence[int],
        scaled_on: Sequence[Rows] | None = None,
        *,
        candidates: int = 1,
    ) -> TableSequenceTrainer:
        """Models carried along sequences; see `picsc.training.jobs.Trainer`."""
        table = self.problems
        if scaled_on is None:
            scalings = [table.scalings_after(sequence, list(enumerate(sequence))) for sequence in sequences]
        else:
            scalings = [
                [table.scaling(rows)] * len(sequence) for sequence, rows in zip(sequences, scaled_on, strict=True)
            ]
        return TableSequenceTrainer(
            table, tuple(map(tuple, sequences)), tuple(seeds), tuple(map(tuple, scalings)), candidates
        )

    def _stack_target(self, scalings: Sequence[Scaling], jobs: Sequence[TrainingJob]) -> StackTarget | None:
        """The rows of the target of each job, encoded like its training rows; all jobs have some, or none has."""
        problems, matches = [], []
        for scaling, job in zip(scalings, jobs, strict=True):
            if job.target_rows is not None:
                problems.append(self._target_problem(scaling, job.target_rows))
                matches.append(job.target_rows.match)
        if not problems:
            return None
        return StackTarget(self.problems.stack(problems, jobs[0].seed), matches[0], [job.seed for job in jobs])

    def _target_problem(self, scaling: Scaling, target: TargetRows) -> TrainingProblem:
        """The rows of one job's target."""
        x = self.problems.inputs(scaling.encoder, target.rows)
        nothing = np.zeros(len(x), np.int64)
        # labels that must not be used are left out
        y = self.problems.training_targets(scaling, target.rows) if target.match == "losses" else nothing
        return TrainingProblem(x, y, nothing)

    def _placed(self, values: NDArray[np.float64]) -> Tensor:
        return torch.from_numpy(values).to(device=self.device, dtype=torch.float32)


def _part(weight: NDArray[np.float64] | None, positions: NDArray[np.int64]) -> NDArray[np.float64] | None:
    """The weights of some of a job's rows."""
    return None if weight is None else weight[positions]


def _scalings(table: TableProblems, jobs: Sequence[TrainingJob]) -> list[Scaling]:
    """The scaling of each job; the pieces of a sequence are read once."""
    found: list[Scaling] = []
    for _, together in groupby(jobs, lambda job: id(job.sequence)):
        some = list(together)
        pieces = some[0].sequence
        if pieces is None:
            found += [table.scaling(job.train) for job in some]
        else:
            found += table.scalings_after(pieces, [(job.place, job.train) for job in some])
    return found
