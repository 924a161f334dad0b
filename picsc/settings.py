"""Every knob of every verb, validated once, before anything heavy is imported."""

from __future__ import annotations

from typing import Annotated, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from picsc.errors import SettingsError
from picsc.problems import Problem, problems

Task = Literal["auto", "classification", "regression"]
Method = Literal["st-cv", "picsc", "weight-decay", "carried", "average", "subsample"]
METHODS: tuple[Method, ...] = ("st-cv", "picsc", "weight-decay", "carried", "average", "subsample")
"""In the order of the report. All but the first two are controls, and always run."""
PenaltyName = Literal["kl", "frobenius", "trace"]
Merge = Literal["fisher", "mean", "none"]
DeviceName = Literal["auto", "cpu", "cuda", "mps"]
Precision = Literal["float32", "tf32", "bfloat16"]
Splitter = Literal["kfold", "stratified", "group", "dob-scv", "ms-scv"]
PartitionName = Literal["iid", "dirichlet", "classes", "quantity", "noise"]
FedMethod = Literal[
    "fedavg", "fedprox", "scaffold", "fedcurv", "fisher-mean", "picsc-penalty", "scaffold-natural", "picsc"
]
FED_METHODS: tuple[FedMethod, ...] = (
    "fedavg", "fedprox", "scaffold", "fedcurv", "fisher-mean", "picsc-penalty", "scaffold-natural", "picsc",
)  # fmt: skip
"""In the order of the report. The last but one are PIcsC's controls: FedCurv, Fisher-weighted aggregation alone, Eq. 16
alone, and SCAFFOLD in PIcsC's coordinates."""
CompareMethod = Literal[
    "st-cv", "iw", "iwcv", "kmm", "diw", "picsc", "ulsif", "rulsif", "true-ratio", "cv-choice", "pooled",
    "weight-decay", "carried", "picsc-random", "dob-scv",
]  # fmt: skip
COMPARE_METHODS: tuple[CompareMethod, ...] = (
    "st-cv", "iw", "iwcv", "kmm", "diw", "picsc", "ulsif", "rulsif", "true-ratio", "cv-choice", "pooled",
    "weight-decay", "carried", "picsc-random", "dob-scv",
)  # fmt: skip
"""In the order of the report: the paper's six, two more weightings, then what each is controlled by."""
PAPERS_METHODS: tuple[CompareMethod, ...] = COMPARE_METHODS[:6]
"""The columns of the paper's table of E5."""
Weighting = Literal["iw", "ulsif", "rulsif", "kmm"]
WEIGHTINGS: tuple[Weighting, ...] = ("iw", "ulsif", "rulsif", "kmm")
"""Methods that weigh rows before training, whose names are those of `picsc.weighting`."""
ModelName = Literal["auto", "mlp", "lenet", "bag", "lstm"]
Reference = str
"""`rest`, `previous`, `first`, or the path of a file."""


