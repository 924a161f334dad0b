"""Everything `picsc fed` can be told."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from picsc.settings.base import Settings
from picsc.settings.choices import FED_METHODS, DeviceName, FedMethod, ModelName
from picsc.settings.cutting import PartitionSettings
from picsc.settings.reading import ReadSettings


class FedSettings(Settings):
    """Everything `picsc fed` can be told, apart from the data."""

    read: ReadSettings = ReadSettings()
    clients: PartitionSettings = PartitionSettings()
    methods: tuple[FedMethod, ...] = FED_METHODS
    """What to run."""
    model: ModelName = "auto"
    """auto is mlp for tables, lenet for images, bag for words, lstm for characters."""
    hidden: Annotated[int, Field(ge=1, le=4096)] | None = None
    """Hidden units of mlp, width of bag's embeddings, or units of lstm; None is 32, 32 and 256."""
    rounds: Annotated[int, Field(ge=1, le=100_000)] = 30
    epochs: Annotated[int, Field(ge=1)] = 2
    """Passes of a client over its rows in a round."""
    steps: Annotated[int, Field(ge=1)] | None = None
    """Steps of a client in a round instead of epochs."""
    batch_size: Annotated[int, Field(ge=1)] | None = None
    """Rows per step; None is 32 for tables and 64 for the others."""
    lr: Annotated[float, Field(gt=0, le=1e30)] | Literal["auto"] = "auto"
    """Learning rate of clients; auto chooses for every method among `picsc.federated.rounds.RATES` on training rows."""
    momentum: Annotated[float, Field(ge=0, lt=1)] = 0.0
    weight_decay: Annotated[float, Field(ge=0)] = 0.0
    server_lr: Annotated[float, Field(gt=0)] = 1.0
    server_momentum: Annotated[float, Field(ge=0, lt=1)] = 0.0
    """Share of the server's last step that is kept, of every method."""
    sample: Annotated[float, Field(gt=0, le=1)] = 1.0
    """Share of the clients that take part in a round."""
    mean: Literal["rows", "clients"] = "rows"
    """What the plain mean weighs clients by: their rows, or all alike."""
    proximal: Annotated[float, Field(ge=0)] = 0.01
    """mu of FedProx."""
    strength: Annotated[float, Field(ge=0)] = 0.1
    """lambda of Eq. 16 and of FedCurv."""
    alpha: Annotated[float, Field(ge=0, le=1)] = 0.9
    """Weight of the past in the smoothed Fisher information (Eq. 15)."""
    gamma: Annotated[float, Field(ge=0)] | None = None
    """Threshold of Eq. 14's tau; None is its calibrated 95 % quantile when nothing is shifted."""
    delta: Annotated[float, Field(gt=0)] = 1e-4
    """Prior precision of the Fisher-weighted mean."""
    aggregate: Literal["auto", "fisher", "mean"] = "auto"
    """How PIcsC joins its clients; auto is what measurement says for the model."""
    validation: Annotated[float, Field(gt=0, lt=1)] = 0.2
    """Share of every client's rows that judge; data with an official test part use that."""
    most_rows: Annotated[int, Field(ge=1)] | None = None
    """Most rows that a client learns from, a random part of those it has; at most as many judge for it."""
    target_accuracy: Annotated[float, Field(gt=0, le=1)] | None = None
    """Accuracy to count rounds and bytes to; None is what fedavg ends with."""
    repeats: Annotated[int, Field(ge=1, le=1000)] | None = None
    """Runs with other seeds of partition, weights and minibatches; None is 3 for tables, 1 for the others."""
    allow_failures: Annotated[int, Field(ge=0)] = 0
    """Clients that may fail in a round and be left out of it."""
    device: DeviceName = "auto"
    seed: Annotated[int, Field(ge=0, lt=2**32)] = 0
    jobs: Annotated[int, Field(ge=1)] = 1
    """Processes; never changes a number."""

    @property
    def keys(self) -> tuple[str, ...]:
        """Columns that are no covariates."""
        return () if self.clients.by is None else (self.clients.by,)
