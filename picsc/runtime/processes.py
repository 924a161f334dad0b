"""Tasks in several processes, with the same results, order and errors as one after another."""

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

    Torch, if it is loaded, is limited to one thread inside, with any number of jobs: sums over more threads may differ
    in the last bits.

    Args:
        function: a function at the top level of a module, because new processes import it by name.
        arguments: one argument per task; they are sent to processes, so they should be row numbers and paths rather
            than tables.
        jobs: number of processes; with one, or a single task, everything runs in this process.
        done: called in this process with the position of every argument whose task has finished; None for no call.

    Returns:
        Results in the order of the arguments.

    Raises:
        SettingsError: a process was ended from outside.
        Exception: the error of a task; unfinished tasks are cancelled.
    """
    if jobs == 1 or len(arguments) <= 1:
        results = []
        for i, argument in enumerate(arguments):
            results.append(_one(function, argument))
            if done is not None:
                done(i)
        return results
    context = get_context("spawn")  # a forked copy of a process with threads, such as torch's, can hang
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
            with _interrupts_later(signal.SIGTERM):
                held.close()
                pool.shutdown(cancel_futures=True)
            raise
        finally:
            # a second Ctrl-C in here would leave semaphores behind, of which Python's resource tracker complains
            with _interrupts_later(signal.SIGTERM):
                pool.shutdown(cancel_futures=True)


def _one(function: Callable[[A], R], argument: A) -> R:
    """Run a task, with torch on one thread if it is loaded."""
    if "torch" not in sys.modules:
        return function(argument)
    from picsc.runtime.threads import one_thread

    with one_thread():
        return function(argument)


def _sendable(function: Callable[[A], R], argument: A) -> R:
    """Run a task in a worker; an error that cannot be pickled is replaced by its text."""
    try:
        return _one(function, argument)
    except Exception as error:
        try:
            pickle.loads(pickle.dumps(error))  # noqa: S301 - bytes of the same line
        except Exception:  # noqa: BLE001 - its constructor may raise anything
            raise RuntimeError("".join(traceback.format_exception(error))) from None
        raise


def _begin_worker(watched: Connection) -> None:
    """End this worker as soon as the parent closes its end of the pipe, deliberately or because it ended."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the terminal interrupts all processes; the parent decides
    Thread(target=_end_with, args=(watched,), daemon=True).start()


def _end_with(watched: Connection) -> None:
    try:
        watched.poll(None)
    finally:  # on Windows a closed pipe raises
        os._exit(1)


@contextmanager
def _interrupts_later(*others: signal.Signals) -> Iterator[None]:
    """Delay interrupts inside; processes that are started here never get one, not even while they import."""
    if sys.platform == "win32":
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, *others})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
