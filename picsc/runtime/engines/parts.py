"""Computations in parts that a run folder keeps: each part that is missing is a unit, which any process can make."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Generic, TypeVar

from picsc.phrases import counted
from picsc.runtime.engines.opening import open_engine
from picsc.runtime.engines.shards import Shard, check_shard, end_shard, run_shard
from picsc.runtime.engines.stage import Engine, Stage
from picsc.runtime.run_folder import PartsMissingError, RunFolder, open_run

S = TypeVar("S")
N = TypeVar("N", bound=Hashable)
R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class RunPlace:
    """Where a run keeps its finished parts, and how much of it is this command's."""

    path: Path | None
    """The run folder; None is one in picsc's cache."""
    resume: bool = False
    """Use the finished parts that are there."""
    shard: Shard | None = None
    """None makes all parts and the report."""


@dataclass(frozen=True, slots=True)
class Workplace:
    """The run folder, the engine that fills it, and the share of the work that is this command's."""

    folder: RunFolder
    engine: Engine
    shard: Shard | None = None
    """None makes all parts."""

    @property
    def alone(self) -> bool:
        """True where everything runs in this process, and nothing is left to others."""
        return self.engine.workers == 1 and not self.engine.elsewhere and self.shard is None


@contextmanager
def open_workplace(
    place: RunPlace, manifest: Mapping[str, object], engine: str, jobs: int, progress: Callable[[str], None]
) -> Iterator[Workplace]:
    """Open a run folder, and the engine that fills it.

    Args:
        place: the run folder.
        manifest: JSON values that determine every number of the run.
        engine: its name.
        jobs: processes of this machine.
        progress: called with a line while workers are waited for.

    Raises:
        SettingsError: one of them cannot be used.
        NoReportYetError: at the end of a shard.
    """
    shard = place.shard
    check_shard(shard, engine, place.path)
    with (
        open_run(place.path, manifest, resume=place.resume, shared=shard is not None) as folder,
        open_engine(engine, jobs, progress) as opened,
    ):
        yield Workplace(folder, opened, shard)
    end_shard(shard, place.path)


@dataclass(frozen=True, slots=True)
class Computations(Generic[S, N, R]):
    """Several computations by their names, each of parts that `picsc.runtime.run_folder.kept` makes."""

    function: Callable[[S, RunFolder, N], R]
    """One computation, at the top level of a module; with a folder that has all parts it only puts them together."""
    shared: S
    """Settings and tables."""
    names: Sequence[N]
    """Those that take longest first."""
    last: bool = True
    """False where a later stage of the run needs the results, so that a shard waits for parts that others make."""


def compute_in_parts(
    computations: Computations[S, N, R], workplace: Workplace, progress: Callable[[Sequence[N], str], None]
) -> dict[N, R]:
    """Make all parts of some computations, then put them together.

    Reading: a part may need other parts, so units are run in waves until none is missing.

    Args:
        computations: the computations.
        workplace: keeps the parts, and makes them.
        progress: called with the names that are not finished, and with words on how much of their work is done.

    Returns:
        The result of each computation that has one; that of a shard may be empty, whose last parts others make.
    """
    results: dict[N, R] = {}
    left = list(computations.names)
    progress(left, "")
    folder = workplace.folder
    made: list[tuple[N, str]] = []
    while left:
        if workplace.alone:
            name = left[0]
            results[name] = computations.function(computations.shared, folder, name)
            del left[0]
            progress(left, "")
            continue
        units: list[tuple[N, str]] = []
        for name in list(left):
            try:
                results[name] = computations.function(computations.shared, folder.with_only(None), name)
                left.remove(name)
            except PartsMissingError as missing:
                units += [(name, unit) for unit in missing.units]
        progress(left, "")
        if workplace.shard is None and set(units) & set(made):
            raise RuntimeError(f"parts that were made are missing in {folder.path}: {units[:3]}")
        made += units
        if units and not _wave(computations, workplace, units, progress):
            break
    return {name: results[name] for name in computations.names if name in results}


def _wave(
    computations: Computations[S, N, R],
    workplace: Workplace,
    units: list[tuple[N, str]],
    progress: Callable[[Sequence[N], str], None],
) -> bool:
    """Make parts that do not need each other; False if others are at work on some, and no later stage needs them."""
    folder = workplace.folder
    finished: set[int] = set()

    def done(i: int) -> None:
        finished.add(i)
        names = dict.fromkeys(name for j, (name, _) in enumerate(units) if j not in finished)
        progress(list(names), f"; {len(finished)} of {counted(len(units), 'part')} done")

    own = [folder.place_of(unit) for _, unit in units]
    stage = Stage(_unit, (computations.function, computations.shared, folder), units, folder.path, own)
    if workplace.shard is None:
        workplace.engine.run(stage, done)
        return True
    return run_shard(stage, workplace.engine, workplace.shard, [unit for _, unit in units], wait=not computations.last)


def _unit(shared: tuple[Callable[[S, RunFolder, N], R], S, RunFolder], path: Path | None, unit: tuple[N, str]) -> None:
    """One missing part; a function of the module, so that another process can call it."""
    function, inner, folder = shared
    name, part = unit
    here = replace(folder, path=path or folder.path)
    try:
        function(inner, here.with_only(part), name)
    except PartsMissingError:
        return
