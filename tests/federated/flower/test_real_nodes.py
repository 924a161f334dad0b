"""A SuperLink and three SuperNodes on loopback: equal to the simulation, over TLS, with nodes that go and come."""

from __future__ import annotations

import datetime as dt
import ipaddress
import json
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("flwr")

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from picsc.datasets.load import load
from picsc.errors import DataError
from picsc.federated.federate import federate_dataset
from picsc.federated.flower.files_of_run import FINISHED, REPORT
from picsc.federated.flower.loopback import wait_for
from picsc.federated.flower.processes import Nodes, started
from picsc.federated.flower.project import write_project
from tests.federated.flower.tables import NAMES, settings_of, simulated, sites, write

TOLERANCE = 1e-5


def certificate(folder: Path) -> tuple[Path, Path]:
    """A certificate of this machine for itself, and its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    now = dt.datetime.now(dt.UTC)
    here = [x509.DNSName("localhost"), x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - dt.timedelta(days=1))
        .not_valid_after(now + dt.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName(here), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    certificate_file, key_file = folder / "link.crt", folder / "link.key"
    certificate_file.write_bytes(made.public_bytes(serialization.Encoding.PEM))
    plain = serialization.NoEncryption()
    key_file.write_bytes(key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, plain))
    return certificate_file, key_file


def node(folder: Path, name: str) -> dict[str, str | int]:
    return {"data": str(folder / f"{name}.csv"), "folder": str(folder / f"kept-{name}")}


def parameters(folder: Path) -> list[np.ndarray]:
    """The models of the three methods after the last round, as a run folder holds them."""
    [file] = folder.rglob("*rounds.npz")
    with np.load(file, allow_pickle=False) as held:
        return [held[f"{i}.state.theta"] for i in range(3)]


def kept(folder: Path, name: str) -> bool:
    """True once a client has trained in the first round."""
    return any((folder / f"kept-{name}").glob("*-0.safetensors"))


def replace_one(folder: Path, nodes: Nodes, one: object) -> None:
    """Kill a node as soon as it has trained once, and start another in its place."""
    end = time.monotonic() + 300
    while not kept(folder, "south") and time.monotonic() < end:
        time.sleep(0.2)
    one.kill()  # type: ignore[attr-defined]
    nodes.start_node("south-again", node(folder, "south"))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("federation")
    write(found, sites())
    return found


@pytest.fixture(scope="module")
def nodes(folder: Path) -> Iterator[Nodes]:
    with started(folder, certificate=certificate(folder)[0], key=folder / "link.key") as found:
        yield found


def test_three_nodes_over_tls_are_refused_by_name_then_end_as_the_simulation(folder: Path, nodes: Nodes) -> None:
    settings = settings_of()
    app = folder / "app"
    write_project(app, settings, clients=3, patience=240)
    other = folder / "west-other.csv"
    other.write_text((folder / "west.csv").read_text().replace("a,b,c,colour", "a,b,d,colour"))
    running = {name: nodes.start_node(name, node(folder, name)) for name in NAMES[:2]}
    stranger = nodes.start_node("west-other", {**node(folder, "west"), "data": str(other), "name": "west"})

    nodes.run_app(app, f"folder={json.dumps(str(folder / 'refused'))}")
    with pytest.raises(DataError, match="client west has no column 'c', which 2 clients of 3 have"):
        wait_for(folder / "refused", nodes, lambda _: None)
    stranger.terminate()
    stranger.wait(20)

    nodes.start_node("west", node(folder, "west"))
    changing = threading.Thread(target=replace_one, args=(folder, nodes, running["south"]))
    changing.start()
    lines: list[str] = []
    nodes.run_app(app, f"folder={json.dumps(str(folder / 'out'))}")
    wait_for(folder / "out", nodes, lines.append)
    changing.join()
    found = json.loads((folder / "out" / REPORT).read_text())
    assert [method["method"] for method in found["methods"]] == ["fedavg", "scaffold", "picsc"]
    wanted = simulated(folder, sites(), settings).as_dict()
    ours_at_end, theirs_at_end = parameters(folder / "out" / FINISHED), parameters(folder / "simulation")
    for i in range(3):
        assert ours_at_end[i].shape == (1, 32)
        assert ours_at_end[i] == pytest.approx(theirs_at_end[i], abs=TOLERANCE)
    for ours, theirs in zip(found["methods"], wanted["methods"], strict=True):  # type: ignore[call-overload]
        assert ours["clients"] == pytest.approx(theirs["clients"], abs=TOLERANCE)
        assert [p["log_loss"] for p in ours["curve"]] == pytest.approx(
            [p["log_loss"] for p in theirs["curve"]], abs=TOLERANCE
        )
        assert ours["tau"] == pytest.approx(theirs["tau"], rel=1e-4)
        assert [p["flagged"] for p in ours["curve"]] == [p["flagged"] for p in theirs["curve"]]
    assert any("round 3 of 3" in line for line in lines)


def test_nothing_is_reported_to_the_makers_of_flower(nodes: Nodes) -> None:
    environments = [Path(f"/proc/{one.pid}/environ") for one in nodes.processes if one.poll() is None]
    assert environments
    for held in environments:
        if held.exists():
            words = held.read_bytes().split(b"\0")
            assert b"FLWR_TELEMETRY_ENABLED=0" in words
            assert b"FLWR_DISABLE_UPDATE_CHECK=1" in words


def test_the_engine_makes_the_report_of_the_simulation(tmp_path: Path) -> None:
    frame = sites().query("site != 'west'").sample(frac=1, random_state=0)
    frame.to_csv(tmp_path / "shuffled.csv", index=False)
    settings = settings_of(methods=["fedavg"], rounds=1)
    table = load(tmp_path / "shuffled.csv", settings.read, keys=settings.keys)
    lines: list[str] = []
    on_nodes = settings.model_copy(update={"engine": "flower"})
    found = federate_dataset(table, on_nodes, run_dir=tmp_path / "nodes", progress=lines.append)
    wanted = federate_dataset(table, settings, run_dir=tmp_path / "local")
    assert found.methods[0].accuracy == pytest.approx(wanted.methods[0].accuracy, abs=TOLERANCE)
    assert found.methods[0].log_loss == pytest.approx(wanted.methods[0].log_loss, abs=TOLERANCE)
    assert found.methods[0].clients == pytest.approx(wanted.methods[0].clients, abs=TOLERANCE)
    assert found.methods[0].balanced_accuracy == pytest.approx(wanted.methods[0].balanced_accuracy, abs=TOLERANCE)
    assert found.methods[0].auc == pytest.approx(wanted.methods[0].auc, abs=TOLERANCE)
    assert (found.clients, found.partition) == (wanted.clients, wanted.partition)
    assert "starting Flower's SuperLink and SuperNodes" in lines
