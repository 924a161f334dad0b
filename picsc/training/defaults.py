"""Defaults of training by kind of data: batch size, epochs and learning rate, the labelled rows, and the trainer."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray

from picsc.datasets.data import Data, DataKind
from picsc.datasets.encoding import fit
from picsc.datasets.rows import Rows, with_label
from picsc.datasets.table import Dataset
from picsc.errors import SettingsError
from picsc.fragments.unlabelled import pieces_without_label
from picsc.reports.common import Finding
from picsc.settings import PenaltyName, TrainSettings
from picsc.settings.choices import ImageModel
from picsc.training.jobs import Trainer, TrainingRecipe
from picsc.training.network_inputs import inputs_of
from picsc.training.network_trainer import NetworkTrainer
from picsc.training.own.estimator_trainer import EstimatorTrainer
from picsc.training.own.module_trainer import ModuleTrainer
from picsc.training.own.named import own_model
from picsc.training.table_trainer import TableTrainer

FULL_BATCH = 10_000
"""Rows of a table up to which every step sees all of them, as printed."""
TABLE_BATCH = 1024
"""Rows per step of a larger table."""
NETWORK_BATCH = 64
"""Images or texts per step."""
RATES: dict[DataKind, float] = {"table": 0.02, "images": 0.001, "texts": 0.003}
"""Learning rate by kind of data."""


def rows_of(data: Data, findings: list[Finding], *, verb: str, by: str | None = None) -> tuple[Dataset, Rows]:
    """The rows with a label, as a table, and which of them are an official test part.

    Args:
        data: a table, images or texts.
        findings: receives a finding if rows have no label, and one that names pieces without any other.
        verb: the command that needs labels, for the message.
        by: column with one piece per value, if pieces are made so.

    Raises:
        SettingsError: the table has no target.
    """
    if data.kind == "table":
        return labelled(data, findings, verb=verb, by=by), np.empty(0, np.int64)
    return data.as_table(), data.test


def labelled(dataset: Dataset, findings: list[Finding], *, verb: str, by: str | None = None) -> Dataset:
    """The rows with a label.

    Args:
        dataset: a table.
        findings: receives a finding if rows have no label, and one that names pieces without any other.
        verb: the command that needs labels, for the message.
        by: column with one piece per value, if pieces are made so.

    Raises:
        SettingsError: the table has no target.
    """
    if dataset.target is None:
        raise SettingsError(f"{dataset.name}: {verb} needs a target; name one with --target")
    findings += pieces_without_label(dataset, by)
    return with_label(dataset, findings)


def recipe_of(train: TrainSettings, rows: int, kind: DataKind) -> TrainingRecipe:
    """Settings of training, with the defaults of the data where they are open.

    Args:
        train: the settings given.
        rows: rows that a model is trained on, about.
        kind: of the data.
    """
    batch_size = train.batch_size
    if batch_size is None and (kind != "table" or rows > FULL_BATCH):
        batch_size = TABLE_BATCH if kind == "table" else NETWORK_BATCH
    epochs = train.epochs or (5 if kind != "table" else 200 if batch_size is None else 20)
    lr = train.lr or RATES[kind]
    return TrainingRecipe(
        epochs, lr, batch_size, train.optimizer, train.momentum, patience=train.patience, steps=train.steps
    )


def trainer_of(
    data: Data,
    recipe: TrainingRecipe,
    train: TrainSettings,
    penalty: PenaltyName,
    device: torch.device,
    *,
    weights: NDArray[np.float64] | None = None,
    groups: NDArray[np.int64] | None = None,
    counts: NDArray[np.float64] | None = None,
) -> Trainer:
    """The trainer of this kind of data.

    Args:
        data: a table whose rows all have a label, images or bags of words.
        recipe: epochs, minibatches and optimiser.
        train: settings, for the precision.
        penalty: divergence between fragments in Algorithm 1.
        device: device of the models.
        weights: (n,) row weights of a table.
        groups: (n,) group of each row of a table, which no split of training rows divides.
        counts: (n,) how much each row of a table counts, in training and in scores; in place of `weights`.

    Raises:
        SettingsError: a network of images for other data.
    """
    if train.own and data.kind != "table":
        raise SettingsError(f"{data.name}: --model {train.model} is for tables; {data.kind} have networks of their own")
    if train.model != "auto" and data.kind != "images" and not train.own:
        raise SettingsError(f"{data.name}: --model {train.model} is for images; leave it out")
    if data.kind != "table":
        network: ImageModel = train.model  # type: ignore[assignment] # `own` is false
        return NetworkTrainer(inputs_of(data, network), recipe, penalty, device, train.precision)
    table = TableTrainer(data, recipe, penalty, weights if counts is None else counts, device, groups, counts=counts)
    own = own_model(train)
    if own is None:
        return table
    if own.kind == "estimator":
        return EstimatorTrainer(table, own)
    return ModuleTrainer(table, own, len(fit(data, np.arange(data.n)).names), train.precision)
