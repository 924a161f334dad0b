"""Clients ready to train: the network and the local training that go with the data and the settings."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import torch
from torch import Tensor, nn

from picsc.datasets.data import Data, DataKind
from picsc.datasets.encoding import fit, of_numbers, of_table
from picsc.datasets.images import ImageSet, pixel_scale
from picsc.datasets.rows import Rows
from picsc.datasets.texts import TokenSet
from picsc.errors import SettingsError
from picsc.evaluation.target_units import TargetUnits
from picsc.federated.cell_sizes import fewest_in_cell
from picsc.federated.clients.build_mlps import BAG_WIDTH, LSTM_UNITS, EncodedRows, mlps, recipe
from picsc.federated.clients.evaluation import TestRows, own_rows, shared_rows
from picsc.federated.clients.mlps import ClientMlps
from picsc.federated.clients.networks import ClientModules
from picsc.federated.holdings import FederatedSplit
from picsc.federated.own_rows import set_aside
from picsc.settings import FedSettings
from picsc.training.networks import bag_of_embeddings, character_lstm, lenet

TUNING_SHARE = 0.25
"""Share of a client's training rows that learning rates are chosen on."""
LSTM_FISHER_ROWS = 128
"""Most rows of a client that the Fisher information of an LSTM is computed from; its gradients come row by row."""


def build(
    split: FederatedSplit,
    settings: FedSettings,
    *,
    device: torch.device,
    workers: int,
    tuning_seed: int | None = None,
    whitened: bool = False,
) -> ClientMlps | ClientModules:
    """The clients of one repeat, ready to train.

    Reading: what clients send before they train (means, deviations, summaries, second moments) is of all their training
        rows, also while learning rates are chosen on a part of them. Otherwise the server could subtract two statistics
        and have those of the few rows that were set aside.

    Args:
        split: the rows of each client.
        settings: model and local training.
        device: of the models.
        workers: number of threads.
        tuning_seed: seed with which a part of the training rows is set aside to choose learning rates on, so that the
            test rows stay unseen; None evaluates on the test rows.
        whitened: True for whitened columns of a table.

    Raises:
        SettingsError: the model does not fit the data, or its features cannot be whitened.
    """
    train, test = split.train, None
    if tuning_seed is not None:
        parts = [set_aside(rows, TUNING_SHARE, [tuning_seed, 3, i]) for i, rows in enumerate(train)]
        train = tuple(part[0] for part in parts)
        test = own_rows([torch.from_numpy(part[1]) for part in parts])
    elif not len(split.official_test):
        test = own_rows([torch.from_numpy(rows) for rows in split.test])
    kind = model_kind(split.data, settings)
    if kind == "mlp":
        clients = _mlps(split, settings, train, test, device)
        return clients.whitened() if whitened else clients
    refuse_whitening(split.data, settings)
    return _modules(split, settings, kind, train, test, device, workers)


FITTING: dict[DataKind, tuple[str, ...]] = {"table": ("mlp",), "images": ("lenet", "mlp"), "texts": ("bag", "lstm")}
"""Networks by kind of data; the first one is the default."""


def model_kind(data: Data, settings: FedSettings) -> str:
    """The name of the model that is trained.

    Args:
        data: to train on.
        settings: name of the model, or auto.

    Raises:
        SettingsError: the model does not fit the data.
    """
    fitting = FITTING[data.kind]
    if data.kind == "texts" and data.unit == "characters":
        fitting = ("lstm", "bag")
    if settings.model not in ("auto", *fitting):
        raise SettingsError(f"--model {settings.model} does not go with {data.name}: use {' or '.join(fitting)}")
    return fitting[0] if settings.model == "auto" else settings.model


def refuse_whitening(data: Data, settings: FedSettings) -> None:
    """Refuse to whiten what are no columns of a table.

    Raises:
        SettingsError: the settings ask for it.
    """
    if any(settings.whitenings) and data.kind != "table":
        asked = "--whiten" if settings.whiten else f"--inputs {settings.inputs}"
        raise SettingsError(f"{asked}: only the columns of a table are whitened, and {data.name} holds {data.kind}")


