"""PIcsC (Algorithm 2) on clients: the server keeps a smoothed Fisher information; and what can be added."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

from picsc.equations.penalties import smooth
from picsc.federated.algorithms.protocol import ClientUploads, Mean, Memory, State
from picsc.federated.algorithms.scaffold import new_control
from picsc.federated.clients.local_terms import LocalTerms, Trained

DAMPING = 1e-2
"""Added to the Fisher information before its root preconditions local steps."""


@dataclass(frozen=True, slots=True)
class Picsc:
    """Algorithm 2 on clients: the server keeps a smoothed Fisher information, and clients use it.

    Source: Algorithm 2, Eq. 15 and 16; Eq. 3 to 5 for the Fisher-weighted mean.
    Reading: the paper names neither an aggregation rule nor more than Eq. 16's term for flagged clients. That alone is
        `picsc`. We add for `picsc-scaffold`, each on its own switch: local steps preconditioned by the Fisher
        information (natural-gradient steps as far as its diagonal goes), and control variates in that metric.
    """

    strength: float
    """lambda of Eq. 16, for flagged clients, at least 0; 0 leaves the penalty out."""
    alpha: float = 0.9
    """Weight of the past in the smoothed Fisher information (Eq. 15), in [0, 1]."""
    delta: float = 1e-4
    """Prior precision of the Fisher-weighted mean, above 0."""
    aggregation: Literal["mean", "fisher"] = "mean"
    """Plain mean of the models, or their Fisher-weighted mean."""
    controls: bool = True
    """Correct local steps by control variates, as SCAFFOLD does."""
    preconditioned: bool = True
    """Multiply local steps by the inverse root of the smoothed Fisher information."""
    mean: Mean = "rows"

    @property
    def uses_trigger(self) -> bool:
        """True with a penalty: only Eq. 16 needs to know which clients are shifted."""
        return self.strength > 0

    @property
    def needs_fisher(self) -> bool:
        """True if any part uses the clients' Fisher informations."""
        return self.uses_trigger or self.preconditioned or self.aggregation == "fisher"

    def initial_state(self, theta: Tensor, k: int) -> tuple[State, Memory]:
        """The model; I_global and control variates of 0, until clients have sent theirs."""
        state, memory = {"theta": theta}, Memory()
        if self.uses_trigger or self.preconditioned:
            state["fisher"] = torch.zeros_like(theta)
        if self.controls:
            state["control"], memory["control"] = torch.zeros_like(theta), theta.new_zeros(k, *theta.shape)
        return state, memory

    def local_terms(self, state: State, memory: Memory, flagged: Tensor | None) -> LocalTerms:
        """Eq. 16 around the received model for flagged clients; correction and preconditioner for all."""
        weight = center = correction = preconditioner = None
        if self.uses_trigger and flagged is not None and bool(flagged.any()):
            weight = 2 * self.strength * flagged[..., None] * state["fisher"]
            center = state["theta"][None]
        if self.controls:
            correction = state["control"] - memory["control"]
        if self.preconditioned and bool((state["fisher"] > 0).any()):
            preconditioner = fisher_preconditioner(state["fisher"])[None]
        return LocalTerms(weight, center, correction, preconditioner)

    def upload(
        self, state: State, memory: Memory, terms: LocalTerms, trained: Trained, fisher: Callable[[], Tensor]
    ) -> tuple[dict[str, Tensor], Memory]:
        """The model, its Fisher information, and the change of the control variate."""
        sent = {"theta": trained.theta}
        if self.needs_fisher:
            sent["fisher"] = fisher()
        if not self.controls:
            return sent, memory
        control = new_control(state, memory["control"], terms, trained)
        return {**sent, "control": control - memory["control"]}, {"control": control}

    def aggregate(self, state: State, uploads: ClientUploads) -> State:
        """Eq. 15, and the mean of the models, plain or weighted by their precisions."""
        state_after = {"theta": uploads.mean("theta", self.mean)}
        if self.aggregation == "fisher":
            state_after["theta"] = uploads.precision_weighted(self.delta)
        if "fisher" in state:
            fisher = uploads.mean("fisher", "rows")
            first = ~(state["fisher"] > 0).any(-1, keepdim=True)
            state_after["fisher"] = torch.where(first, fisher, smooth(state["fisher"], fisher, self.alpha))
        if self.controls:
            state_after["control"] = state["control"] + uploads.over_all("control")
        return state_after


def fisher_preconditioner(fisher: Tensor) -> Tensor:
    """Inverse square root of the damped Fisher information, with mean 1 over a model's parameters.

    Reading: mean 1 keeps the learning rate's meaning; the root and the damping bound how far two parameters' steps can
        differ, because the empirical Fisher information is small for parameters that have been fitted well.

    Args:
        fisher: I_global, (a, d).
    """
    scale = (fisher + DAMPING).rsqrt()
    return scale / scale.mean(-1, keepdim=True)
