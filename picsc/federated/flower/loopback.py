"""A federation on real nodes of this machine: a SuperLink and a SuperNode for each client, as processes on loopback.

Each node reads a file with the rows of its client alone, so that what runs here is what runs on several machines.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import torch

from picsc.datasets.data import Data
from picsc.errors import DataError
from picsc.federated.build_clients import build
from picsc.federated.flower.client_files import write_client_files
from picsc.federated.flower.files_of_run import ERROR, FINISHED, PROGRESS, RUNS
from picsc.federated.flower.processes import PATIENCE, Nodes, started
from picsc.federated.flower.project import write_project
from picsc.federated.flower.runs_file import read_runs
from picsc.federated.holdings import federated_split
from picsc.federated.method_run import Run
from picsc.runtime.run_folder import MANIFEST, open_run
from picsc.settings import FedMethod, FedSettings

POLL = 0.2
"""Seconds between two looks at the run's files."""


def run_on_loopback(data: Data, settings: FedSettings, progress: Callable[[str], None]) -> dict[FedMethod, list[Run]]:
    """All runs of all methods, on a node for each client.

    Reading: invented clients are dealt out anew with every seed, so every repeat has nodes of its own.

    Args:
        data: rows with a label.
        settings: of the federation.
        progress: called with one line about each step.

    Raises:
        SettingsError: Flower is not there, or real clients do not have such settings.
        DataError: a client does not fit the others, or does not answer.
    """
    repeats = settings.repeats or 1
    if settings.clients.clients is None:
        return _one_run(data, settings, progress)
    found: dict[FedMethod, list[Run]] = {}
    for i in range(repeats):
        once = settings.model_copy(update={"repeats": 1, "seed": settings.seed + i})
        for method, runs in _one_run(data, once, progress).items():
            found.setdefault(method, []).extend(runs)
    return found


def _one_run(data: Data, settings: FedSettings, progress: Callable[[str], None]) -> dict[FedMethod, list[Run]]:
    split = federated_split(data, settings, seed=settings.seed)
    with TemporaryDirectory(prefix="picsc-flower-") as temporary:
        folder = Path(temporary)
        files = write_client_files(folder, split, settings)
        app, out = folder / "app", folder / "out"
        write_project(app, files.settings, clients=len(files.nodes), patience=PATIENCE, levels=files.levels)
        progress("starting Flower's SuperLink and SuperNodes")
        with started(folder) as nodes:
            for i, node in enumerate(files.nodes):
                nodes.start_node(f"node-{i + 1}", node)
            nodes.run_app(app, f"folder={json.dumps(str(out))}")
            wait_for(out, nodes, progress)
        names = tuple(client.name for client in split.clients)
        runs = {method: [replace(run, clients=names) for run in of] for method, of in read_runs(out / RUNS).items()}
        _add_scores_of_all(runs, data, settings, out / FINISHED)
        return runs


def _add_scores_of_all(runs: Mapping[FedMethod, Sequence[Run]], data: Data, settings: FedSettings, out: Path) -> None:
    """Fill in the scores of the last models that need the scores of all rows, which are all here.

    Args:
        runs: of every method; written to.
        data: rows with a label.
        settings: of the federation.
        out: the server's folder of finished rounds.
    """
    for i in range(len(next(iter(runs.values())))):
        seed = settings.seed + i
        split = federated_split(data, settings, seed=seed)
        clients = build(split, settings, device=torch.device("cpu"), workers=1)
        for method, theta in zip(settings.methods, last_models(out, i, len(settings.methods)), strict=True):
            scores = clients.evaluate(theta)
            records = runs[method][i].records
            records["balanced"][-1], records["auc"][-1] = float(scores.balanced[0]), float(scores.auc[0])


def last_models(out: Path, repeat: int, methods: int) -> list[torch.Tensor]:
    """The global model of each method after the last round of a repeat, (1, d) each.

    Args:
        out: the server's folder of finished rounds.
        repeat: its number.
        methods: number of methods.
    """
    with open_run(out, json.loads((out / MANIFEST).read_text(encoding="utf-8")), resume=True) as folder:
        held = folder.get(f"repeat-{repeat}/rounds")
    assert held is not None  # noqa: S101 - the run has finished
    return [torch.from_numpy(held[f"{i}.state.theta"]) for i in range(methods)]


def wait_for(out: Path, nodes: Nodes, progress: Callable[[str], None]) -> None:
    """Wait for the end of the run, and pass on what the server says.

    Args:
        out: folder of the ServerApp.
        nodes: the SuperLink and the nodes.
        progress: called with each line.

    Raises:
        DataError: the run ended without a result.
    """
    told, end = 0, time.monotonic() + PATIENCE
    while True:
        lines = _text(out / PROGRESS).splitlines()
        for line in lines[told:]:
            progress(line)
        told = len(lines)
        if (out / ERROR).exists():
            raise DataError(_text(out / ERROR).strip())
        if (out / RUNS).exists():
            return
        if nodes.processes[0].poll() is not None or (not told and time.monotonic() > end):
            raise DataError(
                f"Flower's SuperLink did not start the run: {_text(nodes.folder / 'link.log')[-500:].strip()}"
            )
        time.sleep(POLL)


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""
