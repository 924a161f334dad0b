"""The verb `federate`: clients that never share a row, under FedAvg, FedProx, SCAFFOLD, PIcsC and its controls."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Unpack

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from picsc.datasets.images import ImageSet
from picsc.datasets.open import open_data
from picsc.datasets.table import Dataset
from picsc.datasets.texts import TokenSet
from picsc.errors import PicscError
from picsc.federated.algorithms.by_name import IN_NATURAL_COORDINATES, algorithm
from picsc.federated.build_clients import build, model_kind
from picsc.federated.clients.mlps import ClientMlps
from picsc.federated.clients.networks import ClientModules
from picsc.federated.holdings import FederatedSplit, federated_split, labelled, participants
from picsc.federated.rounds import Contender, RoundSettings, RunState, begin, run_round
from picsc.federated.summary import Run, assemble, over_clients
from picsc.reports.common import Finding
from picsc.runtime.devices import pick_device
from picsc.runtime.processes import run_tasks
from picsc.runtime.run_folder import RunFolder, open_run
from picsc.runtime.threads import one_thread
from picsc.runtime.versions import versions
from picsc.settings import FedMethod, FedSettings
from picsc.settings.by_keyword import from_keywords

if TYPE_CHECKING:
    import torch
    from numpy.typing import ArrayLike

    from picsc.reports.fed import FedReport
    from picsc.settings.keywords import FedKeywords

RATES = (0.01, 0.03, 0.1, 0.3, 1.0)
"""Learning rates that `auto` chooses from, for tables."""
DEFAULT_RATE = 0.05
"""Learning rate of the other models where none is given."""
KEEP_EVERY = 2.0
"""Seconds of work that an interruption may cost, about; less than a round is never kept."""
_SHOWN: tuple[FedMethod, ...] = ("fedavg", "scaffold", "picsc")
"""Methods whose accuracy is told while they run; of all of them the line would be too long."""
Tell = Callable[[str], None]
Federated = Dataset | ImageSet | TokenSet


@dataclass(frozen=True, slots=True)
class _Task:
    """One repeat of some methods."""

    data: Federated
    settings: FedSettings
    methods: tuple[FedMethod, ...]
    repeat: int
    folder: RunFolder
    workers: int

    @property
    def seed(self) -> int:
        """Of everything in this repeat."""
        return self.settings.seed + self.repeat

    def part(self, name: str) -> str:
        """Name of a part in the run folder."""
        return f"repeat-{self.repeat}/{'-'.join(self.methods)}/{name}"


def federate(
    data: pd.DataFrame | ImageSet | TokenSet | ArrayLike | str | Path,
    y: ArrayLike | None = None,
    *,
    settings: FedSettings | None = None,
    progress: Tell | None = None,
    **keywords: Unpack[FedKeywords],
) -> FedReport:
    """Compare federated algorithms on clients simulated from one data set.

    Source: E6.

    Args:
        data: frame, array (n, f), images as an `ImageSet` or an array (n, s, s) or (n, c, s, s), or a file's path.
        y: labels (n,), with an array.
        settings: all settings at once; keywords win over them. None is the defaults.
        progress: called with a few words whenever a new step begins.
        keywords: single settings by name (by, methods, rounds, ...): `picsc.settings.keywords.FedKeywords` and
            docs/settings.md list them all.

    Returns:
        The report; accuracies are fractions.

    Raises:
        SettingsError: a setting cannot be used.
        DataError: the data cannot be used.
    """
    settings = from_keywords(FedSettings, "fed", keywords, settings)
    with TemporaryDirectory(prefix="picsc-") as kept:  # a call from Python is not resumed, so nothing stays behind
        dataset = open_data(data, y, settings.read, keys=settings.keys)
        return federate_dataset(dataset, settings, run_dir=Path(kept) / "run", progress=progress)


def federate_dataset(
    data: Federated,
    settings: FedSettings,
    *,
    run_dir: Path | None = None,
    resume: bool = False,
    progress: Tell | None = None,
) -> FedReport:
    """Compare federated algorithms on data that was read already.

    Args:
        data: the table, the images or the texts.
        settings: everything else.
        run_dir: where finished rounds are kept; None is a folder of the user's cache.
        resume: go on from the rounds that are there.
        progress: told what is being done.

    Raises:
        SettingsError: an option does not fit the data.
        DataError: the data cannot be used, or a client failed; the message names it.
    """
    tell = progress or (lambda _: None)
    findings: list[Finding] = []
    data = labelled(data, findings)
    kind = model_kind(data, settings)
    repeats = settings.repeats or (3 if kind == "mlp" else 1)
    settings = settings.model_copy(update={"methods": tuple(dict.fromkeys(settings.methods))})
    device = pick_device(settings.device)
    if device.note and device.device.type != "cpu":
        findings.append(Finding("device", "note", device.note))
    manifest = {
        "versions": versions(),
        "seed": settings.seed,
        "data_sha256": data.sha256,
        "settings": settings.model_dump(mode="json", exclude={"jobs"}),
    }
    with one_thread(), open_run(run_dir, manifest, resume=resume) as folder:
        held = federated_split(data, settings, seed=settings.seed)  # whatever is wrong with the clients is said at once
        # small models of all methods are trained as one; larger ones one after another, in processes
        groups = [settings.methods] if kind == "mlp" else [(method,) for method in settings.methods]
        workers = max(1, settings.jobs // (repeats * len(groups)))
        tasks = [_Task(data, settings, group, i, folder, workers) for i in range(repeats) for group in groups]
        ready = [0]

        def done(_: int) -> None:
            ready[0] += 1
            tell(f"{ready[0]} of {len(tasks)} runs done")

        alone = settings.jobs == 1 or len(tasks) == 1
        run = partial(_played, tell=tell) if alone else _played  # another process cannot tell
        found = run_tasks(run, tasks, settings.jobs, done=done)
        tell("auditing the clients")
        return assemble(data, held, settings, repeats, _by_method(settings, found), findings, manifest)


def _by_method(settings: FedSettings, found: Sequence[dict[str, Run]]) -> dict[FedMethod, list[Run]]:
    return {method: [played[method] for played in found if method in played] for method in settings.methods}


def _played(task: _Task, tell: Tell = lambda _: None) -> dict[str, Run]:
    """One task; a function of the module, so that another process can call it."""
    settings = task.settings
    held = federated_split(task.data, settings, seed=task.seed)
    device = pick_device(settings.device).device
    tabular = model_kind(task.data, settings) == "mlp"
    chosen = _rates(task, held, device, tell) if settings.lr == "auto" and tabular else {}
    fixed = DEFAULT_RATE if settings.lr == "auto" else settings.lr
    clients = build(held, settings, device=device, workers=task.workers)
    natural = clients.natural()
    entries = []
    for method in task.methods:
        rate, in_natural = chosen.get(method, (fixed, method in IN_NATURAL_COORDINATES))
        place = natural if in_natural and natural is not None else clients
        entries.append(Contender(method, algorithm(method, settings), place, (rate,)))
    entries.sort(key=lambda entry: entry.clients is not clients)  # those of one kind side by side
    courses = _rounds(task, "rounds", entries, _rules(task, clients), tell)
    names = tuple(client.name for client in held.clients)
    return {
        entry.name: Run(
            seed=task.seed,
            clients=names,
            rate=entry.rates[0],
            natural=entry.clients is not clients,
            parameters=course.state["theta"].shape[1],
            features=clients.features if isinstance(clients, ClientMlps) else 0,
            memory=course.floats,
            course=course.records(),
        )
        for entry, course in zip(entries, courses, strict=True)
    }


def _rules(task: _Task, clients: ClientMlps | ClientModules, *, look: bool = True) -> RoundSettings:
    settings = task.settings
    return RoundSettings(
        rounds=settings.rounds,
        seed=task.seed,
        participants=participants(settings, len(clients.rows)),
        server_lr=settings.server_lr,
        server_momentum=settings.server_momentum,
        gamma=settings.gamma,
        allow_failures=settings.allow_failures,
        look=look,
    )


def _rates(task: _Task, held: FederatedSplit, device: torch.device, tell: Tell) -> dict[str, tuple[float, bool]]:
    """The learning rate of every method, and whether it trains in natural coordinates.

    Reading: all methods choose from the same rates by mean accuracy over clients and the last fifth of the rounds, on
        rows set aside from every client's training rows; those that may train in natural coordinates choose these the
        same way. The last round alone would favour rates at which accuracy still jumps. The trigger does not look
        meanwhile: its term changes the choice less than its cost would.
    """
    kept = task.folder.get(task.part("rates"))
    if kept is not None:
        return {name: (float(rate), bool(natural)) for name, (rate, natural) in kept.items()}
    clients = build(held, task.settings, device=device, workers=task.workers, tuning_seed=task.seed)
    natural = clients.natural()
    entries = [Contender(method, algorithm(method, task.settings), clients, RATES) for method in task.methods]
    if natural is not None:
        entries += [replace(each, clients=natural) for each in entries if each.name in IN_NATURAL_COORDINATES]
    courses = _rounds(task, "tuning", entries, _rules(task, clients, look=False), tell)
    best: dict[str, tuple[float, float, float, bool]] = {}
    for entry, course in zip(entries, courses, strict=True):
        for i, rate in enumerate(entry.rates):
            accuracy = _late(course.accuracy, i)
            found = (-np.inf if np.isnan(accuracy) else accuracy, -np.nan_to_num(_late(course.log_loss, i), nan=np.inf))
            if entry.name not in best or found > best[entry.name][:2]:
                best[entry.name] = (*found, rate, entry.clients is not clients)
    task.folder.put(task.part("rates"), {name: np.array(found[2:], np.float64) for name, found in best.items()})
    return {name: (found[2], found[3]) for name, found in best.items()}


def _late(rounds: Sequence[NDArray[np.float64]], candidate: int) -> float:
    """Mean over clients and the last fifth of the rounds, (a, K) each; NaN of a candidate that failed."""
    last = rounds[-max(1, len(rounds) // 5) :]
    return float(over_clients(np.stack([values[candidate] for values in last])).mean())


def _rounds(task: _Task, name: str, entries: Sequence[Contender], rules: RoundSettings, tell: Tell) -> list[RunState]:
    """All rounds, from the last one kept on."""
    courses, first = _kept(task, name, entries)
    if name == "rounds" and first == 0:
        tell(f"repeat {task.repeat + 1}: {_memory(entries, courses)}")
    began = kept_at = time.monotonic()
    for round_number in range(first, rules.rounds):
        try:
            run_round(entries, courses, rules, round_number)
        except PicscError as error:
            where = getattr(error, "__notes__", [f"round {round_number + 1}"])[0]  # a client's error says whose it is
            raise type(error)(f"{where}, seed {task.seed}: {error}") from error
        now = time.monotonic()
        if now - kept_at > KEEP_EVERY or round_number + 1 == rules.rounds:
            kept_at = now
            arrays = {f"{i}.{key}": value for i, each in enumerate(courses) for key, value in each.arrays().items()}
            task.folder.put(task.part(name), {"round": np.array(round_number + 1), **arrays})
        tell(_said(task, name, entries, courses, rules, round_number, now - began))
    return courses


def _kept(task: _Task, name: str, entries: Sequence[Contender]) -> tuple[list[RunState], int]:
    kept = task.folder.get(task.part(name))
    if kept is None:
        return [begin(entry, task.seed) for entry in entries], 0
    courses = []
    for i, entry in enumerate(entries):
        own = {key.removeprefix(f"{i}."): value for key, value in kept.items() if key.startswith(f"{i}.")}
        courses.append(RunState.of(own, entry.clients.device))
    return courses, int(kept["round"])


def _memory(entries: Sequence[Contender], courses: Sequence[RunState]) -> str:
    """What is kept between rounds: O(d) on the server, and O(K d) only where clients remember something."""
    sizes = (f"{entry.name} {course.floats:,}" for entry, course in zip(entries, courses, strict=True))
    return f"{courses[0].state['theta'].shape[1]:,} parameters; floats kept between rounds: {', '.join(sizes)}"


def _said(
    task: _Task,
    name: str,
    entries: Sequence[Contender],
    courses: Sequence[RunState],
    rules: RoundSettings,
    round_number: int,
    seconds: float,
) -> str:
    what = "choosing learning rates, " if name == "tuning" else ""
    best: dict[str, float] = {}
    for entry, course in zip(entries, courses, strict=True):
        for mean in over_clients(course.accuracy[-1]):
            if entry.name in _SHOWN and not np.isnan(mean):
                best[entry.name] = max(best.get(entry.name, 0.0), float(mean))
    scores = ", ".join(f"{name} {100 * value:.1f} %" for name, value in best.items()) or "no finite numbers"
    sent = sum(course.bytes_up + course.bytes_down for course in courses) * rules.participants * (round_number + 1)
    return (
        f"repeat {task.repeat + 1}, {what}round {round_number + 1} of {rules.rounds}: {scores}; {seconds:.0f} s, "
        f"{sent / 1e6:.1f} MB"
    )
