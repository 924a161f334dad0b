"""FedCurv: clients held near the others' models by the others' Fisher informations."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from picsc.federated.algorithms.protocol import ClientUploads, Mean, Memory, State
from picsc.federated.clients.local_terms import LocalTerms, Trained


@dataclass(frozen=True, slots=True)
class FedCurv:
    """A penalty holds each client near the other clients' last models, weighted by their Fisher informations.

    Source: Shoham et al., 2019; a control of PIcsC.
    Reading: a client sends the change of its Fisher information and of its product with the model, so that the
        server's sums hold the last state of every client, whoever takes part in a round. The sum over clients is
        divided by their number K, so that lambda means as much as in Eq. 16 for any number of clients.
    """

    strength: float
    """lambda, at least 0; 0 is FedAvg."""
    mean: Mean = "rows"
    uses_trigger: bool = False

    def initial_state(self, theta: Tensor, k: int) -> tuple[State, Memory]:
        """The model, and sums of 0, since no client has sent anything yet."""
        zero = torch.zeros_like(theta)
        state = {"theta": theta, "fisher": zero, "pull": zero, "clients": theta.new_full((len(theta), 1), k)}
        return state, {name: theta.new_zeros(k, *theta.shape) for name in ("fisher", "pull")}

    def local_terms(self, state: State, memory: Memory, flagged: Tensor | None) -> LocalTerms:
        """The gradient of lambda / K * sum over the others of (theta - theta_j)' I_j (theta - theta_j)."""
        if self.strength == 0:
            return LocalTerms()
        fisher = (state["fisher"] - memory["fisher"]).clamp(min=0)  # the difference of equal sums can be below 0
        center = (state["pull"] - memory["pull"]) / fisher.clamp(min=torch.finfo(fisher.dtype).tiny)
        known = fisher > 0
        center = torch.where(known, center, state["theta"])
        return LocalTerms(proximal_weight=2 * self.strength / state["clients"] * fisher, proximal_center=center)

    def upload(
        self, state: State, memory: Memory, terms: LocalTerms, trained: Trained, fisher: Callable[[], Tensor]
    ) -> tuple[dict[str, Tensor], Memory]:
        """The model, and the changes of the client's two terms in the server's sums."""
        found = fisher()
        kept = {"fisher": found, "pull": found * trained.theta}
        return {"theta": trained.theta, **{name: kept[name] - memory[name] for name in kept}}, kept

    def aggregate(self, state: State, uploads: ClientUploads) -> State:
        """The mean of the models, and sums of the rest."""
        sums = {name: state[name] + uploads.sent[name].sum(0) for name in ("fisher", "pull")}
        return {**state, "theta": uploads.mean("theta", self.mean), **sums}
