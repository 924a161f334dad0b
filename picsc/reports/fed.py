"""The reports of `picsc fed` as plain values.

Accuracies are fractions in [0, 1]; for numbers R²: of a client one minus its mean squared error over the mean variance
within clients, of all clients together about the mean of all test rows. Log-losses and divergences are in nats, sizes
in bytes; None where there is no number. The log-loss of a number is half its squared error in squared standard
deviations of the target over all rows. Nothing here imports torch, pandas or a format.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass

from picsc.phrases import counted
from picsc.reports.common import DataInfo, Finding, Interval, MajorityClass, Verdict, brief, strict
from picsc.reports.metrics import MetricScore, metric_lines
from picsc.reports.shown import Drawn


@dataclass(frozen=True, slots=True)
class ClientShift:
    """One client's rows, compared with those of all others."""

    name: str
    """Name of the client."""
    rows: int
    """Number of its rows."""
    label_kl: float | None
    """KL divergence of the client's class frequencies from the others', in nats; None without classes."""
    label_p: float | None
    """p-value of the hypothesis that the labels are not shifted, adjusted over clients; None where it was not
    tested."""
    labels_shifted: bool
    """True if the labels are shifted at the level of the audit."""
    covariates: Verdict | None
    """The audit's verdict on the covariates within classes; None where it was not asked."""
    covariate_kl: float | None
    """KL(client || others) summed over columns, in nats, for numeric ones within classes, so that label shift hardly
    moves it; None where it was not computed."""
    reason: str = ""
    """The shift, or the reason for a missing number, in one line; empty where there is nothing to say."""
    audited: int | None = None
    """Number of rows that were audited, 0 when the client was not; None where no audit was asked."""
    label_effect: float | None = None
    """Total variation distance of the classes, or KS distance of a numeric target, in [0, 1]; None where it was not
    computed."""
    concept_shifted: bool = False
    """True if what a model learns within classes differs: its score or its Fisher information."""


@dataclass(frozen=True, slots=True)
class Point:
    """The state of a method after one round; means over seeds."""

    round: int
    """Number of the round, 1 for the first."""
    accuracy: float | None
    """Mean accuracy over clients, a fraction (R² for numbers); None without a result."""
    log_loss: float | None
    """Mean log-loss over clients, in nats per row; None without a result."""
    bytes: float
    """Bytes sent by and to all clients since the start, both ways together."""
    flagged: float | None
    """Number of clients that the trigger flagged in this round; None where there is no trigger."""


@dataclass(frozen=True, slots=True)
class ClientHistory:
    """The joint model's accuracy on every client over the rounds, and what it forgets; means over seeds."""

    rounds: tuple[int, ...]
    """Numbers of rounds at equal distances, `MOST_ROUNDS` at most, the last round among them."""
    accuracy: tuple[tuple[float | None, ...], ...]
    """Accuracy after each of these rounds (row) on each client's test rows (column), in the order of
    `FedReport.clients`, a fraction (R² for numbers); None without a result."""
    forgetting: float | None
    """Best accuracy in any round minus that of the last one, mean over clients, a fraction; at least 0. None without a
    result."""


MOST_ROUNDS = 12
"""Rounds of a `ClientHistory` at most."""


@dataclass(frozen=True, slots=True)
class FedDifference:
    """One method minus another one, paired over seeds."""

    against: str
    """The other method."""
    accuracy: float
    """Difference of mean accuracies, as a fraction; positive is better."""
    interval: Interval | None
    """95 % interval of that difference; None where it cannot be computed."""
    p: float | None
    """p-value of the two-sided paired test, in (0, 1]; None where there is no test."""
    log_loss: float | None = None
    """Difference of mean log-losses, in nats per row; negative is better. None where no seed has both."""
    log_loss_p: float | None = None
    """p-value of the same test of the log-losses; None where there is no test."""
    p_holm: float | None = None
    """`p` adjusted by Holm's method over all methods that this one is compared with, in (0, 1]; None where
    there is no p-value."""
    log_loss_p_holm: float | None = None
    """`log_loss_p` adjusted the same way; None where there is no p-value."""


@dataclass(frozen=True, slots=True)
class Failure:
    """One run whose numbers are no longer finite, or one client that failed."""

    seed: int
    """Seed of the run."""
    round: int
    """Number of the round, 1 for the first."""
    client: str
    """Name of the client; empty where the whole run failed."""
    reason: str
    """Why it failed, in one line."""