def _mlps(
    split: FederatedSplit, settings: FedSettings, train: tuple[Rows, ...], test: TestRows | None, device: torch.device
) -> ClientMlps:
    data = split.data
    training_rows = np.concatenate(split.train)
    if data.kind == "table":
        assert data.target is not None  # noqa: S101 - `holdings` refuses tables without one
        x = fit(data, training_rows).transform(data).matrix
        covariates, kind = of_table(data), data.target.kind
        y, classes = data.target.values, max(1, len(data.target.levels))
    else:
        assert data.kind == "images"  # noqa: S101 - `model_kind` refuses an mlp on texts
        mean, deviation = pixel_scale(data.pixels[training_rows])
        x = ((data.pixels.reshape(data.n, -1) - np.float32(mean)) / np.float32(deviation or 1)).astype(np.float32)
        covariates, kind = of_numbers(x.shape[1]), "classes"
        y, classes = data.labels, len(data.classes)
    unit = 1.0
    if kind == "numbers":
        units = TargetUnits.of(y[training_rows])
        unit = units.deviation / TargetUnits.of(y).deviation
        y = units.scaled(y)
    rows = EncodedRows(x, y, kind, classes, covariates, unit)
    clients = mlps(rows, train, split.train, test, settings, device)
    return clients if test is not None else replace(clients, test=_official_test(split, train, clients.y, classes))


def _official_test(split: FederatedSplit, train: tuple[Rows, ...], labels: Tensor, classes: int) -> TestRows:
    shares = torch.stack([torch.bincount(labels[rows], minlength=classes) for rows in train])
    return shared_rows(torch.from_numpy(split.official_test).to(labels.device), labels, shares)


def _modules(
    split: FederatedSplit,
    settings: FedSettings,
    kind: str,
    train: tuple[Rows, ...],
    test: TestRows | None,
    device: torch.device,
    workers: int,
) -> ClientModules:
    data = split.data
    assert data.kind != "table"  # noqa: S101 - `model_kind` gives tables an mlp
    labels = torch.from_numpy(data.labels).to(device)
    take, make = _texts(data, kind, settings, device) if data.kind == "texts" else _images(data, train, device)
    return ClientModules(
        take=take,
        y=labels,
        classes=len(data.classes),
        train=train,
        test=test or _official_test(split, train, labels, len(data.classes)),
        model=make,
        recipe=recipe(settings, kind),
        fisher_rows=LSTM_FISHER_ROWS if kind == "lstm" else None,
        fewest=fewest_in_cell(settings.min_client_rows),
        workers=workers,
    )


_Take = Callable[[Rows], Tensor]


_Make = Callable[[int], nn.Module]


def _images(data: ImageSet, train: tuple[Rows, ...], device: torch.device) -> tuple[_Take, _Make]:
    mean, deviation = pixel_scale(data.pixels[np.concatenate(train)])
    scale = torch.from_numpy(((np.arange(256) - mean) / (deviation or 1)).astype(np.float32)).to(device)
    pixels = torch.from_numpy(data.pixels).to(device)
    channels, side = data.pixels.shape[1], data.pixels.shape[3]

    def take(rows: Rows) -> Tensor:
        images = scale[pixels[torch.from_numpy(rows).to(device)].int()]
        return images.to(
            memory_format=torch.channels_last
        )  # faster on processors, see `picsc.federated.clients.networks`

    def make(seed: int) -> nn.Module:
        return lenet(channels, side, len(data.classes), seed=seed, device=device)

    return take, make


def _texts(data: TokenSet, kind: str, settings: FedSettings, device: torch.device) -> tuple[_Take, _Make]:
    words, classes = len(data.vocabulary), len(data.classes)

    def take(rows: Rows) -> Tensor:
        return torch.from_numpy(data.take(rows)).to(device)

    def make(seed: int) -> nn.Module:
        if kind == "bag":
            return bag_of_embeddings(words, classes, settings.hidden or BAG_WIDTH, seed=seed, device=device)
        return character_lstm(words, classes, settings.hidden or LSTM_UNITS, seed=seed, device=device)

    return take, make
