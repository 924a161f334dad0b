"""Clients of one data set in files of their own end as the simulation, whatever order their rows are in."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from picsc.datasets.load import load
from picsc.errors import SettingsError
from picsc.federated.flower.answers import Node
from picsc.federated.flower.client_files import write_client_files
from picsc.federated.flower.report import nodes_report
from picsc.federated.flower.rounds_on_nodes import run_on_nodes
from picsc.federated.holdings import federated_split
from picsc.runtime.run_folder import open_run
from picsc.runtime.threads import one_thread
from tests.federated.flower.tables import settings_of, simulated, sites
from tests.federated.flower.test_rounds_on_nodes import Here, close


@pytest.mark.parametrize("numbers", [False, True], ids=["classes", "numbers"])
def test_rows_in_any_order_end_as_in_the_simulation(tmp_path: Path, numbers: bool) -> None:
    frame, settings = sites(60, numbers=numbers), settings_of()
    rng = np.random.default_rng(1)
    frame["word"] = ["long " * (n % 7) + str(n) for n in range(len(frame))]
    frame["rare"] = np.where(rng.random(len(frame)) < 0.02, "seldom", "often")
    frame["day"] = [f"2024-{month:02d}-11" for month in rng.integers(1, 13, len(frame))]
    frame = frame.sample(frac=1, random_state=0)
    wanted = simulated(tmp_path, frame, settings)
    data = load(tmp_path / "together.csv", settings.read, keys=settings.keys)
    files = write_client_files(tmp_path, federated_split(data, settings, seed=0), settings)
    nodes = [
        Node(str(each["name"]), Path(str(each["data"])), Path(str(each["folder"])), 10, Path(str(each["row-numbers"])))
        for each in files.nodes
    ]
    with one_thread(), open_run(tmp_path / "run", {}, resume=False) as stored:
        found = run_on_nodes(
            Here(nodes, [], []), [node.name for node in nodes], files.settings, stored, lambda _: None, files.levels
        )
    close(nodes_report(found, files.settings, {}), wanted)


def test_texts_and_images_have_no_real_clients(tmp_path: Path) -> None:
    from picsc.datasets.images import from_images

    images = from_images(np.zeros((60, 8, 8), np.uint8), np.arange(60) % 3)
    settings = settings_of(clients={"clients": 2})
    with pytest.raises(SettingsError, match="real clients train on tables, and memory holds images"):
        write_client_files(tmp_path, federated_split(images, settings, seed=0), settings)