@dataclass(frozen=True, slots=True)
class FedMethodReport:
    """One method over all seeds."""

    method: str
    """One of `picsc.settings.FED_METHODS`."""
    words: str
    """Description of the method, in one sentence."""
    lr: tuple[float, ...]
    """Local learning rate of each seed."""
    accuracy: float | None
    """Accuracy after the last round, mean over clients, then over seeds, a fraction (R² for numbers); None without a
    result."""
    interval: Interval | None
    """95 % interval of that accuracy over seeds; None for fewer than three."""
    seeds: tuple[float | None, ...]
    """Mean accuracy over clients of each seed; None for a seed without a result."""
    best: float | None
    """Mean accuracy in the best round; None without a result."""
    best_round: int | None
    """Number of the best round; None without a result."""
    log_loss: float | None
    """Log-loss after the last round, mean over clients and seeds, in nats per row; None without a result."""
    std_clients: float | None
    """Standard deviation of the accuracy over clients, mean over seeds, a fraction; None without a result."""
    std_seeds: float | None
    """Standard deviation over seeds of the mean over clients, a fraction; None for one seed."""
    clients: tuple[float | None, ...]
    """Accuracy on each client's rows, mean over seeds, in the order of `FedReport.clients`; None without a result, and
    of R² where no client's test rows vary."""
    worst: float | None
    """Accuracy of the client with the lowest one, a fraction; None without a result."""
    worst_client: str
    """Name of that client; empty without a result."""
    whole: float | None
    """Accuracy on the test rows of all clients together, mean over seeds, a fraction; None without a result. R² counts
    differences between clients here, and not in `accuracy`."""
    rounds_to_target: float | None
    """Number of rounds to the target accuracy, mean over seeds; None unless every seed reached it."""
    bytes_to_target: float | None
    """Bytes sent by and to all clients until then; None unless every seed reached it."""
    bytes_up: int
    """Bytes that one client sends in one round, in the mean."""
    bytes_down: int
    """Bytes that one client receives in one round, in the mean."""
    memory: int
    """Number of floats that server and clients keep between rounds."""
    curve: tuple[Point, ...]
    """The state after every round, in order."""
    tau: tuple[float | None, ...]
    """Eq. 14's tau of each client in the last round, mean over seeds, in nats squared per squared parameter unit; empty
    where there is no trigger, None for a client without one."""
    flagged: tuple[float, ...]
    """Share of rounds in which each client was flagged, in [0, 1]; empty where there is no trigger."""
    differences: tuple[FedDifference, ...]
    """This method minus every other method, paired over seeds."""
    failures: tuple[Failure, ...]
    """Runs and clients without a result."""
    balanced_accuracy: float | None = None
    """Accuracy in each class on the test rows of all clients together, mean over classes and seeds, a fraction; None
    for numbers and without a result."""
    auc: float | None = None
    """Area under the ROC curve on the same rows, in [0, 1]; of more than two classes the mean over each against all
    others. None for numbers, where a class is not tested, and without a result."""
    history: ClientHistory | None = None
    """Accuracy on every client over the rounds; None without a result."""
    constants: tuple[float, ...] = ()
    """The method's own constant (mu of fedprox, lambda of fedcurv, picsc and picsc-scaffold, delta of fisher-mean) with
    each seed; empty for a method that has none."""
    whitened: tuple[bool, ...] = ()
    """True for each seed whose model was trained on whitened columns."""
    metrics: tuple[MetricScore, ...] = ()
    """Metrics that `--metric` asks for, in its order: means over clients, then over seeds; `pieces` are the clients."""

    def against(self, method: str) -> FedDifference | None:
        """The difference from another method; None where the two were not compared."""
        return next((each for each in self.differences if each.against == method), None)


@dataclass(frozen=True, slots=True)
class FedReport(Drawn):
    """The federation of one data set.

    Example:
        >>> import numpy as np
        >>> import picsc
        >>> rows = np.random.default_rng(0).normal(size=(200, 2))
        >>> report = picsc.federate(rows, rows[:, 0] > 0, clients=2, rounds=1, repeats=1, lr=0.05, methods=("fedavg",))
        >>> report.method("fedavg").accuracy is not None
        True
    """

    data: DataInfo
    """The table."""
    clients: tuple[ClientShift, ...]
    """The clients, with how their rows differ from those of the others."""
    partition: str
    """The origin of the clients, in words."""
    model: str
    """Kind, size and number of parameters of the model, in words."""
    rounds: int
    """Number of rounds."""
    repeats: int
    """Number of seeds."""
    participants: int
    """Number of clients that take part in a round."""
    target: float | None
    """Accuracy that rounds and bytes are counted to, a fraction; None without one."""
    judged: str
    """Which rows test the models, in words."""
    methods: tuple[FedMethodReport, ...]
    """The methods in the order of `picsc.settings.FED_METHODS`."""
    findings: tuple[Finding, ...]
    """Things about the data that a person should know."""
    test: str
    """The method of the intervals and p-values, in words."""
    summary: tuple[str, str, str]
    """Three lines: scores; PIcsC compared with the best baseline and with the strongest control; shifted clients."""
    settings: dict[str, object]
    """All settings as resolved, by name."""
    manifest: dict[str, object]
    """The versions, the seed and the digests that the same numbers need."""
    majority: MajorityClass | None = None
    """The most frequent class, which every method should beat: its share of each client's test rows, mean over clients;
    None for numbers."""

    schema = "picsc.fed/1"

    def __repr__(self) -> str:
        """A few lines; `as_dict` has everything."""
        return brief(
            self,
            (
                counted(self.data.rows, "row"),
                counted(len(self.clients), "client"),
                counted(len(self.methods), "method"),
            ),
            self.lines,
        )

    @property
    def lines(self) -> tuple[str, ...]:
        """The summary, and a line on each metric that is asked for."""
        return (*self.summary, *metric_lines(self.methods, "fedavg"))

    @property
    def failed(self) -> int:
        """Runs and clients without a result; the command exits 1 when this is not 0."""
        return sum(len(method.failures) for method in self.methods)

    @property
    def without_result(self) -> tuple[str, ...]:
        """Methods without a score; the command exits 1 when there is one."""
        return tuple(method.method for method in self.methods if method.accuracy is None)

    def method(self, name: str) -> FedMethodReport | None:
        """The report of one method; None where it was not run."""
        return next((each for each in self.methods if each.method == name), None)

    def as_dict(self) -> dict[str, object]:
        """Plain JSON values; a change of a key bumps `schema`. Numbers are finite or None."""
        return strict({"schema": self.schema, "metric": self.data.metric, **asdict(self), "failed": self.failed})


