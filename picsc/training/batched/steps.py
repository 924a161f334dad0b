"""The rows of each training step of a stack: all, minibatches, or minibatches with an equal share of every fragment.

Shape letters here: g problems, k fragments, n rows of a problem.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import count

import torch
from torch import Tensor

from picsc.training.batched.layout import Stack, minibatches
from picsc.training.jobs import TrainingRecipe
from picsc.training.minibatches import shared_minibatches

DRAWN = -1
"""Number of a part that comes once."""


@dataclass(frozen=True, slots=True)
class Steps:
    """The steps of a training run."""

    per_epoch: int
    """Steps that make an epoch."""
    in_all: int
    """Steps of the run, >= 1; with early stopping at most so many."""
    parts: Iterator[tuple[int, Stack]]
    """Number and rows of the part of each step, without end; the same number is the same part, but for `DRAWN`."""


def steps_of(stack: Stack, recipe: TrainingRecipe, fragments: Sequence[Tensor] | None) -> Steps:
    """The steps of a run.

    Args:
        stack: the rows; with `fragments` each problem's in their order, as one fragment and not shuffled.
        recipe: epochs or updates, size of minibatches and seed.
        fragments: int64 (n,), the fragment of each row of each problem, of which every step then has equally many rows;
            None takes minibatches of the stack as it is.
    """
    if fragments is None or recipe.batch_size is None:
        parts = [stack] if recipe.batch_size is None else minibatches(stack, recipe.batch_size)
        return Steps(len(parts), recipe.steps or recipe.epochs * len(parts), _in_random_order(parts, recipe.seed))
    per_epoch = -(-max(len(fragment) for fragment in fragments) // recipe.batch_size)
    in_all = recipe.steps or recipe.epochs * per_epoch
    return Steps(per_epoch, in_all, _of_equal_shares(stack, fragments, recipe.batch_size, (in_all, recipe.seed)))


def _in_random_order(parts: Sequence[Stack], seed: int) -> Iterator[tuple[int, Stack]]:
    """All parts in every epoch, each time in another order."""
    generator = torch.Generator().manual_seed(seed)
    for _ in count():
        order = [0] if len(parts) == 1 else torch.randperm(len(parts), generator=generator).tolist()
        for i in order:
            yield i, parts[i]


def _of_equal_shares(
    stack: Stack, fragments: Sequence[Tensor], batch_size: int, run: tuple[int, int]
) -> Iterator[tuple[int, Stack]]:
    """Parts with as many rows of one fragment as of another, however small it is.

    Source: Algorithm 1, whose penalty needs every fragment in every step.
    Reading: rows of a small fragment come more often, and weigh less in the task's loss for it, which stays the mean
        over the training rows.

    Args:
        stack: the rows.
        fragments: the fragment of each row of each problem.
        batch_size: rows of a part, about; at least one of every fragment.
        run: number of steps, and seed.
    """
    k = 1 + max(int(fragment.max()) for fragment in fragments)
    share, (steps, seed) = max(1, batch_size // k), run
    device = stack.x.device
    draws = [shared_minibatches(fragment, k, batch_size, steps, seed=seed, device=device) for fragment in fragments]
    sizes = [fragment.bincount(minlength=k).to(stack.weight) / share for fragment in fragments]
    times = torch.stack([size.repeat_interleave(share) for size in sizes])[:, None, None]
    mean = torch.eye(k, dtype=stack.share.dtype, device=device).div(share).expand(len(draws), -1, -1)
    for rows in zip(*draws, strict=True):
        x, y, weight = (
            torch.stack([values[g].index_select(-1, some) for g, some in enumerate(rows)])
            for values in (stack.x, stack.y, stack.weight)
        )
        weight = weight * times
        total = weight.sum(-1, keepdim=True).clamp_(min=torch.finfo(weight.dtype).tiny)
        yield DRAWN, replace(stack, x=x, y=y, mask=torch.ones_like(weight), weight=weight / total, share=mean)
