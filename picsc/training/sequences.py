"""Sequences of fragments side by side, and the rows that test the models at their ends. Letters: g sequences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from picsc.datasets.rows import Rows
from picsc.training.jobs import TrainingJob


@dataclass(frozen=True, slots=True)
class FragmentSequences:
    """g sequences of equally many fragments, each of which trains one model, and the rows that test it."""

    fragments: Sequence[Sequence[Rows]]
    """Training rows of each sequence, fragment by fragment."""
    scaled_on: Sequence[Rows] | None
    """Rows that each sequence's encoding is fitted on once; None lets it grow with the fragments."""
    test: Sequence[Rows]
    """Test rows of each sequence's model."""
    seeds: Sequence[int]
    """Seed of each sequence's initial weights."""
    tests_all: bool = False
    """True where the test rows are like those of all fragments together, False where they come after them or are of
    another piece."""

    def some(self, which: Sequence[int]) -> FragmentSequences:
        """Some of the sequences, by number."""
        scaled = None if self.scaled_on is None else [self.scaled_on[g] for g in which]
        fragments, test = [self.fragments[g] for g in which], [self.test[g] for g in which]
        return replace(self, fragments=fragments, scaled_on=scaled, test=test, seeds=[self.seeds[g] for g in which])

    @classmethod
    def of_jobs(cls, jobs: Sequence[TrainingJob]) -> FragmentSequences:
        """The fragments of each job in the order of their numbers; equally many of each."""
        return cls(
            [[job.train[job.fragment == k] for k in range(int(job.fragment.max()) + 1)] for job in jobs],
            [job.train for job in jobs],
            [job.test for job in jobs],
            [job.seed for job in jobs],
        )
