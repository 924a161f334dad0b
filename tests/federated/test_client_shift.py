"""Tables are normal per class with well-separated means, so that a label split moves every covariate."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.stats import ks_2samp

from picsc.auditing.pixel_statistics import pixel_columns
from picsc.auditing.within_classes import strata_of, within_classes
from picsc.datasets.images import from_images
from picsc.datasets.load import from_frame
from picsc.datasets.table import Dataset
from picsc.federated import client_shift as module
from picsc.federated.client_shift import client_shifts
from picsc.fragments import Fragment, partition
from picsc.reports.fed import ClientShift
from picsc.settings import PartitionSettings, ReadSettings
from picsc.simulation.feature_noise import noisy, noisy_images, noisy_table


def frame(n: int = 900, *, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    y = rng.integers(3, size=n)
    x = 1.5 * np.array([[0, 1, 2], [1, 2, 0], [2, 0, 1]])[y] + rng.normal(size=(n, 3))
    table = pd.DataFrame(x, columns=["a", "b", "c"])
    table["kind"] = np.where(rng.random(n) < (y + 1) / 4, "u", np.where(rng.random(n) < 0.5, "v", "w"))
    table["target"] = np.array(["red", "green", "blue"])[y]
    return table


def alike(clients: int, n: int) -> pd.DataFrame:
    """Such a table in which each client of `every` has the same rows, a little moved: no chance makes them differ."""
    data = frame(n // clients).loc[np.arange(n) // clients].reset_index(drop=True)
    data[["a", "b", "c"]] += 0.01 * np.random.default_rng(1).normal(size=(n, 3))
    return data


def table(data: pd.DataFrame) -> Dataset:
    return from_frame(data, ReadSettings(), name="generated")


def codes(data: Dataset) -> np.ndarray:
    assert data.target is not None
    return np.asarray(data.target.values, np.int64)


def numbers(data: Dataset) -> np.ndarray:
    """The three numeric columns, (3, n)."""
    return np.stack([column.values for column in data.columns[:3]])  # noqa: PD011


def shifts(data: Dataset, seed: int = 0, **asked: object) -> tuple[ClientShift, ...]:
    labels = codes(data)
    found = partition(labels, data.n, PartitionSettings(**asked), seed=seed)  # type: ignore[arg-type]
    return client_shifts(data, found.fragments, noise=found.noise, seed=seed, jobs=1)


def every(k: int, n: int) -> tuple[Fragment, ...]:
    return tuple(Fragment("client", f"client {i + 1}", np.arange(i, n, k)) for i in range(k))


def test_iid_clients_show_nothing() -> None:
    """Four tables, two families each with an error rate of 5 %: six or more errors have probability 4e-7."""
    found = [shifts(table(frame(400, seed=seed)), seed, clients=4) for seed in range(4)]
    labels = sum(any(client.labels_shifted for client in each) for each in found)
    covariates = sum(any(client.covariates == "shift" or client.concept_shifted for client in each) for each in found)
    assert labels + covariates <= 5


def test_a_split_of_labels_is_label_shift_and_nothing_else() -> None:
    found = shifts(table(frame()), clients=5, partition="dirichlet", concentration=0.1)
    assert all(client.labels_shifted for client in found)
    assert {client.covariates for client in found} == {"ok"}
    assert found[0].reason.startswith("label shift: P(target) differs by 0.")
    assert found[0].reason.endswith("no covariate shift beyond it")
    assert min(client.label_kl or 0 for client in found) > 0.05


def test_a_client_with_another_mean_is_covariate_shift() -> None:
    data = alike(5, 900)
    data.loc[::5, "a"] += 1.0
    found = client_shifts(table(data), every(5, 900), noise=None, seed=0, jobs=1)
    assert [client.covariates for client in found] == ["shift", "ok", "ok", "ok", "ok"]
    assert "a moved" in found[0].reason
    assert not any(client.labels_shifted for client in found)
    assert (found[0].covariate_kl or 0) > 2 * max(client.covariate_kl or 0 for client in found[1:])


def test_both_shifts_are_found_in_one_client() -> None:
    """The first client has all reds and nothing else; its covariate also differs among reds."""
    data = frame()
    first = np.flatnonzero(data["target"] == "red")[:150]
    data.loc[first, "b"] += 1.0
    others = np.setdiff1d(np.arange(900), first)
    clients = [first, others[::2], others[1::2]]
    fragments = [Fragment("client", f"client {i}", np.sort(rows)) for i, rows in enumerate(clients, start=1)]
    found = client_shifts(table(data), fragments, noise=None, seed=0, jobs=1)
    assert found[0].labels_shifted
    assert found[0].covariates == "shift"
    assert "; within classes, b moved" in found[0].reason


def test_noise_is_covariate_shift() -> None:
    found = shifts(table(frame()), clients=4, partition="noise", noise=3.0)
    assert found[3].covariates == "shift"
    assert not any(client.labels_shifted for client in found)


def test_numeric_target_that_is_split_is_label_shift() -> None:
    rng = np.random.default_rng(0)
    y = rng.normal(size=600)
    data = table(pd.DataFrame({"x": y + rng.normal(size=600), "z": rng.normal(size=600), "target": y}))
    high = rng.random(600) < 1 / (1 + np.exp(-2 * y))
    clients = [Fragment("client", name, np.flatnonzero(rows)) for name, rows in (("high", high), ("low", ~high))]
    found = client_shifts(data, clients, noise=None, seed=0, jobs=1)
    assert [client.labels_shifted for client in found] == [True, True]
    assert [client.covariates for client in found] == ["ok", "ok"]
    assert found[0].label_effect == pytest.approx(ks_2samp(y[high], y[~high]).statistic, abs=1 / 256)


def test_without_a_target_only_covariates_are_tested() -> None:
    data = alike(4, 400)
    data.loc[::4, "a"] += 2.0
    bare = replace(table(data), target=None)
    found = client_shifts(bare, every(4, 400), noise=None, seed=0, jobs=1)
    assert [client.covariates for client in found] == ["shift", "ok", "ok", "ok"]
    assert {(client.label_kl, client.label_p, client.labels_shifted) for client in found} == {(None, None, False)}


def test_most_clients_and_most_rows_are_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_CLIENTS", 3)
    monkeypatch.setattr(module, "MOST_ROWS", 400)
    rows = np.split(np.arange(900), [30, 330, 530, 800])
    clients = [Fragment("client", f"client {i}", part) for i, part in enumerate(rows, start=1)]
    found = client_shifts(table(frame()), clients, noise=None, seed=0, jobs=1)
    assert [client.rows for client in found] == [30, 300, 200, 270, 100]
    assert [client.audited > 0 for client in found] == [False, True, True, True, False]
    assert sum(client.audited for client in found) == pytest.approx(400 * 770 / 900, abs=6)
    assert found[0].reason == "not audited: only the 3 largest of 5 clients are"


def test_one_client_has_nothing_to_be_compared_with() -> None:
    (found,) = client_shifts(table(frame(60)), every(1, 60), noise=None, seed=0, jobs=1)
    assert (found.covariates, found.audited) == ("inconclusive", 0)


def test_same_seed_same_answer_whatever_the_cores() -> None:
    one, two = (client_shifts(table(frame(300)), every(3, 300), noise=None, seed=5, jobs=jobs) for jobs in (1, 2))
    assert one == two


def test_images_with_noise_are_covariate_shift() -> None:
    rng = np.random.default_rng(0)
    y = np.arange(400) // 4 % 2
    pixels = rng.integers(60, 100, size=(400, 16, 16))
    pixels[:, :8] += 80 * y[:, None, None]
    images = from_images(pixels.astype(np.uint8), y)
    found = client_shifts(images, every(4, 400), noise=np.array([0, 0, 0, 0.2]), seed=0, jobs=1)
    assert [client.covariates for client in found] == ["ok", "ok", "ok", "shift"]
    assert not any(client.labels_shifted for client in found)


def test_within_classes_every_number_is_standard_normal() -> None:
    data = table(frame())
    assert data.target is not None
    strata = strata_of(data.target)
    scored = within_classes(data, strata, seed=0)
    for scores, raw in zip(numbers(scored), numbers(data), strict=True):
        for stratum in range(3):
            inside = scores[strata == stratum]
            assert inside.mean() == pytest.approx(0, abs=1e-9)
            assert inside.std() == pytest.approx(1, abs=0.02)
            assert (np.argsort(inside) == np.argsort(raw[strata == stratum])).all()
    assert scored.columns[3] == data.columns[3]


def test_noise_of_one_client_depends_on_seed_and_client_only() -> None:
    values = np.ones((4, 3), np.float32)
    first = noisy(values, 0.5, seed=1, client=2)
    assert np.array_equal(first, noisy(values, 0.5, seed=1, client=2))
    assert (first != noisy(values, 0.5, seed=1, client=3)).all()
    assert (first != noisy(values, 0.5, seed=2, client=2)).all()
    assert np.array_equal(noisy(values, 0.0, seed=1, client=2), values)
    assert first.dtype == np.float32
    wide = noisy(np.zeros(40_000, np.float32), 3.0, seed=0, client=0)
    assert wide.std() == pytest.approx(3.0, rel=0.03)  # 8 standard errors


def test_noise_on_a_table_is_in_units_of_the_column() -> None:
    data = frame(4_000)
    data["a"] *= 100.0
    data.loc[7, "b"] = np.nan
    before = table(data)
    after = noisy_table(before, every(2, 4_000), np.array([0.0, 0.5]), seed=0)
    added = numbers(after) - numbers(before)
    assert np.nanmax(np.abs(added[:, 0::2])) == 0
    spread = np.nanstd(added[:, 1::2], axis=1)
    np.testing.assert_allclose(spread, 0.5 * np.nanstd(numbers(before), axis=1), rtol=0.1)
    assert np.array_equal(np.isnan(numbers(after)), np.isnan(numbers(before)))
    assert after.columns[3] == before.columns[3]


def test_noise_on_images_stays_within_black_and_white() -> None:
    images = from_images(np.full((100, 8, 8), 128, np.uint8), np.arange(100) % 2)
    after = noisy_images(images, [each.rows for each in every(2, 100)], np.array([0.0, 0.1]), seed=0)
    assert (after.pixels[0::2] == 128).all()
    assert after.pixels[1::2].std() == pytest.approx(25.5, rel=0.1)
    loud = noisy_images(images, [each.rows for each in every(2, 100)], np.array([0.0, 5.0]), seed=0).pixels
    assert set(np.unique(loud[1::2])) >= {0, 255}
    assert (images.pixels == 128).all()


def test_pixel_columns_of_a_known_image() -> None:
    stripes = np.tile(np.array([0, 100], np.uint8), (1, 1, 4, 2))
    brightness, contrast, roughness = (float(column.values[0]) for column in pixel_columns(stripes))  # noqa: PD011
    assert (brightness, contrast) == (50, 50)
    assert roughness == pytest.approx(100 / np.sqrt(2))  # all steps across, none down
