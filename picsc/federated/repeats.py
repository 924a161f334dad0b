"""One repeat of some methods: clients dealt out, learning rates chosen, all rounds run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from picsc.federated.algorithms.by_name import WHITENED, algorithm
from picsc.federated.build_clients import build, model_kind
from picsc.federated.clients.mlps import ClientMlps
from picsc.federated.clients.networks import ClientModules
from picsc.federated.holdings import FederatedSplit, federated_split, participants
from picsc.federated.method_run import Run, over_clients
from picsc.federated.resumable_rounds import Progress, RepeatTask, run_rounds
from picsc.federated.rounds import RoundSettings
from picsc.federated.run_state import Contender
from picsc.runtime.devices import pick_device

if TYPE_CHECKING:
    import torch

RATES = (0.01, 0.03, 0.1, 0.3, 1.0)
"""Learning rates that `auto` chooses from, for tables."""
DEFAULT_RATE = 0.05
"""Learning rate of the other models where none is given."""


def run_repeat(task: RepeatTask, progress: Progress = lambda _: None) -> dict[str, Run]:
    """Run one repeat; a function of the module, so that another process can call it.

    Args:
        task: the repeat, and its methods.
        progress: called with one line about each round.

    Returns:
        The run of each method.
    """
    settings = task.settings
    split = federated_split(task.data, settings, seed=task.seed)
    device = pick_device(settings.device).device
    tabular = model_kind(task.data, settings) == "mlp"
    chosen = _choose_rates(task, split, device, progress) if settings.lr == "auto" and tabular else {}
    fixed = DEFAULT_RATE if settings.lr == "auto" else settings.lr
    clients = build(split, settings, device=device, workers=task.workers)
    whitened = clients.whitened()
    contenders = []
    for method in task.methods:
        rate, use_whitened = chosen.get(method, (fixed, method in WHITENED))
        own = whitened if use_whitened and whitened is not None else clients
        contenders.append(Contender(method, algorithm(method, settings), own, (rate,)))
    contenders.sort(key=lambda contender: contender.clients is not clients)  # those with equal clients train together
    runs = run_rounds(task, "rounds", contenders, _round_settings(task, clients), progress)
    names = tuple(client.name for client in split.clients)
    return {
        contender.name: Run(
            seed=task.seed,
            clients=names,
            rate=contender.rates[0],
            whitened=contender.clients is not clients,
            parameters=run.state["theta"].shape[1],
            features=clients.features if isinstance(clients, ClientMlps) else 0,
            memory=run.floats,
            records=run.records(),
        )
        for contender, run in zip(contenders, runs, strict=True)
    }


def _round_settings(
    task: RepeatTask, clients: ClientMlps | ClientModules, *, use_trigger: bool = True
) -> RoundSettings:
    settings = task.settings
    return RoundSettings(
        rounds=settings.rounds,
        seed=task.seed,
        participants=participants(settings, len(clients.rows)),
        server_lr=settings.server_lr,
        server_momentum=settings.server_momentum,
        gamma=settings.gamma,
        allow_failures=settings.allow_failures,
        use_trigger=use_trigger,
    )


def _choose_rates(
    task: RepeatTask, split: FederatedSplit, device: torch.device, progress: Progress
) -> dict[str, tuple[float, bool]]:
    """The learning rate of every method, and True if it trains on whitened features.

    Reading: all methods choose from the same rates by mean accuracy over clients and the last fifth of the rounds, on
        rows set aside from every client's training rows; those that may train on whitened features choose these the
        same way. The last round alone would favour rates at which accuracy still jumps. The trigger is not used
        meanwhile: its term changes the choice less than its cost would.
    """
    kept = task.folder.get(task.part("rates"))
    if kept is not None:
        return {name: (float(rate), bool(whitened)) for name, (rate, whitened) in kept.items()}
    clients = build(split, task.settings, device=device, workers=task.workers, tuning_seed=task.seed)
    whitened = clients.whitened()
    contenders = [Contender(method, algorithm(method, task.settings), clients, RATES) for method in task.methods]
    if whitened is not None:
        contenders += [replace(each, clients=whitened) for each in contenders if each.name in WHITENED]
    runs = run_rounds(task, "tuning", contenders, _round_settings(task, clients, use_trigger=False), progress)
    best: dict[str, tuple[float, float, float, bool]] = {}
    for contender, run in zip(contenders, runs, strict=True):
        for i, rate in enumerate(contender.rates):
            accuracy = _late(run.accuracy, i)
            found = (-np.inf if np.isnan(accuracy) else accuracy, -np.nan_to_num(_late(run.log_loss, i), nan=np.inf))
            if contender.name not in best or found > best[contender.name][:2]:
                best[contender.name] = (*found, rate, contender.clients is not clients)
    task.folder.put(task.part("rates"), {name: np.array(found[2:], np.float64) for name, found in best.items()})
    return {name: (found[2], found[3]) for name, found in best.items()}


def _late(rounds: Sequence[NDArray[np.float64]], candidate: int) -> float:
    """Mean over clients and the last fifth of the rounds, (a, K) each; NaN of a candidate that failed."""
    last = rounds[-max(1, len(rounds) // 5) :]
    return float(over_clients(np.stack([values[candidate] for values in last])).mean())
