"""The verb: same bytes for a seed, resumption, the origin of clients, and refusals."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch

import picsc
from picsc.datasets.images import from_images
from picsc.datasets.load import from_frame
from picsc.datasets.table import Dataset
from picsc.datasets.texts import TokenSet
from picsc.errors import DataError, SettingsError
from picsc.federated import federate, resumable_rounds
from picsc.federated.holdings import federated_split
from picsc.runtime.devices import pick_device
from picsc.runtime.versions import versions
from picsc.settings import FedSettings, validated


def people(rows: int = 24, clients: int = 4, *, shift: float = 1.0) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    who = np.repeat(np.arange(clients), rows)
    y = rng.integers(0, 2, len(who))
    x = rng.normal(size=(len(who), 3)) + 1.5 * y[:, None] + shift * rng.normal(size=(clients, 3))[who]
    return pd.DataFrame(x, columns=list("abc")).assign(who=[f"p{i}" for i in who], y=np.where(y == 1, "yes", "no"))


def settings_of(**values: object) -> FedSettings:
    given = {"read": {"target": "y"}, "clients": {"by": "who"}, "rounds": 3, "epochs": 1, "hidden": 3, "repeats": 2}
    return validated(FedSettings, **{**given, **values})


def same_people(rows: int, clients: int) -> pd.DataFrame:
    """Clients that hold the same rows, a little moved: no chance makes one of them differ."""
    one = people(rows=rows, clients=1, shift=0.0)
    rng = np.random.default_rng(1)
    copies = [one.assign(a=one["a"] + 0.01 * rng.normal(size=rows), who=f"p{k}") for k in range(clients)]
    return pd.concat(copies, ignore_index=True)


def table(settings: FedSettings, frame: pd.DataFrame | None = None) -> Dataset:
    return from_frame(people() if frame is None else frame, settings.read, keys=settings.keys)


def bytes_of(report: object) -> str:
    return json.dumps(report.as_dict(), sort_keys=True)  # type: ignore[attr-defined]


@pytest.fixture(scope="module")
def report() -> picsc.FedReport:
    settings = settings_of()
    return picsc.federate_dataset(table(settings), settings)


def test_every_method_is_scored_on_every_client(report: picsc.FedReport) -> None:
    assert [method.method for method in report.methods] == list(settings_of().methods)
    for method in report.methods:
        assert len(method.clients) == len(report.clients) == 4
        assert method.accuracy == pytest.approx(np.mean([seed for seed in method.seeds if seed is not None]))
        assert len(method.curve) == 3
        assert method.curve[-1].accuracy == pytest.approx(method.accuracy)
        assert [difference.against for difference in method.differences] == [
            other.method for other in report.methods if other is not method
        ]
    assert report.failed == 0
    assert report.partition == "4 clients by who"
    assert report.target == report.methods[0].accuracy


def test_differences_are_of_the_seeds(report: picsc.FedReport) -> None:
    ours, fedavg = (next(m for m in report.methods if m.method == name) for name in ("picsc", "fedavg"))
    difference = next(d for d in ours.differences if d.against == "fedavg")
    assert difference.accuracy == pytest.approx(np.subtract(ours.seeds, fedavg.seeds).mean())


def test_only_triggered_methods_have_a_tau(report: picsc.FedReport) -> None:
    triggered = [method.method for method in report.methods if method.tau]
    assert triggered == ["picsc-scaffold", "picsc"]
    assert all(point.flagged is not None for point in report.methods[-1].curve)


def test_p38_same_seed_same_bytes_whatever_the_number_of_jobs(report: picsc.FedReport, tmp_path: Path) -> None:
    settings = settings_of(jobs=2)
    again = picsc.federate_dataset(table(settings), settings, run_dir=tmp_path / "two")
    assert bytes_of(again) == bytes_of(report)
    other = settings_of(seed=1)
    assert bytes_of(picsc.federate_dataset(table(other), other)) != bytes_of(report)


@pytest.mark.parametrize("after", [2, 5, 8])
def test_an_interrupted_run_goes_on_to_the_same_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, after: int
) -> None:
    """While rates are chosen, between them and the rounds, and in the second repeat."""
    monkeypatch.setattr(resumable_rounds, "KEEP_EVERY", -1.0)
    settings = settings_of(methods=("scaffold", "picsc"))
    everything: list[str] = []
    whole = picsc.federate_dataset(table(settings), settings, run_dir=tmp_path / "whole", progress=everything.append)
    given: list[str] = []

    def stop(line: str) -> None:
        given.append(line)
        if len(given) == after:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        picsc.federate_dataset(table(settings), settings, run_dir=tmp_path / "run", progress=stop)
    rest: list[str] = []
    resumed = picsc.federate_dataset(
        table(settings), settings, run_dir=tmp_path / "run", resume=True, progress=rest.append
    )
    assert bytes_of(resumed) == bytes_of(whole)
    rounds, again, before = (
        sum(", round " in line or ", choosing" in line for line in each) for each in (everything, rest, given)
    )
    assert again == rounds - before


def test_another_run_is_not_gone_on_with(tmp_path: Path) -> None:
    settings = settings_of(methods=("fedavg",), lr=0.1, rounds=1, repeats=1)
    picsc.federate_dataset(table(settings), settings, run_dir=tmp_path / "run")
    other = settings_of(methods=("fedavg",), lr=0.2, rounds=1, repeats=1)
    with pytest.raises(SettingsError, match=r"it holds another run: settings\.lr was 0\.1, now 0\.2"):
        picsc.federate_dataset(table(other), other, run_dir=tmp_path / "run", resume=True)


def test_a_run_is_not_resumed_by_other_code_or_on_another_device(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`auto` is the same setting on every machine, and the version the same for many states of the code."""
    settings = settings_of(methods=("fedavg",), lr=0.1, rounds=1, repeats=1)
    first = picsc.federate_dataset(table(settings), settings, run_dir=tmp_path / "run")
    assert first.manifest["device"] == pick_device("auto").name
    there = {**versions(), "picsc_code": "0" * 12}
    with monkeypatch.context() as patched:
        patched.setattr(federate, "versions", lambda: there)
        with pytest.raises(SettingsError, match=r'versions\.picsc_code was "[0-9a-f]{12}", now "000000000000"'):
            picsc.federate_dataset(table(settings), settings, run_dir=tmp_path / "run", resume=True)
    other = replace(pick_device("auto"), device=torch.device("meta"))
    monkeypatch.setattr(federate, "pick_device", lambda _: other)
    with pytest.raises(SettingsError, match=r'device was "\w+", now "meta"'):
        picsc.federate_dataset(table(settings), settings, run_dir=tmp_path / "run", resume=True)


