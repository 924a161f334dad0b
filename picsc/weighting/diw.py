"""Weights of the rows of one training step, from their losses or hidden units beside those of rows of the target.

Tensors only. Shape letters here: n rows of the step, m of the target, q values of a row, b rows of a block.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from picsc.weighting.kmm import solve

Match = Literal["losses", "features"]
BLOCK = 256
"""Most rows that are matched at once, and most rows of the target that they are matched with."""
ITERATIONS = 10
"""Of the solver in a weighing: rows that are weighed again and again go on from the weights they had."""
SAMPLED = 64
"""Rows of either side whose distances give the kernel's width."""
DIRECT_VALUES = 8
"""Values per row up to which distances are differences: exact for losses that are nearly alike, and fast enough."""


@dataclass(frozen=True, slots=True)
class TargetData:
    """Rows of the target that weigh the rows of every step."""

    x: Tensor
    """Inputs (m, ...)."""
    y: Tensor
    """Targets (m,); not looked at when features are matched."""
    match: Match
    """`losses`, or `features`: the activations before the last layer."""


def dynamic_weights(
    values: Tensor,
    target: Tensor,
    *,
    mask: Tensor | None = None,
    target_mask: Tensor | None = None,
    start: Tensor | None = None,
    drawn_from: Tensor | int | None = None,
    iterations: int = ITERATIONS,
) -> Tensor:
    """Weights under which the rows' values are distributed like the target's.

    Source: Fang et al. 2020, "Rethinking importance weighting for deep learning under distribution shift", Algorithm 1:
        kernel mean matching of transformed rows.
    Reading: features are matched without their labels. What is matched is not the target's mean in the kernel's feature
        space but as much of its distance from the rows' as its own sampling noise does not explain (kernel mean
        shrinkage, Muandet et al. 2016): a few rows of the target are a noisy picture of it. The noise of drawing some
        of them for a step is not counted, since it is another one in the next step.

    Args:
        values: losses or activations of the step's rows, (..., n, q).
        target: those of rows of the target, (..., m, q).
        mask: bool (..., n), which rows are there; None is all.
        target_mask: bool (..., m), the same of the target.
        start: weights to start from, (..., n); None starts from 1.
        drawn_from: how many rows of the target there are in all, (..., 1) or a number; None is those given.
        iterations: of the solver.

    Returns:
        (..., n): non-negative, of mean 1 over the rows that are there, and 0 elsewhere. All 1 where the values of half
        of all pairs of a row and a row of the target are equal, and where no row resembles the target. The kernel is
        as wide as the median distance between 64 rows and 64 of the target, taken evenly.
    """
    there = _there(values, mask)
    of_target = _there(target, target_mask)
    rows, others = there.sum(-1, keepdim=True), of_target.sum(-1, keepdim=True)
    width = _squared_distances(_sample(values, mask), _sample(target, target_mask)).flatten(-2).median(-1).values
    flat = ~(width > 0) | (others[..., 0] == 0)  # also where there is no number
    scale = -0.5 / torch.where(flat, 1.0, width)[..., None, None]
    between = _squared_distances(values, target).mul_(scale).exp_()
    towards = (between * of_target[..., None, :]).sum(-1) * there * (rows / others.clamp(min=1))
    gram = _squared_distances(values, values).mul_(scale).exp_()
    inner = _squared_distances(*[_sample(target, target_mask)] * 2).mul_(scale).exp_()
    share = _beyond_noise(gram, towards, inner, there, others, others if drawn_from is None else drawn_from)
    towards = share * towards + (1 - share) * (gram * there[..., None, :]).sum(-1) * there
    found = solve(gram, towards, mask=mask, start=start, iterations=iterations, tolerance=0).clamp_(min=0) * there
    total = found.sum(-1, keepdim=True)
    alike = flat[..., None] | ~(total > torch.finfo(total.dtype).tiny)
    return torch.where(alike, there, found * (rows / total))


