"""The part of a round that runs where the rows are: local terms, training, uploads, and what a client keeps.

A simulation runs it for all clients of a round at once, a real client for itself alone. Letters: k clients, a models of
one algorithm (candidates of its learning rate), d parameters.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from picsc.federated.algorithms.protocol import Algorithm, Memory, State
from picsc.federated.client_summary import Summary
from picsc.federated.clients.evaluation import ClientScores
from picsc.federated.clients.local_terms import Trained, join_terms
from picsc.federated.clients.protocol import Clients


@dataclass(frozen=True, slots=True)
class LocalTask:
    """What clients are asked to do for one algorithm in one round."""

    algorithm: Algorithm
    state: State
    """As received from the server, (a, d) each."""
    flagged: Tensor | None
    """True where the trigger calls a client shifted, bool (k, a); None where the trigger was not used."""
    rates: tuple[float, ...]
    """Learning rate of each model, a."""
    memory: Memory
    """Of the round's clients, as before training, (k, a, d) each; {} where clients keep it themselves."""


@dataclass(frozen=True, slots=True)
class LocalResult:
    """What comes of a task."""

    sent: dict[str, Tensor]
    """Uploads by name, (k, a, d) each."""
    broken: NDArray[np.bool_]
    """True where a model diverged or an upload is not finite, although what was received was, (k, a)."""
    kept: Memory
    """What the clients keep, (k, a, d) each: as before where a model is broken."""


@torch.no_grad()
def local_round(
    clients: Clients, chosen: NDArray[np.int64], tasks: Sequence[LocalTask], *, seed: int, round_number: int
) -> Iterator[LocalResult]:
    """Train the models of all tasks next to one another.

    Args:
        clients: that hold the rows.
        chosen: numbers of the clients that take part, (k,).
        tasks: of the algorithms.
        seed: of the minibatches.
        round_number: of the minibatches.

    Yields:
        The result of each task, in their order; one after the other, since the uploads of all take memory.
    """
    terms = [task.algorithm.local_terms(task.state, task.memory, task.flagged) for task in tasks]
    starts = [task.state["theta"][None] for task in tasks]
    rates = torch.tensor([rate for task in tasks for rate in task.rates], device=starts[0].device)
    trained = clients.fit(
        chosen, torch.cat(starts, 1), join_terms(terms, starts), rates, seed=seed, round_number=round_number
    )
    stop = 0
    for task, own_terms in zip(tasks, terms, strict=True):
        start, stop = stop, stop + len(task.rates)
        part = slice(start, stop)
        own = Trained(trained.theta[:, part], trained.steps, trained.lr[part], trained.diverged[:, part])
        fisher = partial(clients.fisher, chosen, own.theta)
        sent, kept = task.algorithm.upload(task.state, task.memory, own_terms, own, fisher)
        broken = _broken(sent, task.state, own.diverged)
        yield LocalResult(sent, broken, {name: _kept(task.memory[name], kept[name], broken) for name in kept})


def _kept(old: Tensor, new: Tensor, broken: NDArray[np.bool_]) -> Tensor:
    return torch.where(torch.from_numpy(broken).to(old.device)[..., None], old, new)


def _broken(sent: Mapping[str, Tensor], state: State, diverged: Tensor) -> NDArray[np.bool_]:
    broken = torch.stack([~values.isfinite().all(-1) for values in sent.values()]).any(0) | diverged
    received = torch.stack([values.isfinite().all(-1) for values in state.values()]).all(0)
    return (broken & received).cpu().numpy()


class InProcess:
    """Clients whose rows are in this process: what the server asks for is computed here."""

    __slots__ = ()

    @property
    def remember(self) -> bool:
        """False: the run holds what clients remember, so that it can be resumed."""
        return False

    def summaries_of(
        self: Clients, chosen: NDArray[np.int64], thetas: Sequence[Tensor | None], *, seed: int, round_number: int
    ) -> list[list[tuple[Summary | None, ...]]]:
        """Summaries of clients; see `picsc.federated.clients.protocol.Federation`."""
        return [
            []
            if theta is None
            else [
                self.summaries(int(client), theta, seed=summary_seed(seed, round_number, int(client)))
                for client in chosen
            ]
            for theta in thetas
        ]

    def round_of(
        self: Clients, chosen: NDArray[np.int64], tasks: Sequence[LocalTask], *, seed: int, round_number: int
    ) -> Iterator[LocalResult]:
        """Local training of a round; see `picsc.federated.clients.protocol.Federation`."""
        return local_round(self, chosen, tasks, seed=seed, round_number=round_number)

    def scores_of(self: Clients, thetas: Sequence[Tensor]) -> list[ClientScores]:
        """Scores of the global models; see `picsc.federated.clients.protocol.Federation`."""
        return [self.evaluate(theta) for theta in thetas]


def summary_seed(*parts: int) -> int:
    """Seed of the halves that a client draws.

    Args:
        parts: seed of the run, number of the round, number of the client.
    """
    return int(np.random.SeedSequence(parts).generate_state(1)[0])
