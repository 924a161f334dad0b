import re
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from picsc.errors import DataError, SettingsError
from picsc.fragments import Partition, partition
from picsc.settings import PartitionSettings

WAYS = ("iid", "dirichlet", "classes", "quantity", "noise")


def sizes(found: Partition) -> list[int]:
    return [len(client.rows) for client in found.fragments]


def owners(found: Partition, n: int) -> np.ndarray:
    owner = np.full(n, -1)
    for i, client in enumerate(found.fragments):
        owner[client.rows] = i
    return owner


@st.composite
def problems(draw: st.DrawFn) -> tuple[np.ndarray, PartitionSettings, int]:
    n = draw(st.integers(2, 300))
    c = draw(st.integers(1, 6))
    rng = np.random.default_rng(draw(st.integers(0, 99)))
    labels = rng.choice(c, n, p=rng.dirichlet(np.full(c, 0.7)))
    asked = PartitionSettings(
        clients=draw(st.integers(2, 40)),
        partition=draw(st.sampled_from(WAYS)),
        concentration=draw(st.sampled_from([1e-320, 1e-6, 0.05, 0.5, 100.0, 1e6])),
        classes=draw(st.integers(1, 6)),
        min_rows=draw(st.integers(1, 12)),
    )
    return labels, asked, draw(st.integers(0, 2**32 - 1))


@given(problems())
@settings(max_examples=300, deadline=None)
def test_every_row_has_one_client_and_every_client_its_rows(problem: tuple[np.ndarray, PartitionSettings, int]) -> None:
    labels, asked, seed = problem
    try:
        found = partition(labels, len(labels), asked, seed=seed)
    except (DataError, SettingsError):
        return  # when that may happen, the tests below say
    rows = np.concatenate([client.rows for client in found.fragments])
    assert np.array_equal(np.sort(rows), np.arange(len(labels)))
    assert all((np.diff(client.rows) > 0).all() and client.rows.dtype == np.int64 for client in found.fragments)
    assert [client.name for client in found.fragments] == [f"client {i + 1}" for i in range(asked.clients or 0)]
    assert {client.kind for client in found.fragments} == {"client"}
    assert min(sizes(found)) >= asked.min_rows
    again = partition(labels, len(labels), asked, seed=seed)
    assert np.array_equal(owners(again, len(labels)), owners(found, len(labels)))
    assert again.words == found.words


@given(problems())
@settings(max_examples=100, deadline=None)
def test_only_classes_can_fail_where_there_are_rows_enough(problem: tuple[np.ndarray, PartitionSettings, int]) -> None:
    labels, asked, seed = problem
    way = asked.partition if asked.partition != "classes" else "dirichlet"
    enough = asked.model_copy(update={"partition": way, "min_rows": 1, "clients": min(asked.clients or 2, len(labels))})
    assert min(sizes(partition(labels, len(labels), enough, seed=seed))) >= 1


@pytest.mark.parametrize("way", WAYS)
def test_another_seed_gives_other_rows(way: str) -> None:
    labels = np.arange(500) % 5
    asked = PartitionSettings(clients=7, partition=way, min_rows=1)  # type: ignore[arg-type]
    one, two = (owners(partition(labels, 500, asked, seed=seed), 500) for seed in (0, 1))
    assert (one != two).any()


def test_p37_dirichlet_of_a_class_that_runs_out_ends() -> None:
    """100 rows, 95 of one class, 20 clients, concentration 0.05, at least 3 rows each."""
    labels = np.repeat([0, 1], [95, 5])
    asked = PartitionSettings(clients=20, partition="dirichlet", concentration=0.05, min_rows=3)
    before = time.perf_counter()
    found = [partition(labels, 100, asked, seed=seed) for seed in range(20)]
    assert (time.perf_counter() - before) / 20 < 1
    assert {sum(sizes(each)) for each in found} == {100}
    assert min(min(sizes(each)) for each in found) == 3
    assert all("moved so that every client has 3" in each.words for each in found)


def test_vanishing_concentration_gives_each_class_to_one_client() -> None:
    labels = np.arange(1000) % 4
    found = partition(
        labels, 1000, PartitionSettings(clients=4, partition="dirichlet", concentration=1e-6, min_rows=250), seed=0
    )
    assert sizes(found) == [250] * 4  # the cap of n / N rows leaves a full client out of later classes
    assert all(len(np.unique(labels[client.rows])) == 1 for client in found.fragments)


def test_large_concentration_gives_everybody_the_same() -> None:
    labels = np.arange(1000) % 4
    asked = PartitionSettings(clients=5, partition="dirichlet", concentration=1e6)
    table = [
        np.bincount(labels[client.rows], minlength=4) for client in partition(labels, 1000, asked, seed=0).fragments
    ]
    assert np.abs(np.array(table) - 50).max() <= 2


