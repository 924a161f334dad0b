"""What every test can rely on."""

import os
import signal
from collections.abc import Iterator

import pytest

if "PYTEST_XDIST_WORKER" in os.environ:
    # as many workers as cores, each with as many threads as cores, wait for each other; set before torch is imported
    os.environ.setdefault("OMP_NUM_THREADS", "1")


@pytest.fixture(autouse=True, scope="session")
def interruptible() -> Iterator[None]:
    """Let SIGINT through: a job in a shell's background ignores it, and so would the processes that tests start."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)
