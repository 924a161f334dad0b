"""Units on the workers of a Dask cluster: one on this machine, or one that has an address."""

from __future__ import annotations

import gc
import logging
import operator
import pickle
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import CancelledError
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any, Generic, TypeVar

from threadpoolctl import threadpool_info, threadpool_limits

from picsc.errors import SettingsError
from picsc.phrases import counted
from picsc.runtime.engines.away import Files, Sent, files_below, marked, run_away, store
from picsc.runtime.engines.interrupts import interrupts_later
from picsc.runtime.engines.stage import Stage
from picsc.runtime.engines.worker import one, sendable
from picsc.runtime.versions import versions

try:
    import dask
    import distributed
    from cloudpickle import dumps
except ImportError:
    raise SettingsError("--engine dask needs dask: pip install 'picsc[dask]'") from None

S = TypeVar("S")
U = TypeVar("U")
R = TypeVar("R")
ANSWERS = 10
"""Seconds that a scheduler may take to answer."""
ARRIVES = 600
"""Seconds that a cluster may take to start its first worker, such as one that waits in a queue."""
ADVICE = "the finished parts are kept, and the same command with --resume goes on"
_CONFIG = {
    "distributed.comm.timeouts.connect": f"{ANSWERS}s",
    "distributed.admin.large-graph-warning-threshold": "1TB",  # what units share is sent once, with the first of them
    "distributed.worker.daemon": False,  # own models may start processes
}
_turn = Lock()
"""In a worker, held by the unit that runs: the number of torch's threads is one for the whole process."""


@contextmanager
def open_dask(address: str, jobs: int, progress: Callable[[str], None]) -> Iterator[DaskEngine]:
    """Connect to a cluster.

    Args:
        address: of its scheduler, such as tcp://10.0.0.1:8786; empty starts a cluster on this machine.
        jobs: workers of a cluster on this machine.
        progress: called with a line while workers are waited for.

    Raises:
        SettingsError: no scheduler answers, no worker comes, or a worker has another version of picsc.
    """
    with ExitStack() as stack:
        stack.enter_context(_quiet())
        stack.enter_context(dask.config.set(_CONFIG))
        with interrupts_later():  # neither threads nor processes that are started here take an interrupt
            if not address:
                progress(f"starting {counted(jobs, 'Dask worker')}")
                cluster = stack.enter_context(
                    distributed.LocalCluster(
                        n_workers=jobs,
                        threads_per_worker=1,
                        memory_limit=0,
                        dashboard_address="127.0.0.1:0",
                        silence_logs=logging.CRITICAL,
                    )
                )
                address = cluster.scheduler_address
            client = _connected(address)
        stack.enter_context(client)
        _wait_for_workers(client, address, progress)
        _check_workers(client)
        yield DaskEngine(client, address)


@dataclass(frozen=True, slots=True)
class DaskEngine:
    """The workers of a cluster. Its scheduler gives units to workers, and units of a worker that died to another."""

    client: Any
    """The connection."""
    address: str
    """Address of the scheduler."""
    elsewhere: bool = True

    @property
    def name(self) -> str:
        """The setting that connects to it once more."""
        return f"dask:{self.address}"

    @property
    def workers(self) -> int:
        """Units that run at the same time."""
        return max(1, len(self.client.ncores()))

    def run(self, stage: Stage[S, U, R], done: Callable[[int], None] | None = None) -> list[R]:
        """Run all units; see `picsc.runtime.engines.stage.Engine`."""
        if not stage.units:
            return []
        with marked(stage.folder) as mark:
            futures: list[Any] = []
            try:
                return self._results(stage, mark, futures, done)
            except distributed.KilledWorker as error:
                raise SettingsError(
                    f"the same work ended {counted(int(error.allowed_failures) + 1, 'Dask worker')}, probably because "
                    f"a worker has too little memory: start fewer workers per machine; {ADVICE}"
                ) from None
            except (OSError, CancelledError) as error:
                if self.client.status == "running" and not isinstance(error, CancelledError):
                    raise
                raise SettingsError(
                    f"the Dask scheduler at {self.address} is gone: start it again, or use --engine local; {ADVICE}"
                ) from None
            finally:
                if self.client.status == "running":
                    self.client.cancel(futures)

    def _results(self, stage: Stage[S, U, R], mark: str, futures: list[Any], done: _Done) -> list[R]:
        # A task and not scattered data, which would be lost with the last worker that holds it. Bytes, because a
        # scheduler opens what it is given: it would need picsc, and import torch.
        like = _Like(own_versions(), _threads())
        remote = self.client.submit(pickle.loads, dumps(_Remote(stage.function, stage.shared, like)), pure=False)
        futures.append(remote)
        contents = []
        for i, unit in enumerate(stage.units):
            needs = files_below(stage.folder, stage.own[i]) if stage.folder is not None and stage.own else {}
            contents.append(dumps((Sent(stage.folder, mark, needs), unit)))
        # as one group, of which the scheduler gives a worker no more at a time than it has threads
        units = self.client.map(operator.call, [remote] * len(contents), contents, pure=False)
        futures += units
        positions = {future: i for i, future in enumerate(units)}
        found: dict[int, R] = {}
        for future in distributed.as_completed(list(positions), loop=self.client.loop):
            result, files, error = future.result()
            if error is not None:
                raise error
            if stage.folder is not None:
                store(files, stage.folder)
            i = positions[future]
            found[i] = result
            future.release()
            if done is not None:
                done(i)
        return [found[i] for i in range(len(stage.units))]


