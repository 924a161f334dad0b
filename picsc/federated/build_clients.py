"""Clients with their networks: what trains on the rows that each of them holds."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor, nn

from picsc.datasets.encoding import fit, of_numbers, of_table
from picsc.datasets.images import ImageSet, pixel_scale
from picsc.datasets.rows import Rows
from picsc.datasets.table import Dataset
from picsc.datasets.texts import TokenSet
from picsc.errors import SettingsError
from picsc.federated.clients.evaluation import TestRows, own_rows, shared_rows
from picsc.federated.clients.local_steps import LocalRecipe
from picsc.federated.clients.mlps import ClientMlps
from picsc.federated.clients.networks import ClientModules
from picsc.federated.holdings import (
    BAG_WIDTH,
    LSTM_UNITS,
    MLP_UNITS,
    OTHER_BATCH,
    TABLE_BATCH,
    TUNING,
    FederatedSplit,
    set_aside,
)
from picsc.settings import FedSettings
from picsc.training.networks import bag_of_embeddings, character_lstm, lenet

LSTM_FISHER_ROWS = 128
"""Rows of a client that the Fisher information of an LSTM is taken of; its gradients come row by row."""


def build(
    held: FederatedSplit,
    settings: FedSettings,
    *,
    device: torch.device,
    workers: int,
    tuning_seed: int | None = None,
) -> ClientMlps | ClientModules:
    """The clients of one repeat, ready to train.

    Args:
        held: who holds what.
        settings: model and local training.
        device: where models are.
        workers: threads.
        tuning_seed: set a part of the training rows aside to judge learning rates, instead of the test rows, which
            then stay unseen; None judges by the test rows.

    Raises:
        SettingsError: the model does not go with the data.
    """
    train, judges = held.train, None
    if tuning_seed is not None:
        parts = [set_aside(rows, TUNING, [tuning_seed, 3, i]) for i, rows in enumerate(train)]
        train = tuple(part[0] for part in parts)
        judges = own_rows([torch.from_numpy(part[1]) for part in parts])
    elif not len(held.official):
        judges = own_rows([torch.from_numpy(rows) for rows in held.test])
    kind = model_kind(held.data, settings)
    if kind == "mlp":
        return _mlps(held, settings, train, judges, device)
    return _modules(held, settings, kind, train, judges, device, workers)


def model_kind(data: Dataset | ImageSet | TokenSet, settings: FedSettings) -> str:
    """Which model is trained.

    Args:
        data: to train on.
        settings: may ask for one.

    Raises:
        SettingsError: it does not go with the data.
    """
    fitting = {Dataset: ("mlp",), ImageSet: ("lenet", "mlp"), TokenSet: ("bag", "lstm")}[type(data)]
    if isinstance(data, TokenSet) and data.unit == "characters":
        fitting = ("lstm", "bag")
    if settings.model not in ("auto", *fitting):
        raise SettingsError(f"--model {settings.model} does not go with {data.name}: use {' or '.join(fitting)}")
    return fitting[0] if settings.model == "auto" else settings.model


def recipe(settings: FedSettings, kind: str) -> LocalRecipe:
    """Local training, with the defaults of the model filled in."""
    return LocalRecipe(
        settings.epochs,
        settings.batch_size or (TABLE_BATCH if kind == "mlp" else OTHER_BATCH),
        settings.steps,
        settings.momentum,
        settings.weight_decay,
    )


def _mlps(
    held: FederatedSplit, settings: FedSettings, train: tuple[Rows, ...], judges: TestRows | None, device: torch.device
) -> ClientMlps:
    data = held.data
    learned = np.concatenate(train)
    if isinstance(data, Dataset):
        assert data.target is not None  # noqa: S101 - `holdings` refuses tables without one
        x = fit(data, learned).transform(data).matrix
        covariates, kind = of_table(data), data.target.kind
        y, classes = data.target.values, max(1, len(data.target.levels))
    else:
        assert isinstance(data, ImageSet)  # noqa: S101 - `model_kind` refuses an mlp on texts
        mean, deviation = pixel_scale(data.pixels[learned])
        x = ((data.pixels.reshape(data.n, -1) - np.float32(mean)) / np.float32(deviation or 1)).astype(np.float32)
        covariates, kind = of_numbers(x.shape[1]), "classes"
        y, classes = data.labels, len(data.classes)
    if kind == "numbers":
        values = y.astype(np.float64)
        y = ((values - values[learned].mean()) / (values[learned].std() or 1)).astype(np.float32)
    labels = torch.from_numpy(y if kind == "numbers" else y.astype(np.int64)).to(device)
    return ClientMlps(
        x=torch.cat([torch.from_numpy(x), torch.ones(len(x), 1)], 1).to(device),
        y=labels,
        train=train,
        judges=judges or _official(held, train, labels, classes),
        likelihood=kind,
        outputs=classes,
        hidden=settings.hidden or MLP_UNITS,
        recipe=recipe(settings, "mlp"),
        covariates=covariates,
        columns=isinstance(data, Dataset),
    )


def _official(held: FederatedSplit, train: tuple[Rows, ...], labels: Tensor, classes: int) -> TestRows:
    shares = torch.stack([torch.bincount(labels[rows], minlength=classes) for rows in train])
    return shared_rows(torch.from_numpy(held.official).to(labels.device), labels, shares)


def _modules(
    held: FederatedSplit,
    settings: FedSettings,
    kind: str,
    train: tuple[Rows, ...],
    judges: TestRows | None,
    device: torch.device,
    workers: int,
) -> ClientModules:
    data = held.data
    assert not isinstance(data, Dataset)  # noqa: S101 - `model_kind` gives tables an mlp
    labels = torch.from_numpy(data.labels).to(device)
    take, make = _texts(data, kind, settings, device) if isinstance(data, TokenSet) else _images(data, train, device)
    return ClientModules(
        take=take,
        y=labels,
        classes=len(data.classes),
        train=train,
        judges=judges or _official(held, train, labels, len(data.classes)),
        model=make,
        recipe=recipe(settings, kind),
        fisher_rows=LSTM_FISHER_ROWS if kind == "lstm" else None,
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
