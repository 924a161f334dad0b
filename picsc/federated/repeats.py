"""One repeat of some methods: clients dealt out, candidates of learning rates tried, all rounds run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from picsc.datasets.data import Data
from picsc.federated.algorithms.by_name import algorithm
from picsc.federated.build_clients import build, model_kind
from picsc.federated.client_metrics import client_metrics
from picsc.federated.clients.mlps import ClientMlps
from picsc.federated.holdings import federated_split, participants, refuse_small_clients
from picsc.federated.method_run import Run
from picsc.federated.resumable_rounds import Progress, RepeatTask, run_rounds
from picsc.federated.rounds import RoundSettings
from picsc.federated.run_state import Contender
from picsc.federated.tuning import Choice, Try, try_candidates, without_choice
from picsc.runtime.devices import pick_device
from picsc.settings import FedMethod, FedSettings

DEFAULT_RATE = 0.05
"""Learning rate of models that are not tables' where none is given."""


@dataclass(frozen=True, slots=True)
class ChosenTask:
    """One repeat of some methods, and what they train with."""

    task: RepeatTask
    choices: Mapping[FedMethod, Choice]
    """Rate and constant of methods for which they were chosen; those of the others are given, or defaults."""
    attempt: int = 0
    """Number of the attempt; more than one where a chosen rate diverged."""

    @property
    def name(self) -> str:
        """Name of its rounds in the run folder."""
        return f"rounds-{self.attempt}" if self.attempt else "rounds"


def chooses(data: Data, settings: FedSettings) -> bool:
    """True if learning rates are chosen: of tables' networks, unless they are given."""
    return settings.lr == "auto" and model_kind(data, settings) == "mlp"


def tune_repeat(task: RepeatTask, progress: Progress = lambda _: None) -> tuple[Try, ...]:
    """Try the candidates of every method; a function of the module, so that another process can call it.

    Args:
        task: the repeat, and its methods.
        progress: called with one line about each round.
    """
    split = federated_split(task.data, task.settings, seed=task.seed)
    refuse_small_clients(split, task.settings)
    device = pick_device(task.settings.device).device
    return try_candidates(task, split, device, round_settings_of(task, len(split.clients)), progress)


def run_repeat(chosen: ChosenTask, progress: Progress = lambda _: None) -> dict[FedMethod, Run]:
    """Run one repeat; a function of the module, so that another process can call it.

    Args:
        chosen: the repeat, its methods, and what they train with.
        progress: called with one line about each round.

    Returns:
        The run of each method.
    """
    task, settings = chosen.task, chosen.task.settings
    split = federated_split(task.data, settings, seed=task.seed)
    refuse_small_clients(split, settings)
    device = pick_device(settings.device).device
    round_settings = round_settings_of(task, len(split.clients))
    rate = DEFAULT_RATE if settings.lr == "auto" else settings.lr
    choices = {method: chosen.choices.get(method) or without_choice(method, settings, rate) for method in task.methods}
    clients = {
        whitened: build(split, settings, device=device, workers=task.workers, whitened=whitened)
        for whitened in sorted({choice.whitened for choice in choices.values()})
    }
    # those with the same clients train together
    order = sorted(choices, key=lambda method: choices[method].whitened)
    contenders = [
        Contender(
            method,
            algorithm(method, settings, choices[method].constant),
            clients[choices[method].whitened],
            (choices[method].rate,),
        )
        for method in order
    ]
    runs = dict(zip(order, run_rounds(task, chosen.name, contenders, round_settings, progress), strict=True))
    names = tuple(client.name for client in split.clients)
    metrics = {
        method: client_metrics(split, settings, clients[choice.whitened], runs[method].state["theta"][0])
        for method, choice in choices.items()
    }
    return {
        method: Run(
            seed=task.seed,
            clients=names,
            rate=choice.rate,
            constant=choice.constant,
            whitened=choice.whitened,
            parameters=runs[method].state["theta"].shape[1],
            features=trained.features if isinstance(trained := clients[choice.whitened], ClientMlps) else 0,
            memory=runs[method].floats,
            records=runs[method].records(),
            metric_names=settings.metrics,
            metrics=metrics[method][0],
            metric_reasons=metrics[method][1],
        )
        for method, choice in choices.items()
    }


def round_settings_of(task: RepeatTask, clients: int) -> RoundSettings:
    """Settings of the rounds of one repeat.

    Args:
        task: the repeat.
        clients: number of all clients.
    """
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
