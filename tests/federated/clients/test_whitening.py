"""Whitening as a choice of the whole federation, from sums that clients send."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

import picsc
from picsc.datasets.encoding import of_numbers
from picsc.datasets.images import from_images
from picsc.errors import SettingsError
from picsc.federated.clients.whitening import pooled_moments, whitening_matrix
from picsc.settings import FedSettings, validated
from tests.federated.test_federate import people, settings_of, table
from tests.federations import drawn_clients


def test_every_method_trains_on_the_same_whitened_columns() -> None:
    """Columns that are multiples of one another are no trouble to any method once they are whitened."""
    frame = people(rows=40, shift=0.0)
    frame["b"] = frame["a"] + 0.05 * frame["b"]
    few = {"lr": 0.3, "rounds": 4, "repeats": 1}
    plain, whitened = (
        picsc.federate_dataset(table(given, frame), given)
        for given in (settings_of(**few), settings_of(**few, whiten=True))
    )
    for before, after in zip(plain.methods, whitened.methods, strict=True):
        assert before.log_loss != after.log_loss
        assert (before.bytes_up, before.bytes_down) == (after.bytes_up, after.bytes_down)
        once = after.curve[0].bytes - before.curve[0].bytes
        assert once == 4 * 4 * (3 * 4 // 2 + 3 * 3)  # four clients; second moments up, the matrix down
    assert whitened.model.endswith("parameters, whitened columns")
    assert "whitened" not in plain.model


def test_summaries_stay_those_of_the_columns_as_they_were() -> None:
    clients = drawn_clients((30, 40))
    theta = clients.start(0)[None]
    (before,), (after,) = (each.summaries(0, theta, seed=1) for each in (clients, clients.whitened()))
    assert before is not None
    assert after is not None
    assert torch.equal(before.means, after.means)
    assert torch.equal(before.kl_halves, after.kl_halves)


def test_a_product_that_a_client_does_not_send_is_the_mean_over_the_others() -> None:
    clients = drawn_clients((30, 40))
    x = clients.x.clone()
    x[clients.train[0], 0] = torch.where(torch.arange(30) < 2, 1.0, 0.0)  # a cell of two rows
    clients = replace(clients, x=x, fewest=5)
    sums, rows = clients.second_moments(0)
    assert not rows[0].any()
    assert not sums[:, 0].any()
    assert rows[1:, 1:].unique().tolist() == [30.0]
    pooled = pooled_moments(clients.second_moments(k) for k in range(2))
    own = x[clients.train[1], :-1].double()
    torch.testing.assert_close(pooled[0], (own.T @ own / 40)[0])
    everybody = x[np.concatenate(clients.train), 1:-1].double()
    torch.testing.assert_close(pooled[1:, 1:], everybody.T @ everybody / 70)


def test_what_nobody_sends_is_uncorrelated_and_of_a_common_size() -> None:
    sums, rows = torch.diag(torch.tensor([8.0, 0.0, 4.0])).double(), torch.full((3, 3), 2.0).double()
    rows[1] = rows[:, 1] = 0
    pooled = pooled_moments([(sums, rows)])
    assert pooled.tolist() == [[4.0, 0.0, 0.0], [0.0, 3.0, 0.0], [0.0, 0.0, 2.0]]
    assert bool(whitening_matrix(pooled).isfinite().all())


def test_only_columns_of_a_table_are_whitened() -> None:
    rng = np.random.default_rng(0)
    images = from_images(rng.integers(0, 255, (60, 16, 16)).astype(np.uint8), rng.integers(0, 2, 60))
    for model in ("mlp", "lenet"):
        settings = validated(FedSettings, clients={"clients": 2}, model=model, whiten=True, rounds=1, lr=0.1)
        with pytest.raises(SettingsError, match=r"--whiten: only the columns of a table are whitened, .* holds images"):
            picsc.federate_dataset(images, settings)
    wide = replace(drawn_clients((30, 30)), x=torch.zeros(60, 514), covariates=of_numbers(513))
    with pytest.raises(SettingsError, match="513 encoded features: need 512"):
        wide.whitened()
