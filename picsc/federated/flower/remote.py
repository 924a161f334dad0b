"""Clients on machines of their own, as the loop over rounds sees them: every request is a message.

Letters: K clients, k of a round, a models of one method, d parameters.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from picsc.datasets.encoding import Covariates, of_table
from picsc.federated.algorithms.protocol import Algorithm
from picsc.federated.client_summary import Summary
from picsc.federated.clients.evaluation import ClientScores
from picsc.federated.clients.local_round import LocalResult, LocalTask
from picsc.federated.clients.mlps import initial_parameters
from picsc.federated.flower.answers import Answer, Arrays
from picsc.federated.flower.asked import Asked, AskedTask
from picsc.federated.flower.pooled_scores import pooled_scores
from picsc.federated.flower.summary_arrays import summary_of
from picsc.federated.rounds import RoundSettings, draw_participants


@dataclass(frozen=True, slots=True)
class Request:
    """One message to one client."""

    asked: Asked
    arrays: Arrays = field(default_factory=dict)


class Exchange(Protocol):
    """The way in which messages reach clients."""

    def ask(self, verb: str, requests: Mapping[int, Request]) -> dict[int, Answer]:
        """Ask clients, and wait for their answers.

        Args:
            verb: one of `picsc.federated.flower.answers.VERBS`.
            requests: by the number of the client.

        Returns:
            The answers; a client that may fail, and has, is missing.

        Raises:
            DataError: a client cannot answer, or does not; the message names it.
        """
        ...


@dataclass(slots=True)
class Ahead:
    """Summaries for the next round, which came with the scores of the last one."""

    round: int = 0
    """Number of the next round."""
    methods: int = 0
    """Number of methods that are trained."""
    tested: tuple[int, ...] = ()
    """Places of those with a trigger."""
    arrays: Arrays = field(default_factory=dict)
    """The models that the summaries are at."""
    answers: dict[int, Answer] = field(default_factory=dict)

    def of(self, round_number: int, arrays: Arrays) -> dict[int, Answer] | None:
        """The answers for a round; None where they were not asked for at these models."""
        same = arrays.keys() == self.arrays.keys() and all(
            np.array_equal(each, self.arrays[name]) for name, each in arrays.items()
        )
        return self.answers if same and round_number == self.round else None


@dataclass(frozen=True, slots=True)
class RemoteClients:
    """All clients of a federation; see `picsc.federated.clients.protocol.Federation`."""

    exchange: Exchange
    asked: Asked
    """Settings, name of the run, seed and encoding: the part that is the same in every message."""
    methods: Mapping[Algorithm, AskedTask]
    """Name and constant of every algorithm."""
    rows_of: tuple[int, ...]
    """Number of training rows of each client, K."""
    firsts: tuple[int, ...]
    """Number of each client's first row among the rows of all clients, K."""
    hidden: int
    """Number of hidden units."""
    rounds: RoundSettings
    """Settings of the rounds, which say who takes part in the next one."""
    last: dict[int, int] = field(default_factory=dict)
    """Number of the last round of each client that has taken part in one."""
    ahead: Ahead = field(default_factory=Ahead)

    @property
    def rows(self) -> Tensor:
        """Number of training rows of each client, (K,)."""
        return torch.tensor(self.rows_of)

    @property
    def device(self) -> torch.device:
        """Device of the models."""
        return torch.device("cpu")

    @property
    def covariates(self) -> Covariates:
        """Kinds of the features in summaries."""
        assert self.asked.encoding is not None  # noqa: S101 - made with one
        return of_table(self.asked.encoding.table())

    @property
    def features(self) -> int:
        """Number of encoded features."""
        assert self.asked.encoding is not None  # noqa: S101 - made with one
        return len(self.asked.encoding.encoder().names)

    @property
    def outputs(self) -> int:
        """Number of classes; 1 for numbers."""
        assert self.asked.encoding is not None  # noqa: S101 - made with one
        return self.asked.encoding.outputs

    @property
    def remember(self) -> bool:
        """True: what clients remember never leaves them."""
        return True

    def start(self, seed: int) -> Tensor:
        """Initial parameters, (d,)."""
        return initial_parameters(self.features, self.outputs, self.hidden, seed=seed)

    def summaries_of(
        self, chosen: NDArray[np.int64], thetas: Sequence[Tensor | None], *, seed: int, round_number: int
    ) -> list[list[tuple[Summary | None, ...]]]:
        """Ask clients for summaries, unless they came with the scores of the last round."""
        wanted = tuple(i for i, theta in enumerate(thetas) if theta is not None)
        self.ahead.tested = wanted
        if not wanted:
            return [[] for _ in thetas]
        arrays = {f"{i}.theta": theta.numpy() for i, theta in enumerate(thetas) if theta is not None}
        answers = self.ahead.of(round_number, arrays)
        if answers is None:
            each = {int(client): {"summaries": wanted} for client in chosen}
            answers = self._ask("summaries", each, arrays, seed, round_number)

        def of_client(client: int, i: int, theta: Tensor) -> tuple[Summary | None, ...]:
            held = answers[client].arrays if client in answers else {}
            return tuple(summary_of(_part(held or {}, f"{i}.{j}.")) for j in range(len(theta)))

        return [
            [] if theta is None else [of_client(int(client), i, theta) for client in chosen]
            for i, theta in enumerate(thetas)
        ]

    def round_of(
        self, chosen: NDArray[np.int64], tasks: Sequence[LocalTask], *, seed: int, round_number: int
    ) -> Iterator[LocalResult]:
        """Have clients train."""
        arrays = {f"{i}.{name}": each.numpy() for i, task in enumerate(tasks) for name, each in task.state.items()}
        each = {
            int(client): {
                "tasks": tuple(
                    self.methods[task.algorithm].model_copy(
                        update={
                            "rates": task.rates,
                            "flagged": None if task.flagged is None else tuple(task.flagged[place].tolist()),
                        }
                    )
                    for task in tasks
                )
            }
            for place, client in enumerate(chosen)
        }
        answers = self._ask("train", each, arrays, seed, round_number)
        self.ahead.round, self.ahead.methods = round_number + 1, len(tasks)
        self.last.update(dict.fromkeys(answers, round_number))
        for i, task in enumerate(tasks):
            found = [_part((answers[int(c)].arrays or {}) if int(c) in answers else {}, f"{i}.") for c in chosen]
            yield _result(found, task)

    def scores_of(self, thetas: Sequence[Tensor]) -> list[ClientScores]:
        """Have all clients test the global models on their own test rows; the next round's summaries come with it."""
        arrays = {f"{i}.theta": theta.numpy() for i, theta in enumerate(thetas)}
        ahead = self.ahead
        tested = ahead.tested if len(thetas) == ahead.methods and ahead.round < self.rounds.rounds else ()
        next_ones = draw_participants(len(self.rows_of), self.rounds, ahead.round).tolist()
        tasks = (next(iter(self.methods.values())),) * len(thetas)
        each = {
            client: {"tasks": tasks, "summaries": tested if client in next_ones else ()}
            for client in range(len(self.rows_of))
        }
        answers = self._ask("evaluate", each, arrays, self.asked.seed, ahead.round)
        if tested:
            ahead.arrays, ahead.answers = {f"{i}.theta": arrays[f"{i}.theta"] for i in tested}, answers
        held = [(answers[i].arrays or {}) if i in answers else {} for i in range(len(self.rows_of))]
        tests = [torch.from_numpy(np.array(each.get("test", np.array([0.0, 0.0, 0.0])))) for each in held]
        assert self.asked.encoding is not None  # noqa: S101 - made with one
        kind = self.asked.encoding.agreed.target.kind
        found = []
        for i, theta in enumerate(thetas):
            missing = np.full((2, len(theta)), np.nan)
            scores = [torch.from_numpy(np.array(each.get(f"{i}.scores", missing))) for each in held]
            found.append(pooled_scores(scores, tests, kind, self.outputs))
        return found

    def _ask(
        self, verb: str, each: Mapping[int, Mapping[str, object]], arrays: Arrays, seed: int, round_number: int
    ) -> dict[int, Answer]:
        """Ask clients for one thing; the parts of the message that are each client's own by its number."""
        requests = {}
        for client, own in each.items():
            where = {"client": client, "first": self.firsts[client], "seed": seed, "round": round_number}
            update = {**where, "last": self.last.get(client, -1), **own}
            requests[client] = Request(self.asked.model_copy(update=update), arrays)
        return self.exchange.ask(verb, requests)


def _part(held: Mapping[str, NDArray[np.generic]], prefix: str) -> Arrays:
    return {name.removeprefix(prefix): each for name, each in held.items() if name.startswith(prefix)}


def _result(found: Sequence[Arrays], task: LocalTask) -> LocalResult:
    """The uploads of all clients; those of one without an answer are not numbers."""
    first = next(each for each in found if each)
    sent = {}
    for name, values in first.items():
        if name.startswith("sent."):
            empty = np.full_like(values, np.nan)
            sent[name.removeprefix("sent.")] = torch.from_numpy(
                np.concatenate([each.get(name, empty) for each in found])
            )
    lost = np.ones((1, len(task.rates)), np.bool_)
    broken = np.concatenate([np.asarray(each.get("broken", lost), np.bool_) for each in found])
    return LocalResult(sent, broken, {})
