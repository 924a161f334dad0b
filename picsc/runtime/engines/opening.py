"""The engine that a setting names, opened for the duration of a run."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager

from picsc.runtime.engines.local import LocalEngine
from picsc.runtime.engines.stage import Engine


@contextmanager
def open_engine(name: str, jobs: int, progress: Callable[[str], None] | None = None) -> Iterator[Engine]:
    """Open an engine.

    Args:
        name: `local`, `dask` or `dask:ADDRESS`.
        jobs: processes of this machine; a cluster with an address has its own number.
        progress: called with a line while workers are waited for.

    Raises:
        SettingsError: the engine is not installed, does not answer, or has another version of picsc.
    """
    if name == "local":
        with closing(LocalEngine(jobs)) as engine:
            yield engine
        return
    from picsc.runtime.engines.dask_cluster import open_dask  # loads distributed, which takes a second

    with open_dask(name.partition(":")[2], jobs, progress or (lambda _: None)) as cluster:
        yield cluster
