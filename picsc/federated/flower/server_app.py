"""The ServerApp: waits for the clients, runs all rounds, and writes the report of `picsc fed` into its folder."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from pathlib import Path

from flwr.app import Context
from flwr.serverapp import Grid, ServerApp

from picsc.errors import DataError, PicscError
from picsc.federated.flower.files_of_run import ERROR, FINISHED, PROGRESS, REPORT, RUNS
from picsc.federated.flower.grid import Nodes
from picsc.federated.flower.report import nodes_report
from picsc.federated.flower.rounds_on_nodes import run_on_nodes
from picsc.federated.flower.runs_file import write_runs
from picsc.reports.fed import FedReport
from picsc.runtime.cache import cache_folder
from picsc.runtime.run_folder import open_run
from picsc.runtime.threads import one_thread
from picsc.runtime.versions import versions
from picsc.runtime.whole_files import written_whole
from picsc.settings import FedSettings, validated

app = ServerApp()
log = logging.getLogger("flwr")


def main(grid: Grid, context: Context) -> None:
    """Run the federation of the settings in the run's configuration."""
    held = context.run_config
    folder = Path(str(held.get("folder") or cache_folder() / "picsc" / "federation")).expanduser()
    folder.mkdir(parents=True, exist_ok=True)
    for name in (REPORT, RUNS, ERROR, PROGRESS):
        (folder / name).unlink(missing_ok=True)

    def progress(line: str) -> None:
        log.info("picsc: %s", line)
        with (folder / PROGRESS).open("a", encoding="utf-8") as file:
            file.write(f"{line}\n")

    sentence = "the server failed: its log says why"
    try:
        report = _run(grid, context, folder, progress)
        sentence = ""
        for line in (*report.summary, f"the report is {folder / REPORT}"):
            log.info("picsc: %s", line)
    except PicscError as error:
        sentence = str(error)
        raise DataError(sentence) from None
    finally:
        if sentence:
            _write(folder / ERROR, f"{sentence}\n")


def _run(grid: Grid, context: Context, folder: Path, progress: Callable[[str], None]) -> FedReport:
    """Gather the clients, run all rounds, and write report and runs."""
    held = context.run_config
    settings = validated(FedSettings, **json.loads(str(held["settings"])))
    nodes = Nodes(grid, float(held["patience"]), settings.allow_failures)
    progress(f"waiting for {held['clients']} clients")
    nodes.gather(int(held["clients"]))
    manifest: dict[str, object] = {
        "versions": versions(),
        "device": "cpu",
        "seed": settings.seed,
        "clients": list(nodes.names),
        "settings": settings.model_dump(mode="json", exclude={"jobs"}),
    }
    levels = json.loads(str(held["levels"]) or "{}")
    with one_thread(), open_run(folder / FINISHED, manifest, resume=bool(held["resume"])) as stored:
        found = run_on_nodes(nodes, nodes.names, settings, stored, progress, levels)
    report = nodes_report(found, settings, manifest)
    _write(folder / REPORT, json.dumps(report.as_dict(), allow_nan=False, indent=2) + "\n")
    write_runs(folder / RUNS, found.runs)
    return report


def _write(path: Path, text: str) -> None:
    with written_whole(path) as part:
        part.write_text(text, encoding="utf-8", newline="\n")


app.main()(main)