def test_dirichlet_shares_have_the_moments_of_the_distribution() -> None:
    """Share of one client in one class among 4: mean 1/4, variance a (A - a) / (A^2 (A + 1)) with A = 4 a.

    The mean of 2,000 shares is within 6 standard errors with probability above 1 - 1e-8, their variance within 25 %.
    """
    asked = PartitionSettings(clients=4, partition="quantity", concentration=0.5, min_rows=1)
    shares = np.array([sizes(partition(None, 10_000, asked, seed=seed)) for seed in range(2_000)]) / 10_000
    variance = 0.5 * 1.5 / (4 * 3)
    assert abs(shares[:, 0].mean() - 0.25) < 6 * np.sqrt(variance / 2_000)
    assert shares[:, 3].var() == pytest.approx(variance, rel=0.25)


def test_one_class_is_divided_like_quantities() -> None:
    found = partition(np.zeros(200, np.int64), 200, PartitionSettings(clients=5, partition="dirichlet"), seed=3)
    assert sum(sizes(found)) == 200
    assert min(sizes(found)) >= 10


def test_classes_are_shared_equally_by_the_clients_that_have_them() -> None:
    labels = np.arange(1200) % 6
    found = partition(labels, 1200, PartitionSettings(clients=12, partition="classes", classes=2), seed=4)
    table = np.array([np.bincount(labels[client.rows], minlength=6) for client in found.fragments])
    assert ((table > 0).sum(1) == 2).all()
    assert all(table[i, i % 6] > 0 for i in range(12))
    shared = [column[column > 0] for column in table.T]
    assert max(int(np.ptp(column)) for column in shared) <= 1


def test_a_class_that_no_client_drew_is_not_lost() -> None:
    labels = np.repeat(np.arange(10), 30)
    found = partition(labels, 300, PartitionSettings(clients=3, partition="classes", classes=1), seed=0)
    table = np.array([np.bincount(labels[client.rows], minlength=10) for client in found.fragments])
    assert table.sum() == 300
    assert sorted((table > 0).sum(1)) == [3, 3, 4]
    assert "7 classes that no client drew were given" in found.words


def test_class_names_that_do_not_occur_are_no_classes() -> None:
    labels = np.where(np.arange(100) % 2 == 0, 3, 70)
    found = partition(labels, 100, PartitionSettings(clients=2, partition="classes", classes=1), seed=0)
    assert sizes(found) == [50, 50]


def test_iid_sizes_differ_by_at_most_one() -> None:
    assert sorted(set(sizes(partition(None, 103, PartitionSettings(clients=10), seed=0)))) == [10, 11]


def test_noise_grows_from_client_to_client() -> None:
    found = partition(None, 103, PartitionSettings(clients=5, partition="noise", noise=0.2), seed=0)
    np.testing.assert_allclose(found.noise, [0, 0.05, 0.1, 0.15, 0.2])
    assert partition(None, 103, PartitionSettings(clients=5), seed=0).noise.tolist() == [0] * 5


@pytest.mark.parametrize("way", WAYS)
def test_more_clients_than_rows(way: str) -> None:
    asked = PartitionSettings(clients=9, partition=way, min_rows=1)  # type: ignore[arg-type]
    with pytest.raises(
        DataError, match=r"cannot give 9 clients 1 rows each: there are 8 rows; use at most --clients 8"
    ):
        partition(np.arange(8) % 2, 8, asked, seed=0)


def test_too_few_rows_names_what_is_possible() -> None:
    with pytest.raises(DataError, match=r"use at most --clients 10 or --min-rows 8$"):
        partition(None, 100, PartitionSettings(clients=12, min_rows=10), seed=0)


def test_more_classes_than_there_are() -> None:
    with pytest.raises(SettingsError, match="--classes 3: there are 2 classes"):
        partition(np.arange(100) % 2, 100, PartitionSettings(clients=4, partition="classes", classes=3), seed=0)


@pytest.mark.parametrize("way", ["dirichlet", "classes"])
def test_a_set_without_labels_has_no_label_partition(way: str) -> None:
    with pytest.raises(SettingsError, match="needs a target of classes"):
        partition(None, 100, PartitionSettings(clients=4, partition=way), seed=0)  # type: ignore[arg-type]


def test_what_the_message_about_classes_advises_works() -> None:
    labels = np.repeat([0, 1], [95, 5])
    asked = PartitionSettings(clients=8, partition="classes", classes=1, min_rows=2)
    with pytest.raises(DataError, match="the best of 50 draws leaves one with 1") as caught:
        partition(labels, 100, asked, seed=0)
    clients, rows = (int(number) for number in re.findall(r"--clients (\d+) or --min-rows (\d+)", str(caught.value))[0])
    assert (clients, rows) == (5, 1)
    partition(labels, 100, asked.model_copy(update={"clients": clients}), seed=0)
    partition(labels, 100, asked.model_copy(update={"min_rows": rows}), seed=0)
    with pytest.raises(DataError):
        partition(labels, 100, asked.model_copy(update={"clients": clients + 1}), seed=0)
