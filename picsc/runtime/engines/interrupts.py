"""Interrupts delayed: while processes start, which would end by them, and after the first one, while processes end."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import current_thread, main_thread
from types import FrameType


@contextmanager
def interrupts_later(*others: signal.Signals) -> Iterator[None]:
    """Delay interrupts inside; processes that are started here never get one, not even while they import."""
    if sys.platform == "win32":
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, *others})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def one_interrupt() -> Iterator[None]:
    """Let one interrupt through, and delay further ones until the context has ended.

    Reading: a second Ctrl-C while processes are ended would leave semaphores behind, of which Python's resource tracker
        complains.
    """
    if sys.platform == "win32" or current_thread() is not main_thread():
        yield
        return
    both = (signal.SIGINT, signal.SIGTERM)
    handlers = {each: signal.getsignal(each) for each in both}
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, ())

    def first(number: int, frame: FrameType | None) -> None:
        signal.pthread_sigmask(signal.SIG_BLOCK, both)
        handler = handlers[signal.Signals(number)]
        assert callable(handler)  # noqa: S101 - others are not replaced
        handler(number, frame)

    for each, handler in handlers.items():
        if callable(handler):
            signal.signal(each, first)
    try:
        yield
    finally:
        for each, handler in handlers.items():
            if callable(handler):
                signal.signal(each, handler)
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
