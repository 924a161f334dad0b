"""All that a server sees, in the default configuration and with whitening: a wiretap on clients."""

from __future__ import annotations

from dataclasses import fields

import numpy as np
import pandas as pd
import pytest
import torch
from torch import Tensor

import picsc
from picsc.datasets.encoding import fit
from picsc.errors import DataError
from picsc.federated.algorithms.protocol import ClientUploads
from picsc.federated.client_summary import Summary
from picsc.federated.clients.mlps import ClientMlps
from picsc.federated.holdings import federated_split
from tests.federated.test_federate import settings_of, table


def patients(per_site: int = 40, sites: int = 4, *, small: int | None = None) -> pd.DataFrame:
    """Rows of several hospitals, with numbers, levels of which one is rare, and gaps; the last site may be small."""
    rng = np.random.default_rng(0)
    n = per_site * sites
    frame = pd.DataFrame(
        {
            "age": rng.integers(20, 90, n) + rng.random(n),
            "income": rng.normal(3e4, 8e3, n).round(),
            "blood": rng.choice(["A", "B", "AB", "0"], n, p=[0.45, 0.1, 0.03, 0.42]),
            "smoker": rng.choice([0.0, 1.0], n, p=[0.9, 0.1]),
            "who": [f"p{i // per_site}" for i in range(n)],
            "y": np.where(rng.random(n) < 0.5, "ill", "well"),
        }
    )
    frame.loc[rng.random(n) < 0.05, "income"] = np.nan
    if small is not None:
        frame = frame[(frame["who"] != f"p{sites - 1}") | (frame.groupby("who").cumcount() < small)]
    return frame.reset_index(drop=True)


class Wire:
    """Everything that crosses, by kind."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.summaries: dict[int, list[Summary]] = {}
        self.moments: dict[int, list[tuple[Tensor, Tensor]]] = {}
        self.uploads: list[ClientUploads] = []
        tapped, second = ClientMlps.summaries, ClientMlps.second_moments
        mean = ClientUploads.mean

        def summaries(clients: ClientMlps, client: int, theta: Tensor, *, seed: int) -> tuple[Summary | None, ...]:
            found = tapped(clients, client, theta, seed=seed)
            self.summaries.setdefault(client, []).extend(each for each in found if each is not None)
            return found

        def second_moments(clients: ClientMlps, client: int) -> tuple[Tensor, Tensor]:
            found = second(clients, client)
            self.moments.setdefault(client, []).append(found)
            return found

        def uploaded(uploads: ClientUploads, name: str, by: str) -> Tensor:
            self.uploads.append(uploads)
            return mean(uploads, name, by)  # type: ignore[arg-type]

        monkeypatch.setattr(ClientMlps, "summaries", summaries)
        monkeypatch.setattr(ClientMlps, "second_moments", second_moments)
        monkeypatch.setattr(ClientUploads, "mean", uploaded)


def federated(frame: pd.DataFrame, **values: object) -> None:
    settings = settings_of(repeats=1, rounds=2, **values)
    picsc.federate_dataset(table(settings, frame), settings)


@pytest.mark.parametrize("whiten", [False, True])
def test_nothing_that_crosses_grows_with_the_rows(monkeypatch: pytest.MonkeyPatch, whiten: bool) -> None:
    """All methods, rates chosen, summaries for the trigger and second moments among what is watched."""
    crossed = []
    for per_site in (40, 80):
        with monkeypatch.context() as patched:
            wire = Wire(patched)
            federated(patients(per_site), whiten=whiten)
        assert set(wire.summaries) == {0, 1, 2, 3}
        assert set(wire.moments) == ({0, 1, 2, 3} if whiten else set())
        shapes = {("upload", name, *each.shape[1:]) for up in wire.uploads for name, each in up.sent.items()}
        for summary in (each for sent in wire.summaries.values() for each in sent):
            tensors = {field.name: getattr(summary, field.name) for field in fields(summary)}
            shapes |= {("summary", name, *each.shape) for name, each in tensors.items() if isinstance(each, Tensor)}
        shapes |= {("moments", *each.shape) for sent in wire.moments.values() for pair in sent for each in pair}
        crossed.append(shapes - {("summary", "label_counts", 2)})
    assert crossed[0] == crossed[1]


@pytest.mark.parametrize("whiten", [False, True])
def test_no_two_statistics_of_a_client_differ_by_a_few_rows(monkeypatch: pytest.MonkeyPatch, whiten: bool) -> None:
    """Rates are chosen on a part of a client's rows, but the server cannot subtract that part's statistics."""
    wire = Wire(monkeypatch)
    federated(patients(), whiten=whiten, methods=("picsc",))
    for sent in wire.summaries.values():
        assert len(sent) > 10
        assert {each.n for each in sent} == {32}
        assert all(torch.equal(each.means.nan_to_num(7), sent[0].means.nan_to_num(7)) for each in sent)
    for pairs in wire.moments.values():
        assert all(torch.equal(each[0], pairs[0][0]) for each in pairs)


def test_no_cell_of_one_to_four_rows_crosses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Counts in means and tables, recomputed from what was sent, against the rows as they are."""
    wire = Wire(monkeypatch)
    frame = patients()
    federated(frame, whiten=True, methods=("picsc",))
    settings = settings_of(repeats=1)
    data = table(settings, frame)
    split = federated_split(data, settings, seed=0)
    encoded = fit(data, np.concatenate(split.train)).transform(data)
    coded = [j for j, name in enumerate(encoded.names) if "=" in name or name.endswith("missing")]
    held_back = 0
    for k, rows in enumerate(split.train):
        counts = encoded.matrix[rows][:, coded].sum(0)
        means = wire.summaries[k][0].means[coded].numpy()
        told = means[~np.isnan(means)] * len(rows)
        assert not ((told > 0.5) & (told < 4.5)).any()
        held_back += int(((counts > 0) & (counts < 5) & np.isnan(means)).sum())
        sums, sent = wire.moments[k][0]
        cells = sums[coded][:, coded][sent[coded][:, coded] > 0]
        assert not ((cells > 0.5) & (cells < 4.5)).any()
    assert held_back > 0  # the rare blood group is in some clients


@pytest.mark.parametrize("rows", [1, 2, 9])
def test_a_small_client_is_refused_by_name_before_it_sends_anything(monkeypatch: pytest.MonkeyPatch, rows: int) -> None:
    """Of one row, the means are the row and the counts its label; of two, means and variances give both back."""
    wire = Wire(monkeypatch)
    frame = patients(small=rows)
    settings = settings_of(repeats=1, rounds=1)
    for verb in (picsc.federate_dataset, picsc.audit_clients):
        with pytest.raises(DataError, match=rf"1 client \(who=p3\) has fewer than 10 rows, down to {rows}: "):
            verb(table(settings, frame), settings)
    assert (wire.summaries, wire.moments, wire.uploads) == ({}, {}, [])


def test_of_one_row_a_summary_is_the_row() -> None:
    """The reason for the bound: a simulation that lowers it is warned."""
    frame = patients(small=1)
    settings = settings_of(repeats=1, rounds=1, lr=0.1, methods=("picsc",), min_client_rows=1)
    report = picsc.federate_dataset(table(settings, frame), settings)
    (warned,) = [each for each in report.findings if each.code == "small-clients"]
    assert warned.message.startswith("1 client (who=p3) has fewer than 10 rows: the server could read rows off")
    assert not [each for each in picsc.federate_dataset(
        table(settings, patients()), settings).findings if each.code == "small-clients"]  # fmt: skip
