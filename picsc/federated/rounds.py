"""The rounds of federated learning, written once for all algorithms (paper, E6).

All algorithms of a seed and all candidates of their learning rates go through the rounds next to one another, with the
same clients and minibatches. Letters: K clients, k of a round, a models of one algorithm, d parameters.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from picsc.federated.algorithms.protocol import ClientUploads, State
from picsc.federated.algorithms.server import VELOCITY, server_step
from picsc.federated.client_summary import Summary
from picsc.federated.clients.evaluation import ClientScores
from picsc.federated.clients.local_round import LocalResult, LocalTask
from picsc.federated.run_state import Contender, RunState
from picsc.federated.summary_tests import run_client_tests

MOST_PARAMETERS = 16_000_000
"""Parameters of all clients' models that are trained at the same time; algorithms beyond it are trained afterwards."""


@dataclass(frozen=True, slots=True)
class RoundSettings:
    """Settings that all algorithms of a comparison share."""

    rounds: int
    """Number of rounds, at least 1."""
    seed: int
    """Seed of the clients drawn, of minibatches and of summaries."""
    participants: int
    """Number of clients in a round, k."""
    server_lr: float = 1.0
    """Learning rate of the server, above 0; 1 takes the aggregated model."""
    server_momentum: float = 0.0
    """Momentum of the server, in [0, 1)."""
    gamma: float | None = None
    """Threshold of tau; None calibrates it for every client."""
    allow_failures: int = 0
    """Number of clients that may fail in a round and be left out of it."""


@dataclass(frozen=True, slots=True)
class _Round:
    """One round."""

    number: int
    """Counted from 0."""
    clients: NDArray[np.int64]
    """Numbers of the clients that take part, increasing, (k,)."""
    settings: RoundSettings


def draw_participants(k: int, round_settings: RoundSettings, round_number: int) -> NDArray[np.int64]:
    """Numbers of the clients of a round, increasing; the same for every algorithm.

    Args:
        k: number of all clients.
        round_settings: number of clients that take part, and the seed.
        round_number: counted from 0.
    """
    if round_settings.participants >= k:
        return np.arange(k)
    generator = np.random.default_rng([round_settings.seed, round_number, 1])
    return np.sort(generator.choice(k, round_settings.participants, replace=False)).astype(np.int64)


@torch.no_grad()
def run_round(
    contenders: Sequence[Contender], runs: Sequence[RunState], round_settings: RoundSettings, round_number: int
) -> None:
    """One round of every algorithm, in place.

    Args:
        contenders: the algorithms.
        runs: the state of each.
        round_settings: settings of all.
        round_number: counted from 0.

    Raises:
        Exception: whatever a client's code raises, with a note that names the client.
    """
    pairs = list(zip(contenders, runs, strict=True))
    for _, same_clients in groupby(pairs, key=lambda pair: id(pair[0].clients)):
        for part in _portions(list(same_clients), round_settings.participants):
            _run_together([contender for contender, _ in part], [run for _, run in part], round_settings, round_number)


def _portions(pairs: list[tuple[Contender, RunState]], k: int) -> list[list[tuple[Contender, RunState]]]:
    """Groups of algorithms that are trained at the same time."""
    portions: list[list[tuple[Contender, RunState]]] = []
    size = 0
    for contender, run in pairs:
        floats = run.state["theta"].numel() * k
        if not portions or size + floats > MOST_PARAMETERS:
            portions.append([])
            size = 0
        portions[-1].append((contender, run))
        size += floats
    return portions


def _run_together(
    contenders: list[Contender], runs: list[RunState], round_settings: RoundSettings, round_number: int
) -> None:
    """One round of algorithms that have the same clients, in place."""
    clients = contenders[0].clients
    current = _Round(round_number, draw_participants(len(clients.rows), round_settings, round_number), round_settings)
    where = {"seed": round_settings.seed, "round_number": round_number}
    tested = [contender.algorithm.uses_trigger and len(current.clients) > 1 for contender in contenders]
    at = [_finite(run)[1] if test else None for run, test in zip(runs, tested, strict=True)]
    summaries = clients.summaries_of(current.clients, at, **where)
    tasks = [
        LocalTask(
            contender.algorithm,
            {name: each for name, each in run.state.items() if name != VELOCITY},
            _flags(contender, run, own if test else None, current),
            contender.rates,
            {name: kept[current.clients] for name, kept in run.memory.items()},
        )
        for contender, run, own, test in zip(contenders, runs, summaries, tested, strict=True)
    ]
    results = clients.round_of(current.clients, tasks, **where)
    for contender, run, result in zip(contenders, runs, results, strict=True):
        _aggregate(contender, run, result, current)
    scores = clients.scores_of([run.state["theta"] for run in runs])
    for contender, run, found in zip(contenders, runs, scores, strict=True):
        _score(contender, run, found, round_number)


