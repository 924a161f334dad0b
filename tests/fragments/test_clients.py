"""Invented clients as the pieces of an audit: which rows they hold, what their noise does, and what is said of it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_digits, load_wine
from typer.testing import CliRunner

import picsc
from picsc.datasets.images import from_images
from picsc.datasets.load import from_frame
from picsc.datasets.table import Dataset
from picsc.errors import DataError, SettingsError
from picsc.federated.holdings import federated_split
from picsc.fragments import cut_clients
from picsc.recipes.load import load_recipes
from picsc.recipes.run import run_recipes
from picsc.reports.audit import AuditReport
from picsc.settings import CutSettings, FedSettings, PartitionSettings, ReadSettings
from picsc_cli.app import app

WAYS = ["iid", "dirichlet", "classes", "quantity", "noise"]


def wine(unlabelled: int = 0) -> pd.DataFrame:
    frame = load_wine(as_frame=True).frame.astype({"target": object})
    frame.loc[frame.index[::7][:unlabelled], "target"] = None
    return frame


def read(frame: pd.DataFrame) -> Dataset:
    return from_frame(frame, ReadSettings(target="target"))


def codes(report: AuditReport) -> dict[str, Any]:
    return {finding.code: finding for finding in report.findings}


@pytest.mark.parametrize("way", WAYS)
def test_clients_are_those_of_fed_with_the_same_seed(way: str) -> None:
    """`picsc fed` leaves rows without a label out first, so its row numbers are those of the others."""
    frame, settings = wine(unlabelled=10), PartitionSettings(clients=4, partition=way, min_rows=3)
    made = cut_clients(read(frame), settings, CutSettings(), seed=5)
    federated = federated_split(read(frame.dropna()), FedSettings(clients=settings), seed=5)
    held = np.flatnonzero(frame["target"].notna())
    assert [fragment.rows.tolist() for fragment in made.cut.fragments] == [
        held[client.rows].tolist() for client in federated.clients
    ]
    assert {fragment.kind for fragment in made.cut.fragments} == {"client"}
    assert made.cut.words == federated.description
    assert made.cut.unassigned.tolist() == [7 * i for i in range(10)]
    left = {finding.code: finding for finding in made.cut.findings}["unassigned-rows"]
    assert left.message == "10 of 178 (5.6 %) rows in no piece: they have no label"


def test_the_audit_sees_the_columns_that_fed_trains_on() -> None:
    """A client's own mean and deviation follow from Eq. 8's divergence only if its noise is the same."""
    frame, settings = wine(unlabelled=10), PartitionSettings(clients=2, partition="noise", noise=3.0)
    noised = federated_split(read(frame.dropna()), FedSettings(clients=settings), seed=1)
    assert isinstance(noised.data, Dataset)
    by_hand = pd.DataFrame({c.name: c.values for c in noised.data.columns})  # noqa: PD011 - not of pandas
    owner = np.full(len(by_hand), "client 1", dtype=object)
    owner[noised.clients[1].rows] = "client 2"
    labels = frame["target"].dropna().to_numpy()
    expected = picsc.audit(by_hand.assign(who=owner, target=labels), target="target", by="who", draws=99, seed=1)
    found = picsc.audit(frame, target="target", clients=2, partition="noise", noise=3.0, draws=99, seed=1)
    kl = {piece.name.removeprefix("who="): piece.kl for piece in expected.fragments}
    assert {piece.name: piece.kl for piece in found.fragments} == pytest.approx(kl, rel=1e-6)
    assert "standard deviation 3 for client 2" in codes(found)["made-to-differ"].message
    assert found.verdict == "shift"


def test_ways_that_deal_rows_alike_are_ok_and_others_are_called() -> None:
    reports = {way: picsc.audit(wine(), target="target", clients=3, partition=way, draws=99) for way in WAYS[:4]}
    assert {way: report.verdict for way, report in reports.items()} == {
        "iid": "ok", "dirichlet": "shift", "classes": "shift", "quantity": "ok",
    }  # fmt: skip
    assert {report.null.unit for report in reports.values()} == {"rows"}
    assert {report.reference for report in reports.values()} == {"rest"}
    assert {report.balance for report in reports.values()} == {None}
    told = {way for way, report in reports.items() if "made-to-differ" in codes(report)}
    assert told == {"dirichlet", "classes"}
    assert "label shift between clients is wanted" in codes(reports["classes"])["made-to-differ"].message


def test_images_are_dealt_out_and_seen_with_their_noise() -> None:
    digits = load_digits()
    images = from_images(np.kron(digits.images[:200], np.ones((2, 2))) / 16, digits.target[:200], name="digits")
    report = picsc.audit(images, clients=2, partition="noise", noise=1.0, draws=99)
    assert report.verdict == "shift"
    assert [piece.rows for piece in report.fragments] == [100, 100]
    assert "made-to-differ" in codes(report)


def test_noise_needs_a_number_to_be_added_to() -> None:
    frame = pd.DataFrame({"a": list("xyz") * 30, "y": list("uv") * 45})
    told = codes(picsc.audit(frame, target="y", clients=2, partition="noise", draws=99))["no-noise"]
    assert (told.severity, told.advice) == ("warning", "choose another --partition")


@pytest.mark.parametrize(
    ("asked", "error", "message"),
    [
        ({"clients": 2, "folds": 2}, SettingsError, "choose one way to cut, not 2: clients=, folds="),
        (
            {"clients": 2, "shuffle": True},
            SettingsError,
            "splitter= and shuffle=True go with folds=, not with clients=",
        ),
        ({"partition": "iid"}, SettingsError, "partition='iid' needs clients=N"),
        ({"clients": 50}, DataError, "cannot give 50 clients 10 rows each: there are 178 rows"),
    ],
)
def test_what_cannot_be_asked(asked: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        picsc.audit(wine(), target="target", **asked)
    with pytest.raises(SettingsError, match="partition='dirichlet' needs a target of classes"):
        picsc.audit(wine(), target="alcohol", clients=2, partition="dirichlet")


def test_the_command_invents_clients(tmp_path: Path) -> None:
    wine().to_csv(tmp_path / "wine.csv", index=False)
    asked = ["audit", str(tmp_path / "wine.csv"), "--clients", "3", "--partition", "classes", "--classes", "2"]
    result = CliRunner().invoke(app, [*asked, "--draws", "99", "--seed", "0"])
    assert result.exit_code == 1
    assert "3 clients, 2 of the classes each (NIID-Bench: noniid-#label2)" in " ".join(result.stdout.split())


# Recipes

AUDIT = "title: t\nverb: audit\ndata: [wdbc.csv]\ndraws: 99\nlevel: 0.05\n"


def recipe(folder: Path, text: str) -> Path:
    path = folder / "one.yaml"
    path.write_text(text, encoding="utf-8")
    load_wine(as_frame=True).frame.to_csv(folder / "wdbc.csv", index=False)
    return path


def test_a_recipe_audits_partitions_times_clients(tmp_path: Path) -> None:
    text = f"{AUDIT}clients: {{noise: 3}}\ngrids: {{partition: [iid, noise], clients: [2, 3]}}\n"
    [loaded] = load_recipes([recipe(tmp_path, text)])
    asked = [(task.settings.clients.partition, task.settings.clients.clients) for task in loaded.tasks]  # type: ignore[union-attr]
    assert asked == [("iid", 2), ("iid", 3), ("noise", 2), ("noise", 3)]
    [table] = run_recipes([replace(loaded, tasks=loaded.tasks[1::2])]).tables
    assert [(row.clients, row.pieces, row.verdict) for row in table.rows] == [
        ("3 clients, iid", 3, "ok"), ("3 clients, noise", 3, "shift"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ("grids: {partition: [iid]}\n", "clients.clients: must be given, since grids.partition invents"),
        ("grids: {clients: [2], folds: [2]}\n", "grids.folds = [2]: must be left out, since clients are invented"),
        (
            "clients: {clients: 2}\ngrids: {clients: [2]}\n",
            "clients.clients = 2: must be left out, since grids.clients",
        ),
        ("cut: {shuffle: true}\ngrids: {clients: [2]}\n", "cut.shuffle = true: must be left out, since grids invents"),
        ("cut: {batches: 2}\ngrids: {clients: [2]}\n", "cut.batches = 2: must be left out, since grids invents"),
    ],
)
def test_what_a_recipe_must_not_say(tmp_path: Path, more: str, message: str) -> None:
    with pytest.raises(SettingsError) as caught:
        load_recipes([recipe(tmp_path, AUDIT + more)])
    assert message in str(caught.value)