def test_progress_has_rounds_accuracy_seconds_and_bytes(tmp_path: Path) -> None:
    settings, lines = settings_of(methods=("fedavg",), lr=0.1, repeats=1, rounds=1), []
    picsc.federate_dataset(table(settings), settings, run_dir=tmp_path / "run", progress=lines.append)
    of_repeat = [line for line in lines if line.startswith("repeat 1")]
    assert of_repeat[0] == "repeat 1: 20 parameters; floats kept between rounds: fedavg 20"
    assert "repeat 1, round 1 of 1: fedavg " in of_repeat[1]
    assert of_repeat[1].endswith(" MB")


def test_a_run_that_fails_with_every_rate_is_reported_with_its_client() -> None:
    settings = settings_of(lr=1e30, methods=("fedavg", "picsc"))
    report = picsc.federate_dataset(table(settings), settings)
    assert report.failed == 4
    failure = report.methods[0].failures[0]
    assert failure.client == "who=p0"
    assert "diverged with learning rate 1e+30" in failure.reason
    assert report.methods[0].accuracy is None
    assert report.summary[0] == "no method ended with finite numbers"
    bytes_of(report)


def test_invented_clients_and_their_noise() -> None:
    settings = settings_of(clients={"clients": 4, "partition": "noise", "noise": 2.0})
    data = from_frame(people().drop(columns="who"), settings.read)
    split = federated_split(data, settings, seed=0)
    assert split.noise is not None
    assert split.noise.tolist() == pytest.approx([0, 2 / 3, 4 / 3, 2])
    changed = split.data.columns[0].values - data.columns[0].values  # noqa: PD011 # type: ignore[union-attr]
    assert np.abs(changed[split.clients[0].rows]).max() == 0
    assert np.std(changed[split.clients[3].rows]) > np.std(changed[split.clients[1].rows])


def test_no_client_trains_on_test_rows() -> None:
    settings = settings_of()
    split = federated_split(table(settings), settings, seed=0)
    for client, train, test in zip(split.clients, split.train, split.test, strict=True):
        assert np.array_equal(np.sort(np.concatenate([train, test])), client.rows)
        assert len(test) == 5  # a fifth of 24


