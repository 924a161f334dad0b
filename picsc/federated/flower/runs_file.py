"""All runs of a federation as one file of arrays, from the ServerApp to whoever started it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from picsc.federated.method_run import Run
from picsc.runtime.whole_files import written_whole
from picsc.settings import FedMethod


def write_runs(path: Path, runs: Mapping[FedMethod, Sequence[Run]]) -> None:
    """Write all runs.

    Args:
        path: of the file.
        runs: of every method.
    """
    plain: list[dict[str, Any]] = []
    arrays: dict[str, Any] = {}
    for method, of_method in runs.items():
        for run in of_method:
            held = asdict(run)
            arrays |= {f"{len(plain)}.{name}": each for name, each in held.pop("records").items()}
            plain.append({"method": method, **held})
    with written_whole(path) as part, part.open("wb") as file:
        np.savez(file, runs=np.frombuffer(json.dumps(plain).encode(), np.uint8), **arrays)


def read_runs(path: Path) -> dict[FedMethod, list[Run]]:
    """The inverse of `write_runs`."""
    found: dict[FedMethod, list[Run]] = {}
    with np.load(path, allow_pickle=False) as held:
        for i, plain in enumerate(json.loads(held["runs"].tobytes())):
            records = {name.removeprefix(f"{i}."): held[name] for name in held.files if name.startswith(f"{i}.")}
            method = plain.pop("method")
            found.setdefault(method, []).append(Run(**{**plain, "clients": tuple(plain["clients"])}, records=records))
    return found
