"""SCAFFOLD: local steps corrected by control variates."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from picsc.federated.algorithms.protocol import Mean, Memory, State, Upload
from picsc.federated.clients.local_terms import LocalTerms, Trained


@dataclass(frozen=True, slots=True)
class Scaffold:
    """Every local step is corrected by how the client's gradient differs from all clients'.

    Source: Karimireddy et al., 2020, option II.
    Reading: the correction is applied after the optimiser's step, and each client divides by its own number of steps.
    """

    mean: Mean = "rows"
    triggered: bool = False

    def begin(self, theta: Tensor, k: int) -> tuple[State, Memory]:
        """All control variates are 0."""
        return {"theta": theta, "control": torch.zeros_like(theta)}, {"control": theta.new_zeros(k, *theta.shape)}

    def guide(self, state: State, memory: Memory, flagged: Tensor | None) -> LocalTerms:
        """Drift c - c_k."""
        return LocalTerms(drift=state["control"] - memory["control"])

    def report(
        self, state: State, memory: Memory, guidance: LocalTerms, trained: Trained, fisher: Callable[[], Tensor]
    ) -> tuple[dict[str, Tensor], Memory]:
        """The model, and the change of the client's control variate."""
        control = new_control(state, memory["control"], guidance, trained)
        return {"theta": trained.theta, "control": control - memory["control"]}, {"control": control}

    def aggregate(self, state: State, upload: Upload) -> State:
        """Means of models and of changes; c stays the mean of all c_k."""
        return {"theta": upload.mean("theta", self.mean), "control": state["control"] + upload.over_all("control")}


def new_control(state: State, control: Tensor, guidance: LocalTerms, trained: Trained) -> Tensor:
    """A client's control variate after a round: c_k - c + (theta_t - theta_k) / (K_k lr), (k, a, d).

    Source: Karimireddy et al., 2020, option II.
    Reading: with scaled steps, the way that was gone is divided by the scale too, so that the control variate stays
        the mean gradient along it.

    Args:
        state: received.
        control: c_k, (k, a, d).
        guidance: of the round.
        trained: its models, steps and learning rates.
    """
    way = state["theta"] - trained.theta
    if guidance.scale is not None:
        way = way / guidance.scale
    length = trained.steps.to(way.device)[:, None, None] * trained.lr[None, :, None]
    return control - state["control"] + way / length
