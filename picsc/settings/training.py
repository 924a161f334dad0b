"""The settings of training, and of corrected training."""

from __future__ import annotations

from typing import Annotated, Literal, TypeVar

from pydantic import Field, model_validator

from picsc.settings.base import Settings
from picsc.settings.choices import Merge, PenaltyName, Precision
from picsc.settings.fields import Alpha, Count, Device, Gamma, NotNegative, Rate
from picsc.settings.option import Option
from picsc.settings.own_model import ModelSettings

OfVerb = TypeVar("OfVerb", bound=Settings)
"""Settings of a verb."""


class TrainSettings(ModelSettings):
    """Training of every model of a comparison; the same for every method."""

    epochs: Annotated[Count | None, Option("Passes over the training rows.", "N", "Training")] = None
    """Passes over the training rows; None is 200 where one step sees all rows, else 20 for tables, 5 for images and
    texts."""
    steps: Annotated[
        Count | None, Option("Updates of every model instead of epochs.", "N", "Training", after="train.epochs")
    ] = None
    """Updates of every model instead of epochs, whatever its rows; a model that is carried along pieces shares them out
    among these. None counts epochs."""
    lr: Annotated[
        Rate | None,
        Option("Learning rate (default 0.02, images 0.001, texts 0.003).", "RATE", "Training"),
    ] = None
    """Learning rate; None is 0.02 for tables, 0.001 for images and 0.003 for texts."""
    batch_size: Annotated[Count | None, Option("Rows a step (default: all of small tables).", "N", "Training")] = None
    """Rows per step; None is all rows of tables up to 10,000 rows, 1,024 of longer ones, and 64 images or
    texts."""
    optimizer: Annotated[Literal["adam", "sgd"], Option("adam or sgd (default {default}).", "NAME", "Training")] = (
        "adam"
    )
    """Optimiser of every model."""
    momentum: Annotated[float, Field(ge=0, lt=1), Option("Momentum of sgd (default {default}).", "M", "Training")] = 0.9
    """Momentum of sgd, in [0, 1); adam has its own."""
    patience: Annotated[Count | None, Option("Stop early after N epochs (default never).", "N", "Training")] = None
    """Epochs without a better loss on a tenth of the training rows before training stops; None never stops early."""
    device: Device = "auto"
    """Processor that trains; auto is cuda or mps where there is one that pays, else cpu."""
    precision: Annotated[Precision, Option("float32, tf32 or bfloat16 (default {default}).", "NAME", "Training")] = (
        "float32"
    )
    """Arithmetic of training; tf32 and bfloat16 are faster on cuda and change results."""

    @model_validator(mode="after")
    def _one_length(self) -> TrainSettings:
        if self.epochs is not None and self.steps is not None:
            raise ValueError("--epochs and --steps both say how long models are trained: leave one out")
        return self


class PenaltySettings(Settings):
    """The corrected training of Algorithms 1 and 2."""

    kind: Annotated[
        PenaltyName,
        Option("kl, frobenius or trace (default {default}).", "NAME", "Methods", flag="--penalty", keyword="penalty"),
    ] = "kl"
    """Algorithm 1's divergence between fragments: Fisher KL, mean squared Frobenius distance, or the trace of Eq. 7."""
    strength: Annotated[
        NotNegative | Literal["auto", "posterior"],
        Option("Penalty: a number, auto or posterior (default {default}).", "VALUE", "Methods", flag="--lambda"),
    ] = "auto"
    """lambda, the weight of the penalty, at least 0; auto chooses among `picsc.training.tuning.inner_cv.STRENGTHS` by
    inner cross-validation on training rows. posterior is for Algorithm 2: the anchor has the weight of the rows seen,
    times a multiplier chosen among `picsc.training.tuning.along_sequences.MULTIPLIERS` on training rows."""
    warmup: Annotated[
        float,
        Field(ge=0, le=1),
        Option("Steps over which lambda rises (default {default}).", "SHARE", "Methods"),
    ] = 0.5
    """Share of the steps over which Algorithm 1's lambda rises linearly from 0; 0 is constant, as printed."""
    alpha: Alpha = 0.9
    """Weight of the past in the smoothed Fisher information (Eq. 15)."""
    gamma: Gamma = None
    """Threshold of Eq. 14's tau; None is its calibrated 95 % quantile when nothing is shifted."""
    when_quiet: Annotated[
        Literal["train", "skip"], Option("Unflagged pieces: train or skip (default {default}).", "NAME", "Methods")
    ] = "train"
    """Training on a fragment that Algorithm 2 does not flag: plain training, or none, as the paper prints it."""
    merge: Annotated[
        Merge | None,
        Option(
            "fisher, mean, running or none (default fisher).",
            "NAME",
            "Methods",
            after="penalty.strength",
        ),
    ] = None
    """Model that Algorithm 2 evaluates: the Fisher-weighted running mean of the models, their plain mean, a running
    mean whose forgetting is chosen on training rows, or the last model (none). None is fisher, or running with lambda
    posterior."""

    @property
    def evaluated(self) -> Merge:
        """`merge`, with its default."""
        return self.merge or ("running" if self.strength == "posterior" else "fisher")


def with_posterior_along_a_sequence(settings: OfVerb, penalty: PenaltySettings, algorithm: int) -> OfVerb:
    """The settings of a verb, unless they ask Algorithm 1 for what only Algorithm 2 has.

    Args:
        settings: of the verb.
        penalty: those of corrected training.
        algorithm: of the paper, 1 or 2.

    Raises:
        ValueError: lambda posterior, or a running mean, without Algorithm 2.
    """
    if algorithm == 1 and (penalty.strength == "posterior" or penalty.merge == "running"):
        asked = "--lambda posterior" if penalty.strength == "posterior" else "--merge running"
        raise ValueError(f"{asked} is for models along a sequence: add --algorithm 2, or cut with --batches or --time")
    return settings
