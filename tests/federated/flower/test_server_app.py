"""The ServerApp: its files, a run that stops with a sentence, and the same run that goes on."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest

pytest.importorskip("flwr")

from flwr.app import Context, RecordDict

from picsc.errors import DataError
from picsc.federated.flower.files_of_run import ERROR, PROGRESS, REPORT
from picsc.federated.flower.project import write_project
from picsc.federated.flower.server_app import main
from picsc.reports.saved import load_report
from picsc.settings import FedSettings
from tests.federated.flower.one_process import OneProcess, configured
from tests.federated.flower.tables import settings_of, simulated, sites, write
from tests.federated.flower.test_rounds_on_nodes import close

pytestmark = pytest.mark.usefixtures("quick")


def serve(folder: Path, grid: OneProcess, settings: FedSettings, **replaced: object) -> None:
    """Run the ServerApp with the configuration of a project."""
    project = folder / f"app-{len(list(folder.iterdir()))}"
    write_project(project, settings, clients=3, patience=2)
    held = tomllib.loads((project / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["flwr"]["app"]["config"]
    configuration = {**held, "folder": str(folder / "out"), **replaced}
    main(grid, Context(1, 1, {}, RecordDict(), configuration))  # type: ignore[arg-type]


def test_a_run_that_stops_goes_on_where_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("picsc.federated.resumable_rounds.KEEP_EVERY", 0.0)
    frame, settings = sites(), settings_of()
    nodes = configured(tmp_path, write(tmp_path, frame))
    with pytest.raises(DataError):
        serve(tmp_path, OneProcess(nodes, dies={8: 2}), settings)
    sentence = (tmp_path / "out" / ERROR).read_text()
    assert sentence == (
        "round 2, seed 0: client south did not answer for 2 s: start the SuperNode again, and go on with "
        "--run-config 'resume=true'\n"
    )
    assert not (tmp_path / "out" / REPORT).exists()
    again = OneProcess(nodes)
    serve(tmp_path, again, settings, resume=True)
    assert set(again.trained.values()) == {2}  # the first of three rounds is not run again
    assert not (tmp_path / "out" / ERROR).exists()
    assert "round 3 of 3" in (tmp_path / "out" / PROGRESS).read_text()
    report = load_report(tmp_path / "out" / REPORT)
    close(report, simulated(tmp_path, frame, settings))  # type: ignore[arg-type]
    assert report.data.rows == 120


def test_a_client_that_does_not_fit_is_in_the_error(tmp_path: Path) -> None:
    files = write(tmp_path, sites())
    files[1].write_text(files[1].read_text().replace("a,b,c,colour", "a,b,d,colour"))
    with pytest.raises(DataError, match="client south has no column"):
        serve(tmp_path, OneProcess(configured(tmp_path, files)), settings_of())
    assert (tmp_path / "out" / ERROR).read_text().startswith("client south has no column 'c'")


def test_a_bug_leaves_a_sentence_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr("picsc.federated.flower.server_app.nodes_report", broken)
    nodes = configured(tmp_path, write(tmp_path, sites()))
    with pytest.raises(ZeroDivisionError):
        serve(tmp_path, OneProcess(nodes), settings_of(rounds=1, methods=["fedavg"]))
    assert json.dumps((tmp_path / "out" / ERROR).read_text()) == '"the server failed: its log says why\\n"'
