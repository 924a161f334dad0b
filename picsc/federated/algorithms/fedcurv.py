"""FedCurv: clients held near the others' models by the others' Fisher informations."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from picsc.federated.algorithms.protocol import Mean, Memory, State, Upload
from picsc.federated.clients.local_terms import LocalTerms, Trained


@dataclass(frozen=True, slots=True)
class FedCurv:
    """Clients are held near where the others' models were, as hard as the others' Fisher informations say.

    Source: Shoham et al., 2019; a control of PIcsC.
    Reading: what a client sends is the change of its Fisher information and of its product with the model, so that the
        server's sums hold the last state of every client, whoever takes part in a round. The sum over clients is
        divided by their number K, so that lambda means as much as in Eq. 16 for any number of clients.
    """

    strength: float
    mean: Mean = "rows"
    triggered: bool = False

    def begin(self, theta: Tensor, k: int) -> tuple[State, Memory]:
        """Nobody has sent anything."""
        zero, zeros = torch.zeros_like(theta), theta.new_zeros(k, *theta.shape)
        state = {"theta": theta, "fisher": zero, "pull": zero, "clients": theta.new_full((len(theta), 1), k)}
        return state, {"fisher": zeros, "pull": zeros}

    def guide(self, state: State, memory: Memory, flagged: Tensor | None) -> LocalTerms:
        """The gradient of lambda / K * sum over the others of (theta - theta_j)' I_j (theta - theta_j)."""
        if self.strength == 0:
            return LocalTerms()
        fisher = (state["fisher"] - memory["fisher"]).clamp(min=0)  # the difference of equal sums can be below 0
        anchor = (state["pull"] - memory["pull"]) / fisher.clamp(min=torch.finfo(fisher.dtype).tiny)
        known = fisher > 0
        anchor = torch.where(known, anchor, state["theta"])
        return LocalTerms(stiffness=2 * self.strength / state["clients"] * fisher, anchor=anchor)

    def report(
        self, state: State, memory: Memory, guidance: LocalTerms, trained: Trained, fisher: Callable[[], Tensor]
    ) -> tuple[dict[str, Tensor], Memory]:
        """The model, and what has changed in the client's two sums."""
        found = fisher()
        kept = {"fisher": found, "pull": found * trained.theta}
        return {"theta": trained.theta, **{name: kept[name] - memory[name] for name in kept}}, kept

    def aggregate(self, state: State, upload: Upload) -> State:
        """Mean of the models, sums of the rest."""
        sums = {name: state[name] + upload.sent[name].sum(0) for name in ("fisher", "pull")}
        return {**state, "theta": upload.mean("theta", self.mean), **sums}
