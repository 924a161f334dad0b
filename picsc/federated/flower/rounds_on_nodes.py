"""A federation of real clients from their first message to the last round: the server's side. Knows no Flower."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from picsc.federated.algorithms.by_name import algorithm
from picsc.federated.clients.build_mlps import MLP_UNITS
from picsc.federated.flower.asked import Asked, AskedTask, Encoding, SentScales
from picsc.federated.flower.remote import Exchange, RemoteClients, Request
from picsc.federated.flower.schema import Agreed, SaidTable, agreed
from picsc.federated.flower.settings_of_clients import refuse_unfit
from picsc.federated.method_run import Run
from picsc.federated.repeats import MethodsTask, run_methods, settings_of_rounds
from picsc.federated.rounds import draw_participants
from picsc.federated.tuning import without_choice
from picsc.runtime.run_folder import RunFolder
from picsc.settings import FedMethod, FedSettings

Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class NodesRun:
    """What comes of a federation of real clients."""

    said: Mapping[str, SaidTable]
    """What each client says of its table, by its name."""
    agreed: Agreed
    runs: Mapping[FedMethod, Sequence[Run]]
    """All runs of every method."""


@dataclass(frozen=True, slots=True)
class _Stored:
    """One repeat in the run folder, see `picsc.federated.resumable_rounds.StoredRounds`."""

    repeat: int
    folder: RunFolder
    seed: int

    def part(self, name: str) -> str:
        return f"repeat-{self.repeat}/{name}"


def run_on_nodes(
    exchange: Exchange,
    names: Sequence[str],
    settings: FedSettings,
    folder: RunFolder,
    progress: Progress,
    order: Mapping[str, Sequence[str]] | None = None,
) -> NodesRun:
    """Agree on the columns, then run all rounds of all methods.

    Args:
        exchange: the way to the clients.
        names: of the clients.
        settings: of the federation.
        folder: where finished rounds are stored.
        progress: called with one line about each step.
        order: levels of columns that come first, by the name of the column.

    Raises:
        SettingsError: real clients do not have such settings.
        DataError: a client does not fit the others, or does not answer.
    """
    refuse_unfit(None, settings)
    run = _name_of_run(folder)
    asked = Asked(settings=settings, run=run)
    progress("asking the clients for their columns")
    answers = exchange.ask("describe", {i: Request(asked) for i in range(len(names))})
    said = {name: SaidTable.model_validate_json(answers[i].text) for i, name in enumerate(names)}
    columns = agreed(said, order)
    runs: dict[FedMethod, list[Run]] = {method: [] for method in settings.methods}
    for repeat in range(settings.repeats or 1):
        stored = _Stored(repeat, folder, settings.seed + repeat)
        progress(f"repeat {repeat + 1}: asking the clients for means and deviations")
        clients = _clients(
            exchange, asked.model_copy(update={"seed": stored.seed, "run": f"{run}-{repeat}"}), said, columns
        )
        for method, one in _run(stored, clients, settings, names, progress).items():
            runs[method].append(one)
    return NodesRun(said, columns, runs)


def _name_of_run(folder: RunFolder) -> str:
    """A name that no other run has, so that clients do not take what they kept of another run; stored with the run."""
    held = folder.get("name")
    if held is None:
        held = {"name": np.frombuffer(secrets.token_hex(8).encode(), np.uint8)}
        folder.put("name", held)
    return bytes(held["name"]).decode()


def _clients(exchange: Exchange, asked: Asked, said: Mapping[str, SaidTable], columns: Agreed) -> RemoteClients:
    settings = asked.settings
    ask = asked.model_copy(update={"agreed": columns})
    requests = {i: Request(ask.model_copy(update={"client": i})) for i in range(len(said))}
    answers = exchange.ask("scales", requests)
    sent = [SentScales.model_validate_json(answers[i].text) for i in range(len(said))]
    rate = float(settings.lr) if settings.lr != "auto" else 0.0
    methods = {}
    for method in settings.methods:
        constant = without_choice(method, settings, rate).constant
        methods[algorithm(method, settings, constant)] = AskedTask(method=method, constant=constant, rates=(rate,))
    sizes = [table.rows for table in said.values()]
    return RemoteClients(
        exchange,
        asked.model_copy(update={"encoding": Encoding.of(columns, sent)}),
        methods,
        tuple(each.train for each in sent),
        tuple(int(first) for first in np.cumsum([0, *sizes[:-1]])),
        settings.hidden or MLP_UNITS,
        settings_of_rounds(settings, len(said), seed=asked.seed),
    )


def _run(
    stored: _Stored, clients: RemoteClients, settings: FedSettings, names: Sequence[str], progress: Progress
) -> dict[FedMethod, Run]:
    rate = float(settings.lr) if settings.lr != "auto" else 0.0
    choices = {method: without_choice(method, settings, rate) for method in settings.methods}
    task = MethodsTask(stored, "rounds", settings, choices, tuple(names))
    held = stored.folder.get(stored.part("rounds"))
    for number in range(0 if held is None else int(held["round"])):  # rounds that a resumed run has behind it
        clients.last.update(dict.fromkeys(draw_participants(len(names), clients.rounds, number).tolist(), number))
    return run_methods(task, {False: clients}, clients.rounds, progress)
