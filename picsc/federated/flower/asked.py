"""What the server of a federation asks its clients for, as text; tensors travel beside it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from picsc.datasets.encoding import Encoder, encoded_names
from picsc.datasets.table import Column, Dataset
from picsc.evaluation.target_units import TargetUnits
from picsc.federated.flower.scales import Scale, pooled_scale
from picsc.federated.flower.schema import Agreed
from picsc.settings import FedMethod, FedSettings


class _Text(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Units(_Text):
    """Zero and unit of a numeric target over the training rows of all clients."""

    mean: float
    deviation: float
    unit: float
    """The deviation, in standard deviations over all rows."""


class SentScales(_Text):
    """What a client sends once, so that all encode alike."""

    train: int
    """Number of its training rows."""
    columns: tuple[Scale, ...]
    """Of its training rows, for each column that takes part and is not coded."""
    target: Scale | None = None
    """Of a numeric target over its training rows."""
    target_all: Scale | None = None
    """The same over all its rows."""


class Encoding(_Text):
    """The encoding that all clients use."""

    agreed: Agreed
    means: tuple[float | None, ...]
    """Of each column; None for one without values."""
    deviations: tuple[float, ...]
    units: Units | None = None

    @classmethod
    def of(cls, agreed: Agreed, sent: Sequence[SentScales]) -> Encoding:
        """The encoding over the training rows of all clients.

        Args:
            agreed: the columns.
            sent: of each client.
        """
        pooled = iter([pooled_scale(parts) for parts in zip(*(each.columns for each in sent), strict=True)])
        scales = [(0.0, 0.0) if column.coded else next(pooled) for column in agreed.empty_columns()]
        units = None
        if agreed.target.kind == "numbers":
            mean, deviation = pooled_scale([each.target for each in sent if each.target is not None])
            everything = pooled_scale([each.target_all for each in sent if each.target_all is not None])[1]
            units = Units(mean=mean, deviation=deviation or 1.0, unit=(deviation or 1.0) / (everything or 1.0))
        return cls(
            agreed=agreed,
            means=tuple(None if math.isnan(mean) else mean for mean, _ in scales),
            deviations=tuple(deviation for _, deviation in scales),
            units=units,
        )

    def encoder(self) -> Encoder:
        """The encoder of rows."""
        scales = zip((math.nan if mean is None else mean for mean in self.means), self.deviations, strict=True)
        return Encoder(tuple(scales), encoded_names(self.table()))

    def table(self) -> Dataset:
        """A table of these columns without rows."""
        columns: tuple[Column, ...] = self.agreed.empty_columns()
        return Dataset("federation", "federation", 0, columns, (), None)

    @property
    def target_units(self) -> TargetUnits | None:
        """Zero and unit of a numeric target; None for classes."""
        return None if self.units is None else TargetUnits(self.units.mean, self.units.deviation)

    @property
    def outputs(self) -> int:
        """Number of classes; 1 for numbers."""
        return max(1, len(self.agreed.target.levels))


class AskedTask(_Text):
    """One method that clients train or are tested for."""

    method: FedMethod
    constant: float | None
    rates: tuple[float, ...]
    flagged: tuple[bool, ...] | None = None
    """For each rate whether the trigger calls the client shifted; None where it was not used."""


class Asked(_Text):
    """One message of the server."""

    settings: FedSettings
    run: Annotated[str, Field(pattern="^[a-z0-9-]*$")] = ""
    """Name of the run, under which clients keep what they remember."""
    client: int = 0
    """Number of the client."""
    first: int = 0
    """Number of its first row among the rows of all clients."""
    seed: int = 0
    round: int = 0
    """Number of the round, counted from 0."""
    last: int = -1
    """Number of the last round in which the client took part; -1 for none."""
    agreed: Agreed | None = None
    """The columns that scales are asked of."""
    encoding: Encoding | None = None
    tasks: tuple[AskedTask, ...] = ()
    summaries: tuple[int, ...] = ()
    """Places of the tasks at whose models summaries are asked for."""
