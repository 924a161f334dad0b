"""The rounds of federated learning, written once for all algorithms (paper, E6).

All algorithms of a seed and all candidates of their learning rates go through the rounds side by side, with the same
clients and minibatches. Letters: K clients, k of a round, a models of one algorithm, d parameters.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from picsc.datasets.encoding import Covariates
from picsc.errors import NumericsError
from picsc.federated.algorithms.protocol import Algorithm, Memory, State, Upload
from picsc.federated.algorithms.server import VELOCITY, server_step
from picsc.federated.client_summary import Summary
from picsc.federated.clients.evaluation import ClientScores
from picsc.federated.clients.local_terms import LocalTerms, Trained, side_by_side
from picsc.federated.summary_tests import run_client_tests

SIDE_BY_SIDE = 16_000_000
"""Parameters of all clients' models that are in work together; more algorithms or candidates wait for their turn."""


class Clients(Protocol):
    """All clients of a federation, simulated in this process; only the methods here see their rows."""

    @property
    def rows(self) -> Tensor:
        """Training rows of each client, (K,)."""
        ...

    @property
    def device(self) -> torch.device:
        """Where models are."""
        ...

    @property
    def covariates(self) -> Covariates:
        """What the features of summaries are."""
        ...

    def start(self, seed: int) -> Tensor:
        """Initial parameters, (d,)."""
        ...

    def fit(
        self,
        clients: NDArray[np.int64],
        theta: Tensor,
        guidance: LocalTerms,
        lr: Tensor,
        *,
        seed: int,
        round_number: int,
    ) -> Trained:
        """Train every model of every client of a round.

        Args:
            clients: who takes part, (k,).
            theta: where local training starts, (k or 1, a, d).
            guidance: of the algorithms.
            lr: of each model, (a,).
            seed: of the minibatches.
            round_number: of the minibatches.
        """
        ...

    def fisher(self, clients: NDArray[np.int64], theta: Tensor) -> Tensor:
        """Diagonal empirical Fisher (Eq. 1) of each client's rows at its parameters, (k, a, d)."""
        ...

    def summary(self, client: int, theta: Tensor, *, seed: int) -> Summary:
        """What a client says of its rows at one model, (d,)."""
        ...

    def judge(self, theta: Tensor) -> ClientScores:
        """Score global models, (a, d), for every client."""
        ...


@dataclass(frozen=True, slots=True)
class RoundSettings:
    """How rounds go."""

    rounds: int
    seed: int
    participants: int
    """Clients of a round, k."""
    server_lr: float = 1.0
    server_momentum: float = 0.0
    gamma: float | None = None
    """Threshold of tau; None is calibrated."""
    allow_failures: int = 0
    look: bool = True
    """Whether the trigger looks at clients; if not, none is flagged."""


@dataclass(frozen=True, slots=True)
class Contender:
    """One algorithm with the candidates of its learning rate."""

    name: str
    algorithm: Algorithm
    clients: Clients
    """In the coordinates that the algorithm wants."""
    rates: tuple[float, ...]


