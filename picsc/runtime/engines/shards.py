"""Shards: several commands that fill one run folder, such as those of a Slurm array, each unit made by one of them.

A unit is locked by the process that makes it, so no shard waits for another one's units while there are free ones, and
a shard that is killed leaves its units to the others.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from picsc.errors import NoReportYetError, SettingsError
from picsc.runtime.engines.stage import Engine, Stage
from picsc.runtime.locks import locked

S = TypeVar("S")
U = TypeVar("U")
LOCKS = "locks"
"""Folder of the locks of units, in a run folder."""


@dataclass(frozen=True, slots=True)
class Shard:
    """One of several commands that share a run folder."""

    index: int
    """From 1 to `count`."""
    count: int

    def order(self, units: int) -> list[int]:
        """Positions of units, this shard's own share before those of the others."""
        return sorted(range(units), key=lambda i: ((i - self.index + 1) % self.count, i))


def check_shard(shard: Shard | None, engine: str, run_dir: Path | None) -> None:
    """Refuse a shard that has nowhere to work.

    Raises:
        SettingsError: there is no run folder, or a cluster that divides the work itself.
    """
    if shard is not None and engine != "local":
        raise SettingsError(f"--shard goes with --engine local: the workers of {engine} divide the work themselves")
    if shard is not None and run_dir is None:
        raise SettingsError("--shard goes with --run-dir DIR, a folder that all shards use")


def end_shard(shard: Shard | None, run_dir: Path | None) -> None:
    """End a command that is a shard.

    Raises:
        NoReportYetError: it is one.
    """
    if shard is not None:
        raise NoReportYetError(
            f"shard {shard.index} of {shard.count} has done its share, which is kept in {run_dir}; when all shards "
            "have ended, the same command with --resume in place of --shard makes the report"
        )


def run_shard(stage: Stage[Any, Any, Any], engine: Engine, shard: Shard, names: Sequence[str], *, wait: bool) -> bool:
    """Make the units of a stage that no other shard makes.

    Args:
        stage: with a run folder.
        engine: runs them.
        shard: begins with its own share.
        names: of the units, the same in all shards.
        wait: wait for the units that others make; False leaves them.

    Returns:
        True if all units are made.
    """
    assert stage.folder is not None  # noqa: S101 - shards share it
    order = shard.order(len(stage.units))
    pairs = [(names[i], stage.units[i]) for i in order]
    free = Stage(_if_free, (stage.function, stage.shared, False), pairs, stage.folder)
    made = engine.run(free)
    busy = [pair for pair, one in zip(pairs, made, strict=True) if not one]
    if busy and wait:
        engine.run(replace(free, shared=(stage.function, stage.shared, True), units=busy))
    return wait or not busy


def _if_free(
    shared: tuple[Callable[[S, Path | None, U], Any], S, bool], folder: Path | None, pair: tuple[str, U]
) -> bool:
    """Make a unit, unless another process does; True if it is made by now."""
    function, inner, wait = shared
    name, unit = pair
    assert folder is not None  # noqa: S101 - shards share it
    file = folder / LOCKS / hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:32]
    with locked(file, wait=wait) as mine:
        if mine:
            function(inner, folder, unit)
    return mine
