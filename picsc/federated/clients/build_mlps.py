"""Clients with networks of one hidden layer, made of encoded rows: all clients', or one's."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from picsc.datasets.encoding import Covariates
from picsc.datasets.rows import Rows
from picsc.equations.likelihood import Likelihood
from picsc.federated.cell_sizes import fewest_in_cell
from picsc.federated.clients.evaluation import TestRows
from picsc.federated.clients.local_steps import LocalRecipe
from picsc.federated.clients.mlps import ClientMlps
from picsc.settings import FedSettings

TABLE_BATCH, OTHER_BATCH = 32, 64
"""Rows of a minibatch, where the settings give no number."""
MLP_UNITS, BAG_WIDTH, LSTM_UNITS = 32, 32, 256
"""Hidden units or width of embeddings, where the settings give no number."""
NO_TEST_ROWS = TestRows(torch.empty(0, dtype=torch.int64), torch.empty(0, dtype=torch.int64), None, 0)
"""Of clients whose test rows are not known yet."""


def recipe(settings: FedSettings, kind: str) -> LocalRecipe:
    """Local training, with the defaults of the model filled in."""
    return LocalRecipe(
        settings.epochs,
        settings.batch_size or (TABLE_BATCH if kind == "mlp" else OTHER_BATCH),
        settings.steps,
        settings.momentum,
        settings.weight_decay,
    )


@dataclass(frozen=True, slots=True)
class EncodedRows:
    """Rows as the networks with one hidden layer see them."""

    x: NDArray[np.float32]
    """Encoded features, (n, f)."""
    y: NDArray[np.generic]
    """Class codes, or numbers in standard deviations of the training rows, (n,)."""
    kind: Likelihood
    classes: int
    """Number of classes; 1 for numbers."""
    covariates: Covariates
    """Kinds of the features."""
    unit: float = 1.0
    """One of `y` in standard deviations over all rows."""
    numbers: NDArray[np.int64] | None = None
    """Number of each row among the rows of all clients, (n,), where only those of one client are here."""


def mlps(
    rows: EncodedRows,
    train: tuple[Rows, ...],
    told: tuple[Rows, ...],
    test: TestRows | None,
    settings: FedSettings,
    device: torch.device,
) -> ClientMlps:
    """Clients with networks of one hidden layer.

    Args:
        rows: of all these clients.
        train: numbers of the rows that each client trains on.
        told: numbers of the rows that each client's summaries are of.
        test: test rows; None is none yet.
        settings: model and local training.
        device: of the models.
    """
    labels = torch.from_numpy(rows.y.astype(np.float32 if rows.kind == "numbers" else np.int64)).to(device)
    return ClientMlps(
        x=torch.cat([torch.from_numpy(rows.x), torch.ones(len(rows.x), 1)], 1).to(device),
        y=labels,
        train=train,
        test=test or NO_TEST_ROWS,
        likelihood=rows.kind,
        outputs=rows.classes,
        hidden=settings.hidden or MLP_UNITS,
        recipe=recipe(settings, "mlp"),
        covariates=rows.covariates,
        told=told,
        fewest=fewest_in_cell(settings.min_client_rows),
        unit=rows.unit,
        numbers=rows.numbers,
    )
