"""Reports of federations built by hand, for tests of what reads them."""

from __future__ import annotations

from dataclasses import replace

from picsc.reports.common import Interval, MajorityClass, Verdict
from picsc.reports.fed import (
    ClientAudit,
    ClientHistory,
    ClientShift,
    Failure,
    FedAuditReport,
    FedDifference,
    FedMethodReport,
    FedReport,
    Point,
)
from tests.factories.audit import audit_report
from tests.factories.differences import adjusted_over_seeds


def client(name: str, **changes: object) -> ClientShift:
    plain = ClientShift(
        name=name,
        rows=180,
        label_kl=0.0123,
        label_p=0.731,
        labels_shifted=False,
        covariates="ok",
        covariate_kl=0.412,
    )
    return replace(plain, **changes)


CLIENTS = (
    *(client(f"client {k + 1}", covariate_kl=0.1 * k) for k in range(7)),
    client("client 8", covariates="shift", covariate_kl=12.3),
    client("ward [red]9[/red], a name longer than most", label_kl=1.5, label_p=0.0004, labels_shifted=True),
    client("client 10", rows=8, covariates="inconclusive", covariate_kl=None, reason="n=8 < n_min"),
)


def curve(start: float, end: float, rounds: int = 12, **changes: object) -> tuple[Point, ...]:
    """Accuracy that goes to `end` and halves its distance in every round."""
    return tuple(
        replace(Point(r, end - (end - start) * 0.5**r, 2.0 - end, 61_000.0 * r, None), **changes)
        for r in range(1, rounds + 1)
    )


def fed_method(method: str, accuracy: float, **changes: object) -> FedMethodReport:
    plain = FedMethodReport(
        method=method,
        words=f"what {method} is",
        lr=(0.1, 0.1),
        accuracy=accuracy,
        interval=Interval(accuracy - 0.0104, accuracy + 0.0123),
        seeds=(accuracy - 0.0125, accuracy + 0.0125),
        best=accuracy + 0.0031,
        best_round=11,
        log_loss=0.3125,
        std_clients=0.0512,
        std_seeds=0.0071,
        clients=tuple(accuracy + 0.0625 - k / 64 for k in range(10)),
        worst=accuracy - 0.08,
        worst_client="client 10",
        whole=accuracy - 0.001,
        rounds_to_target=11.5,
        bytes_to_target=702_000.0,
        bytes_up=9_640,
        bytes_down=9_640,
        memory=2410,
        curve=curve(0.2, accuracy),
        tau=(),
        flagged=(),
        differences=() if method == "fedavg" else (FedDifference("fedavg", accuracy - 0.87, None, 0.25),),
        failures=(),
        balanced_accuracy=0.8125,
        auc=0.91,
        history=ClientHistory(
            (1, 12),
            (
                tuple(accuracy / 2 - k / 64 for k in range(10)),
                tuple(accuracy + 0.0625 - k / 64 for k in range(10)),
            ),
            0.0125,
        ),
    )
    return replace(plain, **changes)


OTHERS = ("fedprox", "scaffold", "fedcurv", "fisher-mean", "picsc-scaffold")
FAILED = Failure(2, 7, "client 10", "left the finite numbers at step 3 with learning rate 1")
PICSC = fed_method(
    "picsc",
    0.921,
    lr=(0.03, 0.1),
    log_loss=0.25,
    bytes_up=1_234_567,
    bytes_down=123_456_789_012,
    rounds_to_target=4.0,
    memory=28_920,
    constants=(0.1, 1.0),
    worst_client="ward [red]9[/red], a name longer than most",
    curve=tuple(replace(point, flagged=3.0 - point.round / 6) for point in curve(0.2, 0.921)),
    tau=(0.01, 0.02, 0.03, None, 0.05, 0.06, 0.07, 15240.7, 1.2e-7, None),
    flagged=(0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.75, 0.25, 0.0),
    differences=(
        FedDifference("fedavg", 0.051, Interval(0.031, 0.071), 0.0312),
        *(FedDifference(name, 0.01 * k, None, 0.1 * k + 0.0004) for k, name in enumerate(OTHERS)),
    ),
)


