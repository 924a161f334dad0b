"""Minibatches: the row numbers of each step, drawn on the CPU so that every device trains on the same rows.

Shape letters here: n rows, k fragments.
"""

from __future__ import annotations

from collections.abc import Iterator

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
        than its share repeats rows. So fragments, not rows, have equal weight in the loss.

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


def held_out(n: int, fragment: Tensor | None, *, seed: int) -> tuple[Tensor, Tensor]:
    """Hold a tenth of the rows out, at least one; no fragment loses its last row.

    The draw is the same with and without fragments, so that methods that stop early are stopped by the same rows.

    Args:
        n: rows, at least 2.
        fragment: int64 (n,), the fragment of each row; None if there are no fragments.
        seed: of the draw.

    Returns:
        Row numbers that are trained on and those held out, each increasing.
    """
    generator = torch.Generator().manual_seed(seed)
    out = torch.zeros(n, dtype=torch.bool)
    out[torch.randperm(n, generator=generator)[: max(1, n // 10)]] = True
    if fragment is not None:
        number = fragment.cpu()
        left = number[~out].bincount(minlength=int(number.max()) + 1)
        for row in out.nonzero().flatten().tolist():
            if left[number[row]] == 0:
                out[row], left[number[row]] = False, 1
    return (~out).nonzero().flatten(), out.nonzero().flatten()


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
