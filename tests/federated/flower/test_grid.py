"""Messages to clients and back, and clients that are gone, with the ClientApp in this process."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("flwr")

from picsc.errors import DataError
from picsc.federated.flower.grid import Nodes
from picsc.federated.flower.report import nodes_report
from picsc.federated.flower.rounds_on_nodes import NodesRun, run_on_nodes
from picsc.runtime.run_folder import open_run
from picsc.runtime.threads import one_thread
from picsc.settings import FedSettings
from tests.federated.flower.one_process import OneProcess, configured
from tests.federated.flower.tables import NAMES, settings_of, simulated, sites, write
from tests.federated.flower.test_rounds_on_nodes import close

pytestmark = pytest.mark.usefixtures("quick")


def run(folder: Path, grid: OneProcess, settings: FedSettings) -> NodesRun:
    nodes = Nodes(grid, 2.0, settings.allow_failures)  # type: ignore[arg-type]
    nodes.gather(3)
    assert nodes.names == list(NAMES)
    with one_thread(), open_run(folder / "run", {}, resume=False) as stored:
        return run_on_nodes(nodes, nodes.names, settings, stored, lambda _: None)


def test_messages_carry_all_that_the_simulation_has(tmp_path: Path) -> None:
    frame, settings = sites(), settings_of()
    found = run(tmp_path, OneProcess(configured(tmp_path, write(tmp_path, frame))), settings)
    close(nodes_report(found, settings, {}), simulated(tmp_path, frame, settings))


def test_a_node_that_is_replaced_changes_no_number(tmp_path: Path) -> None:
    frame, settings = sites(), settings_of()
    nodes = configured(tmp_path, write(tmp_path, frame))
    found = run(tmp_path, OneProcess(nodes, dies={8: 2}, spare={99: nodes[8]}), settings)
    close(nodes_report(found, settings, {}), simulated(tmp_path, frame, settings))


def test_a_node_that_stays_away_ends_the_run_with_its_name(tmp_path: Path) -> None:
    grid = OneProcess(configured(tmp_path, write(tmp_path, sites())), dies={8: 2})
    with pytest.raises(
        DataError, match="round 2, seed 0: client south did not answer for 2 s: start the SuperNode again"
    ):
        run(tmp_path, grid, settings_of())


def test_a_node_that_may_stay_away_is_left_out(tmp_path: Path) -> None:
    grid = OneProcess(configured(tmp_path, write(tmp_path, sites())), dies={8: 2})
    settings = settings_of(allow_failures=1, rounds=2, methods=["fedavg"])
    report = nodes_report(run(tmp_path, grid, settings), settings, {})
    assert [(each.client, each.round) for each in report.methods[0].failures] == [("south", 2)]
    assert report.methods[0].accuracy is not None
    assert report.methods[0].clients[1] is None


def test_two_nodes_of_one_name_are_refused(tmp_path: Path) -> None:
    nodes = configured(tmp_path, write(tmp_path, sites()))
    nodes[8]["name"] = "north"
    with pytest.raises(DataError, match="two SuperNodes call themselves north"):
        run(tmp_path, OneProcess(nodes), settings_of())


def test_too_few_clients_are_named(tmp_path: Path) -> None:
    nodes = configured(tmp_path, write(tmp_path, sites()))
    del nodes[8]
    with pytest.raises(DataError, match=r"2 clients of 3 came within 2 s \(north, west\)"):
        run(tmp_path, OneProcess(nodes), settings_of())


def test_a_node_without_a_file_and_one_whose_file_is_gone_say_so(tmp_path: Path) -> None:
    nodes = configured(tmp_path, write(tmp_path, sites()))
    (tmp_path / "west.csv").unlink()
    with pytest.raises(DataError, match="client west: "):
        run(tmp_path, OneProcess(nodes), settings_of())
    with pytest.raises(DataError, match="the SuperNode has no file: start it with --node-config"):
        run(tmp_path, OneProcess({**nodes, 8: {"data": ""}}), settings_of())


def test_an_error_of_a_client_ends_the_run_and_names_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError("by zero")

    monkeypatch.setattr("picsc.federated.flower.model_answers.clients_of", broken)
    with pytest.raises(DataError, match=r"client (north|south|west) failed: .*by zero"):
        run(tmp_path, OneProcess(configured(tmp_path, write(tmp_path, sites()))), settings_of())
