"""Runs of federated algorithms: what is run, and its state from round to round.

Letters: K clients, a models of one algorithm (candidates of its learning rate).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from picsc.federated.algorithms.protocol import Algorithm, Memory, State
from picsc.federated.clients.protocol import Federation


@dataclass(frozen=True, slots=True)
class Contender:
    """One algorithm with the candidates of its learning rate."""

    name: str
    """Name of the method."""
    algorithm: Algorithm
    clients: Federation
    """The clients, with whitened features if the federation trains on these."""
    rates: tuple[float, ...]
    """Candidates of the local learning rate, a; each trains a model of its own."""


@dataclass(slots=True)
class RunState:
    """State and history of one algorithm's run; arrays only, so that it can be stored and resumed."""

    state: State
    memory: Memory
    accuracy: list[NDArray[np.float64]] = field(default_factory=list)
    """Accuracy on each client's test rows after each round, (a, K)."""
    log_loss: list[NDArray[np.float64]] = field(default_factory=list)
    """Log-loss on each client's test rows after each round, (a, K), nats per row."""
    whole: list[NDArray[np.float64]] = field(default_factory=list)
    """Accuracy on the test rows of all clients together after each round, (a,)."""
    balanced: list[NDArray[np.float64]] = field(default_factory=list)
    """Balanced accuracy on the same rows, (a,); NaN for numbers."""
    auc: list[NDArray[np.float64]] = field(default_factory=list)
    """Area under the ROC curve on the same rows, (a,); NaN where there is none."""
    tau: list[NDArray[np.float64]] = field(default_factory=list)
    """Eq. 14's tau in each round, (a, K); NaN where the trigger was not used."""
    flagged: list[NDArray[np.float64]] = field(default_factory=list)
    """Decision of the trigger in each round, (a, K): 1 for shifted, 0 for not, NaN where it was not used."""
    failed_round: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    """Round in which a run failed, counted from 1, (a,); 0 if it did not."""
    failed_client: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    """Number of the first client that failed, (a,); -1 for none."""
    left_out: list[NDArray[np.float64]] = field(default_factory=list)
    """In each round, (a, K): 1 where a client failed and was left out, else 0."""
    bytes_up: int = 0
    """Bytes that one client sends in one round for one model, summary included."""
    bytes_summary: int = 0
    """Bytes of these that are the summary for the trigger; 0 without one."""
    bytes_down: int = 0
    """Bytes that one client receives in one round for one model."""

    @property
    def floats(self) -> int:
        """Number of floats that server and clients keep between rounds."""
        return sum(each.numel() for each in (*self.state.values(), *self.memory.values()))

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Everything as arrays, for a run folder."""
        kept: dict[str, NDArray[Any]] = {f"state.{name}": value.cpu().numpy() for name, value in self.state.items()}
        kept |= {f"memory.{name}": value.cpu().numpy() for name, value in self.memory.items()}
        kept |= {f"list.{name}": np.asarray(getattr(self, name)) for name in _LISTS}
        return kept | {f"value.{key}": np.asarray(getattr(self, name)) for key, name in _SCALARS.items()}

    def records(self) -> dict[str, NDArray[np.float64]]:
        """History of the first candidate: lists as (rounds, K) or (rounds,), the rest as numbers."""
        lists = {name: np.array([each[0] for each in getattr(self, name)]) for name in _LISTS}
        numbers = {"failed_round": self.failed_round[0], "failed_client": self.failed_client[0]}
        sizes = {"bytes_up": self.bytes_up, "bytes_down": self.bytes_down}
        return lists | {name: np.asarray(value, np.float64) for name, value in (numbers | sizes).items()}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]], device: torch.device) -> RunState:
        """The inverse of `arrays`."""

        def part(prefix: str) -> dict[str, NDArray[Any]]:
            return {name.removeprefix(prefix): value for name, value in arrays.items() if name.startswith(prefix)}

        values = part("value.")
        return cls(
            state={name: torch.from_numpy(value).to(device) for name, value in part("state.").items()},
            memory={name: torch.from_numpy(value).to(device) for name, value in part("memory.").items()},
            **{name: list(value) for name, value in part("list.").items()},
            failed_round=values["failed_round"],
            failed_client=values["failed_client"],
            bytes_up=int(values["bytes_up"]),
            bytes_summary=int(values["bytes_looked"]),
            bytes_down=int(values["bytes_down"]),
        )


_LISTS = ("accuracy", "log_loss", "whole", "balanced", "auc", "tau", "flagged", "left_out")
_SCALARS = {
    "failed_round": "failed_round",
    "failed_client": "failed_client",
    "bytes_up": "bytes_up",
    "bytes_looked": "bytes_summary",
    "bytes_down": "bytes_down",
}
"""Fields by their names in run folders, which do not change, so that earlier runs can be resumed."""


def initial_run(contender: Contender, seed: int) -> RunState:
    """The state before the first round: all candidates start with the same weights.

    Clients on machines of their own keep what they remember there.
    """
    a, k = len(contender.rates), len(contender.clients.rows)
    theta = contender.clients.start(seed)[None].repeat(a, 1)
    state, memory = contender.algorithm.initial_state(theta, k)
    # rounds write into it, so that no two of its tensors may be the same one
    own = {} if contender.clients.remember else {name: each.clone() for name, each in memory.items()}
    return RunState(state, own, failed_round=np.zeros(a, np.int64), failed_client=np.full(a, -1))


def floats_at_clients(contender: Contender) -> int:
    """Number of floats that clients keep between rounds on machines of their own; 0 where the run holds them."""
    clients = contender.clients
    if not clients.remember:
        return 0
    theta = clients.start(0)[None].repeat(len(contender.rates), 1)
    return len(clients.rows) * sum(each.numel() for each in contender.algorithm.initial_state(theta, 1)[1].values())
