"""Tasks on several processor cores, as if they had run one after another: same results, same order, same errors."""

from __future__ import annotations

import os
import pickle
import signal
import sys
import traceback
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import get_context
from multiprocessing.connection import Connection
from threading import Thread
from typing import TypeVar

from picsc.errors import SettingsError

A = TypeVar("A")
R = TypeVar("R")


def run_tasks(
    function: Callable[[A], R],
    arguments: Sequence[A],
    jobs: int,
    *,
    done: Callable[[int], None] | None = None,
) -> list[R]:
    """Apply a function to every argument, in up to `jobs` processes.

    Torch, where the function's module or its arguments load it, is kept to one core inside, with any number of jobs:
    sums over more threads may differ in the last bits.

    Args:
        function: of a module's top level, because new processes import it by name.
        arguments: one per task; they are sent to processes, so row numbers and paths rather than tables.
        jobs: processes; one, or a single task, runs in this one.
        done: called here with the position of every argument whose task has finished.

    Returns:
        Results in the order of the arguments.

    Raises:
        SettingsError: a process was ended from outside.
        Exception: what a task raised; tasks not yet finished are given up.
    """
    if jobs == 1 or len(arguments) <= 1:
        results = []
        for i, argument in enumerate(arguments):
            results.append(_one(function, argument))
            if done is not None:
                done(i)
        return results
    context = get_context("spawn")  # a forked copy of a process with threads, as torch's, can hang
    watched, held = context.Pipe(duplex=False)
    with watched, held:
        pool = ProcessPoolExecutor(
            min(jobs, len(arguments)), mp_context=context, initializer=_begin_worker, initargs=(watched,)
        )
        try:
            with _interrupts_later():
                futures = [pool.submit(_sendable, function, argument) for argument in arguments]
            positions = {future: i for i, future in enumerate(futures)}
            for future in as_completed(futures):
                future.result()
                if done is not None:
                    done(positions[future])
            return [future.result() for future in futures]
        except BrokenProcessPool:
            raise SettingsError(
                f"one of {jobs} processes was ended from outside: too little memory for all of them, or a script that "
                'calls picsc without `if __name__ == "__main__":`; choose fewer jobs'
            ) from None
        except BaseException:
            held.close()
            raise
        finally:
            pool.shutdown(cancel_futures=True)


def _one(function: Callable[[A], R], argument: A) -> R:
    """Run a task with torch, if it is loaded, on one core."""
    if "torch" not in sys.modules:
        return function(argument)
    from picsc.runtime.threads import one_thread

    with one_thread():
        return function(argument)


def _sendable(function: Callable[[A], R], argument: A) -> R:
    """Run a task in a worker; an error that does not survive the way to the parent goes as its text."""
    try:
        return _one(function, argument)
    except Exception as error:
        try:
            pickle.loads(pickle.dumps(error))  # noqa: S301 - our own bytes
        except Exception:  # noqa: BLE001 - whatever its constructor does
            raise RuntimeError("".join(traceback.format_exception(error))) from None
        raise


def _begin_worker(watched: Connection) -> None:
    """End this worker as soon as the parent closes its end of the pipe, by intent or by dying."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the terminal tells all processes; the parent decides
    Thread(target=_end_with, args=(watched,), daemon=True).start()


def _end_with(watched: Connection) -> None:
    try:
        watched.poll(None)
    finally:  # on Windows a closed pipe is an error
        os._exit(1)


@contextmanager
def _interrupts_later() -> Iterator[None]:
    """Hold interrupts back inside; processes started here never see one, not even while they import."""
    if sys.platform == "win32":
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
