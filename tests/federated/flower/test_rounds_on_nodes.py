"""Real clients without the network between: the same numbers as the simulation, and refusals that name the client."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from picsc.errors import DataError, SettingsError
from picsc.federated.flower.answers import Answer, Node, answer
from picsc.federated.flower.asked import Asked
from picsc.federated.flower.remote import Request
from picsc.federated.flower.report import nodes_report
from picsc.federated.flower.rounds_on_nodes import NodesRun, run_on_nodes
from picsc.federated.flower.runs_file import read_runs, write_runs
from picsc.reports.fed import FedReport
from picsc.runtime.run_folder import open_run
from picsc.runtime.threads import one_thread
from picsc.settings import FedSettings
from tests.federated.flower.tables import settings_of, simulated, sites, write


@dataclass
class Here:
    """Clients in this process; every message becomes text and arrays on the way."""

    nodes: list[Node]
    asked: list[str]
    sent: list[Answer]

    def ask(self, verb: str, requests: Mapping[int, Request]) -> dict[int, Answer]:
        self.asked.append(verb)
        found = {}
        for i, request in requests.items():
            text = request.asked.model_dump_json()
            found[i] = answer(self.nodes[i], verb, Asked.model_validate_json(text), request.arrays)
            self.sent.append(found[i])
        return found


def here(folder: Path, files: list[Path], fewest: int = 10) -> Here:
    return Here([Node(path.stem, path, folder / f"kept-{path.stem}", fewest) for path in files], [], [])


def run(folder: Path, clients: Here, settings: FedSettings, *, resume: bool = False) -> NodesRun:
    with one_thread(), open_run(folder / "run", {"a": 1}, resume=resume) as stored:
        return run_on_nodes(clients, [node.name for node in clients.nodes], settings, stored, lambda _: None)


def close(ours: FedReport, theirs: FedReport) -> None:
    assert [method.method for method in ours.methods] == [method.method for method in theirs.methods]
    for one, other in zip(ours.methods, theirs.methods, strict=True):
        for a, b in zip(one.curve, other.curve, strict=True):
            assert (a.accuracy, a.log_loss) == pytest.approx((b.accuracy, b.log_loss), abs=1e-5)
            assert (a.bytes, a.flagged) == (b.bytes, b.flagged)
        assert one.clients == pytest.approx(other.clients, abs=1e-5)
        assert one.tau == pytest.approx(other.tau, rel=1e-4)
        assert (one.memory, one.bytes_up, one.lr) == (other.memory, other.bytes_up, other.lr)
        assert one.whole == pytest.approx(other.whole, abs=1e-5)


@pytest.mark.parametrize("numbers", [False, True], ids=["classes", "numbers"])
def test_all_methods_end_as_in_the_simulation(tmp_path: Path, numbers: bool) -> None:
    methods = ["fedavg", "fedprox", "scaffold", "fedcurv", "fisher-mean", "picsc", "picsc-scaffold"]
    settings, frame = settings_of(methods=methods), sites(numbers=numbers)
    found = run(tmp_path, here(tmp_path, write(tmp_path, frame)), settings)
    close(nodes_report(found, settings, {}), simulated(tmp_path, frame, settings))


def test_a_part_of_the_clients_and_two_seeds_end_as_in_the_simulation(tmp_path: Path) -> None:
    settings, frame = settings_of(sample=0.67, repeats=2, server_momentum=0.5), sites()
    found = run(tmp_path, here(tmp_path, write(tmp_path, frame)), settings)
    write_runs(tmp_path / "runs.npz", found.runs)
    again = NodesRun(found.said, found.agreed, read_runs(tmp_path / "runs.npz"))
    close(nodes_report(again, settings, {}), simulated(tmp_path, frame, settings))


def test_summaries_come_with_the_scores_of_the_round_before(tmp_path: Path) -> None:
    clients = here(tmp_path, write(tmp_path, sites()))
    run(tmp_path, clients, settings_of(rounds=2))
    assert clients.asked == ["describe", "scales", "summaries", "train", "evaluate", "train", "evaluate"]


def test_nothing_that_a_client_sends_has_the_size_of_its_rows(tmp_path: Path) -> None:
    sizes = []
    for rows in (40, 400):
        folder = tmp_path / str(rows)
        folder.mkdir()
        clients = here(folder, write(folder, sites(rows)))
        run(folder, clients, settings_of(rounds=2))
        sizes.append(
            [sorted((name, each.shape) for name, each in (sent.arrays or {}).items()) for sent in clients.sent]
        )
    assert sizes[0] == sizes[1]


def test_a_client_with_other_columns_is_refused_by_name(tmp_path: Path) -> None:
    files = write(tmp_path, sites())
    files[1].write_text(files[1].read_text().replace("a,b,c,colour", "a,b,d,colour"))
    with pytest.raises(DataError, match="client south has no column 'c', which 2 clients of 3 have"):
        run(tmp_path, here(tmp_path, files), settings_of())


def test_a_client_with_a_column_of_another_kind_is_refused_by_name(tmp_path: Path) -> None:
    frame = sites()
    frame["a"] = frame["a"].astype(object)
    south = frame["site"] == "south"
    frame.loc[south, "a"] = np.array(["low", "high"])[np.arange(int(south.sum())) % 2]
    with pytest.raises(DataError, match="client south: column 'a' is categorical there and numeric at the other"):
        run(tmp_path, here(tmp_path, write(tmp_path, frame)), settings_of())


def test_a_client_with_another_kind_of_target_is_refused_by_name(tmp_path: Path) -> None:
    files = write(tmp_path, sites())
    sites(numbers=True).query("site == 'west'").drop(columns="site").to_csv(files[2], index=False)
    with pytest.raises(DataError, match=r"client west predicts 'y' \(numbers\), and the other clients 'y' \(classes\)"):
        run(tmp_path, here(tmp_path, files), settings_of())


def test_a_client_with_another_version_is_refused_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    versions = iter(["1.0", "1.0", "0.9"])
    monkeypatch.setattr("picsc.federated.flower.schema.version", lambda _: next(versions))
    with pytest.raises(DataError, match=r"client west has picsc 0\.9, and the other clients 1\.0"):
        run(tmp_path, here(tmp_path, write(tmp_path, sites())), settings_of())


def test_a_column_of_one_value_at_one_client_is_what_it_is_at_the_others(tmp_path: Path) -> None:
    frame = sites()
    frame.loc[frame["site"] == "north", "colour"] = "red"
    frame.loc[frame["site"] == "south", "c"] = 1.5
    settings = settings_of(rounds=2)
    found = run(tmp_path, here(tmp_path, write(tmp_path, frame)), settings)
    close(nodes_report(found, settings, {}), simulated(tmp_path, frame, settings))


def test_a_column_of_rare_levels_at_one_client_is_pooled_there(tmp_path: Path) -> None:
    frame = sites()
    north = frame["site"] == "north"
    frame.loc[north, "colour"] = [f"shade {i // 2}" for i in range(int(north.sum()))]
    clients = here(tmp_path, write(tmp_path, frame))
    found = run(tmp_path, clients, settings_of(rounds=1))
    [colour] = [column for column in found.agreed.columns if column.name == "colour"]
    assert sorted(colour.levels[:-1]) == ["blue", "green", "red"]
    assert colour.levels[-1] == "(other)"
    assert "shade" not in "".join(sent.text for sent in clients.sent)


def test_a_client_has_a_bound_on_its_rows_of_its_own(tmp_path: Path) -> None:
    clients = here(tmp_path, write(tmp_path, sites(12)), fewest=20)
    with pytest.raises(DataError, match="north has 12 rows with a label, fewer than 20"):
        run(tmp_path, clients, settings_of(min_client_rows=1))


def test_a_client_that_lost_what_it_kept_says_so(tmp_path: Path) -> None:
    clients, settings = here(tmp_path, write(tmp_path, sites())), settings_of(methods=["scaffold"])
    ask, rounds = clients.ask, []

    def lose(verb: str, requests: Mapping[int, Request]) -> dict[int, Answer]:
        rounds.append(verb)
        if rounds.count("train") == 2:
            clients.nodes[1] = Node("south", clients.nodes[1].source, tmp_path / "new", 10)
        return ask(verb, requests)

    clients.ask = lose  # type: ignore[method-assign]
    with pytest.raises(DataError, match="does not hold what this client kept after round 1"):
        run(tmp_path, clients, settings)


def test_an_interrupted_run_goes_on_to_the_same_numbers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("picsc.federated.resumable_rounds.KEEP_EVERY", 0.0)
    frame, settings = sites(), settings_of()
    clients = here(tmp_path, write(tmp_path, frame))
    ask = clients.ask

    def fail(verb: str, requests: Mapping[int, Request]) -> dict[int, Answer]:
        found = ask(verb, requests)  # the clients have trained, and the server has lost their answers
        if clients.asked.count("train") == 2:
            raise DataError("gone")
        return found

    clients.ask = fail  # type: ignore[method-assign]
    with pytest.raises(DataError, match="gone"):
        run(tmp_path, clients, settings)
    found = run(tmp_path, here(tmp_path, write(tmp_path, frame)), settings, resume=True)
    close(nodes_report(found, settings, {}), simulated(tmp_path, frame, settings))


@pytest.mark.parametrize("given", [{"lr": "auto"}, {"whiten": True}], ids=["rates", "whitening"])
def test_settings_that_real_clients_do_not_have_are_refused(tmp_path: Path, given: dict[str, object]) -> None:
    with pytest.raises(SettingsError, match="real clients train"):
        run(tmp_path, here(tmp_path, write(tmp_path, sites())), settings_of(**given))


def test_the_report_says_what_nobody_could_compute(tmp_path: Path) -> None:
    settings = settings_of(rounds=1)
    report = nodes_report(run(tmp_path, here(tmp_path, write(tmp_path, sites())), settings), settings, {})
    assert report.summary[2] == "whether the 3 clients differ was not tested: nobody has the rows of all clients"
    assert report.methods[0].auc is None
    assert report.as_dict()["schema"] == "picsc.fed/1"
