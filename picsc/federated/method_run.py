"""One run: all rounds of one method with one seed, as a summary needs them. Letters: K clients, t rounds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from picsc.reports.metrics import MetricName

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Run:
    """All rounds of one method with one seed."""

    seed: int
    clients: tuple[str, ...]
    """Names of the clients, K."""
    rate: float
    """Local learning rate."""
    constant: float | None
    """The method's own constant (mu, lambda or delta); None for a method that has none."""
    whitened: bool
    """True if it trained on whitened features."""
    parameters: int
    """Number of parameters of the model."""
    features: int
    """Number of encoded features of a table; 0 for images and texts."""
    memory: int
    """Number of floats that server and clients keep between rounds."""
    records: dict[str, Floats]
    """History of the run, see `picsc.federated.run_state.RunState.records`."""
    metric_names: tuple[MetricName, ...] = ()
    """Metrics that are asked for."""
    metrics: Mapping[str, Floats] = field(default_factory=dict)
    """Values on each client's test rows after the last round, by column of a metric, (K,); NaN where there is none."""
    metric_reasons: Mapping[str, str] = field(default_factory=dict)
    """By metric the reason why some client has none, whatever the model."""

    @property
    def failed(self) -> bool:
        """True if the run was given up."""
        return int(self.records["failed_round"]) > 0

    @property
    def accuracy(self) -> Floats:
        """Mean over clients after every round, (t,)."""
        return over_clients(self.records["accuracy"])

    @property
    def log_loss(self) -> Floats:
        """Mean over clients after every round, (t,), nats per row."""
        return over_clients(self.records["log_loss"])

    def last(self, name: str) -> float:
        """A score of all clients together after the last round; NaN where there is none."""
        values = self.records[name]
        return float(values[-1]) if len(values) else float("nan")  # runs from before the score have none


def over_clients(values: Floats) -> Floats:
    """Mean over clients that have test rows, (t, K) to (t,); NaN where none has a number."""
    there = ~np.isnan(values)
    count = there.sum(1)
    return np.where(count > 0, np.nansum(values, 1) / np.maximum(count, 1), np.nan)
