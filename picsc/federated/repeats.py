"""One repeat of some methods: clients dealt out, learning rates chosen, all rounds run."""

from __future__ import annotations

from picsc.federated.algorithms.by_name import algorithm
from picsc.federated.build_clients import build, model_kind
from picsc.federated.clients.mlps import ClientMlps
from picsc.federated.holdings import federated_split, participants, refuse_small_clients
from picsc.federated.method_run import Run
from picsc.federated.resumable_rounds import Progress, RepeatTask, run_rounds
from picsc.federated.rounds import RoundSettings
from picsc.federated.run_state import Contender
from picsc.federated.tuning import choose, without_choice
from picsc.runtime.devices import pick_device

DEFAULT_RATE = 0.05
"""Learning rate of models that are not tables' where none is given."""


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
    refuse_small_clients(split, settings)
    device = pick_device(settings.device).device
    clients = build(split, settings, device=device, workers=task.workers)
    round_settings = _round_settings(task, len(clients.rows))
    if settings.lr == "auto" and model_kind(task.data, settings) == "mlp":
        chosen = choose(task, split, device, round_settings, progress)
    else:
        rate = DEFAULT_RATE if settings.lr == "auto" else settings.lr
        chosen = {method: without_choice(method, settings, rate) for method in task.methods}
    contenders = [
        Contender(method, algorithm(method, settings, choice.constant), clients, (choice.rate,))
        for method, choice in chosen.items()
    ]
    runs = run_rounds(task, "rounds", contenders, round_settings, progress)
    names = tuple(client.name for client in split.clients)
    return {
        method: Run(
            seed=task.seed,
            clients=names,
            rate=choice.rate,
            constant=choice.constant,
            whitened=settings.whiten,
            parameters=run.state["theta"].shape[1],
            features=clients.features if isinstance(clients, ClientMlps) else 0,
            memory=run.floats,
            records=run.records(),
        )
        for (method, choice), run in zip(chosen.items(), runs, strict=True)
    }


def _round_settings(task: RepeatTask, clients: int) -> RoundSettings:
    settings = task.settings
    return RoundSettings(
        rounds=settings.rounds,
        seed=task.seed,
        participants=participants(settings, clients),
        server_lr=settings.server_lr,
        server_momentum=settings.server_momentum,
        gamma=settings.gamma,
        allow_failures=settings.allow_failures,
    )
