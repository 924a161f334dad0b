"""The report of `picsc compare` as plain values.

Accuracies are fractions in [0, 1] (R² for numbers, as `metric` says), log-losses nats per row (of numbers half the
squared error in squared standard deviations of the target over all rows), sizes bytes; None where there is no number,
with the reason next to it. Nothing here imports torch, pandas or a format.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Literal

from picsc.phrases import counted
from picsc.reports.common import DataInfo, Difference, Finding, Interval, MajorityClass, NotApplicable, brief, strict
from picsc.reports.metrics import MetricScore, metric_lines
from picsc.reports.shown import Drawn

Setting = Literal["integral", "transfer", "in turn"]
"""integral: training and target rows are random parts of one whole, or its official parts. transfer: named pieces are
the target. in turn: each piece is the target of a model of all others."""


@dataclass(frozen=True, slots=True)
class Weights:
    """The importance weights of a method's training rows; means over targets and repeats."""

    ess: float
    """Effective sample size as a share of the training rows, in (0, 1]; 1 when all rows have the same weight."""
    smallest_ess: float
    """The smallest such share over targets and repeats, in (0, 1]."""
    largest: float
    """Largest weight of a row, where the mean weight is 1."""


@dataclass(frozen=True, slots=True)
class TargetInfo:
    """One target, over all repeats."""

    name: str
    """Name of the piece that is the target, or `random part` or `official test part`."""
    train: int
    """Number of training rows in the first repeat."""
    adapt: int
    """Number of target rows that methods may use to adapt to the target."""
    labelled: int
    """Number of those rows whose labels diw may use."""
    judge: int
    """Number of target rows that test the models; no method uses them."""
    separation: float | None
    """Area under the ROC curve of a classifier that tells training from target rows, out of fold, mean over repeats:
    0.5 where they are alike, 1 where they do not overlap. None where no method estimates weights."""


@dataclass(frozen=True, slots=True)
class CompareUnit:
    """One trained model of one method."""

    repeat: int
    """Number of the repeat, 1 for the first."""
    target: str
    """Name of the target."""
    rows: int
    """Number of training rows."""
    accuracy: float | None
    """Accuracy on the test rows of the target, a fraction (R² for numbers); None without a result."""
    log_loss: float | None
    """Mean negative log-likelihood per test row, in nats; None without a result."""
    auc: float | None
    """Area under the ROC curve, in [0, 1]; of more than two classes the mean over each against all others. None for
    numbers, where a class is not tested, and without a result."""
    reason: str
    """Why a number is missing: `diverged at epoch 3`, `refused: ...`; empty where none is."""
    ess: float | None
    """Effective sample size of its weights as a share of the training rows, in (0, 1]; None where all rows have the
    same weight."""
    largest: float | None
    """Largest weight of a row, where the mean weight is 1; None where all rows have the same weight."""
    strength: float | None
    """The lambda or weight decay that was used; None where the method has none."""
    exponent: float | None
    """The power of the weights that was chosen, in [0, 1]; None where none is chosen."""
    balanced_accuracy: float | None = None
    """Accuracy in each class, mean over the classes that are tested, a fraction; None for numbers and for one class."""
    diverged: int | None = None
    """Epoch, counted from 1, in which the model diverged; None if it did not."""
    refused: bool = False
    """True where the method has no model because its weights cannot be trusted; `reason` says why."""
    metrics: Mapping[str, float | None] = field(default_factory=dict)
    """Metrics that `--metric` asks for, by name; None where one does not exist."""
    metric_reasons: Mapping[str, str] = field(default_factory=dict)
    """Why a metric is None, by name."""


@dataclass(frozen=True, slots=True)
class CompareMethodReport:
    """One method over all targets and repeats."""

    method: str
    """One of `picsc.settings.COMPARE_METHODS`."""
    words: str
    """Description of the method, in one line."""
    accuracy: float | None
    """Mean accuracy over targets and repeats, a fraction (R² for numbers); None without a result."""
    interval: Interval | None
    """95 % interval of the mean accuracy; None where it cannot be computed."""
    log_loss: float | None
    """Mean log-loss over targets and repeats, in nats per row; None without a result."""
    targets: tuple[float | None, ...]
    """Accuracy on each target, mean over repeats, in the order of `CompareReport.targets`; None without a result."""
    weights: Weights | None
    """The weights of its training rows; None where all rows have the same weight."""
    memory: int
    """Largest number of bytes that the weighting holds at once, estimated from the numbers of rows; 0 without a
    weighting."""
    strengths: tuple[float, ...]
    """Distinct lambdas or weight decays that were used, increasing; empty where the method has none."""
    exponents: tuple[float, ...]
    """Distinct powers of the weights that were chosen, increasing; empty where none is chosen."""
    failed: int
    """Number of models without a result."""
    differences: tuple[Difference, ...]
    """This method minus every other method, paired."""
    units: tuple[CompareUnit, ...]
    """Every trained model, by repeat and target."""
    balanced_accuracy: float | None = None
    """Mean balanced accuracy over the units that have one, a fraction; None without any."""
    auc: float | None = None
    """Mean area under the ROC curve over the units that have one, in [0, 1]; None without any."""
    metrics: tuple[MetricScore, ...] = ()
    """Metrics that `--metric` asks for, in its order."""

    def against(self, method: str) -> Difference | None:
        """The difference from another method; None where the two were not compared."""
        return next((each for each in self.differences if each.against == method), None)


