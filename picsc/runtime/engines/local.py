"""Units in this process, or in several through joblib: loky's processes, or a backend that the caller registered."""

from __future__ import annotations

import gc
import multiprocessing.resource_tracker
import os
import signal
import traceback
import warnings
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar
from uuid import uuid4

import numpy as np
from joblib import Parallel, cpu_count, delayed
from joblib.externals.loky import get_reusable_executor
from joblib.externals.loky.backend import resource_tracker
from joblib.externals.loky.backend.reduction import dumps, loads
from joblib.externals.loky.process_executor import TerminatedWorkerError
from joblib.parallel import get_active_backend
from numpy.typing import NDArray

from picsc.errors import SettingsError
from picsc.runtime.engines.interrupts import interrupts_later, one_interrupt
from picsc.runtime.engines.stage import Stage
from picsc.runtime.engines.worker import begin, one, sendable

S = TypeVar("S")
U = TypeVar("U")
R = TypeVar("R")
_IN_WORKER = "PICSC_WORKER"
"""Environment variable of the processes that were begun here."""
_opened: dict[str, Any] = {}
"""In a worker, what the units of the current stage share."""


@dataclass(slots=True)
class LocalEngine:
    """Processes on this machine; they stay for the next stage until the engine is closed."""

    workers: int
    """With one, everything runs in this process."""
    elsewhere: bool = False
    name: str = "local"
    _started: bool = field(default=False, init=False)

    def run(self, stage: Stage[S, U, R], done: Callable[[int], None] | None = None) -> list[R]:
        """Run all units; see `picsc.runtime.engines.stage.Engine`."""
        if self.workers == 1 or len(stage.units) <= 1:
            results = []
            for i, unit in enumerate(stage.units):
                results.append(one(stage.function, stage.shared, stage.folder, unit))
                if done is not None:
                    done(i)
            return results
        # both change the mask of interrupts when they start
        resource_tracker.ensure_running()
        multiprocessing.resource_tracker.ensure_running()
        with one_interrupt():
            return self._in_processes(stage, done)

    def close(self) -> None:
        """End the processes."""
        if self._started:
            self._started = False
            # a second Ctrl-C in here would leave semaphores behind, of which Python's resource tracker complains
            with interrupts_later(signal.SIGTERM):
                executor = get_reusable_executor(reuse=True)
                getattr(executor, "terminate", executor.shutdown)(kill_workers=True)

    def _in_processes(self, stage: Stage[S, U, R], done: Callable[[int], None] | None) -> list[R]:
        parcel = _Parcel(uuid4().hex, np.frombuffer(dumps(stage.shared), np.uint8))
        units = (delayed(_unit)(stage.function, parcel, stage.folder, each, i) for i, each in enumerate(stage.units))
        found: dict[int, R] = {}
        finished: Generator[tuple[int, R], None, None] | None = None
        try:
            with interrupts_later():
                finished = self._parallel()(units)
            for i, result in finished:
                found[i] = result
                if done is not None:
                    done(i)
        except TerminatedWorkerError:
            raise SettingsError(
                f"one of {self.workers} processes was ended from outside, probably because there is too little memory "
                "for all of them; choose fewer jobs"
            ) from None
        except BaseException as error:
            if finished is not None:
                with warnings.catch_warnings(action="ignore"):  # that units were left
                    finished.close()
            self.close()
            traceback.clear_frames(error.__traceback__)
            gc.collect()  # semaphores that nobody frees are named on standard error when the command ends
            raise
        return [found[i] for i in range(len(stage.units))]

    def _parallel(self) -> Parallel:
        """Joblib's loop over units; the caller's own backend, such as Ray's, where one is set."""
        own: dict[str, Any] = {}
        if type(get_active_backend()[0]).__name__ == "LokyBackend" or _IN_WORKER in os.environ:
            self._started = True
            own = {
                "backend": "loky",
                "initializer": _begin,
                "initargs": (os.getpid(),),
                # as many as in this process, because sums over another number may differ in the last bits
                "inner_max_num_threads": cpu_count(),
            }
        return Parallel(self.workers, return_as="generator_unordered", batch_size=1, mmap_mode="r", **own)


@dataclass(frozen=True, slots=True)
class _Parcel:
    """What all units of a stage share, in one array of bytes, which joblib writes down once if it is large."""

    key: str
    content: NDArray[np.uint8]

    def opened(self) -> Any:
        """The content; made once per process."""
        if self.key not in _opened:
            _opened.clear()
            _opened[self.key] = loads(self.content.data)
        return _opened[self.key]


def _begin(parent: int) -> None:
    os.environ[_IN_WORKER] = "1"
    begin(parent)


def _unit(
    function: Callable[[S, Path | None, U], R], parcel: _Parcel, folder: Path | None, unit: U, i: int
) -> tuple[int, R]:
    """The position of a unit and its result."""
    try:
        return i, one(function, parcel.opened(), folder, unit)
    except Exception as error:
        again = sendable(error)
        if again is error:
            raise
        raise again from None
