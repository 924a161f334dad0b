"""The interface of a federated algorithm: four functions that one loop runs (paper, E6 and Algorithm 2).

An algorithm says what server and clients start with, what a client makes of the server's state before and after local
training, and what the server makes of the uploads. Every client of a round receives the whole state.

Letters: k clients of a round, K of all, a models (candidates of the learning rate), d parameters.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, Protocol

from torch import Tensor

from picsc.federated.clients.local_terms import LocalTerms, Trained

State = dict[str, Tensor]
"""What the server keeps and sends, (a, d) each, or (a, 1) for a number; `theta` is the global model."""


Memory = dict[str, Tensor]
"""What clients keep between rounds, (k, a, d) each."""


Mean = Literal["rows", "clients"]


@dataclass(frozen=True, slots=True)
class Upload:
    """All that the server sees of the clients of a round; one line per client, none of which has the size of its rows.

    Reading: the server weighs clients by their numbers of rows, as in FedAvg, so these are sent too.
    """

    rows: Tensor
    """(k,)."""
    sent: dict[str, Tensor]
    """(k, a, d) each."""
    clients: int
    """Of all rounds, K."""

    @property
    def bytes(self) -> int:
        """What one client sends for one model: 4 bytes per number."""
        return 4 * (1 + sum(values[0, 0].numel() for values in self.sent.values()))

    def mean(self, name: str, by: Mean) -> Tensor:
        """Mean over the round's clients, (a, d).

        Args:
            name: of what they sent.
            by: weigh them by their rows, or all alike.
        """
        values = self.sent[name]
        weight = self.rows.to(values) if by == "rows" else values.new_ones(len(values))
        return (values * (weight / weight.sum())[:, None, None]).sum(0)

    def over_all(self, name: str) -> Tensor:
        """Sum over the round's clients over the number of all clients, (a, d)."""
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
    def triggered(self) -> bool:
        """Whether its clients want to know if they are shifted (Eq. 14)."""
        ...

    def begin(self, theta: Tensor, k: int) -> tuple[State, Memory]:
        """Before the first round.

        Args:
            theta: initial models, (a, d).
            k: number of all clients.
        """
        ...

    def guide(self, state: State, memory: Memory, flagged: Tensor | None) -> LocalTerms:
        """What clients add to their local steps.

        Args:
            state: received.
            memory: of the round's clients.
            flagged: whether the trigger calls a client shifted, bool (k, a); None where nobody looked.
        """
        ...

    def report(
        self, state: State, memory: Memory, guidance: LocalTerms, trained: Trained, fisher: Callable[[], Tensor]
    ) -> tuple[dict[str, Tensor], Memory]:
        """What clients send after training, (k, a, d) each, and what they keep.

        Args:
            state: received.
            memory: as before training.
            guidance: of `guide`.
            trained: their models.
            fisher: gives their Fisher informations at their models, (k, a, d).
        """
        ...

    def aggregate(self, state: State, upload: Upload) -> State:
        """What the server makes of a round."""
        ...
