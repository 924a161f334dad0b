"""The report of `picsc cv` as plain values.

Accuracies are fractions in [0, 1], which formats show as percent; for a numeric target R² stands under their names, as
`metric` says. Log-losses are in nats per row, of numbers half the squared error in squared standard deviations of the
target over all rows. A number that does
not exist is None, never NaN; the reason is given next to it. Nothing here imports torch, pandas or a format.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Literal

from picsc.phrases import counted
from picsc.reports.common import DataInfo, Difference, Finding, Interval, MajorityClass, NotApplicable, brief, strict
from picsc.reports.metrics import MetricScore, metric_lines
from picsc.reports.shown import Drawn

Protocol = Literal["foldwise", "batchwise"]
"""foldwise: each piece is tested by a model of all other pieces. batchwise: a model is trained on each piece, and a
fixed part of the rows tests it."""


@dataclass(frozen=True, slots=True)
class Unit:
    """One trained model of one method, and its scores."""

    repeat: int
    """Number of the repeat, 1 for the first."""
    fragment: str
    """Name of the piece that is tested (foldwise) or trained on (batchwise); `whole set` for the integral row."""
    rows: int
    """Number of training rows."""
    accuracy: float | None
    """Accuracy as a fraction; for numbers R², the share of variance explained. None if the model failed or nothing was
    tested."""
    log_loss: float | None
    """Mean negative log-likelihood per tested row, in nats; None if the model failed or nothing was tested."""
    auc: float | None
    """Area under the ROC curve, in [0, 1]; of more than two classes the mean over each against all others. None for
    numbers, and where a class is not tested."""
    weighted_accuracy: float | None
    """Accuracy with the row weights of `--weights`; None without them."""
    reason: str
    """Why a number is missing: `one class only`, `diverged at epoch 3 with lambda 0.1 and learning rate 0.02`; empty
    where none is."""
    strength: float | None
    """The lambda or weight decay that was used; None where the method has none."""
    penalty_share: float | None
    """Norm of the penalty's gradient over that of the task's plus the penalty's, mean over steps, in [0, 1]; None where
    there is no penalty."""
    flagged: bool | None
    """True if Algorithm 2's trigger fired, False if not; None where there is no trigger."""
    tau: float | None
    """Statistic of the trigger (Eq. 14), in nats squared per squared parameter unit; None where there is no trigger."""
    gamma: float | None
    """Threshold of the trigger, in the unit of tau; None where there is no trigger."""
    balanced_accuracy: float | None = None
    """Accuracy in each class, mean over the classes that are tested, a fraction; None for numbers and for one class."""
    diverged: int | None = None
    """Epoch, counted from 1, in which the model diverged; None if it did not."""
    metrics: Mapping[str, float | None] = field(default_factory=dict)
    """Metrics that `--metric` asks for, by name; None where one does not exist."""
    metric_reasons: Mapping[str, str] = field(default_factory=dict)
    """Why a metric is None, by name."""


@dataclass(frozen=True, slots=True)
class Lifelong:
    """Models that are trained on one piece after another, scored on the test rows of every piece; mean over repeats.

    Accuracies are fractions, R² of numbers; None where one does not exist.
    """

    all_pieces: float | None
    """Accuracy of the last model, mean over all pieces."""
    seen: float | None
    """Accuracy over the pieces seen so far, mean over these and over the models after each piece."""
    forgetting: float | None
    """Best accuracy so far on a piece minus that of the last model, mean over all pieces but the last; below 0 where
    later pieces help with earlier ones."""
    forward: float | None
    """Accuracy on the next piece before it is learned from, mean over pieces; minus that of an untrained model it is
    forward transfer."""
    matrix: tuple[tuple[float | None, ...], ...]
    """Accuracy of the model after each piece (row) on the test rows of every piece (column)."""


