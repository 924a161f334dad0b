"""The interfaces of a federation: what a server asks its clients for, and the only methods that see rows.

Letters: K clients, k of a round, a models of one algorithm, d parameters.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from picsc.datasets.encoding import Covariates
from picsc.federated.client_summary import Summary
from picsc.federated.clients.evaluation import ClientScores
from picsc.federated.clients.local_terms import LocalTerms, Trained

if TYPE_CHECKING:
    from picsc.federated.clients.local_round import LocalResult, LocalTask


class Federation(Protocol):
    """The clients as the server of the rounds knows them, in this process or on machines of their own."""

    @property
    def rows(self) -> Tensor:
        """Number of training rows of each client, (K,)."""
        ...

    @property
    def device(self) -> torch.device:
        """Device of the models."""
        ...

    @property
    def covariates(self) -> Covariates:
        """Kinds of the features in summaries."""
        ...

    @property
    def features(self) -> int:
        """Number of encoded features of a table; 0 for networks of images and texts."""
        ...

    @property
    def remember(self) -> bool:
        """True if clients keep what they remember between rounds themselves, so that the run does not hold it."""
        ...

    def start(self, seed: int) -> Tensor:
        """Initial parameters, (d,)."""
        ...

    def summaries_of(
        self, chosen: NDArray[np.int64], thetas: Sequence[Tensor | None], *, seed: int, round_number: int
    ) -> list[list[tuple[Summary | None, ...]]]:
        """Summaries of clients before they train.

        Args:
            chosen: numbers of the clients of a round, (k,).
            thetas: models of each algorithm, (a, d); None for one that needs no summary.
            seed: of the halves that clients draw.
            round_number: of the same.

        Returns:
            For each algorithm and client the summary at every model; no client for an algorithm that needs none.
        """
        ...

    def round_of(
        self, chosen: NDArray[np.int64], tasks: Sequence[LocalTask], *, seed: int, round_number: int
    ) -> Iterable[LocalResult]:
        """Local training of the clients of a round.

        Args:
            chosen: numbers of the clients, (k,).
            tasks: of each algorithm.
            seed: of the minibatches.
            round_number: of the minibatches.

        Returns:
            The result of each task, in their order.
        """
        ...

    def scores_of(self, thetas: Sequence[Tensor]) -> list[ClientScores]:
        """Scores of the global models of each algorithm, (a, d), for every client."""
        ...


class Clients(Federation, Protocol):
    """All clients of a federation, simulated in this process; only the methods here see their rows."""

    def fit(
        self,
        clients: NDArray[np.int64],
        theta: Tensor,
        terms: LocalTerms,
        lr: Tensor,
        *,
        seed: int,
        round_number: int,
    ) -> Trained:
        """Train every model of every client of a round.

        Args:
            clients: numbers of the clients that take part, (k,).
            theta: parameters from which local training starts, (k or 1, a, d).
            terms: additions of the algorithms to the gradient.
            lr: learning rate of each model, (a,).
            seed: of the minibatches.
            round_number: of the minibatches.
        """
        ...

    def fisher(self, clients: NDArray[np.int64], theta: Tensor) -> Tensor:
        """Diagonal empirical Fisher (Eq. 1) of each client's rows at its parameters, (k, a, d)."""
        ...

    def summaries(self, client: int, theta: Tensor, *, seed: int) -> tuple[Summary | None, ...]:
        """The summaries that a client sends of its rows at some models, (a, d); None at one that has diverged."""
        ...

    def evaluate(self, theta: Tensor) -> ClientScores:
        """Scores of global models, (a, d), for every client."""
        ...
