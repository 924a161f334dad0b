"""One repeat of some methods: clients dealt out, candidates of learning rates tried, all rounds run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from torch import Tensor

from picsc.datasets.data import Data
from picsc.federated.algorithms.by_name import algorithm
from picsc.federated.build_clients import build, model_kind
from picsc.federated.client_metrics import ClientMetrics, client_metrics
from picsc.federated.clients.protocol import Federation
from picsc.federated.holdings import federated_split, participants, refuse_small_clients
from picsc.federated.method_run import Run
from picsc.federated.resumable_rounds import Progress, RepeatTask, StoredRounds, run_rounds
from picsc.federated.rounds import RoundSettings
from picsc.federated.run_state import Contender, floats_at_clients
from picsc.federated.tuning import Choice, Try, try_candidates, without_choice
from picsc.runtime.devices import pick_device
from picsc.settings import FedMethod, FedSettings

Measured = Callable[[bool, Tensor], ClientMetrics]
"""From whether columns are whitened, and a model, (d,), to its metrics."""
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

    @property
    def place(self) -> str:
        """Beginning of the names of its parts in the run folder."""
        return self.task.place

    def at(self, path: Path | None) -> ChosenTask:
        """The same with the run folder at another path; None leaves it."""
        return replace(self, task=self.task.at(path))


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
    return try_candidates(
        task, split, device, settings_of_rounds(task.settings, len(split.clients), seed=task.seed), progress
    )


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
    round_settings = settings_of_rounds(task.settings, len(split.clients), seed=task.seed)
    rate = DEFAULT_RATE if settings.lr == "auto" else settings.lr
    choices = {method: chosen.choices.get(method) or without_choice(method, settings, rate) for method in task.methods}
    clients = {
        whitened: build(split, settings, device=device, workers=task.workers, whitened=whitened)
        for whitened in sorted({choice.whitened for choice in choices.values()})
    }
    names = tuple(client.name for client in split.clients)

    def measured(whitened: bool, theta: Tensor) -> ClientMetrics:
        return client_metrics(split, settings, clients[whitened], theta)

    methods = MethodsTask(task, chosen.name, settings, choices, names)
    return run_methods(methods, clients, round_settings, progress, measured)


@dataclass(frozen=True, slots=True)
class MethodsTask:
    """All rounds of some methods, and what they train with."""

    stored: StoredRounds
    name: str
    """Name of the part in the run folder."""
    settings: FedSettings
    choices: Mapping[FedMethod, Choice]
    """Rate and constant of every method."""
    clients: tuple[str, ...]
    """Names of the clients."""


def run_methods(
    task: MethodsTask,
    clients: Mapping[bool, Federation],
    round_settings: RoundSettings,
    progress: Progress,
    measured: Measured | None = None,
) -> dict[FedMethod, Run]:
    """All rounds of some methods, wherever the clients are.

    Args:
        task: the methods.
        clients: those with natural columns under False, those with whitened ones under True.
        round_settings: settings of all methods.
        progress: called with one line about each round.
        measured: finds the metrics by name; None where nobody asks for them.
    """
    choices = task.choices
    # those with the same clients train together
    order = sorted(choices, key=lambda method: choices[method].whitened)
    contenders = [
        Contender(
            method,
            algorithm(method, task.settings, choices[method].constant),
            clients[choices[method].whitened],
            (choices[method].rate,),
        )
        for method in order
    ]
    runs = dict(zip(order, run_rounds(task.stored, task.name, contenders, round_settings, progress), strict=True))
    kept = {method: floats_at_clients(contender) for method, contender in zip(order, contenders, strict=True)}
    metrics: dict[FedMethod, ClientMetrics] = {
        method: ({}, {}) if measured is None else measured(choice.whitened, runs[method].state["theta"][0])
        for method, choice in choices.items()
    }
    return {
        method: Run(
            seed=task.stored.seed,
            clients=task.clients,
            rate=choice.rate,
            constant=choice.constant,
            whitened=choice.whitened,
            parameters=runs[method].state["theta"].shape[1],
            features=clients[choice.whitened].features,
            memory=runs[method].floats + kept[method],
            records=runs[method].records(),
            metric_names=task.settings.metrics,
            metrics=metrics[method][0],
            metric_reasons=metrics[method][1],
        )
        for method, choice in choices.items()
    }


def settings_of_rounds(settings: FedSettings, clients: int, *, seed: int) -> RoundSettings:
    """Settings that all algorithms share.

    Args:
        settings: of the command.
        clients: number of all clients.
        seed: of the repeat.
    """
    return RoundSettings(
        rounds=settings.rounds,
        seed=seed,
        participants=participants(settings, clients),
        server_lr=settings.server_lr,
        server_momentum=settings.server_momentum,
        gamma=settings.gamma,
        allow_failures=settings.allow_failures,
    )