@dataclass(slots=True)
class RunState:
    """What one algorithm has been through; arrays only, so that it can be kept and gone on from."""

    state: State
    memory: Memory
    accuracy: list[NDArray[np.float64]] = field(default_factory=list)
    """After each round, (a, K)."""
    log_loss: list[NDArray[np.float64]] = field(default_factory=list)
    whole: list[NDArray[np.float64]] = field(default_factory=list)
    """After each round, (a,)."""
    tau: list[NDArray[np.float64]] = field(default_factory=list)
    """In each round, (a, K); NaN where nobody looked."""
    flagged: list[NDArray[np.float64]] = field(default_factory=list)
    """In each round, (a, K): 1, 0, or NaN where nobody looked."""
    failed_round: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    """(a,): round in which a run failed, counted from 1; 0 if it did not."""
    failed_client: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    """(a,): the first client that failed; -1 for none."""
    left_out: list[NDArray[np.float64]] = field(default_factory=list)
    """In each round, (a, K): 1 where a client failed and was left out."""
    bytes_up: int = 0
    """Of one client in one round, for one model."""
    bytes_looked: int = 0
    """Of these, the summary for the trigger."""
    bytes_down: int = 0

    @property
    def floats(self) -> int:
        """Numbers that server and clients keep between rounds."""
        return sum(each.numel() for each in (*self.state.values(), *self.memory.values()))

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Everything as arrays, for a run folder."""
        kept: dict[str, NDArray[Any]] = {f"state.{name}": value.cpu().numpy() for name, value in self.state.items()}
        kept |= {f"memory.{name}": value.cpu().numpy() for name, value in self.memory.items()}
        kept |= {f"list.{name}": np.asarray(getattr(self, name)) for name in _LISTS}
        scalars = {name: np.asarray(getattr(self, name)) for name in _SCALARS}
        return kept | {f"value.{name}": value for name, value in scalars.items()}

    def records(self) -> dict[str, NDArray[np.float64]]:
        """What happened to the first candidate: lists as (rounds, K) or (rounds,), the rest as numbers."""
        lists = {name: np.array([each[0] for each in getattr(self, name)]) for name in _LISTS}
        numbers = {"failed_round": self.failed_round[0], "failed_client": self.failed_client[0]}
        sizes = {"bytes_up": self.bytes_up, "bytes_down": self.bytes_down}
        return lists | {name: np.asarray(value, np.float64) for name, value in (numbers | sizes).items()}

    @classmethod
    def of(cls, arrays: Mapping[str, NDArray[Any]], device: torch.device) -> RunState:
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
            bytes_looked=int(values["bytes_looked"]),
            bytes_down=int(values["bytes_down"]),
        )


_LISTS = ("accuracy", "log_loss", "whole", "tau", "flagged", "left_out")
_SCALARS = ("failed_round", "failed_client", "bytes_up", "bytes_looked", "bytes_down")


def begin(entry: Contender, seed: int) -> RunState:
    """Before the first round: all candidates start with the same weights."""
    a, k = len(entry.rates), len(entry.clients.rows)
    theta = entry.clients.start(seed)[None].repeat(a, 1)
    state, memory = entry.algorithm.begin(theta, k)
    return RunState(state, memory, failed_round=np.zeros(a, np.int64), failed_client=np.full(a, -1))


def take_part(k: int, rules: RoundSettings, round_number: int) -> NDArray[np.int64]:
    """The clients of a round, increasing; the same for every algorithm.

    Args:
        k: of all clients.
        rules: how many take part, and the seed.
        round_number: counted from 0.
    """
    if rules.participants >= k:
        return np.arange(k)
    generator = np.random.default_rng([rules.seed, round_number, 1])
    return np.sort(generator.choice(k, rules.participants, replace=False)).astype(np.int64)


@torch.no_grad()
def run_round(
    entries: Sequence[Contender], courses: Sequence[RunState], rules: RoundSettings, round_number: int
) -> None:
    """One round of every algorithm, in place.

    Args:
        entries: the algorithms.
        courses: of each.
        rules: of all.
        round_number: counted from 0.

    Raises:
        Exception: whatever a client's code raises, with a note that names the client.
    """
    pairs = list(zip(entries, courses, strict=True))
    for _, same in groupby(pairs, key=lambda pair: id(pair[0].clients)):
        for part in _portions(list(same), rules.participants):
            _play([entry for entry, _ in part], [course for _, course in part], rules, round_number)


def _portions(pairs: list[tuple[Contender, RunState]], k: int) -> list[list[tuple[Contender, RunState]]]:
    """Algorithms that are trained side by side."""
    portions: list[list[tuple[Contender, RunState]]] = []
    size = 0
    for entry, course in pairs:
        floats = course.state["theta"].numel() * k
        if not portions or size + floats > SIDE_BY_SIDE:
            portions.append([])
            size = 0
        portions[-1].append((entry, course))
        size += floats
    return portions


def _play(entries: list[Contender], courses: list[RunState], rules: RoundSettings, round_number: int) -> None:
    clients = entries[0].clients
    chosen = take_part(len(clients.rows), rules, round_number)
    memories = [{name: kept[chosen] for name, kept in course.memory.items()} for course in courses]
    flags = [_flags(entry, course, chosen, rules, round_number) for entry, course in zip(entries, courses, strict=True)]
    guides = [
        entry.algorithm.guide(course.state, memory, flagged)
        for entry, course, memory, flagged in zip(entries, courses, memories, flags, strict=True)
    ]
    starts = [course.state["theta"][None] for course in courses]
    rates = torch.tensor([rate for entry in entries for rate in entry.rates], device=starts[0].device)
    trained = clients.fit(
        chosen,
        torch.cat(starts, 1),
        side_by_side(guides, starts),
        rates,
        seed=rules.seed,
        round_number=round_number,
    )
    stop = 0
    for entry, course, memory, guide in zip(entries, courses, memories, guides, strict=True):
        start, stop = stop, stop + len(entry.rates)
        own = Trained(trained.theta[:, start:stop], trained.steps, trained.lr[start:stop])
        _finish(entry, course, memory, guide, own, chosen, rules, round_number)


def _flags(
    entry: Contender, course: RunState, chosen: NDArray[np.int64], rules: RoundSettings, round_number: int
) -> Tensor | None:
    """Which clients of the round the trigger calls shifted, bool (k, a); None where nobody looks.

    Source: Eq. 14 and Algorithm 2, with all other clients of the round as the reference.
    Reading: clients send a summary at the model they receive before they train, so that both Fisher informations of
        the gap are taken at one theta that has learned from neither more than from the other.
    """
    a, k = len(entry.rates), len(entry.clients.rows)
    tau, flagged = np.full((a, k), np.nan), np.full((a, k), np.nan)
    course.tau.append(tau)
    course.flagged.append(flagged)
    if not (entry.algorithm.triggered and rules.look and len(chosen) > 1):
        return None
    for i, theta in enumerate(course.state["theta"]):
        if not bool(theta.isfinite().all()):
            continue
        try:
            summaries = [
                entry.clients.summary(int(client), theta, seed=_summary_seed(rules.seed, round_number, int(client)))
                for client in chosen
            ]
        except NumericsError:  # a model that is about to diverge: nobody is flagged, and training will tell
            continue
        course.bytes_looked = round(sum(each.bytes for each in summaries) / len(summaries))
        for client, verdict in zip(chosen, run_client_tests(summaries, entry.clients.covariates), strict=True):
            gamma = verdict.gamma if rules.gamma is None else rules.gamma
            tau[i, client], flagged[i, client] = verdict.tau, verdict.tau > gamma
    return torch.from_numpy(np.nan_to_num(flagged[:, chosen]).T > 0).to(course.state["theta"].device)


def _summary_seed(*parts: int) -> int:
    return int(np.random.SeedSequence(parts).generate_state(1)[0])


def _finish(
    entry: Contender,
    course: RunState,
    memory: Memory,
    guide: LocalTerms,
    trained: Trained,
    chosen: NDArray[np.int64],
    rules: RoundSettings,
    round_number: int,
) -> None:
    """What follows local training: uploads, failures, aggregation, scores."""
    algorithm, state = entry.algorithm, course.state
    sent, kept = algorithm.report(state, memory, guide, trained, lambda: entry.clients.fisher(chosen, trained.theta))
    broken = _broken(sent, state)  # (k, a)
    course.left_out.append(np.zeros((len(entry.rates), len(entry.clients.rows))))
    course.left_out[-1][:, chosen] = broken.T
    failing = (broken.sum(0) > rules.allow_failures) | (broken.all(0) & broken.any(0))
    fresh = failing & (course.failed_round == 0)
    course.failed_round[fresh] = round_number + 1
    course.failed_client[fresh] = chosen[broken.argmax(0)][fresh]
    after, upload = _joined(entry, state, sent, broken & ~failing, chosen)
    after = server_step(state, after, lr=rules.server_lr, momentum=rules.server_momentum)
    lost = torch.from_numpy(course.failed_round > 0).to(after["theta"].device)
    after["theta"] = torch.where(lost[:, None], torch.nan, after["theta"])
    for name, values in kept.items():
        old = course.memory[name][chosen]
        stays = torch.from_numpy(broken).to(old.device)[..., None]
        course.memory[name][chosen] = torch.where(stays, old, values)
    course.bytes_up = upload.bytes + course.bytes_looked
    course.bytes_down = 4 * sum(each[0].numel() for name, each in state.items() if name != VELOCITY)
    course.state = after
    judged = entry.clients.judge(after["theta"])
    course.accuracy.append(judged.accuracy.cpu().numpy())
    course.log_loss.append(judged.log_loss.cpu().numpy())
    course.whole.append(judged.whole.cpu().numpy())


def _broken(sent: Mapping[str, Tensor], state: State) -> NDArray[np.bool_]:
    """Whose upload left the finite numbers although what it received was finite, (k, a)."""
    broken = torch.stack([~values.isfinite().all(-1) for values in sent.values()]).any(0)
    received = torch.stack([values.isfinite().all(-1) for values in state.values()]).all(0)
    return (broken & received).cpu().numpy()


def _joined(
    entry: Contender, state: State, sent: dict[str, Tensor], left_out: NDArray[np.bool_], chosen: NDArray[np.int64]
) -> tuple[State, Upload]:
    """Aggregate; models of which a client is left out are aggregated without it, one by one."""
    rows, k = entry.clients.rows[torch.from_numpy(chosen)], len(entry.clients.rows)
    upload = Upload(rows, sent, k)
    after = entry.algorithm.aggregate(state, upload)
    for i in np.flatnonzero(left_out.any(0)):
        there = torch.from_numpy(~left_out[:, i])
        fewer = Upload(rows[there], {name: each[there.to(each.device), i : i + 1] for name, each in sent.items()}, k)
        one = entry.algorithm.aggregate({name: each[i : i + 1] for name, each in state.items()}, fewer)
        for name, values in one.items():
            after[name][i] = values[0]
    return after, upload
