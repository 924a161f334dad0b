"""Everything `picsc compare` can be told."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from picsc.settings.base import Settings
from picsc.settings.choices import PAPERS_METHODS, CompareMethod
from picsc.settings.cutting import CutSettings, with_shuffled_folds
from picsc.settings.reading import ReadSettings
from picsc.settings.training import PenaltySettings, TrainSettings


class WeighSettings(Settings):
    """How training rows are weighed for the target."""

    space: Literal["auto", "raw", "layer"] = "auto"
    """What weightings look at: `raw` is encoded columns, pixels or words; `layer` the last hidden layer of the plain
    model. auto is raw for tables, layer for the others."""
    exponent: Annotated[float, Field(ge=0, le=1)] = 1.0
    """Power that flattens weights: 0 weighs all rows alike, 1 leaves weights as they are."""
    floor: Annotated[float, Field(ge=0, lt=1)] = 0.05
    """Effective sample size, as a share of the training rows, below which a weighting is refused."""
    relative: Annotated[float, Field(gt=0, lt=1)] = 0.5
    """Share of the target in the denominator of rulsif."""
    bound: Annotated[float, Field(gt=1)] = 1000.0
    """Largest weight of kmm."""
    ridge: Annotated[float, Field(ge=0)] | Literal["auto"] = "auto"
    """What holds kmm's weights near 1; auto is as much as the target rows' own noise allows, 0 is plain matching."""
    match: Literal["losses", "features"] = "losses"
    """What diw matches; losses take the labels of some target rows, features take none."""


class CompareSettings(Settings):
    """Everything `picsc compare` can be told, apart from the data."""

    read: ReadSettings = ReadSettings()
    cut: CutSettings = CutSettings()
    """Without a way to cut, a random part of the rows, or the official test part, is the target."""
    train_on: tuple[str, ...] = ()
    """Pieces to learn from; () is all but the target."""
    test_on: tuple[str, ...] = ()
    """Pieces that are the target, or one file; () makes each piece the target in turn."""
    bias: str | None = None
    """Column that decides which rows are selected for training, or `auto` for the first principal component."""
    bias_strength: Annotated[float, Field(gt=0, le=10)] = 1.5
    """Slope of the selection in the normal score of that column."""
    label_noise: Annotated[float, Field(ge=0, lt=1)] = 0.0
    """Share of the training labels that are replaced by another class."""
    fragments: Annotated[int, Field(ge=2)] = 5
    """Random pieces of the training rows for picsc, where these are one piece."""
    methods: tuple[CompareMethod, ...] = PAPERS_METHODS
    """What to run; what controls it is added."""
    algorithm: Literal[1, 2] = 1
    """Of the paper."""
    penalty: PenaltySettings = PenaltySettings()
    train: TrainSettings = TrainSettings()
    weigh: WeighSettings = WeighSettings()
    validation: Annotated[float, Field(gt=0, lt=1)] | None = None
    """Share of the rows that are the target, where no piece and no official test part is; None is 0.2, and 0.3 with
    `bias`."""
    adapt: Annotated[float, Field(gt=0, lt=1)] = 0.5
    """Share of the target rows that methods may look at; the others judge."""
    labelled: Annotated[float, Field(gt=0, lt=1)] = 0.1
    """Share of the target rows whose labels diw may use; at least 10 and at most 1,000 of those it may look at."""
    most_rows: Annotated[int, Field(ge=10)] | None = None
    """Most training rows, a random part of every piece."""
    repeats: Annotated[int, Field(ge=1, le=1000)] | None = None
    """Runs with other seeds of weights, splits and selection; None is 10 for tables and 1 for others."""
    seed: Annotated[int, Field(ge=0, lt=2**32)] = 0
    jobs: Annotated[int, Field(ge=1)] = 1
    """Processes; never changes a number."""

    @model_validator(mode="before")
    @classmethod
    def _shuffled_folds(cls, values: object) -> object:
        return with_shuffled_folds(values)

    @model_validator(mode="after")
    def _one_target(self) -> CompareSettings:
        cut = self.cut.ways
        if self.train_on and not cut:
            raise ValueError("--train-on names pieces: give --by, --time, --batches or --folds as well")
        if set(self.train_on) & set(self.test_on):
            both = ", ".join(sorted(set(self.train_on) & set(self.test_on)))
            raise ValueError(f"--train-on and --test-on both name {both}: nothing may be learned from what judges")
        if self.bias is not None and (cut or self.test_on):
            raise ValueError("--bias selects training rows at random: leave out pieces and --test-on")
        if self.label_noise and cut and not self.test_on and not self.train_on:
            raise ValueError("--label-noise needs rows that are always the target: give --test-on, or no pieces")
        return self

    @property
    def keys(self) -> tuple[str, ...]:
        """Columns that cut the table and are no covariates."""
        return self.cut.keys

    @property
    def other_files(self) -> tuple[str, ...]:
        """Files beside the data that are read like them: without a way to cut, what `test_on` names."""
        return () if self.cut.ways else self.test_on

    @property
    def in_turn(self) -> bool:
        """Whether each piece is the target in turn."""
        return bool(self.cut.ways) and not self.train_on and not self.test_on
