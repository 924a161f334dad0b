"""SCAFFOLD: local steps corrected by control variates."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from picsc.federated.algorithms.protocol import ClientUploads, Mean, Memory, State
from picsc.federated.clients.local_terms import LocalTerms, Trained


@dataclass(frozen=True, slots=True)
class Scaffold:
    """Every local step is corrected by the difference of all clients' mean gradient from the client's own.

    Source: Karimireddy et al., 2020, option II.
    Reading: the correction is applied after the optimiser's step, and each client divides by its own number of steps.
    """

    mean: Mean = "rows"
    uses_trigger: bool = False

    def initial_state(self, theta: Tensor, k: int) -> tuple[State, Memory]:
        """The model, and control variates of 0."""
        return {"theta": theta, "control": torch.zeros_like(theta)}, {"control": theta.new_zeros(k, *theta.shape)}

    def local_terms(self, state: State, memory: Memory, flagged: Tensor | None) -> LocalTerms:
        """The correction c - c_k."""
        return LocalTerms(correction=state["control"] - memory["control"])

    def upload(
        self, state: State, memory: Memory, terms: LocalTerms, trained: Trained, fisher: Callable[[], Tensor]
    ) -> tuple[dict[str, Tensor], Memory]:
        """The model, and the change of the client's control variate."""
        control = new_control(state, memory["control"], terms, trained)
        return {"theta": trained.theta, "control": control - memory["control"]}, {"control": control}

    def aggregate(self, state: State, uploads: ClientUploads) -> State:
        """The means of models and of changes; c stays the mean of all c_k."""
        return {"theta": uploads.mean("theta", self.mean), "control": state["control"] + uploads.over_all("control")}


def new_control(state: State, control: Tensor, terms: LocalTerms, trained: Trained) -> Tensor:
    """A client's control variate after a round: c_k - c + (theta_t - theta_k) / (K_k lr), (k, a, d).

    Source: Karimireddy et al., 2020, option II.
    Reading: with preconditioned steps, the displacement of the model is divided by the preconditioner too, so that the
        control variate stays the mean gradient along the way.

    Args:
        state: as received from the server.
        control: c_k, (k, a, d).
        terms: of the round.
        trained: models, steps and learning rates of the clients.
    """
    displacement = state["theta"] - trained.theta
    if terms.preconditioner is not None:
        displacement = displacement / terms.preconditioner
    length = trained.steps.to(displacement.device)[:, None, None] * trained.lr[None, :, None]
    return control - state["control"] + displacement / length