@dataclass(frozen=True, slots=True)
class MethodReport:
    """One method over all pieces and repeats."""

    method: str
    """One of `picsc.settings.METHODS`, `picsc, unmerged`, `picsc, algorithm 1`, `st-cv, batches so far` or `carried,
    merged`."""
    words: str
    """Description of the method, in one line."""
    whole: float | None
    """Accuracy of the model of the whole training set (BL1 for st-cv), mean over repeats, a fraction; None where there
    is none."""
    whole_log_loss: float | None
    """Log-loss of that model, mean over repeats, in nats per row; None where there is none."""
    fragments: tuple[float | None, ...]
    """Accuracy per piece, mean over repeats, in the order of `CvReport.fragments`; None without a result."""
    mean: float | None
    """Mean accuracy over the pieces and repeats that have one, a fraction; None without any."""
    variance: float | None
    """Sample variance of `fragments`, in squared percent as the paper prints it; None for fewer than two."""
    interval: Interval | None
    """95 % interval of the mean accuracy; None where it cannot be computed."""
    log_loss: float | None
    """Mean log-loss over pieces and repeats, in nats per row; None without any."""
    weighted_accuracy: float | None
    """Mean accuracy with the row weights of `--weights`, a fraction; None without them."""
    strengths: tuple[float, ...]
    """Distinct lambdas or weight decays that were used, increasing; empty where the method has none."""
    penalty_share: float | None
    """Mean of `Unit.penalty_share` over units; None where there is no penalty."""
    flagged: tuple[int, int] | None
    """Number of pieces that Algorithm 2's trigger flagged, and number of pieces that it tested; None where there is no
    trigger."""
    failed: int
    """Number of units without a result."""
    differences: tuple[Difference, ...]
    """This method minus st-cv first, then minus every control."""
    units: tuple[Unit, ...]
    """Every trained model, by repeat and piece."""
    balanced_accuracy: float | None = None
    """Mean balanced accuracy over the units that have one, a fraction; None without any."""
    auc: float | None = None
    """Mean area under the ROC curve over the units that have one, in [0, 1]; None without any."""
    lifelong: Lifelong | None = None
    """Forgetting and transfer along the pieces; None for folds, and where the latest rows test all models."""
    metrics: tuple[MetricScore, ...] = ()
    """Metrics that `--metric` asks for, in its order."""

    def against(self, method: str) -> Difference | None:
        """The difference from another method; None where the two were not compared."""
        return next((each for each in self.differences if each.against == method), None)


@dataclass(frozen=True, slots=True)
class Loss:
    """The parts of the accuracy that plain training loses by fragmentation; fractions, positive is lost."""

    total: float
    """Sum of the parts; batch-wise the accuracy of the whole set minus the mean over pieces."""
    smaller_sample: float
    """Accuracy of the whole set minus that of models of fewer rows and as many updates, both on the same test rows:
    batch-wise of random subsamples of the pieces' sizes, fold-wise of the whole set without a random piece."""
    shift: float
    """Accuracy of the random subsamples minus that of the pieces."""
    shift_interval: Interval | None
    """95 % interval of `shift`; None where it cannot be computed."""
    fewer_updates: float | None = None
    """Accuracy of some random subsamples trained for as many updates as the whole set, minus their own with the epochs
    of all models: undertraining. None where the models have equally many updates."""


@dataclass(frozen=True, slots=True)
class GroupLeakage:
    """Plain training whose training and test rows may share groups, against whole groups; fractions."""

    column: str
    """Column of the groups."""
    divided: float
    """Mean score where rows of one group may lie in training and test."""
    whole: float
    """Mean score where groups are whole: that of models for groups that they have not met."""
    method: str
    """Method that `whole` is the score of: `st-cv`, or `subsample` unless pieces are random folds."""
    interval: Interval | None
    """95 % interval of `divided` minus `whole`; None where it cannot be computed."""
    p: float | None
    """p-value of that difference; None where there is no test."""


@dataclass(frozen=True, slots=True)
class DeploymentEstimate:
    """The estimate to trust for the rows that a model will be used on, of standard training on all rows; fractions."""

    deploy: str
    """Those rows: `same`, `new-groups`, `future` or the name of a file."""
    line: str
    """The estimate in one sentence."""
    estimate: str
    """Name of the estimate, such as `5 x 10-fold stratified cross-validation`."""
    interval_of: str
    """Name of the interval."""
    value: float | None
    """Estimated score; None where there is none."""
    interval: Interval | None
    """95 % interval of `value`; None where it cannot be computed."""
    rows: int
    """Rows that the estimate rests on."""
    effective_rows: float | None = None
    """Effective sample size of the weights, in rows; None without weights."""
    reason: str = ""
    """Why there is no value; empty where there is one."""


