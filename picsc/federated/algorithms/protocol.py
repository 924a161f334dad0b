"""The interface of a federated algorithm: four functions that one loop of rounds calls (paper, E6 and Algorithm 2).

An algorithm gives the states that server and clients start with, the terms that a client adds to local training, the
values that a client sends after training, and the server's next state from all uploads. Every client of a round
receives the whole state of the server.

Letters: k clients of a round, K of all, a models (candidates of the learning rate), d parameters.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, Protocol

from torch import Tensor

from picsc.federated.clients.local_terms import LocalTerms, Trained

State = dict[str, Tensor]
"""Tensors that the server keeps and sends, (a, d) each, or (a, 1) for a number; `theta` is the global model."""


Memory = dict[str, Tensor]
"""Tensors that clients keep between rounds, (k, a, d) each."""


Mean = Literal["rows", "clients"]
"""Weights of a mean over clients: their numbers of rows, or equal ones."""


@dataclass(frozen=True, slots=True)
class ClientUploads:
    """All that the server sees of the clients of a round; one line per client, none of which has the size of its rows.

    Reading: the server weights clients by their numbers of rows, as in FedAvg, so these are sent too.
    """

    rows: Tensor
    """Number of training rows of each client, (k,)."""
    sent: dict[str, Tensor]
    """The uploaded tensors by name, (k, a, d) each."""
    clients: int
    """Number of all clients of the federation, K."""

    @property
    def bytes(self) -> int:
        """Bytes that one client sends for one model: 4 per number."""
        return 4 * (1 + sum(values[0, 0].numel() for values in self.sent.values()))

    def mean(self, name: str, by: Mean) -> Tensor:
        """Mean over the round's clients, (a, d).

        Args:
            name: of the uploaded tensor.
            by: weight clients by their rows, or equally.
        """
        values = self.sent[name]
        weight = self.rows.to(values) if by == "rows" else values.new_ones(len(values))
        return (values * (weight / weight.sum())[:, None, None]).sum(0)

    def over_all(self, name: str) -> Tensor:
        """Sum over the round's clients divided by the number of all clients, (a, d)."""
        return self.sent[name].sum(0) / self.clients

    def precision_weighted(self, delta: float) -> Tensor:
        """The mean of the product of the clients' Gaussian posteriors, (a, d).

        Source: Eq. 3 to 5: sum n_k (I_k + delta) theta_k / sum n_k (I_k + delta).
        """
        precision = (self.sent["fisher"] + delta) * self.rows.to(self.sent["fisher"])[:, None, None]
        return (precision * self.sent["theta"]).sum(0) / precision.sum(0)


class Algorithm(Protocol):
    """One federated algorithm."""

    @property
    def uses_trigger(self) -> bool:
        """True if its local terms depend on which clients Eq. 14's trigger calls shifted."""
        ...

    def initial_state(self, theta: Tensor, k: int) -> tuple[State, Memory]:
        """States of server and clients before the first round.

        Args:
            theta: initial models, (a, d).
            k: number of all clients.
        """
        ...

    def local_terms(self, state: State, memory: Memory, flagged: Tensor | None) -> LocalTerms:
        """Terms that the round's clients add to their local steps.

        Args:
            state: as received from the server.
            memory: of the round's clients.
            flagged: True where the trigger calls a client shifted, bool (k, a); None where the trigger was not used.
        """
        ...

    def upload(
        self, state: State, memory: Memory, terms: LocalTerms, trained: Trained, fisher: Callable[[], Tensor]
    ) -> tuple[dict[str, Tensor], Memory]:
        """Tensors that clients send after training, (k, a, d) each, and their new memory.

        Args:
            state: as received from the server.
            memory: as before training.
            terms: the result of `local_terms`.
            trained: the clients' models.
            fisher: function that computes the clients' Fisher informations at their models, (k, a, d).
        """
        ...

    def aggregate(self, state: State, uploads: ClientUploads) -> State:
        """The state of the server after a round."""
        ...