def fed_report(**changes: object) -> FedReport:
    """Ten clients, all methods, one of which fails, unless fields are given."""
    accuracies = (0.87, 0.905, 0.84, 0.9, 0.92)
    others = tuple(fed_method(name, accuracy) for name, accuracy in zip(OTHERS, accuracies, strict=True))
    stopped = replace(
        others[2],
        accuracy=None,
        interval=None,
        seeds=(0.84, None),
        log_loss=None,
        std_seeds=None,
        rounds_to_target=None,
        bytes_to_target=None,
        whole=None,
        curve=(*curve(0.2, 0.84, 6), *curve(0.2, 0.84, 12, accuracy=None, log_loss=None)[6:]),
        differences=(),
        failures=(FAILED,),
    )
    report = FedReport(
        data=replace(audit_report().data, rows=1628, columns=()),
        clients=CLIENTS,
        partition="10 clients with feature noise up to 1",
        model="mlp with 32 hidden units, 2410 parameters",
        rounds=12,
        repeats=2,
        participants=10,
        target=0.87,
        judged="20 % of every client's rows",
        methods=(fed_method("fedavg", 0.87), *others[:2], stopped, *others[3:], PICSC),
        findings=audit_report().findings,
        test="paired t-test over 2 seeds",
        summary=(
            "picsc: 92.1 % on average over clients, 5.1 points above fedavg (p 0.0312)",
            "strongest control: picsc-scaffold, 92.0 %; picsc is 0.1 points above it (p 0.5)",
            "next: run more seeds with --repeats 10",
        ),
        settings={"read": {"target": "diagnosis"}, "clients": {"clients": 10}, "gamma": None, "seed": 7},
        majority=MajorityClass("benign", 0.6274),
        manifest={"versions": {"python": "3.12.0", "picsc": "0.1.0"}, "seed": 7},
    )
    report = replace(report, methods=adjusted_over_seeds(report.methods))
    return replace(report, **changes)


def client_audit(name: str, verdict: Verdict = "ok", **changes: object) -> ClientAudit:
    ok = ClientAudit(
        name=name,
        rows=180,
        tau=0.02534,
        gamma=0.09,
        p=1.0,
        fisher_gap=0.0312,
        relative_gap=0.11,
        covariate_kl=0.81234,
        label_kl=0.0001,
        label_p=0.731,
        verdict=verdict,
    )
    return replace(ok, **changes)


TOO_FEW = client_audit(
    "client 4",
    "inconclusive",
    rows=3,
    tau=None,
    gamma=None,
    p=None,
    relative_gap=None,
    reason="3 rows make no halves with a variance: need 4",
)


def fed_audit_report(*clients: ClientAudit, **changes: object) -> FedAuditReport:
    """Four clients with every kind of row, unless fields are given."""
    shifted = client_audit(
        "ward [red]2[/red], a name longer than most", "shift", tau=15240.7, p=0.0004, fisher_gap=1.2e-7
    )
    labels = client_audit("client 3", "shift", label_kl=1.5, label_p=0.0004, reason="labels: KL 1.50")
    report = FedAuditReport(
        data=audit_report().data,
        clients=clients or (client_audit("client 1"), shifted, labels, TOO_FEW),
        partition="4 clients by ward",
        model="mlp with 32 hidden units, 2410 parameters",
        level=0.05,
        bytes_up=123_456,
        findings=audit_report().findings[1:],
        test="calibrated on random halves of every client, 99 draws",
        summary=(
            "shift: 2 of 4 clients differ from the others",
            "worst: ward 2 (180 rows), tau 1.52e4 against 0.09",
            "next: look at ward 2",
        ),
        settings={"clients": {"by": "ward"}, "gamma": None, "seed": 7},
        manifest={"versions": {"python": "3.12.0", "picsc": "0.1.0"}, "loss": float("nan")},
    )
    return replace(report, **changes)
