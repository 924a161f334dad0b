"""The model that `picsc fed --save-model` saves: which method, on which rows, with which rate, and on which columns."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch

import picsc
from picsc.datasets.images import from_images
from picsc.datasets.memory import from_memory
from picsc.datasets.table import Dataset
from picsc.errors import DataError, SettingsError
from picsc.federated.build_clients import build
from picsc.federated.clients.mlps import ClientMlps
from picsc.federated.federate import federate_dataset
from picsc.federated.holdings import federated_split
from picsc.federated.refit import check_refit, refit
from picsc.saved_models.folder import save_model
from picsc.saved_models.refitted import Refitted
from picsc.settings import FED_METHODS, FedSettings
from picsc.settings.by_keyword import from_keywords
from picsc.training.batched.mlp import predicted, unflatten

QUICK = {"rounds": 3, "repeats": 2, "lr": 0.05, "methods": ("fedavg", "picsc"), "by": "site"}


def rows(n: int = 160) -> pd.DataFrame:
    generator = np.random.default_rng(0)
    x = generator.normal(size=n)
    frame = pd.DataFrame({"x": x, "z": x + 0.1 * generator.normal(size=n), "c": generator.choice(["a", "b", "c"], n)})
    frame["site"] = generator.choice(["north", "south", "west"], n)
    return frame.assign(y=np.where(x + generator.normal(size=n) > 0, "late", "soon"))


def prepared(frame: pd.DataFrame | None = None, **keywords: Any) -> tuple[Dataset, FedSettings, picsc.FedReport]:
    settings = from_keywords(FedSettings, "fed", {"target": "y", **QUICK, **keywords})
    data = from_memory(rows() if frame is None else frame, None, settings.read, keys=settings.keys)
    assert isinstance(data, Dataset)
    return data, settings, federate_dataset(data, settings)


def saved(method: Any = None, frame: pd.DataFrame | None = None, **keywords: Any) -> Refitted:
    data, settings, report = prepared(frame, **keywords)
    return refit(data, settings, report, method)


def test_the_model_has_learned_from_all_rows_with_the_rate_of_the_first_repeat() -> None:
    data, settings, report = prepared(lr="auto", methods=("fedavg",))
    made = refit(data, settings, report)
    assert made.model.training_rows is not None
    assert made.model.training_rows.rows == data.n
    assert f"learning rate {report.methods[0].lr[0]:g}; as in the first repeat" in made.card
    turned = rows()
    split = federated_split(data, settings, seed=0)
    tested = split.test[0][:5]
    turned.loc[tested, "x"] += 3  # columns of test rows alone
    again, _, other = prepared(turned, lr="auto", methods=("fedavg",))
    assert other.methods[0].lr[0] == report.methods[0].lr[0]
    assert (refit(again, settings, report).model.theta != made.model.theta).any()


def test_one_round_of_one_step_is_a_step_on_all_rows() -> None:
    made = saved("fedavg", rounds=1, steps=1, batch_size=1000, lr=0.1, methods=("fedavg",))
    start = saved("fedavg", rounds=1, steps=1, batch_size=1000, lr=1e-12, methods=("fedavg",))
    frame = rows()
    module = start.model.module.train()
    codes = torch.tensor([start.model.target.classes.index(word) for word in frame["y"]])
    loss = torch.nn.functional.cross_entropy(module(start.model.encode(frame)), codes)
    gradient = torch.cat([each.flatten() for each in torch.autograd.grad(loss, list(module.parameters()))])
    np.testing.assert_allclose(made.model.theta, start.model.theta - 0.1 * gradient.numpy(), atol=1e-6)


def test_whitening_is_part_of_the_first_layer() -> None:
    data, settings, report = prepared(whiten=True, rounds=5)
    assert report.methods[0].whitened == (True, True)
    made = refit(data, settings, report, "picsc")
    assert "columns whitened in training" in made.card
    split = federated_split(data, settings, seed=0)
    held = tuple(client.rows for client in split.clients)
    device = torch.device("cpu")
    clients = build(replace(split, train=held, test=held), settings, device=device, workers=1, whitened=True)
    assert isinstance(clients, ClientMlps)
    theta = torch.from_numpy(np.random.default_rng(1).normal(size=len(made.model.theta)).astype(np.float32))
    weights = unflatten(theta[None, None], clients.features, clients.hidden, clients.outputs)
    folded = clients.on_plain_features(theta).numpy()
    table = made.model.read(rows())[0]
    outputs = predicted(weights, clients.x, "classes")[0].numpy()
    np.testing.assert_allclose(made.model.with_theta(folded).outputs(table), outputs, atol=1e-5)
    assert np.abs(made.model.with_theta(theta.numpy()).outputs(table) - outputs).max() > 0.1
    right = (made.model.predict(rows()) == rows()["y"].to_numpy()).mean()
    assert right > 0.7


@pytest.mark.parametrize("method", FED_METHODS)
def test_every_method_has_a_model(method: str) -> None:
    made = saved(method, methods=(method,), repeats=1, rounds=2)
    assert np.isfinite(made.model.predict_proba(rows())).all()
    assert f"method: {method}, named with --save-method" in made.card


def test_without_a_name_it_is_the_best_method() -> None:
    data, settings, report = prepared()
    made = refit(data, settings, report)
    best = max(report.methods, key=lambda each: each.accuracy or 0.0)
    assert (made.method, made.recommended) == (best.method, True)
    assert "the best mean score over clients in the report" in made.card
    assert "minus fedavg (p)" in made.card


def test_a_saved_model_gives_the_same_bits(tmp_path: Path) -> None:
    frame = rows()
    made = saved("fedavg", frame.assign(y=frame["x"] * 3 - 1000), repeats=1)
    save_model(made.model, tmp_path / "model", made.card)
    again = picsc.load_model(tmp_path / "model")
    assert (again.predict(frame) == made.model.predict(frame)).all()
    assert np.corrcoef(again.predict(frame), frame["x"])[0, 1] > 0.9
    assert abs(again.predict(frame).mean() + 1000) < 3


def test_what_has_no_model_is_refused() -> None:
    settings = from_keywords(FedSettings, "fed", {"target": "y", **QUICK})
    data = from_memory(rows(), None, settings.read, keys=settings.keys)
    with pytest.raises(SettingsError, match="it is none of the methods that run"):
        check_refit(data, settings, "scaffold")
    pixels = np.random.default_rng(0).integers(0, 255, (20, 1, 16, 16)).astype(np.uint8)
    with pytest.raises(SettingsError, match="--save-model saves models of tables; leave it out for images"):
        check_refit(from_images(pixels, np.arange(20) % 2), settings)


def test_no_result_no_model() -> None:
    data, settings, report = prepared(lr=1e9, methods=("fedavg",), repeats=1)
    with pytest.raises(DataError, match="no method has a result"):
        refit(data, settings, report)
