"""Minibatches: the row numbers of each step, drawn on the CPU so that every device trains on the same rows.

Shape letters here: n rows, k fragments.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import torch
from torch import Tensor

DRAWN_AT_ONCE = 1 << 18
"""Row numbers of shared minibatches that are drawn and sent to the device together."""


def epoch_steps(n: int, batch_size: int) -> int:
    """Steps that make an epoch: the full minibatches that n rows give, at least one."""
    return max(1, n // batch_size)


def minibatches(
    n: int, batch_size: int, steps: int, *, seed: int, device: torch.device | str = "cpu"
) -> Iterator[Tensor | None]:
    """Row numbers of each step's minibatch; None stands for all rows.

    Every epoch is a fresh permutation cut into full minibatches; the few rows left over are others in the next epoch,
    so no minibatch is ever a single row that batch normalisation could not use.

    Args:
        n: rows.
        batch_size: rows per minibatch.
        steps: minibatches.
        seed: of the permutations.
        device: where the row numbers go.

    Returns:
        int64 (batch_size,) or None, `steps` times.
    """
    if n <= batch_size:
        yield from [None] * steps
        return
    generator = torch.Generator().manual_seed(seed)
    per_epoch = n // batch_size
    for first in range(0, steps, per_epoch):
        order = _sent(torch.randperm(n, generator=generator)[: per_epoch * batch_size], device)
        yield from torch.split(order, batch_size)[: steps - first]


def shared_minibatches(
    fragment: Tensor, k: int, batch_size: int, steps: int, *, seed: int, device: torch.device | str = "cpu"
) -> Iterator[Tensor]:
    """Row numbers of minibatches in which every fragment has the same share.

    Source: Algorithm 1, whose penalty needs every fragment in every step.
    Reading: each fragment goes through permutations of its own rows, cut into full shares; a fragment that is smaller
        than its share repeats rows. Rows are weighted by their fragment's size where the loss is to be their mean.

    Args:
        fragment: int64 (n,), the fragment of each row, in 0..k-1; none is empty.
        k: fragments.
        batch_size: rows per minibatch; the share is batch_size // k rows, at least one.
        steps: minibatches.
        seed: of the permutations.
        device: where the row numbers go.

    Returns:
        int64 (k * share,), sorted by fragment, `steps` times.
    """
    generator = torch.Generator().manual_seed(seed)
    share = max(1, batch_size // k)
    number = fragment.cpu()
    own = [(number == j).nonzero().flatten() for j in range(k)]
    waiting = [number.new_empty(0, share) for _ in range(k)]
    block = max(1, DRAWN_AT_ONCE // (k * share))
    for first in range(0, steps, block):
        wanted = min(block, steps - first)
        drawn = []
        for j in range(k):
            shares = [waiting[j]]
            missing = wanted - len(waiting[j])
            while missing > 0:
                shares.append(_shares(own[j], share, generator))
                missing -= len(shares[-1])
            drawn.append(torch.cat(shares)[:wanted])
            waiting[j] = torch.cat(shares)[wanted:]
        yield from _sent(torch.stack(drawn, 1).flatten(1), device).unbind()


def held_out(n: int, fragment: Tensor | None, *, seed: int, groups: Tensor | None = None) -> tuple[Tensor, Tensor]:
    """Hold a tenth of the rows out, at least one; no fragment loses its last row.

    The draw is the same with and without fragments, so that methods that stop early are stopped by the same rows.

    Args:
        n: rows, at least 2.
        fragment: int64 (n,), the fragment of each row; None if there are no fragments.
        seed: of the draw.
        groups: int64 (n,), the group of each row: whole groups are held out, at least one and otherwise at most a tenth
            of the rows, so that no row held out resembles one that is trained on for that reason; None without groups.

    Returns:
        Row numbers that are trained on and those held out, each increasing. With groups none may be held out.
    """
    generator = torch.Generator().manual_seed(seed)
    unit = torch.arange(n) if groups is None else _numbered(groups)
    size = unit.bincount()
    order = torch.randperm(len(size), generator=generator)
    most = max(1, n // 10)
    drawn = order[size[order].cumsum(0) <= most]
    if not len(drawn):  # the first group drawn is larger than a tenth: the smallest one is as near as groups allow
        drawn = order[size[order].argmin()][None]
    chosen = torch.zeros(len(size), dtype=torch.bool)
    chosen[drawn] = True
    out = chosen[unit]
    number = torch.zeros(n, dtype=torch.int64) if fragment is None else fragment.cpu()
    for empty in (number[~out].bincount(minlength=int(number.max()) + 1) == 0).nonzero().flatten().tolist():
        inside = number == empty
        if bool(inside.any()) and not bool((inside & ~out).any()):
            out[unit == unit[inside.nonzero()[0, 0]]] = False
    return (~out).nonzero().flatten(), out.nonzero().flatten()


def _numbered(groups: Tensor) -> Tensor:
    """Groups counted from 0 without gaps, (n,)."""
    return torch.from_numpy(np.unique(groups.cpu().numpy(), return_inverse=True)[1].ravel())


def _shares(rows: Tensor, share: int, generator: torch.Generator) -> Tensor:
    """The full shares of one permutation, (m, share); of several where the rows are fewer than a share."""
    orders = [rows[torch.randperm(len(rows), generator=generator)] for _ in range(-(-share // len(rows)))]
    order = torch.cat(orders)
    full = max(1, len(rows) // share)
    return order[: full * share].reshape(full, share)


def _sent(rows: Tensor, device: torch.device | str) -> Tensor:
    """Row numbers on the device; through pinned memory to cuda, so that the host need not wait for the device."""
    if torch.device(device).type != "cuda":
        return rows.to(device)
    return rows.pin_memory().to(device, non_blocking=True)
