"""What `picsc cv` found, as plain values; the counterpart of `picsc.reports.common` for cross-validation.

Accuracies are fractions in [0, 1]; a renderer makes them percent. Log-losses are in nats per row. A number that does
not exist is None, never NaN; the reason stands beside it. Nothing here imports torch, pandas or a renderer.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from typing import Literal

from picsc.reports.common import DataInfo, Difference, Finding, Interval, strict

Protocol = Literal["foldwise", "batchwise"]
"""foldwise: a model of all other pieces tests each. batchwise: each piece is trained on, and a fixed part tests."""


@dataclass(frozen=True, slots=True)
class Unit:
    """One trained model of one method, and how it did."""

    repeat: int
    fragment: str
    """Name of the piece tested (foldwise) or trained on (batchwise); `whole set` for the integral row."""
    rows: int
    """Training rows."""
    accuracy: float | None
    """Of classes; for numbers R^2, the share of variance explained. None if the model failed or nothing was tested."""
    log_loss: float | None
    """Mean negative log-likelihood per tested row, nats."""
    auc: float | None
    """Area under the ROC curve of two classes."""
    weighted_accuracy: float | None
    """With the row weights of `--weights`."""
    reason: str
    """Why a number is missing: `one class only`, `diverged at epoch 3 with lambda 0.1 and learning rate 0.02`."""
    strength: float | None
    """lambda or weight decay that was used; None where the method has none."""
    penalty_share: float | None
    """Norm of the penalty's gradient over that of the task's plus the penalty's, mean over steps, in [0, 1]."""
    flagged: bool | None
    """Whether Algorithm 2's trigger fired; None where there is none."""
    tau: float | None
    """Eq. 14, where Algorithm 2 looked."""
    gamma: float | None
    """Its threshold."""


@dataclass(frozen=True, slots=True)
class MethodReport:
    """One method over all pieces and repeats."""

    method: str
    """One of `picsc.settings.METHODS`, or `picsc, unmerged`."""
    words: str
    """What it is, in one line."""
    whole: float | None
    """Accuracy of the model of the whole training set (BL1 for st-cv), mean over repeats; None where there is none."""
    whole_log_loss: float | None
    fragments: tuple[float | None, ...]
    """Accuracy per piece, mean over repeats, in the order of `CvReport.fragments`."""
    mean: float | None
    """Mean accuracy over pieces and repeats that have one."""
    variance: float | None
    """Sample variance of `fragments`, in squared percent as the paper prints it."""
    interval: Interval | None
    """Of the mean accuracy."""
    log_loss: float | None
    weighted_accuracy: float | None
    strengths: tuple[float, ...]
    """Distinct lambdas or weight decays that were used, increasing."""
    penalty_share: float | None
    """Mean over units."""
    flagged: tuple[int, int] | None
    """Fragments that Algorithm 2's trigger flagged, and looked at."""
    failed: int
    """Units without a result."""
    differences: tuple[Difference, ...]
    """Against st-cv first, then against every control."""
    units: tuple[Unit, ...]

    def against(self, method: str) -> Difference | None:
        """The difference from another method; None where the two were not compared."""
        return next((each for each in self.differences if each.against == method), None)


@dataclass(frozen=True, slots=True)
class Loss:
    """Where the accuracy that fragmentation costs went, for plain training; fractions, positive is lost."""

    total: float
    """Whole set minus mean over pieces."""
    smaller_sample: float
    """Whole set minus random subsamples of the pieces' sizes."""
    shift: float
    """Random subsamples minus pieces."""
    shift_interval: Interval | None


@dataclass(frozen=True, slots=True)
class CvReport:
    """Cross-validation of one data set with one cut."""

    protocol: Protocol
    algorithm: Literal[1, 2]
    summary: tuple[str, str, str]
    """What PIcsC did against st-cv; against the strongest control; what to do next."""
    data: DataInfo
    pieces: str
    """How the table was cut, in words."""
    fragments: tuple[str, ...]
    """Names of the pieces of the first repeat."""
    repeats: int
    test: str
    """How intervals and p-values were made, in words."""
    methods: tuple[MethodReport, ...]
    """In the order of `picsc.settings.METHODS`."""
    loss: Loss | None
    findings: tuple[Finding, ...]
    settings: dict[str, object]
    manifest: dict[str, object]

    schema = "picsc.cv/1"

    @property
    def failed(self) -> int:
        """Units without a result; the command exits 1 when this is not 0."""
        return sum(method.failed for method in self.methods)

    def method(self, name: str) -> MethodReport | None:
        """The report of one method; None where it was not run."""
        return next((each for each in self.methods if each.method == name), None)

    def as_dict(self) -> dict[str, object]:
        """Plain JSON values; a change of a key bumps `schema`. Numbers are finite or None."""
        body = {field.name: getattr(self, field.name) for field in fields(self)}
        body["data"] = asdict(self.data)
        body["loss"] = None if self.loss is None else asdict(self.loss)
        body["methods"] = [asdict(method) for method in self.methods]
        body["findings"] = [asdict(finding) for finding in self.findings]
        return strict({"schema": self.schema, **body})