def test_a_client_of_one_row_trains_and_has_no_test_row() -> None:
    settings = settings_of(repeats=1, methods=("fedavg",), lr=0.1, min_client_rows=1)
    frame = people()
    report = picsc.federate_dataset(
        table(settings, frame[(frame["who"] != "p3") | ~frame["who"].duplicated()]), settings
    )
    assert report.methods[0].clients[3] is None
    assert any(finding.code == "clients-without-test" for finding in report.findings)


def test_an_official_test_part_is_weighted_to_each_clients_classes() -> None:
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 2, 200)
    pixels = (rng.integers(0, 100, (200, 16, 16)) + 100 * labels[:, None, None]).astype(np.uint8)
    images = replace(from_images(pixels, labels), test=np.arange(150, 200))
    settings = validated(
        FedSettings,
        clients={"clients": 3, "partition": "classes", "classes": 1},
        methods=("fedavg",), model="mlp", rounds=2, lr=0.01, repeats=1,
    )  # fmt: skip
    report = picsc.federate_dataset(images, settings)
    assert report.judged == "the official test part, 50 rows, weighted to each client's classes"
    assert {shift.name for shift in report.clients if shift.labels_shifted}


def test_a_client_trains_on_no_more_rows_than_it_may() -> None:
    settings = settings_of(most_rows=3)
    split = federated_split(table(settings), settings, seed=0)
    assert [len(rows) for rows in (*split.train, *split.test)] == [3] * 8
    assert all(not set(train) & set(test) for train, test in zip(split.train, split.test, strict=True))


def test_an_official_part_with_owners_tests_each_client_on_its_own_rows() -> None:
    texts = replace(words(), test=np.arange(45, 60))
    settings = validated(FedSettings, rounds=1, lr=0.1, methods=("fedavg",))
    split = federated_split(texts, settings, seed=0)
    for i, (train, test) in enumerate(zip(split.train, split.test, strict=True)):
        assert set(texts.owners[[*train, *test]]) == {i}
        assert max(train) < 45 <= min(test)
    report = picsc.federate_dataset(texts, settings)
    assert report.judged == "every client's rows of the official test part"


def test_p40_memory_is_a_model_and_one_per_client_only_where_clients_remember() -> None:
    settings = settings_of(rounds=1, lr=0.1, repeats=1)
    report = picsc.federate_dataset(table(settings), settings)
    d, clients = 3 * 4 + 2 * 4, 4
    kept = {method.method: method.memory for method in report.methods}
    assert kept["fedavg"] == kept["fedprox"] == kept["fisher-mean"] == d
    assert kept["picsc"] == 2 * d
    assert kept["scaffold"] == (2 + clients) * d
    assert kept["picsc-scaffold"] == (3 + clients) * d


