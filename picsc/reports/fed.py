"""What `picsc fed` found, as plain values.

Accuracies are fractions in [0, 1] (for numbers R² against the variance of all training rows), log-losses and
divergences nats, sizes bytes; None where there is no number. Nothing here imports torch, pandas or a renderer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass

from picsc.reports.common import DataInfo, Finding, Interval, Verdict, strict


@dataclass(frozen=True, slots=True)
class ClientShift:
    """One client's rows, and how they differ from all others'."""

    name: str
    rows: int
    label_kl: float | None
    """KL of the client's class frequencies from the others'; None without classes."""
    label_p: float | None
    """Of no label shift, adjusted over clients."""
    labels_shifted: bool
    covariates: Verdict | None
    """The audit's verdict on the covariates within classes; None where it was not asked."""
    covariate_kl: float | None
    """KL(client || others) summed over columns, nats, numeric ones within classes; label shift hardly moves it."""
    reason: str = ""
    """What is shifted, or why something is missing, in one line."""
    audited: int | None = None
    """Rows that were audited, 0 when the client was not; None where it was not asked."""
    label_effect: float | None = None
    """Total variation distance of the classes, or KS distance of a numeric target, in [0, 1]."""
    concept_shifted: bool = False
    """What a model learns within classes differs: its score or its Fisher information."""


@dataclass(frozen=True, slots=True)
class Point:
    """Where a method stands after a round; means over seeds."""

    round: int
    accuracy: float | None
    """Mean over clients."""
    log_loss: float | None
    bytes: float
    """Sent by and to all clients since the start, both ways together."""
    flagged: float | None
    """Clients that the trigger flagged in this round; None where there is no trigger."""


@dataclass(frozen=True, slots=True)
class FedDifference:
    """The method minus another, paired over seeds."""

    against: str
    accuracy: float
    interval: Interval | None
    """95 %."""
    p: float | None


@dataclass(frozen=True, slots=True)
class Failure:
    """A run that left the finite numbers, or a client that failed."""

    seed: int
    round: int
    client: str
    reason: str


@dataclass(frozen=True, slots=True)
class FedMethodReport:
    """One method."""

    method: str
    words: str
    """What it is, in one sentence."""
    lr: tuple[float, ...]
    """Local learning rate of each seed."""
    accuracy: float | None
    """After the last round: mean over clients, then over seeds."""
    interval: Interval | None
    """95 %, over seeds."""
    seeds: tuple[float | None, ...]
    """Mean over clients of each seed."""
    best: float | None
    """Accuracy of the best round."""
    best_round: int | None
    log_loss: float | None
    std_clients: float | None
    """Standard deviation over clients, mean over seeds."""
    std_seeds: float | None
    """Of the mean over clients."""
    clients: tuple[float | None, ...]
    """Accuracy on each client's rows, mean over seeds, in the order of `FedReport.clients`."""
    worst: float | None
    worst_client: str
    whole: float | None
    """Accuracy on all test rows together."""
    rounds_to_target: float | None
    """Mean over seeds; None unless every seed reached it."""
    bytes_to_target: float | None
    bytes_up: int
    """Of one client in one round, in the mean."""
    bytes_down: int
    memory: int
    """Floats that server and clients keep between rounds."""
    curve: tuple[Point, ...]
    tau: tuple[float | None, ...]
    """Eq. 14's tau of each client in the last round, mean over seeds; empty where there is no trigger."""
    flagged: tuple[float, ...]
    """Share of rounds in which each client was flagged; empty where there is no trigger."""
    differences: tuple[FedDifference, ...]
    failures: tuple[Failure, ...]

    def against(self, method: str) -> FedDifference | None:
        """The difference from another method; None where the two were not compared."""
        return next((each for each in self.differences if each.against == method), None)


@dataclass(frozen=True, slots=True)
class FedReport:
    """What one call found."""

    data: DataInfo
    clients: tuple[ClientShift, ...]
    partition: str
    """How the clients came about, in words."""
    model: str
    """Kind, size and number of parameters, in words."""
    rounds: int
    repeats: int
    participants: int
    """Clients of a round."""
    target: float | None
    """Accuracy that rounds and bytes are counted to."""
    judged: str
    """Which rows judge, in words."""
    methods: tuple[FedMethodReport, ...]
    findings: tuple[Finding, ...]
    test: str
    summary: tuple[str, str, str]
    settings: dict[str, object]
    manifest: dict[str, object]

    schema = "picsc.fed/1"

    @property
    def failed(self) -> int:
        """Runs and clients without a result; the command exits 1 when this is not 0."""
        return sum(len(method.failures) for method in self.methods)

    def method(self, name: str) -> FedMethodReport | None:
        """The report of one method; None where it was not run."""
        return next((each for each in self.methods if each.method == name), None)

    def as_dict(self) -> dict[str, object]:
        """Plain JSON values; a change of a key bumps `schema`. Numbers are finite or None."""
        return strict({"schema": self.schema, **asdict(self), "failed": self.failed})


@dataclass(frozen=True, slots=True)
class ClientAudit:
    """One client, judged by summaries alone."""

    name: str
    rows: int
    tau: float | None
    """Eq. 14 against all other clients at one model."""
    gamma: float | None
    """Its calibrated threshold."""
    p: float | None
    """The smaller of `p_data` and `p_model`."""
    fisher_gap: float | None
    relative_gap: float | None
    covariate_kl: float | None
    label_kl: float | None
    label_p: float | None
    """Adjusted over clients."""
    verdict: Verdict
    reason: str = ""
    p_data: float | None = None
    """Did the data move? Of the covariate KL; adjusted over clients and both questions."""
    p_model: float | None = None
    """Does the model care? Of the Fisher gap; adjusted likewise."""


@dataclass(frozen=True, slots=True)
class FedAuditReport:
    """What the clients' summaries show."""

    data: DataInfo
    clients: tuple[ClientAudit, ...]
    partition: str
    model: str
    level: float
    bytes_up: int
    """Of one client's summary, in the mean."""
    findings: tuple[Finding, ...]
    test: str
    summary: tuple[str, str, str]
    settings: dict[str, object]
    manifest: dict[str, object]

    schema = "picsc.fed-audit/1"

    @property
    def verdict(self) -> Verdict:
        """The worst of all clients."""
        order: tuple[Verdict, ...] = ("shift", "error", "inconclusive")
        found = {client.verdict for client in self.clients}
        return next((each for each in order if each in found), "ok")

    def as_dict(self) -> dict[str, object]:
        """Plain JSON values; a change of a key bumps `schema`. Numbers are finite or None."""
        return strict({"schema": self.schema, **asdict(self), "verdict": self.verdict})


def of_client(values: Sequence[float | None], k: int) -> float | None:
    """The value of client k in a field of `FedMethodReport` that may be empty; None where it has no value."""
    return values[k] if k < len(values) else None
