"""Stages: units of work that do not depend on each other, and what an engine is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, Protocol, TypeVar

S = TypeVar("S")
U = TypeVar("U")
R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class Stage(Generic[S, U, R]):
    """Units of work that do not depend on each other."""

    function: Callable[[S, Path | None, U], R]
    """Called with `shared`, the run folder where the unit runs, and the unit; at the top level of a module, because
    other processes import it by name."""
    shared: S
    """Settings and tables that all units need; sent to every process once."""
    units: Sequence[U]
    """Names, row numbers and paths; sent with every unit, so no tables."""
    folder: Path | None = None
    """Run folder that keeps finished parts; None without."""
    own: Sequence[str] = ()
    """Of every unit, the folder below `folder` with the unfinished work that it goes on with; () where none has."""


class Engine(Protocol):
    """Runs units, with the same results, order and errors as one after another in this process."""

    @property
    def name(self) -> str:
        """The setting that opens it once more."""
        ...

    @property
    def workers(self) -> int:
        """Units that run at the same time."""
        ...

    @property
    def elsewhere(self) -> bool:
        """True where units may run on machines that do not have the files of this one."""
        ...

    def run(self, stage: Stage[S, U, R], done: Callable[[int], None] | None = None) -> list[R]:
        """Run all units.

        Args:
            stage: the units.
            done: called in this process with the position of every unit that has finished, once its parts are in the
                run folder; None for no call.

        Returns:
            Results in the order of the units.

        Raises:
            SettingsError: a process, a worker or the cluster was ended from outside.
            Exception: the error of a unit; unfinished units are cancelled.
        """
        ...
