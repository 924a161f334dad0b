"""How models are trained, and the corrected training."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from picsc.settings.base import Settings
from picsc.settings.choices import DeviceName, Merge, PenaltyName, Precision


class TrainSettings(Settings):
    """How every model of a comparison is trained; the same for every method."""

    epochs: Annotated[int, Field(ge=1)] | None = None
    """Passes over the training rows; None is 200 where one step sees all rows, else 20 for tables, 5 for images and
    texts."""
    lr: Annotated[float, Field(gt=0, le=1e30)] | None = None
    """Learning rate; None is 0.02 for tables, 0.001 for images and 0.003 for texts."""
    batch_size: Annotated[int, Field(ge=1)] | None = None
    """Rows per step; None is all rows of tables up to 10,000 rows, 1,024 of longer ones, and 64 images or
    texts."""
    optimizer: Literal["adam", "sgd"] = "adam"
    momentum: Annotated[float, Field(ge=0, lt=1)] = 0.9
    """Of sgd."""
    patience: Annotated[int, Field(ge=1)] | None = None
    """Epochs without a better loss on a tenth of the training rows before training stops; None never stops early."""
    device: DeviceName = "auto"
    precision: Precision = "float32"
    """tf32 and bfloat16 are faster on cuda and change results."""


class PenaltySettings(Settings):
    """The corrected training of Algorithms 1 and 2."""

    kind: PenaltyName = "kl"
    """Algorithm 1's divergence between fragments: Fisher KL, mean squared Frobenius distance, or the trace of Eq. 7."""
    strength: Annotated[float, Field(ge=0)] | Literal["auto"] = "auto"
    """lambda; auto chooses among `picsc.training.tuning.STRENGTHS` by inner cross-validation on training rows."""
    warmup: Annotated[float, Field(ge=0, le=1)] = 0.5
    """Share of the steps over which Algorithm 1's lambda rises linearly from 0; 0 is constant, as printed."""
    alpha: Annotated[float, Field(ge=0, le=1)] = 0.9
    """Weight of the past in the smoothed Fisher information (Eq. 15)."""
    gamma: Annotated[float, Field(ge=0)] | None = None
    """Threshold of Eq. 14's tau; None is its calibrated 95 % quantile when nothing is shifted."""
    when_quiet: Literal["train", "skip"] = "train"
    """What Algorithm 2 does with a fragment that is not flagged: plain training, or as printed, nothing."""
    merge: Merge = "fisher"
    """What Algorithm 2 evaluates: the Fisher-weighted running mean of the models, their plain mean, or the last one."""