def own_versions() -> dict[str, str]:
    """Versions that a worker must have."""
    return versions()


_Done = Callable[[int], None] | None


@dataclass(frozen=True, slots=True)
class _Like:
    """The process that sends units, which a worker must be like so that its numbers are the same."""

    versions: Mapping[str, str]
    threads: Mapping[str, int]
    """Threads of libraries of linear algebra and of OpenMP: sums over another number may differ in the last bits, and
    Dask's workers have one."""


def _threads() -> dict[str, int]:
    """Threads of this process, by the kind of library."""
    found: dict[str, int] = {}
    for library in threadpool_info():
        found[library["user_api"]] = max(found.get(library["user_api"], 1), library["num_threads"])
    return found


@dataclass(frozen=True, slots=True)
class _Remote(Generic[S, U, R]):
    """On a worker: the function of a stage, and what all units share."""

    function: Callable[[S, Path | None, U], R]
    shared: S
    like: _Like

    def __call__(self, content: bytes) -> tuple[R | None, Files, Exception | None]:
        """The result of a unit, the files that it made, and its error.

        Args:
            content: the unit and its run folder, as they were sent.
        """
        try:
            different = _different(self.like.versions, versions())
            if different:
                return None, {}, SettingsError(_refusal(distributed.get_worker().address, different))
            sent, unit = pickle.loads(content)  # noqa: S301 - from the process that sends functions, too
            with _turn, threadpool_limits(self.like.threads):
                result, files = run_away(_with_one_thread, (self.function, self.shared), sent, unit)
        except Exception as error:  # noqa: BLE001 - raised where the results are collected
            return None, {}, sendable(error)
        return result, files, None


def _with_one_thread(both: tuple[Callable[[S, Path | None, U], R], S], folder: Path | None, unit: U) -> R:
    function, shared = both
    return one(function, shared, folder, unit)


def _connected(address: str) -> Any:
    """A client of the scheduler.

    Raises:
        SettingsError: none answers.
    """
    try:
        return distributed.Client(address, timeout=ANSWERS, set_as_default=False)
    except (OSError, ValueError) as error:  # distributed's TimeoutError is one of them
        why = _first_line(error)
        error.__traceback__ = error.__cause__ = error.__context__ = None
    # the client that failed is closed when it is deleted: here, and not while a lock is held that it waits for
    gc.collect()
    raise SettingsError(
        f"no Dask scheduler answers at {address} ({why}): start one with `dask scheduler`, or use --engine local"
    )


def _wait_for_workers(client: Any, address: str, progress: Callable[[str], None]) -> None:
    if client.ncores():
        return
    progress(f"waiting for a worker of the Dask scheduler at {address}")
    try:
        client.wait_for_workers(1, timeout=ARRIVES)
    except TimeoutError:
        raise SettingsError(
            f"the Dask scheduler at {address} has had no worker for {ARRIVES // 60} minutes: start one with "
            f"`dask worker {address}`"
        ) from None


def _check_workers(client: Any) -> None:
    """Refuse workers whose numbers would be others.

    Raises:
        SettingsError: a worker has other versions than this process, or no picsc.
    """
    wanted = own_versions()
    for address, found in client.run(versions, on_error="return").items():
        if isinstance(found, ImportError):
            raise SettingsError(
                f"Dask worker {address} has no picsc that can be imported ({found}): install picsc "
                f"{wanted['picsc']} there"
            )
        if isinstance(found, Exception):
            raise found
        different = _different(wanted, found)
        if different:
            raise SettingsError(_refusal(address, different))


def _different(wanted: Mapping[str, str], found: Mapping[str, str]) -> list[str]:
    """What is different on a worker, the version of picsc before all else."""
    names = {"picsc_code": "the code of picsc", "cpu": "the kind of processor"}
    return [
        f"{names.get(key, key)} is {found.get(key, 'unknown')} there and {wanted[key]} here"
        for key in sorted(wanted, key=lambda key: not key.startswith("picsc"))
        if found.get(key) != wanted[key]
    ]


def _refusal(address: str, different: list[str]) -> str:
    return (
        f"Dask worker {address} would give other numbers: {', '.join(different)}; install the same versions on all "
        "machines (docs/scale.md)"
    )


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep distributed's own messages off the terminal: what a user needs to know of them is an error here."""
    names = [name for name in logging.root.manager.loggerDict if name.partition(".")[0] == "distributed"]
    levels = {name: logging.getLogger(name).level for name in names}
    for name in names:
        logging.getLogger(name).setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        for name, level in levels.items():
            logging.getLogger(name).setLevel(level)
