"""A federation tells what an audit tells of reading and cutting, in its own words."""

import numpy as np
import pandas as pd
import pytest

from picsc import federate
from picsc.datasets.load import from_frame
from picsc.federated.audit_clients import audit_clients
from picsc.federated.client_findings import seen_in_training
from picsc.federated.holdings import federated_split
from picsc.reports.common import Finding
from picsc.settings import FedSettings, PartitionSettings, ReadSettings, validated


def frame(n: int = 200) -> pd.DataFrame:
    """Five sites, of which one has no label; a constant, an identifier, a class of one row, and ten rows twice."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(n, 2)), columns=["a", "b"])
    table = table.assign(
        constant=7, name=[f"row {i}" for i in range(n)], site=np.array(list("vwxyz"))[np.arange(n) % 5]
    )
    table["y"] = np.where(table.a > 0, "up", "down")
    table.loc[0, "y"] = "alone"
    table.loc[table.site == "z", "y"] = None
    table.loc[1, "y"] = None
    table.loc[[10, 11, 12], "site"] = None
    return pd.concat([table, table.iloc[20:30]], ignore_index=True)


def found(findings: tuple[Finding, ...]) -> dict[str, str]:
    return {each.code: each.message for each in findings}


@pytest.mark.parametrize("audit_only", [False, True])
def test_clients_of_a_column(audit_only: bool) -> None:
    options = {"methods": ("fedavg",), "rounds": 2, "repeats": 1, "lr": 0.1, "clients": {"by": "site"}}
    settings = validated(FedSettings, read={"target": "y"}, **options)
    if audit_only:
        data = from_frame(frame(), settings.read, keys=("site",))
        told = found(audit_clients(data, settings).findings)
    else:
        told = found(federate(frame(), settings=settings).findings)
    assert told["clients-without-label"] == "1 client without a labelled row, left out: site=z (42 rows)"
    assert told["rows-without-label"] == "43 of 210 rows have no label and take no part"
    assert told["unassigned-rows"] == "3 of 167 (1.8 %) rows belong to no client: column 'site' has no value there"
    assert told["constant-left-out"].startswith("left out: constant")
    assert told["identifier-left-out"].startswith("left out: name")
    assert told["rare-class"].startswith("1 of 3 classes of 'y' have fewer rows than the 4 pieces: 'alone' (1 row)")
    assert ("duplicate-rows" in told) is not audit_only  # they are with one client, on both sides of its test rows


def test_invented_clients() -> None:
    invented = {"clients": 4, "partition": "dirichlet", "min_rows": 5, "min_client_rows": 5}
    told = federate(
        frame().drop(columns="site"), target="y", methods=("fedavg",), rounds=1, repeats=1, lr=0.1, **invented
    ).findings
    assert {"made-to-differ", "rare-class", "duplicate-rows", "constant-left-out"} <= {each.code for each in told}
    assert not any("--splitter" in each.advice or "--folds" in each.advice for each in told)


def test_clients_are_the_same_as_before() -> None:
    """Dealt out by the functions of the audit, and the same rows."""
    data = from_frame(frame().dropna(), ReadSettings(target="y"))
    settings = FedSettings(clients=PartitionSettings(clients=3, partition="quantity"))
    split = federated_split(data, settings, seed=4)
    assert sorted(np.concatenate([client.rows for client in split.clients])) == list(range(data.n))


def test_noise_makes_equal_rows_differ() -> None:
    data = from_frame(frame().dropna(), ReadSettings(target="y"))
    noisy = FedSettings(clients=PartitionSettings(clients=3, partition="noise"))
    assert seen_in_training(data, federated_split(data, noisy, seed=0)) == []
    iid = FedSettings(clients=PartitionSettings(clients=3))
    assert [each.code for each in seen_in_training(data, federated_split(data, iid, seed=0))] == ["duplicate-rows"]
