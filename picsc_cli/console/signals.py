"""SIGTERM handled as Ctrl-C is: the work is given up and a line reports it."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class Terminated(KeyboardInterrupt):
    """SIGTERM came; a KeyboardInterrupt, so that all code that cleans up after one cleans up after this too."""


@contextmanager
def termination() -> Iterator[None]:
    """Raise `Terminated` in the main thread while the block runs, and give the signal back afterwards."""
    if threading.current_thread() is not threading.main_thread():  # Python lets no other thread handle signals
        yield
        return
    before = signal.signal(signal.SIGTERM, _raise)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _raise(_number: int, _frame: FrameType | None) -> None:
    raise Terminated