@dataclass(frozen=True, slots=True)
class CvReport(Drawn):
    """The cross-validation of one data set with one cut.

    Example:
        >>> import numpy as np
        >>> import picsc
        >>> rows = np.random.default_rng(0).normal(size=(200, 2))
        >>> report = picsc.cross_validate(rows, rows[:, 0] > 0, folds=2, repeats=1, epochs=5)
        >>> report.method("st-cv").mean is not None
        True
    """

    protocol: Protocol
    """The roles of the pieces in training and testing."""
    algorithm: Literal[1, 2]
    """Algorithm of the paper that picsc is trained by."""
    summary: tuple[str, str, str]
    """Three lines: PIcsC compared with st-cv; with the strongest control; the next step."""
    data: DataInfo
    """The table."""
    pieces: str
    """The cut of the table, in words."""
    fragments: tuple[str, ...]
    """Names of the pieces of the first repeat."""
    repeats: int
    """Number of repeats, each with other random draws."""
    test: str
    """The method of the intervals and p-values, in words."""
    methods: tuple[MethodReport, ...]
    """The methods in the order of `picsc.settings.METHODS`."""
    loss: Loss | None
    """The parts of the accuracy that st-cv loses by fragmentation; None where a part is missing."""
    findings: tuple[Finding, ...]
    """Things about the data that a person should know."""
    settings: dict[str, object]
    """All settings as resolved, by name."""
    manifest: dict[str, object]
    """The versions, the seed and the digests that the same numbers need."""
    majority: MajorityClass | None = None
    """The most frequent class, which every method should beat; None for numbers."""
    pooled: bool = False
    """True where R² is that of the predictions of all pieces of a repeat together, because no piece alone has one."""

    group_leakage: GroupLeakage | None = None
    """The difference that whole groups make; None without groups, and where no random split can stand beside them."""
    deployment: DeploymentEstimate | None = None
    """The estimate for the rows that `--deploy` names; None without it."""
    not_applicable: tuple[NotApplicable, ...] = ()
    """Methods that the model of `--model` does not have, with the reason; empty for networks."""

    schema = "picsc.cv/1"

    def __repr__(self) -> str:
        """A few lines; `as_dict` has everything."""
        return brief(
            self,
            (
                counted(self.data.rows, "row"),
                counted(len(self.fragments), "piece"),
                counted(len(self.methods), "method"),
            ),
            self.lines,
        )

    @property
    def lines(self) -> tuple[str, ...]:
        """The summary, a line on each metric that is asked for, and the estimate for deployment if there is one."""
        more = metric_lines(self.methods)
        return (*self.summary, *more, *(() if self.deployment is None else (self.deployment.line,)))

    @property
    def failed(self) -> int:
        """Units without a result; the command exits 1 when this is not 0."""
        return sum(method.failed for method in self.methods)

    @property
    def without_result(self) -> tuple[str, ...]:
        """Methods without a score; the command exits 1 when there is one."""
        return tuple(method.method for method in self.methods if method.mean is None)

    def method(self, name: str) -> MethodReport | None:
        """The report of one method; None where it was not run."""
        return next((each for each in self.methods if each.method == name), None)

    def as_dict(self) -> dict[str, object]:
        """Plain JSON values; a change of a key bumps `schema`. Numbers are finite or None."""
        body = {each.name: getattr(self, each.name) for each in fields(self)}
        body["data"] = asdict(self.data)
        body["majority"] = None if self.majority is None else asdict(self.majority)
        body["loss"] = None if self.loss is None else asdict(self.loss)
        body["group_leakage"] = None if self.group_leakage is None else asdict(self.group_leakage)
        body["deployment"] = None if self.deployment is None else asdict(self.deployment)
        body["not_applicable"] = [asdict(each) for each in self.not_applicable]
        body["methods"] = [asdict(method) for method in self.methods]
        body["findings"] = [asdict(finding) for finding in self.findings]
        return strict({"schema": self.schema, "metric": self.data.metric, **body})
