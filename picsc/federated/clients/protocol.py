"""The interface of a federation's clients: the only methods that see rows.

Letters: K clients, k of a round, a models of one algorithm, d parameters.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from picsc.datasets.encoding import Covariates
from picsc.federated.client_summary import Summary
from picsc.federated.clients.evaluation import ClientScores
from picsc.federated.clients.local_terms import LocalTerms, Trained


class Clients(Protocol):
    """All clients of a federation, simulated in this process; only the methods here see their rows."""

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

    def start(self, seed: int) -> Tensor:
        """Initial parameters, (d,)."""
        ...

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
