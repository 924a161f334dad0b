"""What `picsc compare` found, as plain values.

Accuracies are fractions in [0, 1] (R² for numbers), log-losses nats per row, sizes bytes; None where there is no
number, with the reason beside it. Nothing here imports torch, pandas or a renderer.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Literal

from picsc.reports.common import DataInfo, Difference, Finding, Interval, strict

Setting = Literal["integral", "transfer", "in turn"]
"""integral: training and target rows are random parts of one whole, or the official ones. transfer: named pieces are
the target. in turn: each piece is the target of a model of all others."""


@dataclass(frozen=True, slots=True)
class Weights:
    """How a method weighs its training rows; means over targets and repeats."""

    ess: float
    """Effective sample size as a share of the training rows, in (0, 1]; 1 when all weigh alike."""
    smallest_ess: float
    largest: float
    """Largest weight, where the mean is 1."""


@dataclass(frozen=True, slots=True)
class TargetInfo:
    """One target, over all repeats."""

    name: str
    """Of the piece, or `random part` or `official test part`."""
    train: int
    """Training rows of the first repeat."""
    adapt: int
    """Target rows that methods may look at."""
    labelled: int
    """Those of them whose labels diw may use."""
    judge: int
    """Target rows that judge."""
    separation: float | None
    """Area under the ROC curve of a classifier that tells training from target rows out of fold, mean over repeats: 0.5
    where they look alike, 1 where they do not overlap. None where nothing looked at them."""


@dataclass(frozen=True, slots=True)
class CompareUnit:
    """One model of one method."""

    repeat: int
    target: str
    rows: int
    """Training rows."""
    accuracy: float | None
    log_loss: float | None
    auc: float | None
    reason: str
    """Why a number is missing: `diverged at epoch 3`, `refused: ...`."""
    ess: float | None
    """Of its weights, as a share of the rows; None where rows weigh alike."""
    largest: float | None
    strength: float | None
    """lambda or weight decay that was used; None where the method has none."""
    exponent: float | None
    """Power of the weights that was chosen; None where none is."""


@dataclass(frozen=True, slots=True)
class CompareMethodReport:
    """One method over all targets and repeats."""

    method: str
    """One of `picsc.settings.COMPARE_METHODS`."""
    words: str
    """What it is, in one line."""
    accuracy: float | None
    interval: Interval | None
    """Of the mean accuracy."""
    log_loss: float | None
    targets: tuple[float | None, ...]
    """Accuracy on each target, mean over repeats, in the order of `CompareReport.targets`."""
    weights: Weights | None
    """None where all rows weigh alike."""
    memory: int
    """Bytes that the weighting holds at once, at most; 0 without one. An estimate from the numbers of rows."""
    strengths: tuple[float, ...]
    """Distinct lambdas or weight decays that were used, increasing."""
    exponents: tuple[float, ...]
    """Distinct powers of the weights that were chosen, increasing."""
    failed: int
    """Models without a result."""
    differences: tuple[Difference, ...]
    """Against every other method."""
    units: tuple[CompareUnit, ...]

    def against(self, method: str) -> Difference | None:
        """The difference from another method; None where the two were not compared."""
        return next((each for each in self.differences if each.against == method), None)


@dataclass(frozen=True, slots=True)
class Delta:
    """A difference that the paper prints; it calls both kinds percent."""

    name: str
    """`Δ1` or `Δ2`."""
    ours: str
    against: str
    points: float
    """Difference of accuracies, a fraction."""
    relative: float | None
    """Difference as a share of `base`'s accuracy."""
    base: str
    """The method whose accuracy the paper divides by."""


@dataclass(frozen=True, slots=True)
class Risk:
    """How well cross-validation on training rows foretells how the plain model does on the target."""

    by: str
    """`unweighted`, `iw`, or `true ratio`: how tested rows are weighed."""
    accuracy: float | None
    """Mean estimate."""
    log_loss: float | None
    accuracy_error: float | None
    """Mean distance from what came out on the target, over targets and repeats; a fraction."""
    log_loss_error: float | None
    accuracy_bias: float | None
    """Distance of the mean estimate from the mean of what came out."""
    log_loss_bias: float | None


@dataclass(frozen=True, slots=True)
class Measured:
    """What a method took on this machine; no part of a report's bytes unless it is asked for."""

    method: str
    seconds: float
    """Weights, choices and training, over all targets and repeats."""


@dataclass(frozen=True, slots=True)
class CompareReport:
    """What one call found."""

    setting: Setting
    summary: tuple[str, str, str]
    """What PIcsC did against plain training; against the strongest other method; what to do next."""
    data: DataInfo
    words: str
    """How training and target rows came about."""
    targets: tuple[TargetInfo, ...]
    repeats: int
    test: str
    """How intervals and p-values were made, in words."""
    methods: tuple[CompareMethodReport, ...]
    """In the order of `picsc.settings.COMPARE_METHODS`."""
    deltas: tuple[Delta, ...]
    risks: tuple[Risk, ...]
    """Of the plain model; empty where iwcv was not run."""
    findings: tuple[Finding, ...]
    settings: dict[str, object]
    manifest: dict[str, object]
    measured: tuple[Measured, ...] = ()
    """Empty unless timings were asked for: they differ from run to run."""

    schema = "picsc.compare/1"

    @property
    def failed(self) -> int:
        """Models without a result, refused weightings among them; the command exits 1 when this is not 0."""
        return sum(method.failed for method in self.methods)

    def method(self, name: str) -> CompareMethodReport | None:
        """One method's report; None where it was not run."""
        return next((each for each in self.methods if each.method == name), None)

    def gain(self, delta: Delta, target: int) -> float | None:
        """A delta on one target alone, a fraction; None where one of its methods has no accuracy there."""
        both = (self.method(delta.ours), self.method(delta.against))
        ours, theirs = (None if method is None else method.targets[target] for method in both)
        return None if ours is None or theirs is None else ours - theirs

    def as_dict(self) -> dict[str, object]:
        """Plain JSON values; a change of a key bumps `schema`. Numbers are finite or None."""
        return strict({"schema": self.schema, **asdict(self), "failed": self.failed})
