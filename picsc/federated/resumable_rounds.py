"""Resumable rounds: all rounds of some algorithms, stored in the run folder on the way."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

import numpy as np

from picsc.datasets.data import Data
from picsc.errors import PicscError
from picsc.federated.method_run import over_clients
from picsc.federated.rounds import RoundSettings, run_round
from picsc.federated.run_state import Contender, RunState, initial_run
from picsc.runtime.run_folder import RunFolder
from picsc.settings import FedMethod, FedSettings

KEEP_EVERY = 2.0
"""Seconds of work that an interruption may cost, about; rounds are stored whole."""
TUNING = "tuning"
"""Beginning of the name of parts in which learning rates are chosen."""
_SHOWN: tuple[FedMethod, ...] = ("fedavg", "scaffold", "picsc")
"""Methods whose accuracy is shown while they run; with all of them the line would be too long."""
Progress = Callable[[str], None]
"""Function that is called with one line about each step."""


class StoredRounds(Protocol):
    """The rounds of some methods with one seed, and where they are stored."""

    @property
    def repeat(self) -> int:
        """Number of the repeat, counted from 0."""
        ...

    @property
    def folder(self) -> RunFolder:
        """Where finished rounds are stored."""
        ...

    @property
    def seed(self) -> int:
        """Seed of everything in this repeat."""
        ...

    def part(self, name: str) -> str:
        """Name of a part in the run folder."""
        ...


@dataclass(frozen=True, slots=True)
class RepeatTask:
    """One repeat of some methods."""

    data: Data
    settings: FedSettings
    methods: tuple[FedMethod, ...]
    repeat: int
    """Number of the repeat, counted from 0."""
    folder: RunFolder
    workers: int
    """Number of threads."""

    @property
    def seed(self) -> int:
        """Seed of everything in this repeat."""
        return self.settings.seed + self.repeat

    @property
    def place(self) -> str:
        """Beginning of the names of its parts in the run folder."""
        return f"repeat-{self.repeat}/{'-'.join(self.methods)}"

    def part(self, name: str) -> str:
        """Name of a part in the run folder."""
        return f"{self.place}/{name}"

    def at(self, path: Path | None) -> RepeatTask:
        """The same with the run folder at another path; None leaves it."""
        return self if path is None else replace(self, folder=replace(self.folder, path=path))


def run_rounds(
    task: StoredRounds,
    name: str,
    contenders: Sequence[Contender],
    round_settings: RoundSettings,
    progress: Progress,
) -> list[RunState]:
    """All rounds, beginning after the last one that the run folder holds.

    Args:
        task: the repeat.
        name: of the part in the run folder, which begins with `TUNING` while learning rates are chosen.
        contenders: the algorithms.
        round_settings: settings of all.
        progress: called with one line about each round.

    Returns:
        The final state of each algorithm.

    Raises:
        PicscError: a client failed; the message names the client, the round and the seed.
    """
    runs, first = _stored(task, name, contenders)
    choosing = name.startswith(TUNING)
    if not choosing and first == 0:
        progress(f"repeat {task.repeat + 1}: {_memory(contenders, runs)}")
    started = stored_at = time.monotonic()
    for round_number in range(first, round_settings.rounds):
        try:
            run_round(contenders, runs, round_settings, round_number)
        except PicscError as error:
            where = getattr(error, "__notes__", [f"round {round_number + 1}"])[0]  # names the client, if one failed
            raise type(error)(f"{where}, seed {task.seed}: {error}") from error
        now = time.monotonic()
        if now - stored_at > KEEP_EVERY or round_number + 1 == round_settings.rounds:
            stored_at = now
            arrays = {f"{i}.{key}": value for i, each in enumerate(runs) for key, value in each.arrays().items()}
            task.folder.put(task.part(name), {"round": np.array(round_number + 1), **arrays})
        phase = "choosing learning rates, " if choosing else ""
        progress(
            f"repeat {task.repeat + 1}, {phase}round {round_number + 1} of {round_settings.rounds}: "
            f"{_scores(contenders, runs)}; {now - started:.0f} s, "
            f"{_megabytes(runs, round_settings, round_number + 1):.1f} MB"
        )
    return runs


def _stored(task: StoredRounds, name: str, contenders: Sequence[Contender]) -> tuple[list[RunState], int]:
    """States from the run folder, and the number of rounds behind them; without any, the initial ones."""
    kept = task.folder.get(task.part(name))
    if kept is None:
        return [initial_run(contender, task.seed) for contender in contenders], 0
    runs = []
    for i, contender in enumerate(contenders):
        own = {key.removeprefix(f"{i}."): value for key, value in kept.items() if key.startswith(f"{i}.")}
        runs.append(RunState.from_arrays(own, contender.clients.device))
    return runs, int(kept["round"])


def _memory(contenders: Sequence[Contender], runs: Sequence[RunState]) -> str:
    """Floats kept between rounds: O(d) on the server, and O(K d) only where clients keep something."""
    sizes = (f"{contender.name} {run.floats:,}" for contender, run in zip(contenders, runs, strict=True))
    return f"{runs[0].state['theta'].shape[1]:,} parameters; floats kept between rounds: {', '.join(sizes)}"


def _scores(contenders: Sequence[Contender], runs: Sequence[RunState]) -> str:
    """The best accuracy after the last round of each method that is shown."""
    best: dict[str, float] = {}
    for contender, run in zip(contenders, runs, strict=True):
        for mean in over_clients(run.accuracy[-1]):
            if contender.name in _SHOWN and not np.isnan(mean):
                best[contender.name] = max(best.get(contender.name, 0.0), float(mean))
    return ", ".join(f"{name} {100 * value:.1f} %" for name, value in best.items()) or "no finite numbers"


def _megabytes(runs: Sequence[RunState], round_settings: RoundSettings, rounds: int) -> float:
    """Megabytes sent by and to all clients in so many rounds."""
    return sum(run.bytes_up + run.bytes_down for run in runs) * round_settings.participants * rounds / 1e6