@pytest.mark.slow
def test_p40_a_thousand_clients_take_less_than_1500_mb() -> None:
    """1,000 clients of 20 rows, all methods, in a process of its own; its peak is measured by the system."""
    script = """
import resource
import numpy as np, pandas as pd, picsc
rng = np.random.default_rng(0)
x = rng.normal(size=(20_000, 10))
frame = pd.DataFrame(x, columns=list("abcdefghij"))
frame = frame.assign(client=np.repeat(np.arange(1000), 20), y=np.where(x[:, 0] + rng.normal(size=20_000) > 0, "p", "q"))
picsc.federate(frame, target="y", by="client", rounds=2, repeats=1)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert int(done.stdout) < 1_500_000  # kilobytes


def words(owners: int = 3) -> TokenSet:
    rng = np.random.default_rng(0)
    n, length = 60, 6
    labels = rng.integers(0, 2, n)
    text = (rng.integers(1, 6, (n, length)) + 5 * labels[:, None]).astype(np.uint8).reshape(-1)
    return TokenSet(
        "words", "memory", "words", tuple("abcdefghij"), text, np.arange(n) * length, np.full(n, length), labels,
        ("bad", "good"), np.arange(n) % owners, tuple(f"shop {i}" for i in range(owners)), np.empty(0, np.int64), "00",
    )  # fmt: skip


def test_owners_of_texts_are_clients() -> None:
    settings = validated(FedSettings, rounds=8, epochs=4, hidden=4, lr=1.0, batch_size=8, methods=("fedavg", "picsc"))
    report = picsc.federate_dataset(words(), settings)
    assert report.partition == "3 clients by owner"
    assert report.model.startswith("bag of")
    assert report.methods[0].accuracy is not None
    assert report.methods[0].accuracy > 0.8
    assert {shift.covariates for shift in report.clients} == {"inconclusive"}


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"clients": {}}, "who are the clients"),
        ({"model": "lenet"}, "--model lenet does not go with memory: use mlp"),
    ],
)
def test_what_does_not_go_with_a_table_is_refused(values: dict[str, object], message: str) -> None:
    settings = settings_of(**values)
    with pytest.raises(SettingsError, match=message):
        picsc.federate_dataset(from_frame(people(), settings.read, keys=("who",)), settings)


def test_texts_have_no_columns_and_no_noise() -> None:
    with pytest.raises(SettingsError, match="its owners are the clients without --by"):
        picsc.federate_dataset(words(), validated(FedSettings, clients={"by": "who"}))
    noise = validated(FedSettings, clients={"clients": 3, "partition": "noise"})
    with pytest.raises(SettingsError, match="no features that noise could be added to"):
        picsc.federate_dataset(words(), noise)


def test_one_client_is_no_federation() -> None:
    settings = settings_of()
    with pytest.raises(DataError, match="nothing to compare"):
        picsc.federate_dataset(table(settings, people(clients=1)), settings)


def test_a_table_without_target_is_refused() -> None:
    settings = settings_of(read={"no_target": True})
    with pytest.raises(SettingsError, match="needs a target"):
        picsc.federate_dataset(table(settings), settings)


def test_the_audit_by_summaries_names_the_client_that_moved() -> None:
    settings = settings_of(rounds=2)
    alike = same_people(rows=150, clients=4)
    frame = alike.copy()
    frame.loc[frame["who"] == "p2", "a"] += 2
    report = picsc.audit_clients(table(settings, frame), settings)
    assert [client.verdict for client in report.clients] == ["ok", "ok", "shift", "ok"]
    assert report.verdict == "shift"
    d = 3 * 4 + 2 * 4
    assert report.bytes_up == 4 * (2 + d + 2 * 3 + 2 * 99 + 2)
    assert picsc.audit_clients(table(settings, alike), settings).verdict == "ok"


def test_numbers_are_federated_as_r_squared() -> None:
    rng = np.random.default_rng(0)
    frame = people().drop(columns="y")
    frame = frame.assign(y=frame["a"] + 0.1 * rng.normal(size=len(frame)))
    settings = settings_of(methods=("fedavg", "picsc"), rounds=20, lr=0.3)
    report = picsc.federate_dataset(table(settings, frame), settings)
    fedavg = report.methods[0]
    assert fedavg.whole is not None
    assert fedavg.accuracy is not None
    assert fedavg.accuracy < fedavg.whole - 0.1 < 0.9  # clients differ in their means, which one model of all explains
    assert report.as_dict()["metric"] == "R2"
    assert report.summary[0].startswith("mean R2 over ")
    assert (report.majority, fedavg.auc, fedavg.balanced_accuracy) == (None, None, None)


def test_federate_takes_frames_and_arrays() -> None:
    few = {"methods": ("fedavg",), "rounds": 1, "lr": 0.1, "repeats": 1}
    by_column = picsc.federate(people(), target="y", by="who", **few)  # type: ignore[arg-type]
    assert by_column.data.rows == 96
    frame = people()
    invented = picsc.federate(frame[["a", "b", "c"]].to_numpy(), frame["y"].to_numpy(), clients=3, **few)  # type: ignore[arg-type]
    assert len(invented.clients) == 3


@pytest.mark.parametrize("rounds", [1, 8, 9])
def test_a_run_that_diverges_among_the_finite_numbers_fails_in_the_same_round_however_many_there_are(
    rounds: int,
) -> None:
    rng = np.random.default_rng(0)
    frame = people().drop(columns="y")
    frame = frame.assign(y=frame["a"] + 0.1 * rng.normal(size=len(frame)))
    settings = settings_of(methods=("fedavg",), rounds=rounds, lr=30.0, repeats=1)
    report = picsc.federate_dataset(table(settings, frame), settings)
    (failure,) = report.methods[0].failures
    assert failure.round == 1
    assert "diverged with learning rate 30; the run is given up" in failure.reason
    assert (report.methods[0].accuracy, report.failed, report.without_result) == (None, 1, ("fedavg",))
    assert "fedavg, seed 0, round 1" in report.summary[2]
    assert "learning rate 30" in report.summary[2]
