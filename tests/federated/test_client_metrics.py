"""Metrics by name of federated methods: scikit-learn's own numbers on each client's test rows, and what is missing."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from sklearn.metrics import average_precision_score, log_loss, mean_absolute_error, roc_auc_score

import picsc
from picsc.datasets.images import from_images
from picsc.datasets.memory import from_memory
from picsc.datasets.table import Dataset
from picsc.errors import SettingsError
from picsc.evaluation.judging import column_of
from picsc.federated.build_clients import build
from picsc.federated.client_metrics import client_metrics
from picsc.federated.clients.mlps import ClientMlps
from picsc.federated.holdings import federated_split
from picsc.federated.refit import refit
from picsc.settings import FedSettings
from picsc.settings.by_keyword import from_keywords

QUICK = {"rounds": 3, "repeats": 3, "lr": 0.05, "methods": ("fedavg", "picsc"), "by": "site"}


def rows(n: int = 240) -> pd.DataFrame:
    generator = np.random.default_rng(0)
    x = generator.normal(size=n)
    frame = pd.DataFrame({"x": x, "z": generator.normal(size=n)})
    frame["site"] = generator.choice(["north", "south", "west"], n)
    return frame.assign(y=(x + generator.normal(size=n) > 0).astype(int))


def federated(frame: pd.DataFrame, **keywords: Any) -> tuple[Dataset, FedSettings]:
    settings = from_keywords(FedSettings, "fed", {"target": "y", **QUICK, **keywords})
    data = from_memory(frame, None, settings.read, keys=settings.keys)
    assert isinstance(data, Dataset)
    return data, settings


@pytest.mark.parametrize("numbers", [False, True])
def test_they_are_scikit_learns_on_each_clients_test_rows(numbers: bool) -> None:
    frame = rows()
    if numbers:
        frame["y"] = frame["x"] * 20 - 1000
    names = ("mae",) if numbers else ("roc_auc", "average_precision", "log_loss")
    data, settings = federated(frame, metrics=names, methods=("fedavg",), repeats=1)
    made = refit(data, settings, picsc.federate_dataset(data, settings))
    split = federated_split(data, settings, seed=0)
    clients = build(split, settings, device=torch.device("cpu"), workers=1)
    assert isinstance(clients, ClientMlps)
    theta = torch.from_numpy(made.model.theta.copy())
    found, reasons = client_metrics(split, settings, clients, theta)
    assert not reasons
    outputs = clients.test_outputs(theta[None])[0].numpy()
    start = 0
    for i, held in enumerate(split.test):
        part, y = outputs[start : start + len(held)].astype(float), frame["y"].to_numpy()[held]
        start += len(held)
        if numbers:
            trained = frame["y"].to_numpy()[np.concatenate(split.train)]
            assert found[column_of("mae")][i] == pytest.approx(
                mean_absolute_error(y, part * trained.std() + trained.mean())
            )
            continue
        share = np.exp(part)[:, data.target.levels.index("1")]  # type: ignore[union-attr]
        assert found[column_of("roc_auc")][i] == pytest.approx(roc_auc_score(y, share))
        assert found[column_of("average_precision")][i] == pytest.approx(average_precision_score(y, share))
        assert found[column_of("log_loss")][i] == pytest.approx(log_loss(y, share), rel=1e-5)


def test_the_report_has_means_intervals_and_tests_over_seeds() -> None:
    data, settings = federated(rows(), metrics=("accuracy", "roc_auc"))
    report = picsc.federate_dataset(data, settings)
    for method in report.methods:
        accuracy, auc = method.metrics
        assert accuracy.mean == pytest.approx(method.accuracy)
        assert accuracy.interval is not None
        assert method.interval is not None
        assert accuracy.interval.low == pytest.approx(method.interval.low)
        np.testing.assert_allclose(accuracy.pieces, method.clients)  # type: ignore[arg-type]
        [difference], [plain] = accuracy.differences, method.differences
        assert (difference.value, difference.p) == (pytest.approx(plain.accuracy), pytest.approx(plain.p))
        assert auc.interval is not None
        assert (auc.missing, auc.reason) == (0, "")
    assert report.lines[3].startswith("accuracy (higher is better): picsc ")
    assert "of fedavg" in report.lines[4]


def test_a_client_of_one_class_has_none_and_the_others_stand() -> None:
    frame = rows()
    frame.loc[frame["site"] == "north", "y"] = 1
    data, settings = federated(frame, metrics=("roc_auc", "brier"), repeats=1)
    report = picsc.federate_dataset(data, settings)
    auc, brier = report.methods[0].metrics
    north = [client.name for client in report.clients].index("site=north")
    assert auc.pieces[north] is None
    assert (auc.missing, auc.reason) == (1, "no roc_auc: one class only")
    assert auc.mean == pytest.approx(np.mean([each for each in auc.pieces if each is not None]))
    assert None not in brier.pieces
    assert brier.reason == "no test: there is one repeat only, and repeats are tested over"


def test_rows_of_a_shared_test_part_weigh_as_each_clients_classes() -> None:
    generator = np.random.default_rng(0)
    pixels = generator.integers(0, 255, (90, 1, 16, 16)).astype(np.uint8)
    images = replace(from_images(pixels, np.arange(90) % 3), test=np.arange(60, 90))
    chosen = {"clients": 3, "partition": "dirichlet", "model": "mlp", "rounds": 2, "repeats": 1, "lr": 0.05}
    settings = from_keywords(FedSettings, "fed", {**chosen, "methods": ("fedavg",), "metrics": ("accuracy",)})
    [method] = picsc.federate_dataset(images, settings).methods
    np.testing.assert_allclose(method.metrics[0].pieces, method.clients)  # type: ignore[arg-type]


def test_metrics_of_the_other_kind_are_refused_before_training() -> None:
    data, settings = federated(rows(), metrics=("rmse",))
    with pytest.raises(SettingsError, match="--metric rmse is for numbers, and the target 'y' holds classes"):
        picsc.federate_dataset(data, settings)
