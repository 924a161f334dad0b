"""What tables, images and texts are trained with where settings leave it open, and the rows that take part."""

from __future__ import annotations

from typing import Literal

import numpy as np
import torch
from numpy.typing import NDArray

from picsc.datasets.images import ImageSet
from picsc.datasets.images import label_rows as image_rows
from picsc.datasets.rows import Rows, with_label
from picsc.datasets.table import Dataset
from picsc.datasets.texts import TokenSet
from picsc.datasets.texts import label_rows as text_rows
from picsc.errors import SettingsError
from picsc.reports.common import Finding
from picsc.settings import PenaltyName, TrainSettings
from picsc.training.jobs import Trainer, TrainingRecipe
from picsc.training.network_inputs import inputs_of
from picsc.training.network_trainer import NetworkTrainer
from picsc.training.table_trainer import TableTrainer

FULL_BATCH = 10_000
"""Rows up to which a step sees all of them, as printed."""
TABLE_BATCH = 1024
NETWORK_BATCH = 64
"""Of images and texts."""
Kind = Literal["table", "images", "texts"]
RATES: dict[Kind, float] = {"table": 0.02, "images": 0.001, "texts": 0.003}
"""Learning rates."""


def kind_of(data: Dataset | ImageSet | TokenSet) -> Kind:
    """What is trained on."""
    return "table" if isinstance(data, Dataset) else "images" if isinstance(data, ImageSet) else "texts"


def rows_of(data: Dataset | ImageSet | TokenSet, findings: list[Finding], *, verb: str) -> tuple[Dataset, Rows]:
    """The rows with a label, as a table, and which of them are an official test part.

    Args:
        data: whatever was read.
        findings: told of rows without a label.
        verb: what needs labels, for the message.

    Raises:
        SettingsError: the table has no target.
    """
    if isinstance(data, Dataset):
        return labelled(data, findings, verb=verb), np.empty(0, np.int64)
    return image_rows(data) if isinstance(data, ImageSet) else text_rows(data), data.test


def labelled(dataset: Dataset, findings: list[Finding], *, verb: str) -> Dataset:
    """The rows with a label.

    Args:
        dataset: a table.
        findings: told of rows without a label.
        verb: what needs labels, for the message.

    Raises:
        SettingsError: the table has no target.
    """
    if dataset.target is None:
        raise SettingsError(f"{dataset.name}: {verb} needs a target; name one with --target")
    return with_label(dataset, findings)


def recipe_of(train: TrainSettings, rows: int, kind: Kind) -> TrainingRecipe:
    """Defaults that depend on the data, filled in.

    Args:
        train: as given.
        rows: that a model learns from, about.
        kind: of the data.
    """
    batch_size = train.batch_size
    if batch_size is None and (kind != "table" or rows > FULL_BATCH):
        batch_size = TABLE_BATCH if kind == "table" else NETWORK_BATCH
    epochs = train.epochs or (5 if kind != "table" else 200 if batch_size is None else 20)
    lr = train.lr or RATES[kind]
    return TrainingRecipe(epochs, lr, batch_size, train.optimizer, train.momentum, patience=train.patience)


def trainer_of(
    data: Dataset | ImageSet | TokenSet,
    recipe: TrainingRecipe,
    train: TrainSettings,
    penalty: PenaltyName,
    device: torch.device,
    *,
    weights: NDArray[np.float64] | None = None,
) -> Trainer:
    """The trainer of this kind of data.

    Args:
        data: a table whose rows all have a label, images or bags of words.
        recipe: how.
        train: its precision.
        penalty: Algorithm 1's divergence.
        device: where.
        weights: (n,) row weights of a table.
    """
    if isinstance(data, Dataset):
        return TableTrainer(data, recipe, penalty, weights, device)
    return NetworkTrainer(inputs_of(data), recipe, penalty, device, train.precision)
