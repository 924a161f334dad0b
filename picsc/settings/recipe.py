"""Keys of a recipe that are no settings of its verb. Torch-free."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from picsc.settings import (
    CompareMethod,
    FedMethod,
    Method,
    PartitionName,
)

_Count = Annotated[int, Field(ge=2)]
_Strength = Annotated[float, Field(ge=0)]
_Percent = Annotated[float, Field(ge=0, le=100)]
_Name = Annotated[str, Field(coerce_numbers_to_str=True)]
"""Name of a piece; YAML reads the batch 3 as a number."""


class _Keys(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class Entry(_Keys):
    """One data set, written as its name or file alone, or as `{data: NAME, by: COL}`."""

    data: str
    """Name of a data set, or a file relative to the recipe: whatever has a slash or an extension is a file."""
    by: str | None = None
    """With `verb: fed`, its column with one client per value; None is the set's own, or what `clients` says. With
    `verb: compare`, its column with one piece per value; None is what `cut` says."""
    train_on: tuple[_Name, ...] = ()
    """With `verb: compare`, its pieces to learn from; () is what the recipe's own `train_on` says."""
    test_on: tuple[_Name, ...] = ()
    """With `verb: compare`, its pieces that are the target, or one file relative to the recipe; () as above."""
    bias: str | None = None
    """With `verb: compare`, its column that decides which rows are selected for training; None as above."""

    @model_validator(mode="before")
    @classmethod
    def _by_name(cls, values: object) -> object:
        if isinstance(values, str):
            return {"data": values}
        named = isinstance(values, dict) and "data" in values and all(isinstance(key, str) for key in values)
        if not named:
            number = "; a number of OpenML's goes in quotes" if isinstance(values, int) else ""
            raise ValueError(f"{values!r} is neither a name or file nor {{data: NAME, by: COL}}{number}")
        return values

    @property
    def is_file(self) -> bool:
        """True if `data` is a path."""
        return "/" in self.data or "\\" in self.data or Path(self.data).suffix != ""


class Grids(_Keys):
    """Settings run one after another: at most one of folds and batches, or partitions times clients (audit and fed).

    With `verb: compare`, each of so many folds or batches is the target in turn. With `verb: cv`, every number of
    pieces is run with every strength.
    """

    folds: tuple[_Count, ...] = ()
    """Numbers of folds."""
    batches: tuple[_Count, ...] = ()
    """Numbers of batches."""
    partition: tuple[PartitionName, ...] = ()
    """Ways to invent clients."""
    clients: tuple[_Count, ...] = ()
    """Numbers of invented clients."""
    strength: tuple[_Strength, ...] = ()
    """With `verb: cv`, values of lambda; each is at least 0."""


class Paper(_Keys):
    """The paper's table that is shown next to ours."""

    table: str
    method: Method | FedMethod | CompareMethod
    """The method whose mean accuracy is compared."""


class Recipe(_Keys):
    """A recipe without the settings of its verb."""

    title: str
    verb: Literal["audit", "cv", "compare", "fed"]
    data: tuple[Entry, ...]
    """At least one."""
    version: str = ""
    """Which version of the data is used, in words."""
    unknown_version: tuple[str, ...] = ()
    """Data sets whose version in the paper is not known: run and shown, but left out of means over data sets."""
    grids: Grids = Grids()
    paper: Paper | None = None
    printed: dict[str, dict[int | FedMethod | CompareMethod, _Percent]] = {}
    """The paper's mean accuracies in percent: data set, then number of pieces, or with `verb: fed` and
    `verb: compare` method."""

    @property
    def names(self) -> tuple[str, ...]:
        """The data sets as the recipe names them."""
        return tuple(entry.data for entry in self.data)
