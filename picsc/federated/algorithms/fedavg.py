"""FedAvg and FedProx: local training, then the mean of the models."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from picsc.federated.algorithms.protocol import Mean, Memory, State, Upload
from picsc.federated.clients.local_terms import LocalTerms, Trained


@dataclass(frozen=True, slots=True)
class FedAvg:
    """Local training, then the mean of the models; with mu > 0, FedProx, which adds mu/2 ||theta - theta_t||^2.

    Source: McMahan et al., 2017, and Li et al., 2020; the paper's federated baselines.
    """

    mean: Mean = "rows"
    mu: float = 0.0
    triggered: bool = False

    def begin(self, theta: Tensor, k: int) -> tuple[State, Memory]:
        """The model alone."""
        return {"theta": theta}, {}

    def guide(self, state: State, memory: Memory, flagged: Tensor | None) -> LocalTerms:
        """The gradient of the proximal term; nothing for mu = 0."""
        if self.mu == 0:
            return LocalTerms()
        theta = state["theta"][None]
        return LocalTerms(stiffness=torch.full_like(theta, self.mu), anchor=theta)

    def report(
        self, state: State, memory: Memory, guidance: LocalTerms, trained: Trained, fisher: Callable[[], Tensor]
    ) -> tuple[dict[str, Tensor], Memory]:
        """The model."""
        return {"theta": trained.theta}, memory

    def aggregate(self, state: State, upload: Upload) -> State:
        """Mean of the models."""
        return {"theta": upload.mean("theta", self.mean)}