@dataclass(frozen=True, slots=True)
class ClientAudit:
    """One client, tested by the summaries that it and the others sent in place of their rows."""

    name: str
    """Name of the client."""
    rows: int
    """Number of its rows."""
    tau: float | None
    """Eq. 14 against all other clients at one model, in nats squared per squared parameter unit; None where it could
    not be computed."""
    gamma: float | None
    """Calibrated threshold of tau, in the same unit; None where it could not be computed."""
    p: float | None
    """The smaller of `p_data` and `p_model`; None where there is no test."""
    fisher_gap: float | None
    """||I_i - I_ref||_F, in nats per squared parameter unit; None where it could not be computed."""
    relative_gap: float | None
    """||I_i - I_ref||_F / ||I_ref||_F, without a unit; None where it could not be computed."""
    covariate_kl: float | None
    """KL(client || others) of the covariates summed over columns, in nats; None where it could not be computed."""
    label_kl: float | None
    """KL divergence of the client's class frequencies from the others', in nats; None without classes."""
    label_p: float | None
    """p-value of the hypothesis that the labels are not shifted, adjusted over clients; None where it was not
    tested."""
    verdict: Verdict
    """ok, shift, inconclusive (the test is undecided), or error (there is no test)."""
    reason: str = ""
    """Why the verdict is not ok, in one line; empty for ok."""
    p_data: float | None = None
    """p-value of the question whether the data moved: of the covariate KL, adjusted over clients and both questions.
    None where there is no test."""
    p_model: float | None = None
    """p-value of the question whether it matters to the model: of the Fisher gap, adjusted over clients and both
    questions. None where there is no test."""


@dataclass(frozen=True, slots=True)
class FedAuditReport(Drawn):
    """The audit of clients by their summaries.

    Example:
        >>> import numpy as np
        >>> import picsc
        >>> from picsc.datasets.open import open_data
        >>> settings = picsc.FedSettings.model_validate({"clients": {"clients": 3}, "lr": 0.05})
        >>> rows = np.random.default_rng(0).normal(size=(600, 2))
        >>> report = picsc.audit_clients(open_data(rows, rows[:, 0] > 0, settings.read), settings)
        >>> report.verdict
        'ok'
    """

    data: DataInfo
    """The table."""
    clients: tuple[ClientAudit, ...]
    """The clients with their verdicts."""
    partition: str
    """The origin of the clients, in words."""
    model: str
    """Kind, size and number of parameters of the model, in words."""
    level: float
    """Family-wise level of the tests, in (0, 1)."""
    bytes_up: int
    """Bytes of one client's summary, in the mean."""
    findings: tuple[Finding, ...]
    """Things about the data that a person should know."""
    test: str
    """The method of the intervals and p-values, in words."""
    summary: tuple[str, str, str]
    """Three lines: the verdict; the worst client and why; the next step."""
    settings: dict[str, object]
    """All settings as resolved, by name."""
    manifest: dict[str, object]
    """The versions, the seed and the digests that the same numbers need."""

    schema = "picsc.fed-audit/1"

    def __repr__(self) -> str:
        """A few lines; `as_dict` has everything."""
        return brief(
            self,
            (self.verdict, counted(self.data.rows, "row"), counted(len(self.clients), "client")),
            self.summary,
        )

    @property
    def verdict(self) -> Verdict:
        """The worst verdict of all clients; ok without any other."""
        order: tuple[Verdict, ...] = ("shift", "error", "inconclusive")
        found = {client.verdict for client in self.clients}
        return next((each for each in order if each in found), "ok")

    def as_dict(self) -> dict[str, object]:
        """Plain JSON values; a change of a key bumps `schema`. Numbers are finite or None."""
        return strict({"schema": self.schema, **asdict(self), "verdict": self.verdict})


def of_client(values: Sequence[float | None], k: int) -> float | None:
    """The value of client k in a field of `FedMethodReport` that may be empty; None where it has no value."""
    return values[k] if k < len(values) else None
