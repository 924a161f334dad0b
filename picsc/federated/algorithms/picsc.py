"""PIcsC on clients: Algorithm 2 with a smoothed Fisher information kept by the server."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

from picsc.equations.penalties import smooth
from picsc.federated.algorithms.protocol import Mean, Memory, State, Upload
from picsc.federated.algorithms.scaffold import new_control
from picsc.federated.clients.local_terms import LocalTerms, Trained

DAMPING = 1e-2
"""Added to the Fisher information that scales PIcsC's local steps."""


@dataclass(frozen=True, slots=True)
class Picsc:
    """Algorithm 2 on clients: the server keeps a smoothed Fisher information, and clients use it.

    Source: Algorithm 2, Eq. 15 and 16; Eq. 3 to 5 for the Fisher-weighted mean.
    Reading: the paper names neither an aggregation rule nor more than Eq. 16's term for flagged clients, which by
        itself changes little. Beside it, each on its own switch: local steps scaled by the Fisher information
        (natural-gradient steps as far as its diagonal goes), control variates in that metric, natural coordinates.
    """

    strength: float
    """lambda of Eq. 16, for flagged clients; 0 without."""
    alpha: float = 0.9
    delta: float = 1e-4
    """Prior precision of the Fisher-weighted mean."""
    aggregation: Literal["mean", "fisher"] = "mean"
    controls: bool = True
    scaled: bool = True
    mean: Mean = "rows"

    @property
    def triggered(self) -> bool:
        """Only Eq. 16 asks who is shifted."""
        return self.strength > 0

    @property
    def measured(self) -> bool:
        """Whether anything needs Fisher informations."""
        return self.triggered or self.scaled or self.aggregation == "fisher"

    def begin(self, theta: Tensor, k: int) -> tuple[State, Memory]:
        """I_global is 0 until clients have sent theirs."""
        state, memory = {"theta": theta}, Memory()
        if self.triggered or self.scaled:
            state["fisher"] = torch.zeros_like(theta)
        if self.controls:
            state["control"], memory["control"] = torch.zeros_like(theta), theta.new_zeros(k, *theta.shape)
        return state, memory

    def guide(self, state: State, memory: Memory, flagged: Tensor | None) -> LocalTerms:
        """Eq. 16 for flagged clients, anchored at the model received; drift and scale for all."""
        stiffness = anchor = drift = scale = None
        if self.triggered and flagged is not None and bool(flagged.any()):
            stiffness = 2 * self.strength * flagged[..., None] * state["fisher"]
            anchor = state["theta"][None]
        if self.controls:
            drift = state["control"] - memory["control"]
        if self.scaled and bool((state["fisher"] > 0).any()):
            scale = fisher_scale(state["fisher"])[None]
        return LocalTerms(stiffness, anchor, drift, scale)

    def report(
        self, state: State, memory: Memory, guidance: LocalTerms, trained: Trained, fisher: Callable[[], Tensor]
    ) -> tuple[dict[str, Tensor], Memory]:
        """The model, its Fisher information, and the change of the control variate."""
        sent = {"theta": trained.theta}
        if self.measured:
            sent["fisher"] = fisher()
        if not self.controls:
            return sent, memory
        control = new_control(state, memory["control"], guidance, trained)
        return {**sent, "control": control - memory["control"]}, {"control": control}

    def aggregate(self, state: State, upload: Upload) -> State:
        """Eq. 15, and the mean of the models: plain, or weighted by their precisions."""
        after = {"theta": upload.mean("theta", self.mean)}
        if self.aggregation == "fisher":
            after["theta"] = upload.precision_weighted(self.delta)
        if "fisher" in state:
            fisher = upload.mean("fisher", "rows")
            first = ~(state["fisher"] > 0).any(-1, keepdim=True)
            after["fisher"] = torch.where(first, fisher, smooth(state["fisher"], fisher, self.alpha))
        if self.controls:
            after["control"] = state["control"] + upload.over_all("control")
        return after


def fisher_scale(fisher: Tensor) -> Tensor:
    """Inverse square root of the damped Fisher information, with mean 1 over a model's parameters.

    Reading: mean 1 keeps the learning rate's meaning; the root and the damping bound how far two parameters' steps can
        differ, because the empirical Fisher information is small for parameters that have been fitted well.

    Args:
        fisher: I_global, (a, d).
    """
    scale = (fisher + DAMPING).rsqrt()
    return scale / scale.mean(-1, keepdim=True)
