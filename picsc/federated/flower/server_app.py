"""The ServerApp: waits for the clients, runs all rounds, and writes the report of `picsc fed` into its folder."""

from __future__ import annotations

import json
import logging
from pathlib import Path

from flwr.app import Context
from flwr.serverapp import Grid, ServerApp

from picsc.errors import DataError, PicscError
from picsc.federated.flower.grid import Nodes
from picsc.federated.flower.report import nodes_report
from picsc.federated.flower.rounds_on_nodes import run_on_nodes
from picsc.federated.flower.runs_file import write_runs
from picsc.runtime.cache import cache_folder
from picsc.runtime.run_folder import open_run
from picsc.runtime.threads import one_thread
from picsc.runtime.versions import versions
from picsc.runtime.whole_files import written_whole
from picsc.settings import FedSettings, validated

REPORT, RUNS, ERROR = "report.json", "runs.npz", "error.txt"
"""Files of the folder."""
app = ServerApp()
log = logging.getLogger("flwr")


def main(grid: Grid, context: Context) -> None:
    """Run the federation of the settings in the run's configuration."""
    held = context.run_config
    folder = Path(str(held.get("folder") or cache_folder() / "picsc" / "federation")).expanduser()
    folder.mkdir(parents=True, exist_ok=True)
    for name in (REPORT, RUNS, ERROR):
        (folder / name).unlink(missing_ok=True)
    try:
        settings = validated(FedSettings, **json.loads(str(held["settings"])))
        nodes = Nodes(grid, float(held.get("patience", 600)), settings.allow_failures)
        nodes.gather(int(held["clients"]))
        log.info("picsc: %s", ", ".join(nodes.names))
        manifest = {
            "versions": versions(),
            "device": "cpu",
            "seed": settings.seed,
            "clients": list(nodes.names),
            "settings": settings.model_dump(mode="json", exclude={"jobs"}),
        }
        resume = bool(held.get("resume", False))
        order = json.loads(str(held.get("levels") or "{}"))
        with one_thread(), open_run(folder / "run", manifest, resume=resume) as stored:
            found = run_on_nodes(nodes, nodes.names, settings, stored, lambda line: log.info("picsc: %s", line), order)
        report = nodes_report(found, settings, manifest)
        write_runs(folder / RUNS, found.runs)
        _write(folder / REPORT, json.dumps(report.as_dict(), allow_nan=False, indent=2) + "\n")
        for line in report.summary:
            log.info("picsc: %s", line)
        log.info("picsc: the report is %s", folder / REPORT)
    except PicscError as error:
        _write(folder / ERROR, f"{error}\n")
        log.error("picsc: %s", error)
        raise DataError(str(error)) from None


def _write(path: Path, text: str) -> None:
    with written_whole(path) as part:
        part.write_text(text, encoding="utf-8", newline="\n")


app.main()(main)
