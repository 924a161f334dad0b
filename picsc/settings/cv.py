"""The settings of `picsc cv`."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, field_validator, model_validator

from picsc.settings.base import Settings
from picsc.settings.choices import DEPLOYMENTS, METHODS, BatchShift, DeployInterval, Method
from picsc.settings.cutting import CutSettings, Keys, two_or_more, with_shuffled_folds
from picsc.settings.fields import Engine, Jobs, Metrics, Repeats, Seed
from picsc.settings.option import Option
from picsc.settings.reading import ReadSettings
from picsc.settings.training import PenaltySettings, TrainSettings, with_posterior_along_a_sequence


class CvSettings(Settings):
    """All settings of `picsc cv`; the data are none of them.

    Example:
        >>> import picsc
        >>> settings = picsc.CvSettings.model_validate({"cut": {"batches": 20}, "repeats": 5})
        >>> settings.cut.batches, settings.repeats
        (20, 5)
        >>> settings.seed  # all others have their defaults: `picsc.cross_validate(data, settings=settings)`
        0
    """

    read: ReadSettings = ReadSettings()
    cut: CutSettings = CutSettings(shuffle=True)
    """Folds are shuffled anew in every repeat unless `cut.shuffle` is off."""
    methods: Annotated[
        tuple[Method, ...], Option("st-cv, picsc; controls are added.", "NAME,..", "Methods", flag="--method")
    ] = METHODS
    """Methods that are run; their controls are added."""
    algorithm: Annotated[
        Literal[1, 2] | None, Option("Of the paper (default 1; 2 for batches and time).", "1|2", "Methods")
    ] = None
    """Algorithm of the paper; None is 1 for folds and groups, 2 for batches and time."""
    penalty: PenaltySettings = PenaltySettings()
    train: TrainSettings = TrainSettings()
    repeats: Annotated[
        Repeats | None,
        Option("Runs by other seeds (default 5, images and texts 1).", "N", "Run"),
    ] = None
    """Runs with other seeds of weights, shuffle and validation rows; None is 5 for tables, 1 for images."""
    validation: Annotated[
        float, Field(gt=0, lt=1), Option("Rows that test batches (default {default}).", "SHARE", "Pieces")
    ] = 0.2
    """Share of the rows that test the models of batches and of the whole set; data with an official test part use
    that."""
    batch_shift: Annotated[
        BatchShift | None,
        Option(
            "Of images: rotate, return, labels, permute or noise.",
            "NAME",
            "Pieces",
            after="cut.batches",
        ),
    ] = None
    """Shift made between `batches` of images, which are drawn at random: turned by 0 to 60 degrees (rotate), or there
    and back, so that what came first comes again (return), classes by a Dirichlet distribution, pixels permuted anew in
    every second batch, noise of 0 to 1.5 standard deviations. Every batch's own share of the rows tests all models.
    None leaves batches as they are."""
    backwards: Annotated[bool, Option("Learn from the last batch first.", panel="Pieces", after="batch_shift")] = False
    """Models learn from the last of `batches` first and from the first one last, to see what the order does."""
    keep_rare: Annotated[bool, Option("Classes rarer than folds: train on them, never test.", panel="Pieces")] = False
    """Rows of classes with fewer rows than there are folds are in every training part and in no test part."""
    weights: Annotated[str | None, Option("Column of row weights.", "COL", "Pieces")] = None
    """Column of row weights, for the loss and for the score; both the weighted and the plain score are shown."""
    sample_weight: Annotated[
        str | None, Option("Column of weights, for training, scores and tests.", "COL", "Pieces")
    ] = None
    """Column of how much each row counts, in training, in every score and in the tests of all methods; it is no
    feature. Rows of weight 0 take no part. None is the same for all rows."""
    deploy: Annotated[
        str | None, Option("Estimate for same, new-groups, future or a file.", "NAME|FILE", "Methods")
    ] = None
    """Rows that a model will be used on, for which the report gives an estimate of its score: `same`, rows like these;
    `new-groups`, rows of groups that are not among these, with `cut.group`; `future`, later rows, with `cut.time`; or a
    file of such rows, with labels or without. None gives none."""
    deploy_interval: Annotated[
        DeployInterval, Option("resampled or nested (default {default}).", "NAME", "Methods")
    ] = "resampled"
    """Interval of the estimate for `same`: `resampled` is the corrected resampled t-interval; `nested` that of nested
    cross-validation, which trains about five times as many models."""
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
    def _shift_between_batches(self) -> CvSettings:
        if self.batch_shift is not None and self.cut.batches is None:
            raise ValueError("--batch-shift makes a shift between batches: add --batches K")
        if self.batch_shift == "return" and (self.cut.batches or 0) < 3:
            raise ValueError("--batch-shift return turns images there and back: give --batches 3 or more")
        if self.backwards and self.cut.batches is None:
            raise ValueError("--backwards is an order of batches: add --batches K")
        return self

    @model_validator(mode="after")
    def _posterior_of_a_sequence(self) -> CvSettings:
        algorithm = self.algorithm or (1 if self.foldwise else 2)
        return with_posterior_along_a_sequence(self, self.penalty, algorithm)

    @model_validator(mode="after")
    def _one_weight(self) -> CvSettings:
        if self.weights is not None and self.sample_weight is not None:
            raise ValueError(
                "--weights and --sample-weight both say how much a row counts, the second one in every score: leave "
                "one out"
            )
        return self

    @model_validator(mode="after")
    def _deployable(self) -> CvSettings:
        if self.deploy == "":
            raise ValueError(f"--deploy needs {', '.join(DEPLOYMENTS)} or a file")
        if self.deploy == "new-groups" and self.cut.group is None:
            raise ValueError("--deploy new-groups needs --group COL, the column that says to which group a row belongs")
        if self.deploy == "future" and self.cut.time is None:
            raise ValueError("--deploy future needs --time COL, the column that says when a row was taken")
        if self.deploy == "future" and self.cut.mix_time:
            raise ValueError("--deploy future contradicts --mix-time: its models learn from the past alone")
        if self.deploy_interval == "nested" and self.deploy != "same":
            raise ValueError("--deploy-interval nested goes with --deploy same; leave it out")
        return self

    @property
    def other_files(self) -> tuple[str, ...]:
        """Other files that are read like the data: the one that `deploy` names."""
        return () if self.deploy is None or self.deploy in DEPLOYMENTS else (self.deploy,)

    @property
    def keys(self) -> Keys:
        """Columns that cut the table or hold row weights, and are no covariates."""
        return self.cut.keys.and_of(weights=self.weights, sample_weight=self.sample_weight)

    @property
    def foldwise(self) -> bool:
        """True where a model of all other pieces tests each; else each is trained on, and a fixed part is tested."""
        return self.cut.batches is None and self.cut.time is None
