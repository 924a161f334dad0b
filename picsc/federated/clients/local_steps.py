"""Minibatches: the rows that each client uses in each local step of a round.

Letters: N rows of all clients, k clients, b rows of a minibatch.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor


@dataclass(frozen=True, slots=True)
class LocalRecipe:
    """Local training of a client in one round."""

    epochs: int
    """Passes of the client over its rows, at least 1."""
    batch_size: int
    """Rows of a minibatch, at least 1."""
    steps: int | None = None
    """Number of local steps; None takes as many as `epochs` passes need."""
    momentum: float = 0.0
    """Momentum of sgd, in [0, 1)."""
    weight_decay: float = 0.0
    """Coefficient, at least 0; weight_decay * parameter is added to the gradient."""


@dataclass(frozen=True, slots=True)
class Steps:
    """The minibatches of one round; each is put together only when it is asked for."""

    order: Tensor
    """Row numbers in the order of every epoch, int64 (epochs, N): client after client, shuffled anew within each."""
    start: Tensor
    """Position at which each client's rows begin in an epoch's order, (k,)."""
    rows: Tensor
    """Number of rows of each client, (k,)."""
    batch_size: int
    """Rows of a minibatch."""
    count: NDArray[np.int64]
    """Local steps of each client, (k,); the clients are sorted by it, the longest first."""
    per_epoch: Tensor
    """Minibatches of a client in one pass, (k,)."""

    def at(self, step: int) -> tuple[Tensor, Tensor]:
        """Minibatches of a step, for the clients that still have steps to take: always the first m.

        Returns:
            Row numbers (m, b), and each row's share of its client's mean, (m, b): 0 where a minibatch has fewer rows.
        """
        m = int((self.count > step).sum())
        per_epoch = self.per_epoch[:m]
        epoch, part = step // per_epoch, step % per_epoch
        offset = part[:, None] * self.batch_size + torch.arange(self.batch_size)
        there = offset < self.rows[:m, None]
        place = self.start[:m, None] + torch.where(there, offset, 0)
        share = there.float()
        return self.order[epoch[:, None], place], share / share.sum(1, keepdim=True)

    def of_client(self, client: int) -> Iterator[NDArray[np.int64]]:
        """Row numbers of every minibatch of one client.

        Args:
            client: position in the order of the steps, which is that of `count`.
        """
        start, n, per_epoch = int(self.start[client]), int(self.rows[client]), int(self.per_epoch[client])
        for step in range(int(self.count[client])):
            first = step % per_epoch * self.batch_size
            yield self.order[step // per_epoch, start + first : start + min(first + self.batch_size, n)].numpy()


def local_steps(
    clients: Sequence[NDArray[np.int64]],
    recipe: LocalRecipe,
    *,
    seed: int,
    round_number: int,
    numbers: NDArray[np.int64] | None = None,
) -> tuple[Steps, NDArray[np.int64]]:
    """Shuffle every client's rows, once per pass.

    Reading: a client passes over its own rows as often as any other and so takes steps in proportion to them, as
        FedAvg has it; with `steps` all clients take equally many. A row's place depends on the seed, the round and the
        row alone, not on which clients take part.

    Args:
        clients: row numbers of each, at least one.
        recipe: passes or steps, and rows per step; the last minibatch of a pass may have fewer rows.
        seed: of the shuffles.
        round_number: of the shuffles.
        numbers: number of each row among the rows of all clients, where only those of one client are here; None is
            its row number.

    Returns:
        The steps, and the order of their clients, as positions into `clients`.
    """
    sizes = np.array([len(rows) for rows in clients])
    per_epoch = -(-sizes // recipe.batch_size)
    count = per_epoch * recipe.epochs if recipe.steps is None else np.full(len(clients), recipe.steps)
    sorting = np.argsort(-count, kind="stable")
    passes = int((-(-count // per_epoch)).max())
    rows = np.concatenate([clients[i] for i in sorting])
    owner = np.repeat(np.arange(len(clients)), sizes[sorting])
    among_all = rows if numbers is None else numbers[rows]
    highest = int(among_all.max()) + 1
    order = []
    for epoch in range(passes):
        generator = np.random.default_rng([seed, round_number, epoch])
        keys = generator.random(highest)[among_all]
        order.append(rows[np.lexsort((keys, owner))])
    return Steps(
        order=torch.from_numpy(np.stack(order)),
        start=torch.from_numpy(np.concatenate([[0], np.cumsum(sizes[sorting])[:-1]])),
        rows=torch.from_numpy(sizes[sorting]),
        batch_size=recipe.batch_size,
        count=count[sorting].astype(np.int64),
        per_epoch=torch.from_numpy(per_epoch[sorting]),
    ), sorting