def _finite(run: RunState) -> tuple[Tensor, Tensor]:
    """Positions of the models that are finite, and these models."""
    finite = torch.nonzero(run.state["theta"].isfinite().all(-1)).flatten()
    return finite, run.state["theta"][finite]


def _flags(
    contender: Contender, run: RunState, sent: list[tuple[Summary | None, ...]] | None, current: _Round
) -> Tensor | None:
    """Clients of the round that the trigger calls shifted, bool (k, a); None where the trigger is not used.

    Source: Eq. 14 and Algorithm 2, with all other clients of the round as the reference.
    Reading: clients send a summary at the model they receive before they train, so that both Fisher informations of
        the gap are taken at one theta that has learned from neither more than from the other.
    """
    a, k = len(contender.rates), len(contender.clients.rows)
    tau, flagged = np.full((a, k), np.nan), np.full((a, k), np.nan)
    run.tau.append(tau)
    run.flagged.append(flagged)
    if sent is None:
        return None
    for i, of_model in zip(_finite(run)[0].tolist(), zip(*sent, strict=True), strict=True):
        summaries = [each for each in of_model if each is not None]
        if len(summaries) < len(of_model):
            continue  # a model about to diverge: no client is flagged, and after training the run has failed
        run.bytes_summary = round(sum(each.bytes for each in summaries) / len(summaries))
        for client, verdict in zip(
            current.clients, run_client_tests(summaries, contender.clients.covariates), strict=True
        ):
            gamma = verdict.gamma if current.settings.gamma is None else current.settings.gamma
            tau[i, client], flagged[i, client] = verdict.tau, verdict.tau > gamma
    return torch.from_numpy(np.nan_to_num(flagged[:, current.clients]).T > 0).to(run.state["theta"].device)


def _aggregate(contender: Contender, run: RunState, result: LocalResult, current: _Round) -> None:
    """The server's part after local training: failures, aggregation, the server's step."""
    state, chosen, broken = run.state, current.clients, result.broken
    run.left_out.append(np.zeros((len(contender.rates), len(contender.clients.rows))))
    run.left_out[-1][:, chosen] = broken.T
    failing = (broken.sum(0) > current.settings.allow_failures) | (broken.all(0) & broken.any(0))
    fresh = failing & (run.failed_round == 0)
    run.failed_round[fresh] = current.number + 1
    run.failed_client[fresh] = chosen[broken.argmax(0)][fresh]
    after, uploads = _aggregated(contender, state, result.sent, broken & ~failing, chosen)
    after = server_step(state, after, lr=current.settings.server_lr, momentum=current.settings.server_momentum)
    lost = torch.from_numpy(run.failed_round > 0).to(after["theta"].device)
    after["theta"] = torch.where(lost[:, None], torch.nan, after["theta"])
    for name, values in result.kept.items():
        run.memory[name][chosen] = values
    run.bytes_up = uploads.bytes + run.bytes_summary
    run.bytes_down = 4 * sum(each[0].numel() for name, each in state.items() if name != VELOCITY)
    run.state = after


def _score(contender: Contender, run: RunState, scores: ClientScores, round_number: int) -> None:
    """The scores of the round; a joint model that has diverged, although no single client's has, is given up."""
    theta = run.state["theta"]
    gone = scores.diverged.cpu().numpy() & (run.failed_round == 0)
    if gone.any():
        run.failed_round[gone] = round_number + 1
        theta[torch.from_numpy(gone).to(theta.device)] = torch.nan
        (scores,) = contender.clients.scores_of([theta])
    run.accuracy.append(scores.accuracy.cpu().numpy())
    run.log_loss.append(scores.log_loss.cpu().numpy())
    run.whole.append(scores.whole.cpu().numpy())
    run.balanced.append(scores.balanced.cpu().numpy())
    run.auc.append(scores.auc.cpu().numpy())


def _aggregated(
    contender: Contender, state: State, sent: dict[str, Tensor], left_out: NDArray[np.bool_], chosen: NDArray[np.int64]
) -> tuple[State, ClientUploads]:
    """The aggregated state; models of which a client is left out are aggregated without it, one by one."""
    rows, k = contender.clients.rows[torch.from_numpy(chosen)], len(contender.clients.rows)
    uploads = ClientUploads(rows, sent, k)
    after = contender.algorithm.aggregate(state, uploads)
    for i in np.flatnonzero(left_out.any(0)):
        there = torch.from_numpy(~left_out[:, i])
        fewer = ClientUploads(
            rows[there], {name: each[there.to(each.device), i : i + 1] for name, each in sent.items()}, k
        )
        one = contender.algorithm.aggregate({name: each[i : i + 1] for name, each in state.items()}, fewer)
        for name, values in one.items():
            after[name][i] = values[0]
    return after, uploads
