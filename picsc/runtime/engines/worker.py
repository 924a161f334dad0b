"""One unit inside a process of its own: errors that can be sent, threads, and an end with the process that began it."""

from __future__ import annotations

import os
import pickle
import signal
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from threading import Thread
from typing import TypeVar

S = TypeVar("S")
U = TypeVar("U")
R = TypeVar("R")
LOOKS = 0.5
"""Seconds between two looks of a worker at the process that began it."""


def one(function: Callable[[S, Path | None, U], R], shared: S, folder: Path | None, unit: U) -> R:
    """Run a unit, with torch on one thread if it is loaded: sums over more threads may differ in the last bits."""
    if "torch" not in sys.modules:
        return function(shared, folder, unit)
    from picsc.runtime.threads import one_thread

    with one_thread():
        return function(shared, folder, unit)


def sendable(error: Exception) -> Exception:
    """The error, or one with its text where it cannot be pickled."""
    try:
        pickle.loads(pickle.dumps(error))  # noqa: S301 - bytes of the same line
    except Exception:  # noqa: BLE001 - its constructor may raise anything
        return RuntimeError("".join(traceback.format_exception(error)))
    return error


def begin(parent: int) -> None:
    """Let a worker ignore interrupts, which the process that began it decides on, and end as soon as that one ends.

    Args:
        parent: number of the process that began it.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the terminal interrupts all processes of a command
    Thread(target=_end_with, args=(parent,), daemon=True).start()


def _end_with(parent: int) -> None:
    if sys.platform == "win32":
        import _winapi

        synchronize = 0x00100000
        _winapi.WaitForSingleObject(_winapi.OpenProcess(synchronize, False, parent), _winapi.INFINITE)
    else:
        while os.getppid() == parent:
            time.sleep(LOOKS)
    os._exit(1)
