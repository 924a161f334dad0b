"""FedAvg and FedProx: local training, then the mean of the models."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from picsc.federated.algorithms.protocol import ClientUploads, Mean, Memory, State
from picsc.federated.clients.local_terms import LocalTerms, Trained


@dataclass(frozen=True, slots=True)
class FedAvg:
    """Local training, then the mean of the models; with mu > 0, FedProx, which adds mu/2 ||theta - theta_t||^2.

    Source: McMahan et al., 2017, and Li et al., 2020; the paper's federated baselines.
    """

    mean: Mean = "rows"
    mu: float = 0.0
    """Weight of the proximal term, at least 0; 0 is FedAvg."""
    uses_trigger: bool = False

    def initial_state(self, theta: Tensor, k: int) -> tuple[State, Memory]:
        """The model; clients keep nothing."""
        return {"theta": theta}, {}

    def local_terms(self, state: State, memory: Memory, flagged: Tensor | None) -> LocalTerms:
        """The gradient of the proximal term; no term for mu = 0."""
        if self.mu == 0:
            return LocalTerms()
        theta = state["theta"][None]
        return LocalTerms(proximal_weight=torch.full_like(theta, self.mu), proximal_center=theta)

    def upload(
        self, state: State, memory: Memory, terms: LocalTerms, trained: Trained, fisher: Callable[[], Tensor]
    ) -> tuple[dict[str, Tensor], Memory]:
        """The model."""
        return {"theta": trained.theta}, memory

    def aggregate(self, state: State, uploads: ClientUploads) -> State:
        """The mean of the models."""
        return {"theta": uploads.mean("theta", self.mean)}
