"""FedAvg, FedProx, SCAFFOLD, FedCurv and PIcsC as small pieces that one loop runs (paper, E6 and Algorithm 2).

An algorithm is four functions: what server and clients start with, what a client makes of the server's state before and
after local training, and what the server makes of the uploads. Every client of a round receives the whole state.

Letters: k clients of a round, K of all, a models (candidates of the learning rate), d parameters.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal, Protocol

import torch
from torch import Tensor

from picsc.equations.penalties import smooth
from picsc.federated.clients.local_terms import Guidance, Trained
from picsc.settings import FedMethod, FedSettings

State = dict[str, Tensor]
"""What the server keeps and sends, (a, d) each, or (a, 1) for a number; `theta` is the global model."""
Memory = dict[str, Tensor]
"""What clients keep between rounds, (k, a, d) each."""
Mean = Literal["rows", "clients"]
VELOCITY = "velocity"
"""Name of what the server keeps for itself."""
DAMPING = 1e-2
"""Added to the Fisher information that scales PIcsC's local steps."""


@dataclass(frozen=True, slots=True)
class Upload:
    """All that the server sees of the clients of a round; one line per client, none of which has the size of its rows.

    Reading: the server weighs clients by their numbers of rows, as in FedAvg, so these are sent too.
    """

    rows: Tensor
    """(k,)."""
    sent: dict[str, Tensor]
    """(k, a, d) each."""
    clients: int
    """Of all rounds, K."""

    @property
    def bytes(self) -> int:
        """What one client sends for one model: 4 bytes per number."""
        return 4 * (1 + sum(values[0, 0].numel() for values in self.sent.values()))

    def mean(self, name: str, by: Mean) -> Tensor:
        """Mean over the round's clients, (a, d).

        Args:
            name: of what they sent.
            by: weigh them by their rows, or all alike.
        """
        values = self.sent[name]
        weight = self.rows.to(values) if by == "rows" else values.new_ones(len(values))
        return (values * (weight / weight.sum())[:, None, None]).sum(0)

    def over_all(self, name: str) -> Tensor:
        """Sum over the round's clients over the number of all clients, (a, d)."""
        return self.sent[name].sum(0) / self.clients

    def precision_weighted(self, delta: float) -> Tensor:
        """The mean of the product of the clients' Gaussian posteriors, (a, d).

        Source: Eq. 3 to 5: sum n_k (I_k + delta) theta_k / sum n_k (I_k + delta).
        """
        precision = (self.sent["fisher"] + delta) * self.rows.to(self.sent["fisher"])[:, None, None]
        return (precision * self.sent["theta"]).sum(0) / precision.sum(0)


class Algorithm(Protocol):
    """One federated algorithm."""

    @property
    def triggered(self) -> bool:
        """Whether its clients want to know if they are shifted (Eq. 14)."""
        ...

    def begin(self, theta: Tensor, k: int) -> tuple[State, Memory]:
        """Before the first round.

        Args:
            theta: initial models, (a, d).
            k: number of all clients.
        """
        ...

    def guide(self, state: State, memory: Memory, flagged: Tensor | None) -> Guidance:
        """What clients add to their local steps.

        Args:
            state: received.
            memory: of the round's clients.
            flagged: whether the trigger calls a client shifted, bool (k, a); None where nobody looked.
        """
        ...

    def report(
        self, state: State, memory: Memory, guidance: Guidance, trained: Trained, fisher: Callable[[], Tensor]
    ) -> tuple[dict[str, Tensor], Memory]:
        """What clients send after training, (k, a, d) each, and what they keep.

        Args:
            state: received.
            memory: as before training.
            guidance: of `guide`.
            trained: their models.
            fisher: gives their Fisher informations at their models, (k, a, d).
        """
        ...

    def aggregate(self, state: State, upload: Upload) -> State:
        """What the server makes of a round."""
        ...


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

    def guide(self, state: State, memory: Memory, flagged: Tensor | None) -> Guidance:
        """The gradient of the proximal term; nothing for mu = 0."""
        if self.mu == 0:
            return Guidance()
        theta = state["theta"][None]
        return Guidance(stiffness=torch.full_like(theta, self.mu), anchor=theta)

    def report(
        self, state: State, memory: Memory, guidance: Guidance, trained: Trained, fisher: Callable[[], Tensor]
    ) -> tuple[dict[str, Tensor], Memory]:
        """The model."""
        return {"theta": trained.theta}, memory

    def aggregate(self, state: State, upload: Upload) -> State:
        """Mean of the models."""
        return {"theta": upload.mean("theta", self.mean)}


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

    def guide(self, state: State, memory: Memory, flagged: Tensor | None) -> Guidance:
        """Drift c - c_k."""
        return Guidance(drift=state["control"] - memory["control"])

    def report(
        self, state: State, memory: Memory, guidance: Guidance, trained: Trained, fisher: Callable[[], Tensor]
    ) -> tuple[dict[str, Tensor], Memory]:
        """The model, and the change of the client's control variate."""
        control = new_control(state, memory["control"], guidance, trained)
        return {"theta": trained.theta, "control": control - memory["control"]}, {"control": control}

    def aggregate(self, state: State, upload: Upload) -> State:
        """Means of models and of changes; c stays the mean of all c_k."""
        return {"theta": upload.mean("theta", self.mean), "control": state["control"] + upload.over_all("control")}