@dataclass(frozen=True, slots=True)
class Delta:
    """A difference between two methods that the paper prints; it calls both of its forms percent."""

    name: str
    """`Δ1` or `Δ2`."""
    ours: str
    """The method that is expected to be better."""
    against: str
    """The method that it is compared with."""
    points: float
    """Difference of the two accuracies, a fraction."""
    relative: float | None
    """Difference as a share of `base`'s accuracy, a fraction; None where that is 0 or missing."""
    base: str
    """The method whose accuracy the paper divides by."""


@dataclass(frozen=True, slots=True)
class Risk:
    """Quality of the estimates that cross-validation on training rows makes of the plain model on the target."""

    by: str
    """The weights of the tested rows: `unweighted`, `iw`, or `true ratio`."""
    accuracy: float | None
    """Mean estimate of the accuracy, a fraction; None where there is none."""
    log_loss: float | None
    """Mean estimate of the log-loss, in nats per row; None where there is none."""
    accuracy_error: float | None
    """Mean distance of the estimate from the accuracy on the target, over targets and repeats, a fraction."""
    log_loss_error: float | None
    """Mean distance of the estimate from the log-loss on the target, over targets and repeats, in nats."""
    accuracy_bias: float | None
    """Distance of the mean estimate from the mean accuracy on the target, a fraction, at least 0."""
    log_loss_bias: float | None
    """Distance of the mean estimate from the mean log-loss on the target, in nats, at least 0."""


@dataclass(frozen=True, slots=True)
class Measured:
    """The time that a method took on this machine; no part of a report's bytes unless it is asked for."""

    method: str
    """One of `picsc.settings.COMPARE_METHODS`."""
    seconds: float
    """Time for weights, choices and training, over all targets and repeats, in seconds."""


@dataclass(frozen=True, slots=True)
class CompareReport(Drawn):
    """The comparison of methods on one data set.

    Example:
        >>> import numpy as np
        >>> import picsc
        >>> rows = np.random.default_rng(0).normal(size=(200, 2))
        >>> report = picsc.compare(rows, rows[:, 0] > 0, folds=2, repeats=1, epochs=5, methods=("st-cv", "iw"))
        >>> report.method("iw").accuracy is not None
        True
    """

    setting: Setting
    """The origin of training and target rows."""
    summary: tuple[str, str, str]
    """Three lines: PIcsC compared with plain training; with the strongest other method; the next step."""
    data: DataInfo
    """The table."""
    words: str
    """The origin of training and target rows, in words."""
    targets: tuple[TargetInfo, ...]
    """The targets in the order of the pieces."""
    repeats: int
    """Number of repeats, each with other random draws."""
    test: str
    """The method of the intervals and p-values, in words."""
    methods: tuple[CompareMethodReport, ...]
    """The methods in the order of `picsc.settings.COMPARE_METHODS`."""
    deltas: tuple[Delta, ...]
    """The differences that the paper prints, as far as their methods were run."""
    risks: tuple[Risk, ...]
    """Quality of cross-validation's estimates of the plain model on the target; empty where iwcv was not run."""
    findings: tuple[Finding, ...]
    """Things about the data that a person should know."""
    settings: dict[str, object]
    """All settings as resolved, by name."""
    manifest: dict[str, object]
    """The versions, the seed and the digests that the same numbers need."""
    measured: tuple[Measured, ...] = ()
    """Times by method; empty unless timings were asked for, since they differ from run to run."""
    majority: MajorityClass | None = None
    """The most frequent class, which every method should beat; None for numbers."""
    not_applicable: tuple[NotApplicable, ...] = ()
    """Methods that the model of `--model` does not have, with the reason; empty for networks."""

    schema = "picsc.compare/1"

    def __repr__(self) -> str:
        """A few lines; `as_dict` has everything."""
        return brief(
            self,
            (
                counted(self.data.rows, "row"),
                counted(len(self.targets), "target"),
                counted(len(self.methods), "method"),
            ),
            self.lines,
        )

    @property
    def lines(self) -> tuple[str, ...]:
        """The summary, and a line on each metric that is asked for."""
        return (*self.summary, *metric_lines(self.methods))

    @property
    def failed(self) -> int:
        """Models without a result, refused weightings among them; the command exits 1 when this is not 0."""
        return sum(method.failed for method in self.methods)

    @property
    def without_result(self) -> tuple[str, ...]:
        """Methods without a score; the command exits 1 when there is one."""
        return tuple(method.method for method in self.methods if method.accuracy is None)

    def method(self, name: str) -> CompareMethodReport | None:
        """The report of one method; None where it was not run."""
        return next((each for each in self.methods if each.method == name), None)

    def gain(self, delta: Delta, target: int) -> float | None:
        """A delta on one target alone, a fraction; None where one of its methods has no accuracy there."""
        both = (self.method(delta.ours), self.method(delta.against))
        ours, theirs = (None if method is None else method.targets[target] for method in both)
        return None if ours is None or theirs is None else ours - theirs

    def as_dict(self) -> dict[str, object]:
        """Plain JSON values; a change of a key bumps `schema`. Numbers are finite or None."""
        return strict({"schema": self.schema, "metric": self.data.metric, **asdict(self), "failed": self.failed})