def _beyond_noise(
    gram: Tensor, towards: Tensor, inner: Tensor, there: Tensor, m: Tensor, of_all: Tensor | int
) -> Tensor:
    """Share of the squared distance between both means that the target rows' own noise does not explain, (..., 1).

    Args:
        gram: kernel between the step's rows, (..., n, n).
        towards: n times its mean over the target's rows, (..., n), 0 where padded.
        inner: kernel between some of the target's rows, (..., s, s).
        there: (..., n).
        m: rows of the target, (..., 1).
        of_all: how many there are in all, (..., 1) or a number.
    """
    n, m = there.sum(-1, keepdim=True).clamp(min=1), m.clamp(min=1)
    own = (gram * there[..., None, :] * there[..., None]).sum((-2, -1))[..., None] / n.square()
    # rows that stand in the sample twice are counted as often among both indices, so the mean is theirs all the same
    s = torch.minimum(m, m.new_full((), SAMPLED))
    apart = (inner.mean((-2, -1))[..., None] * s - 1) / (s - 1).clamp(min=1)
    distance = own - 2 * towards.sum(-1, keepdim=True) / n.square() + ((m - 1) * apart + 1) / m
    noise = (1 - apart) / of_all
    return (1 - noise / distance.clamp(min=torch.finfo(distance.dtype).tiny)).clamp(0, 1)


def random_blocks(rows: Sequence[Tensor], generators: Sequence[torch.Generator]) -> tuple[Tensor, Tensor, Tensor]:
    """Cut sets of rows at random into blocks of at most 256 whose sizes differ by at most one.

    Args:
        rows: row numbers of each set, int64, on the CPU.
        generators: one per set.

    Returns:
        Row numbers (k, b), -1 where padded; how many of them are rows, (k, b) as bool; and the set of each, (k,).
    """
    blocks: list[Tensor] = []
    sets: list[int] = []
    for i, (one, generator) in enumerate(zip(rows, generators, strict=True)):
        parts = torch.tensor_split(one[torch.randperm(len(one), generator=generator)], -(-len(one) // BLOCK) or 1)
        blocks += parts
        sets += [i] * len(parts)
    padded = pad_sequence(blocks, batch_first=True, padding_value=-1)
    return padded, padded >= 0, torch.tensor(sets)


def _there(values: Tensor, mask: Tensor | None) -> Tensor:
    """1 for every row that is there, (..., n), in the values' precision."""
    return values.new_ones(values.shape[:-1]) if mask is None else mask.to(values.dtype)


def _sample(values: Tensor, mask: Tensor | None) -> Tensor:
    """64 of the rows that are there, evenly in their order, (..., s, q); some of them twice where there are fewer."""
    step = torch.arange(SAMPLED, device=values.device)
    if mask is None:
        return values[..., step * values.shape[-2] // SAMPLED, :]
    order = mask.to(torch.int8).argsort(dim=-1, descending=True, stable=True)
    rows = order.gather(-1, step * mask.sum(-1, keepdim=True) // SAMPLED)[..., None]
    return values.gather(-2, rows.expand(*rows.shape[:-1], values.shape[-1]))


def _squared_distances(left: Tensor, right: Tensor) -> Tensor:
    """Between all rows of two sets, (..., n, m)."""
    if left.shape[-1] <= DIRECT_VALUES:
        total = (left[..., :, None, 0] - right[..., None, :, 0]).square_()
        for j in range(1, left.shape[-1]):
            total += (left[..., :, None, j] - right[..., None, :, j]).square_()
        return total
    centre = right[..., :1, :]  # one of the rows, so that equal rows are all exactly 0
    x, z = left - centre, right - centre
    products = x @ z.mT
    squares = x.square().sum(-1)[..., :, None] + z.square().sum(-1)[..., None, :]
    return squares.sub_(products, alpha=2).clamp_(min=0)
