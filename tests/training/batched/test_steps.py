"""The rows of each step: equal shares of fragments however small, and a task's loss that stays the mean over rows."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest
import torch

from picsc.training.batched.layout import Stack, TrainingProblem, stack_problems
from picsc.training.batched.steps import steps_of
from picsc.training.jobs import TrainingRecipe

SIZES = (3, 40, 900)


def fragments() -> torch.Tensor:
    return torch.from_numpy(np.repeat(np.arange(3), SIZES))[
        torch.randperm(943, generator=torch.Generator().manual_seed(0))
    ]


def numbered(n: int = 943) -> Stack:
    """One problem, whose only feature is the number of the row."""
    x = np.arange(n, dtype=np.float32)[:, None]
    problem = TrainingProblem(x, np.arange(n) % 2, np.zeros(n, np.int64))
    return stack_problems([problem], likelihood="classes", outputs=2, dtype=torch.float64)


def test_every_step_has_as_many_rows_of_the_smallest_fragment_as_of_the_largest() -> None:
    fragment = fragments()
    run = steps_of(numbered(), TrainingRecipe(4, 0.1, batch_size=60), [fragment])
    assert (run.per_epoch, run.in_all) == (16, 64)
    seen: set[int] = set()
    for _, part in islice(run.parts, run.in_all):
        rows = part.x[0, 0].long()
        assert fragment[rows].bincount().tolist() == [20, 20, 20]
        assert (part.share @ fragment[rows].view(3, 20).double().sum(1)).flatten().tolist() == pytest.approx([0, 1, 2])
        assert float(part.weight.sum()) == pytest.approx(1)
        seen |= set(rows.tolist())
    assert seen == set(range(943))


def test_the_tasks_loss_stays_the_mean_over_training_rows() -> None:
    fragment = fragments()
    run = steps_of(numbered(), TrainingRecipe(60, 0.1, batch_size=60), [fragment])
    weight = torch.zeros(943, dtype=torch.float64)
    for _, part in islice(run.parts, run.in_all):
        weight.index_add_(0, part.x[0, 0].long(), part.weight.flatten())
        of_fragment = part.weight.view(3, 20).sum(1)
        torch.testing.assert_close(of_fragment, torch.tensor(SIZES, dtype=torch.float64) / 943)
    assert float((weight * 943 / run.in_all).sub(1).abs().max()) < 0.25


def test_updates_count_instead_of_epochs() -> None:
    assert steps_of(numbered(), TrainingRecipe(4, 0.1, steps=7), None).in_all == 7
    assert steps_of(numbered(), TrainingRecipe(4, 0.1, batch_size=60, steps=7), [fragments()]).in_all == 7


def test_updates_are_shared_out_among_the_fragments_of_a_sequence() -> None:
    shares = [TrainingRecipe(4, 0.1, steps=11).of_fragment(t, 4).steps for t in range(4)]
    assert shares == [3, 3, 3, 2]
    assert [TrainingRecipe(4, 0.1, steps=2).of_fragment(t, 4).steps for t in range(4)] == [1, 1, 1, 1]
    assert TrainingRecipe(4, 0.1).of_fragment(0, 4) == TrainingRecipe(4, 0.1)