class _Settings(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", str_strip_whitespace=False)


class ReadSettings(_Settings):
    """How one table is read and what its columns mean."""

    target: str | None = None
    """Column to predict; None looks for target, label, class or y, then takes the last column."""
    no_target: bool = False
    """The table has no target: only the data question is asked."""
    task: Task = "auto"
    """Whether the target holds classes or numbers; auto decides from its values."""
    categorical: tuple[str, ...] = ()
    """Columns to treat as categorical, whatever their values look like."""
    numeric: tuple[str, ...] = ()
    """Columns to treat as numeric; what does not parse as a number is an error."""
    drop: tuple[str, ...] = ()
    """Columns to leave out."""
    rename_duplicates: bool = False
    """Rename repeated column names (a, a.1, ...) instead of refusing them."""
    header: bool = True
    """The first line holds column names; if not, columns are named c1, c2, ..."""

    @model_validator(mode="after")
    def _consistent(self) -> ReadSettings:
        if self.no_target and self.target is not None:
            raise ValueError(f"--no-target contradicts --target {self.target}")
        both = sorted(set(self.categorical) & set(self.numeric))
        if both:
            raise ValueError(f"columns both categorical and numeric: {', '.join(both)}")
        return self


class CutSettings(_Settings):
    """How one table is cut into pieces. Exactly one of folds, batches, by and time; none of them means 10 folds."""

    folds: Annotated[int, Field(ge=2)] | None = None
    """Number of cross-validation folds."""
    batches: Annotated[int, Field(ge=2)] | None = None
    """Number of contiguous batches whose sizes differ by at most one."""
    by: str | None = None
    """Column with one piece per value."""
    time: str | None = None
    """Column to order and cut by; ties stay together."""
    every: str | None = None
    """Length of a time piece, a pandas offset such as 30d; with `time` only."""
    cuts: Annotated[int, Field(ge=2)] | None = None
    """Number of time pieces; with `time` only."""
    group: str | None = None
    """Column whose values must not be divided between folds."""
    splitter: Splitter | None = None
    """None is scikit-learn's default: stratified for classes, kfold for numbers. dob-scv makes folds whose covariates
    are as alike as can be, ms-scv folds that differ."""
    shuffle: bool = False
    """Shuffle rows before cutting folds; dob-scv and ms-scv draw rows at random with or without it."""

    @property
    def ways(self) -> tuple[str, ...]:
        """The ways to cut that were asked for."""
        asked = {"folds": self.folds, "batches": self.batches, "by": self.by, "time": self.time}
        return tuple(way for way, value in asked.items() if value is not None)

    @property
    def keys(self) -> tuple[str, ...]:
        """Columns that cut the table, and are no covariates."""
        return tuple(name for name in (self.by, self.time, self.group) if name is not None)

    @model_validator(mode="after")
    def _one_way(self) -> CutSettings:
        if len(self.ways) > 1:
            raise ValueError(
                f"choose one way to cut, not {len(self.ways)}: {', '.join('--' + way for way in self.ways)}"
            )
        if self.time is None and (self.every is not None or self.cuts is not None):
            raise ValueError("--every and --cuts need --time COL")
        if self.every is not None and self.cuts is not None:
            raise ValueError("choose --every or --cuts, not both")
        if self.splitter == "group" and self.group is None:
            raise ValueError("--splitter group needs --group COL")
        if self.ways not in ((), ("folds",)) and (self.splitter is not None or self.shuffle):
            raise ValueError(f"--splitter and --shuffle go with --folds, not with --{self.ways[0]}")
        return self


class AuditSettings(_Settings):
    """Everything `picsc audit` can be told, apart from the data."""

    read: ReadSettings = ReadSettings()
    cut: CutSettings = CutSettings()
    reference: Reference | None = None
    """What each piece is compared with; None is `previous` for batches and time, else `rest`."""
    level: Annotated[float, Field(gt=0, lt=1)] = 0.05
    """Family-wise error rate over all pieces, columns and statistics."""
    min_effect: Annotated[float, Field(ge=0, lt=1)] = 0.05
    """Smallest effect worth a verdict; see `picsc.verdict`."""
    gamma: Annotated[float, Field(ge=0)] | None = None
    """Raw threshold of Eq. 14's tau, for those who want the paper's rule."""
    draws: Annotated[int, Field(ge=99, le=1_000_000)] = 999
    """Permutations of the null."""
    block: Annotated[int, Field(ge=1)] = 1
    """Rows per block that move together in the null; more than 1 for streams whose rows depend on each other."""
    seed: Annotated[int, Field(ge=0, lt=2**32)] = 0
    jobs: Annotated[int, Field(ge=1)] = 1
    """Processor cores for the domain classifier; never changes a number."""

    @property
    def keys(self) -> tuple[str, ...]:
        """Columns that cut the table, and are no covariates."""
        return self.cut.keys


class TrainSettings(_Settings):
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


class PenaltySettings(_Settings):
    """The corrected training of Algorithms 1 and 2."""

    kind: PenaltyName = "kl"
    """Algorithm 1's divergence between fragments: Fisher KL, mean squared Frobenius distance, or the trace of Eq. 7."""
    strength: Annotated[float, Field(ge=0)] | Literal["auto"] = "auto"
    """lambda; auto chooses among `picsc.selection.STRENGTHS` by inner cross-validation on training rows."""
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


class CvSettings(_Settings):
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
        return _with_shuffled_folds(values)

    @property
    def keys(self) -> tuple[str, ...]:
        """Columns that cut or weigh the table and are no covariates."""
        return self.cut.keys if self.weights is None else (*self.cut.keys, self.weights)

    @property
    def foldwise(self) -> bool:
        """Whether a model of all other pieces tests each; if not, each is trained on and a fixed part tests."""
        return self.cut.batches is None and self.cut.time is None


class PartitionSettings(_Settings):
    """How the clients come about: a column of the table, or an invented partition of its rows."""

    by: str | None = None
    """Column with one client per value."""
    clients: Annotated[int, Field(ge=2, le=100_000)] | None = None
    """Number of invented clients."""
    partition: PartitionName | None = None
    """How they are invented; None is iid."""
    concentration: Annotated[float, Field(gt=0, le=1e6)] = 0.5
    """Dirichlet parameter of `dirichlet` and `quantity`; smaller is more unequal."""
    classes: Annotated[int, Field(ge=1)] = 2
    """Classes of each client, of `classes`."""
    noise: Annotated[float, Field(ge=0, le=100)] = 0.1
    """Standard deviation of the noisiest client's noise, of `noise`: in the range of a pixel for images, in a column's
    standard deviations for tables."""
    min_rows: Annotated[int, Field(ge=1)] = 10
    """Fewest rows of an invented client."""

    @model_validator(mode="after")
    def _one_way(self) -> PartitionSettings:
        if self.by is not None and (self.clients is not None or self.partition is not None):
            raise ValueError("choose --by COL for clients that exist, or --clients N for invented ones, not both")
        if self.partition is not None and self.clients is None:
            raise ValueError(f"--partition {self.partition} needs --clients N")
        return self


class FedSettings(_Settings):
    """Everything `picsc fed` can be told, apart from the data."""

    read: ReadSettings = ReadSettings()
    clients: PartitionSettings = PartitionSettings()
    methods: tuple[FedMethod, ...] = FED_METHODS
    """What to run."""
    model: ModelName = "auto"
    """auto is mlp for tables, lenet for images, bag for words, lstm for characters."""
    hidden: Annotated[int, Field(ge=1, le=4096)] | None = None
    """Hidden units of mlp, width of bag's embeddings, or units of lstm; None is 32, 32 and 256."""
    rounds: Annotated[int, Field(ge=1, le=100_000)] = 30
    epochs: Annotated[int, Field(ge=1)] = 2
    """Passes of a client over its rows in a round."""
    steps: Annotated[int, Field(ge=1)] | None = None
    """Steps of a client in a round instead of epochs."""
    batch_size: Annotated[int, Field(ge=1)] | None = None
    """Rows per step; None is 32 for tables and 64 for the others."""
    lr: Annotated[float, Field(gt=0, le=1e30)] | Literal["auto"] = "auto"
    """Learning rate of clients; auto chooses for every method among `picsc.federation.RATES` on training rows."""
    momentum: Annotated[float, Field(ge=0, lt=1)] = 0.0
    weight_decay: Annotated[float, Field(ge=0)] = 0.0
    server_lr: Annotated[float, Field(gt=0)] = 1.0
    server_momentum: Annotated[float, Field(ge=0, lt=1)] = 0.0
    """Share of the server's last step that is kept, of every method."""
    sample: Annotated[float, Field(gt=0, le=1)] = 1.0
    """Share of the clients that take part in a round."""
    mean: Literal["rows", "clients"] = "rows"
    """What the plain mean weighs clients by: their rows, or all alike."""
    proximal: Annotated[float, Field(ge=0)] = 0.01
    """mu of FedProx."""
    strength: Annotated[float, Field(ge=0)] = 0.1
    """lambda of Eq. 16 and of FedCurv."""
    alpha: Annotated[float, Field(ge=0, le=1)] = 0.9
    """Weight of the past in the smoothed Fisher information (Eq. 15)."""
    gamma: Annotated[float, Field(ge=0)] | None = None
    """Threshold of Eq. 14's tau; None is its calibrated 95 % quantile when nothing is shifted."""
    delta: Annotated[float, Field(gt=0)] = 1e-4
    """Prior precision of the Fisher-weighted mean."""
    aggregate: Literal["auto", "fisher", "mean"] = "auto"
    """How PIcsC joins its clients; auto is what measurement says for the model."""
    validation: Annotated[float, Field(gt=0, lt=1)] = 0.2
    """Share of every client's rows that judge; data with an official test part use that."""
    most_rows: Annotated[int, Field(ge=1)] | None = None
    """Most rows that a client learns from, a random part of those it has; at most as many judge for it."""
    target_accuracy: Annotated[float, Field(gt=0, le=1)] | None = None
    """Accuracy to count rounds and bytes to; None is what fedavg ends with."""
    repeats: Annotated[int, Field(ge=1, le=1000)] | None = None
    """Runs with other seeds of partition, weights and minibatches; None is 3 for tables, 1 for the others."""
    allow_failures: Annotated[int, Field(ge=0)] = 0
    """Clients that may fail in a round and be left out of it."""
    device: DeviceName = "auto"
    seed: Annotated[int, Field(ge=0, lt=2**32)] = 0
    jobs: Annotated[int, Field(ge=1)] = 1
    """Processes; never changes a number."""

    @property
    def keys(self) -> tuple[str, ...]:
        """Columns that are no covariates."""
        return () if self.clients.by is None else (self.clients.by,)


class WeighSettings(_Settings):
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


class CompareSettings(_Settings):
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
        return _with_shuffled_folds(values)

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
    def in_turn(self) -> bool:
        """Whether each piece is the target in turn."""
        return bool(self.cut.ways) and not self.train_on and not self.test_on


def _with_shuffled_folds(values: object) -> object:
    """Folds are shuffled unless that is said otherwise; other ways to cut have an order that must stay."""
    cut = values.get("cut") if isinstance(values, dict) else None
    if not isinstance(cut, dict) or "shuffle" in cut or any(cut.get(way) for way in ("batches", "by", "time")):
        return values
    return {**values, "cut": {**cut, "shuffle": True}}  # type: ignore[dict-item]


S = TypeVar("S", bound=_Settings)
_OPTIONS = {"strength": "lambda", "kind": "penalty", "methods": "method", "proximal": "mu", "space": "weigh-on"}
"""Settings whose option on the command line has another name; all others have their own."""


def validated(kind: type[S], **values: object) -> S:
    """Build settings and report all their problems at once.

    Raises:
        SettingsError: one sentence per problem, joined by "; ".
    """
    try:
        return kind.model_validate(values)
    except ValidationError as error:
        raise SettingsError("; ".join(_sentence(problem) for problem in problems(error, values))) from None


def _sentence(problem: Problem) -> str:
    """One problem as a sentence that starts with the option's name."""
    if problem.contradiction:
        return problem.said
    names = [part for part in problem.path if isinstance(part, str)]
    option = "--" + _OPTIONS.get(names[-1], names[-1]).replace("_", "-") if names else "settings"
    return f"{option} {problem.value!r}: must be {problem.said}"