def new_control(state: State, control: Tensor, guidance: Guidance, trained: Trained) -> Tensor:
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

    def guide(self, state: State, memory: Memory, flagged: Tensor | None) -> Guidance:
        """The gradient of lambda / K * sum over the others of (theta - theta_j)' I_j (theta - theta_j)."""
        if self.strength == 0:
            return Guidance()
        fisher = (state["fisher"] - memory["fisher"]).clamp(min=0)  # the difference of equal sums can be below 0
        anchor = (state["pull"] - memory["pull"]) / fisher.clamp(min=torch.finfo(fisher.dtype).tiny)
        known = fisher > 0
        anchor = torch.where(known, anchor, state["theta"])
        return Guidance(stiffness=2 * self.strength / state["clients"] * fisher, anchor=anchor)

    def report(
        self, state: State, memory: Memory, guidance: Guidance, trained: Trained, fisher: Callable[[], Tensor]
    ) -> tuple[dict[str, Tensor], Memory]:
        """The model, and what has changed in the client's two sums."""
        found = fisher()
        kept = {"fisher": found, "pull": found * trained.theta}
        return {"theta": trained.theta, **{name: kept[name] - memory[name] for name in kept}}, kept

    def aggregate(self, state: State, upload: Upload) -> State:
        """Mean of the models, sums of the rest."""
        sums = {name: state[name] + upload.sent[name].sum(0) for name in ("fisher", "pull")}
        return {**state, "theta": upload.mean("theta", self.mean), **sums}


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

    def guide(self, state: State, memory: Memory, flagged: Tensor | None) -> Guidance:
        """Eq. 16 for flagged clients, anchored at the model received; drift and scale for all."""
        stiffness = anchor = drift = scale = None
        if self.triggered and flagged is not None and bool(flagged.any()):
            stiffness = 2 * self.strength * flagged[..., None] * state["fisher"]
            anchor = state["theta"][None]
        if self.controls:
            drift = state["control"] - memory["control"]
        if self.scaled and bool((state["fisher"] > 0).any()):
            scale = fisher_scale(state["fisher"])[None]
        return Guidance(stiffness, anchor, drift, scale)

    def report(
        self, state: State, memory: Memory, guidance: Guidance, trained: Trained, fisher: Callable[[], Tensor]
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


def algorithm(name: FedMethod, settings: FedSettings) -> Algorithm:
    """The algorithm of a name.

    Args:
        name: of `picsc.settings.FED_METHODS`.
        settings: its constants.
    """
    mean, strength = settings.mean, settings.strength
    if name in ("fedavg", "fedprox"):
        return FedAvg(mean, settings.proximal if name == "fedprox" else 0.0)
    if name in ("scaffold", "scaffold-natural"):
        return Scaffold(mean)
    if name == "fedcurv":
        return FedCurv(strength, mean)
    aggregation = "mean" if settings.aggregate == "auto" else settings.aggregate
    ours = Picsc(strength, settings.alpha, settings.delta, aggregation, mean=mean)
    if name == "picsc":
        return ours
    alone = replace(ours, controls=False, scaled=False)
    if name == "fisher-mean":
        return replace(alone, strength=0.0, aggregation="fisher")
    return replace(alone, aggregation="mean")


IN_NATURAL_COORDINATES: tuple[FedMethod, ...] = ("scaffold-natural", "picsc")
"""Methods that train in `picsc.federated.clients.whitening` where there are any; with rates, chosen on training
rows."""
WORDS: dict[FedMethod, str] = {
    "fedavg": "local training, then the mean of the models weighted by rows",
    "fedprox": "fedavg whose clients are held near the model they received",
    "scaffold": "local steps corrected by control variates",
    "fedcurv": "clients are held near the others' models by the others' Fisher informations; a control of picsc",
    "fisher-mean": "fedavg with the Fisher-weighted mean; a control of picsc",
    "picsc-penalty": "Algorithm 2 as printed: Eq. 16 for flagged clients and the plain mean; a control of picsc",
    "scaffold-natural": "scaffold in the coordinates of picsc; a control of picsc",
    "picsc": "Algorithm 2 with control variates and local steps in the metric of the Fisher information",
}


def server_step(state: State, joined: State, *, lr: float, momentum: float) -> State:
    """Move the global model towards what the clients' models were joined to.

    Args:
        state: before the round; its `VELOCITY` is the last move, absent before the first round.
        joined: after aggregation.
        lr: of the server; 1 without momentum goes all the way, to the bit.
        momentum: share of the last move that is kept.
    """
    if lr == 1 and momentum == 0:
        return joined
    move = joined["theta"] - state["theta"]
    if momentum:
        move = move + momentum * state[VELOCITY] if VELOCITY in state else move
        joined = {**joined, VELOCITY: move}
    return {**joined, "theta": state["theta"] + lr * move}
