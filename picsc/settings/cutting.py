"""The settings of pieces: folds, batches, groups, time, and clients that exist or are invented."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from pydantic import Field, model_validator

from picsc.settings.base import Settings
from picsc.settings.choices import GroupMissing, PartitionName, Splitter
from picsc.settings.fields import AtLeastTwo, Count
from picsc.settings.option import Option

WAYS = ("folds", "batches", "by", "split_column", "time")
"""Settings of `CutSettings` that are each a way to cut."""


class Keys(tuple[str, ...]):
    """Names of columns that are no covariates, which remember the options that named them, for messages."""

    options: Mapping[str, str]
    """The option by name of the column."""

    @classmethod
    def of(cls, **columns: str | None) -> Keys:
        """The columns that are named.

        Args:
            columns: by setting; None where it names no column.
        """
        found = cls(name for name in columns.values() if name is not None)
        found.options = {
            name: "--" + setting.replace("_", "-") for setting, name in columns.items() if name is not None
        }
        return found

    def and_of(self, **columns: str | None) -> Keys:
        """These columns and others.

        Args:
            columns: as in `of`.
        """
        more = Keys.of(**columns)
        found = Keys((*self, *more))
        found.options = {**self.options, **more.options}
        return found


class CutSettings(Settings):
    """Cutting of one table into pieces: by folds, batches, a column or time.

    None of them means 10 folds, and for an audit against a reference file one piece.
    """

    folds: Annotated[
        Count | None,
        Option(
            "Cross-validation folds (default 10).",
            "K",
            "Pieces",
            verbs={
                "audit": {"help": "Folds (default 10; against a file 1)."},
                "compare": {"help": "Folds, each of them the target in turn."},
            },
        ),
    ] = None
    """Number of cross-validation folds; 1 is all rows as one piece, for an audit against a reference file only."""
    batches: Annotated[Count | None, Option("Batches of rows in file order.", "K", "Pieces")] = None
    """Number of contiguous batches whose sizes differ by at most one; 1 is as with folds."""
    by: Annotated[str | None, Option("One piece per value of a column.", "COL", "Pieces")] = None
    """Column with one piece per value."""
    split_column: Annotated[str | None, Option("Column of folds, or of train, valid and test.", "COL", "Pieces")] = None
    """Column that says the pieces: numbers or names of folds, which are tested in turn; or words such as train, valid
    and test. An audit then compares the others with train; models of cv and compare learn from train and are tested on
    test, and those of cv choose lambda and weight decay by valid. It is no feature."""
    time: Annotated[str | None, Option("Order by a column and cut; equal times stay together.", "COL", "Pieces")] = None
    """Column to order and cut by; ties stay together."""
    every: Annotated[str | None, Option("Length of a --time piece, such as 30d.", "SPAN", "Pieces")] = None
    """Length of a time piece, a pandas offset such as 30d; with `time` only."""
    cuts: Annotated[AtLeastTwo | None, Option("Number of --time pieces.", "K", "Pieces")] = None
    """Number of time pieces; with `time` only."""
    gap: Annotated[str | None, Option("Left out between --time pieces, such as 7d.", "SPAN", "Pieces")] = None
    """Rows sooner than this after the end of the time piece before theirs belong to no piece, a length such as 7d; with
    `time` only."""
    mix_time: Annotated[
        bool, Option("With --time, learn from later times, too.", panel="Pieces", verbs={"audit": None})
    ] = False
    """Models may learn from later times than those that they are tested on; with `time` only. Off, models of cv are
    tested on the latest rows, and those of compare learn from the pieces before the target."""
    group: Annotated[
        str | None,
        Option(
            "Column whose values no split divides.",
            "COL",
            "Pieces",
            verbs={"audit": {"help": "Column whose values folds and batches must not divide."}},
        ),
    ] = None
    """Column whose values no split divides: folds, batches, random parts, inner folds that choose lambda, and rows held
    out for early stopping. Pieces by a column or by time may divide them; then rows whose group is tested are left out
    of training."""
    group_missing: Annotated[GroupMissing, Option("Rows without --group: refuse, own, together.", "HOW", "Pieces")] = (
        "refuse"
    )
    """Rows without a value of `group`: an error, each a group of its own, or together one group. Rows without a value
    of `by` are in no piece, or together one piece."""
    splitter: Annotated[
        Splitter | None, Option("kfold, stratified[-group], group, dob-scv or ms-scv.", "NAME", "Pieces")
    ] = None
    """Splitter of folds; None is scikit-learn's default: stratified for classes, kfold for numbers. group and
    stratified-group keep groups whole, the latter with classes as even as that allows. dob-scv makes folds whose
    covariates are as alike as can be, ms-scv folds that differ. With `group` it is stratified-group or group."""
    shuffle: Annotated[
        bool,
        Option(
            "Shuffle rows before cutting folds (default: no).",
            panel="Pieces",
            opposite="--no-shuffle",
            verbs={verb: {"help": "Shuffle rows before cutting folds (default: yes)."} for verb in ("cv", "compare")},
        ),
    ] = False
    """Shuffle rows before cutting folds; dob-scv and ms-scv draw rows at random with or without it."""

    @property
    def ways(self) -> tuple[str, ...]:
        """The ways to cut that were asked for."""
        return tuple(way for way in WAYS if getattr(self, way) is not None)

    @property
    def column(self) -> str | None:
        """Column with one piece per value; None for other cuts."""
        return self.by if self.by is not None else self.split_column

    @property
    def keys(self) -> Keys:
        """Columns that cut the table, and are no covariates."""
        return Keys.of(by=self.by, split_column=self.split_column, time=self.time, group=self.group)

    @property
    def forward(self) -> bool:
        """True if pieces are a sequence in time, and models learn from the past alone."""
        return self.time is not None and not self.mix_time

    @property
    def one_piece(self) -> str:
        """The option that asks for all rows as one piece, `--folds 1` or `--batches 1`; empty if none does."""
        return next((f"--{way} 1" for way in ("folds", "batches") if getattr(self, way) == 1), "")

    @property
    def uncut(self) -> bool:
        """True if nothing asks for several pieces: no way to cut or one piece, and no way to make folds."""
        return bool(self.one_piece) or not (self.ways or self.splitter is not None or self.shuffle)

    @model_validator(mode="after")
    def _one_way(self) -> CutSettings:
        if len(self.ways) > 1:
            raise ValueError(f"choose one way to cut, not {len(self.ways)}: {', '.join(_flags(self.ways))}")
        if self.time is None and (self.every is not None or self.cuts is not None):
            raise ValueError("--every and --cuts need --time COL")
        if self.every is not None and self.cuts is not None:
            raise ValueError("choose --every or --cuts, not both")
        if self.time is None and self.gap is not None:
            raise ValueError("--gap needs --time COL")
        if self.time is None and self.mix_time:
            raise ValueError("--mix-time needs --time COL")
        if self.group is None and (self.group_missing == "own" or (self.group_missing == "together" and not self.by)):
            or_by = " or --by COL" if self.group_missing == "together" else ""
            raise ValueError(f"--group-missing {self.group_missing} needs --group COL{or_by}")
        if self.splitter in ("group", "stratified-group") and self.group is None:
            raise ValueError(f"--splitter {self.splitter} needs --group COL")
        if self.ways not in ((), ("folds",)) and (self.splitter is not None or self.shuffle):
            raise ValueError(f"--splitter and --shuffle go with --folds, not with {_flags(self.ways)[0]}")
        return self


def _flags(ways: tuple[str, ...]) -> list[str]:
    """The options of some ways to cut."""
    return ["--" + way.replace("_", "-") for way in ways]


class PartitionSettings(Settings):
    """Clients: a column of the table, or an invented partition of its rows."""

    by: Annotated[str | None, Option("One client per value of a column.", "COL", "Clients", verbs={"audit": None})] = (
        None
    )
    """Column with one client per value."""
    clients: Annotated[
        Annotated[int, Field(ge=2, le=100_000)] | None, Option("Invent so many clients.", "N", "Clients")
    ] = None
    """Number of invented clients."""
    partition: Annotated[
        PartitionName | None, Option("iid, dirichlet, classes, quantity or noise.", "NAME", "Clients")
    ] = None
    """Partition by which clients are invented; None is iid."""
    concentration: Annotated[
        float, Field(gt=0, le=1e6), Option("Dirichlet parameter (default {default}).", "A", "Clients")
    ] = 0.5
    """Dirichlet parameter of `dirichlet` and `quantity`; smaller is more unequal."""
    classes: Annotated[int, Field(ge=1), Option("Classes of a client (default {default}).", "N", "Clients")] = 2
    """Classes of each client, of the partition `classes`."""
    noise: Annotated[
        float, Field(ge=0, le=100), Option("Noise of the noisiest client (default {default}).", "STD", "Clients")
    ] = 0.1
    """Standard deviation of the noisiest client's noise, of the partition `noise`: in the range of a pixel for images,
    in a column's standard deviations for tables."""
    min_rows: Annotated[int, Field(ge=1), Option("Fewest rows of a client (default {default}).", "N", "Clients")] = 10
    """Fewest rows of an invented client."""

    @model_validator(mode="after")
    def _one_way(self) -> PartitionSettings:
        if self.by is not None and (self.clients is not None or self.partition is not None):
            raise ValueError("choose --by COL for clients that exist, or --clients N for invented ones, not both")
        if self.partition is not None and self.clients is None:
            raise ValueError(f"--partition {self.partition} needs --clients N")
        return self


def two_or_more(cut: CutSettings) -> CutSettings:
    """The cut, for verbs that train models on several pieces.

    Raises:
        ValueError: it asks for one piece, or for folds that divide its groups.
    """
    if cut.one_piece:
        raise ValueError(f"{cut.one_piece}: must be 2 or more")
    if cut.group is not None and cut.splitter not in (None, "group", "stratified-group"):
        raise ValueError(
            f"--splitter {cut.splitter} divides groups: use group or stratified-group, or leave out --group"
        )
    return cut


def with_shuffled_folds(values: object) -> object:
    """Folds are shuffled unless `shuffle` is given; other ways to cut have an order that must stay."""
    cut = values.get("cut") if isinstance(values, dict) else None
    if not isinstance(cut, dict) or "shuffle" in cut or any(cut.get(way) for way in WAYS[1:]):
        return values
    return {**values, "cut": {**cut, "shuffle": True}}  # type: ignore[dict-item]
