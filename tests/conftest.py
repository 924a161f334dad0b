"""What every test can rely on."""

import os
import signal
from collections.abc import Generator, Iterator

import pytest
from hypothesis import HealthCheck, settings

if "PYTEST_XDIST_WORKER" in os.environ:
    # as many workers as cores, each with as many threads as cores, wait for each other; set before torch is imported
    os.environ.setdefault("OMP_NUM_THREADS", "1")

# the time of an example is the machine's; in CI all runs have the same examples, so that a failure is the change's
UNHURRIED = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])
settings.register_profile("unhurried", UNHURRIED)
settings.register_profile("ci", UNHURRIED, derandomize=True, print_blob=True)
settings.load_profile("ci" if os.environ.get("CI") else "unhurried")


@pytest.hookimpl(optionalhook=True, wrapper=True)
def pytest_xdist_auto_num_workers() -> Generator[None, int, int]:
    """Every worker loads torch and keeps a gigabyte."""
    return min((yield), 8)


@pytest.fixture(autouse=True, scope="session")
def interruptible() -> Iterator[None]:
    """Let SIGINT through: a job in a shell's background ignores it, and so would the processes that tests start."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture(autouse=True, scope="session")
def own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Run folders of tests are neither the user's nor another worker's, which would find them in use."""
    folder = str(tmp_path_factory.mktemp("cache"))
    with pytest.MonkeyPatch.context() as patch:
        for name in ("XDG_CACHE_HOME", "LOCALAPPDATA", "HOME"):
            patch.setenv(name, folder)
        yield
