"""The settings of `picsc compare`."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, field_validator, model_validator

from picsc.settings.base import Settings
from picsc.settings.choices import PAPERS_METHODS, CompareMethod
from picsc.settings.cutting import CutSettings, Keys, two_or_more, with_shuffled_folds
from picsc.settings.fields import Engine, Jobs, Metrics, NotNegative, Repeats, Seed, Share
from picsc.settings.option import Option
from picsc.settings.reading import ReadSettings
from picsc.settings.training import PenaltySettings, TrainSettings, with_posterior_along_a_sequence


class WeighSettings(Settings):
    """Weights of training rows for the target."""

    space: Annotated[
        Literal["auto", "raw", "layer"],
        Option(
            "raw, layer or auto: by data (default {default}).", "NAME", "Weights", flag="--weigh-on", keyword="weigh_on"
        ),
    ] = "auto"
    """Space in which rows are compared: `raw` is encoded columns, pixels or words; `layer` the last hidden layer of the
    plain model. auto is raw for tables, layer for the others."""
    exponent: Annotated[
        float, Field(ge=0, le=1), Option("Power that flattens weights (default {default}).", "POWER", "Weights")
    ] = 1.0
    """Power that flattens weights, in [0, 1]: 0 makes all weights equal, 1 leaves them as they are."""
    floor: Annotated[
        float,
        Field(ge=0, lt=1),
        Option("Least effective sample size (default {default}).", "SHARE", "Weights"),
    ] = 0.05
    """Effective sample size, as a share of the training rows, below which a weighting is refused."""
    relative: Annotated[
        float, Field(gt=0, lt=1), Option("Share of the target in rulsif (default {default}).", "SHARE", "Weights")
    ] = 0.5
    """Share of the target in the denominator of rulsif, in (0, 1)."""
    bound: Annotated[float, Field(gt=1), Option("Largest weight of kmm (default {default}).", "B", "Weights")] = 1000.0
    """Largest weight of kmm."""
    ridge: Annotated[
        NotNegative | Literal["auto"],
        Option("Ridge of kmm towards weights 1 (default {default}).", "R", "Weights"),
    ] = "auto"
    """Ridge that holds kmm's weights near 1, at least 0; auto is as much as the target rows' own noise allows, 0 is
    plain matching."""
    match: Annotated[
        Literal["losses", "features"], Option("For diw: losses or features (default {default}).", "NAME", "Weights")
    ] = "losses"
    """Quantity that diw matches; losses use the labels of some target rows, features use none."""


class CompareSettings(Settings):
    """All settings of `picsc compare`; the data are none of them.

    Example:
        >>> import picsc
        >>> settings = picsc.CompareSettings.model_validate({"cut": {"folds": 5}, "methods": ["st-cv", "iw"]})
        >>> settings.methods
        ('st-cv', 'iw')
        >>> settings.seed  # all others have their defaults: `picsc.compare(data, settings=settings)`
        0
    """

    read: ReadSettings = ReadSettings()
    cut: CutSettings = CutSettings()
    """Without a way to cut, a random part of the rows, or the official test part, is the target."""
    sample_weight: Annotated[
        str | None, Option("Column of weights, for training, scores and tests.", "COL", "Target")
    ] = None
    """Column of how much each row counts, in training, in every score and in the tests of all methods; it is no
    feature. Rows of weight 0 take no part. None is the same for all rows."""
    train_on: Annotated[
        tuple[str, ...], Option("Pieces to learn from (default: all others).", "PIECE,..", "Target")
    ] = ()
    """Pieces to learn from; () is all but the target."""
    test_on: Annotated[
        tuple[str, ...], Option("The target (default: each piece in turn).", "PIECE,..|FILE", "Target")
    ] = ()
    """Pieces that are the target, or one file; () makes each piece the target in turn."""
    bias: Annotated[str | None, Option("Select training rows by a column, at random.", "COL|auto", "Target")] = None
    """Column that decides which rows are selected for training, or `auto` for the first principal component."""
    bias_strength: Annotated[
        float, Field(gt=0, le=10), Option("Slope of the selection (default {default}).", "SLOPE", "Target")
    ] = 1.5
    """Slope of the selection in the normal score of that column."""
    label_noise: Annotated[
        float,
        Field(ge=0, lt=1),
        Option("Training labels replaced (default {default}).", "SHARE", "Target"),
    ] = 0.0
    """Share of the training labels that are replaced by another class, in [0, 1)."""
    fragments: Annotated[
        int, Field(ge=2), Option("Random pieces for picsc (default {default}).", "K", "Methods", after="algorithm")
    ] = 5
    """Random pieces of the training rows for picsc, where these are one piece."""
    methods: Annotated[
        tuple[CompareMethod, ...],
        Option("st-cv, iw, iwcv, kmm, diw, picsc, ulsif, rulsif, ..", "NAME,..", "Methods", flag="--method"),
    ] = PAPERS_METHODS
    """Methods that are run; their controls are added."""
    algorithm: Annotated[Literal[1, 2], Option("Algorithm of the paper (default {default}).", "1|2", "Methods")] = 1
    """Algorithm of the paper: 1 penalises differences between fragments, 2 carries parameters along them."""
    penalty: PenaltySettings = PenaltySettings()
    train: TrainSettings = TrainSettings()
    weigh: WeighSettings = WeighSettings()
    validation: Annotated[
        Share | None,
        Option("Rows to be the target (default 0.2, --bias 0.3).", "SHARE", "Target"),
    ] = None
    """Share of the rows that are the target, where no piece and no official test part is; None is 0.2, and 0.3 with
    `bias`."""
    adapt: Annotated[
        float,
        Field(gt=0, lt=1),
        Option("Target rows methods may use (default {default}).", "SHARE", "Target"),
    ] = 0.5
    """Share of the target rows that methods may use, in (0, 1); the others are the test rows."""
    labelled: Annotated[
        float,
        Field(gt=0, lt=1),
        Option("Target labels diw may use (default {default}).", "SHARE", "Target"),
    ] = 0.1
    """Share of the target rows whose labels diw may use; at least 10 and at most 1,000 of those that it may use."""
    most_rows: Annotated[
        Annotated[int, Field(ge=10)] | None, Option("Most training rows (default: all).", "N", "Target")
    ] = None
    """Most training rows, a random part of every piece."""
    repeats: Annotated[Repeats | None, Option("Runs by other seeds (default 10, not tables 1).", "N", "Run")] = None
    """Runs with other seeds of weights, splits and selection; None is 10 for tables and 1 for others."""
    metrics: Metrics = ()
    """Metrics by the names of scikit-learn that the report has beside the accuracy, with intervals, differences and
    tests of each: accuracy, balanced_accuracy, f1_macro, f1_micro, f1_weighted, precision_macro, recall_macro,
    matthews_corrcoef, roc_auc, average_precision, log_loss and brier of classes; r2, explained_variance, mse, rmse,
    mae, median_ae and mape of numbers, in the unit of the target. () is none."""
    seed: Seed = 0
    """Seed of every random draw."""
    jobs: Jobs = 1
    """Processes that train; the results are the same for any number."""
    engine: Engine = "local"
    """Where the processes are: `local`, on this machine; `dask`, a Dask cluster of `jobs` workers on this machine; or
    `dask:ADDRESS`, the workers of the scheduler at that address. The results are the same."""

    @model_validator(mode="before")
    @classmethod
    def _shuffled_folds(cls, values: object) -> object:
        return with_shuffled_folds(values)

    @field_validator("cut")
    @classmethod
    def _several_pieces(cls, cut: CutSettings) -> CutSettings:
        return two_or_more(cut)

    @model_validator(mode="after")
    def _posterior_of_a_sequence(self) -> CompareSettings:
        return with_posterior_along_a_sequence(self, self.penalty, self.algorithm)

    @model_validator(mode="after")
    def _one_target(self) -> CompareSettings:
        cut = self.cut.ways
        if self.train_on and not cut:
            raise ValueError("--train-on names pieces: give --by, --time, --batches or --folds as well")
        if set(self.train_on) & set(self.test_on):
            both = ", ".join(sorted(set(self.train_on) & set(self.test_on)))
            raise ValueError(f"--train-on and --test-on both name {both}: the target must not be trained on")
        if self.bias is not None and (cut or self.test_on):
            raise ValueError("--bias selects training rows at random: leave out pieces and --test-on")
        if self.label_noise and cut and not self.test_on and not self.train_on:
            raise ValueError("--label-noise needs rows that are always the target: give --test-on, or no pieces")
        return self

    @property
    def keys(self) -> Keys:
        """Columns that cut the table and are no covariates."""
        return self.cut.keys.and_of(sample_weight=self.sample_weight)

    @property
    def other_files(self) -> tuple[str, ...]:
        """Other files that are read like the data: without a way to cut, what `test_on` names."""
        return () if self.cut.ways else self.test_on

    @property
    def in_turn(self) -> bool:
        """True if each piece is the target in turn."""
        return bool(self.cut.ways) and not self.train_on and not self.test_on
