"""Everything `picsc cv` can be told."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from picsc.settings.base import Settings
from picsc.settings.choices import METHODS, Method
from picsc.settings.cutting import CutSettings, with_shuffled_folds
from picsc.settings.reading import ReadSettings
from picsc.settings.training import PenaltySettings, TrainSettings


class CvSettings(Settings):
    """Everything `picsc cv` can be told, apart from the data."""

    read: ReadSettings = ReadSettings()
    cut: CutSettings = CutSettings(shuffle=True)
    """Folds are shuffled anew in every repeat unless `cut.shuffle` is off."""
    methods: tuple[Method, ...] = METHODS
    """What to run; controls are added to whatever is asked for."""
    algorithm: Literal[1, 2] | None = None
    """Of the paper; None is 1 for folds and groups, 2 for batches and time."""
    penalty: PenaltySettings = PenaltySettings()
    train: TrainSettings = TrainSettings()
    repeats: Annotated[int, Field(ge=1, le=1000)] | None = None
    """Runs with other seeds of weights, shuffle and validation rows; None is 5 for tables, 1 for images."""
    validation: Annotated[float, Field(gt=0, lt=1)] = 0.2
    """Share of rows that judge the models of batches and of the whole set; data with an official test part use that."""
    keep_rare: bool = False
    """Rows of classes with fewer rows than there are folds are in every training part and in no test part."""
    weights: str | None = None
    """Column of row weights, for the loss and for the score; both the weighted and the plain score are shown."""
    seed: Annotated[int, Field(ge=0, lt=2**32)] = 0
    jobs: Annotated[int, Field(ge=1)] = 1
    """Processes; never changes a number."""

    @model_validator(mode="before")
    @classmethod
    def _shuffled_folds(cls, values: object) -> object:
        return with_shuffled_folds(values)

    @property
    def keys(self) -> tuple[str, ...]:
        """Columns that cut or weigh the table and are no covariates."""
        return self.cut.keys if self.weights is None else (*self.cut.keys, self.weights)

    @property
    def foldwise(self) -> bool:
        """Whether a model of all other pieces tests each; if not, each is trained on and a fixed part tests."""
        return self.cut.batches is None and self.cut.time is None
