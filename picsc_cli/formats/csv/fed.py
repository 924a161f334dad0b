"""Federations and audits of clients as comma-separated values: numbers in full, empty fields for None."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields
from typing import TYPE_CHECKING

from picsc.reports.fed import of_client
from picsc_cli.formats.csv.writer import written

if TYPE_CHECKING:
    from picsc.reports.fed import FedAuditReport, FedMethodReport, FedReport

_OF_METHODS = (
    "log_loss", "std_clients", "std_seeds", "best", "best_round", "worst", "worst_client", "whole", "rounds_to_target",
    "bytes_to_target", "bytes_up", "bytes_down", "memory",
)  # fmt: skip
_OF_CLIENTS = ("rows", "label_kl", "label_p", "labels_shifted", "covariates", "covariate_kl", "reason")


def fed_csv(report: FedReport) -> str:
    """One row per method, without a client, each followed by one row per client. Accuracies are fractions.

    `seeds` and `lr` hold one number per seed, a space between them; differences are against fedavg, and
    `difference_p_holm` is adjusted over methods.
    """
    header = ["dataset", "method", "client", "accuracy", "interval_low", "interval_high", "seeds", "lr", *_OF_METHODS]
    header += ["failures", "difference", "difference_p", "difference_p_holm", *_OF_CLIENTS, "tau", "flagged"]
    metrics = [score.metric for score in report.methods[0].metrics] if report.methods else []
    header += [*(f"metric {metric}" for metric in metrics), "metric reasons"] if metrics else []
    return written(header, (row for method in report.methods for row in _rows(report, method)))


def _rows(report: FedReport, method: FedMethodReport) -> Iterable[list[object]]:
    base, average = method.against("fedavg"), report.method("fedavg")
    tested = average.against(method.method) if average else None  # one of all that fedavg is compared with
    yield [
        report.data.name,
        method.method,
        None,
        method.accuracy,
        *((method.interval.low, method.interval.high) if method.interval else (None, None)),
        " ".join("-" if seed is None else repr(seed) for seed in method.seeds),
        " ".join(map(repr, method.lr)),
        *(getattr(method, name) for name in _OF_METHODS),
        len(method.failures),
        *((base.accuracy, base.p) if base else (None, None)),
        tested.p_holm if tested else None,
        *([None] * (len(_OF_CLIENTS) + 2)),
        *_metrics(method, [score.mean for score in method.metrics]),
    ]
    nothing = [None] * (len(_OF_METHODS) + 8)
    for k, client in enumerate(report.clients):
        accuracy, *trigger = (of_client(values, k) for values in (method.clients, method.tau, method.flagged))
        of_metrics = _metrics(method, [of_client(score.pieces, k) for score in method.metrics])
        facts = (getattr(client, name) for name in _OF_CLIENTS)
        yield [report.data.name, method.method, client.name, accuracy, *nothing, *facts, *trigger, *of_metrics]


def _metrics(method: FedMethodReport, values: list[float | None]) -> list[object]:
    """Metrics by name, and why some are missing; nothing where none was asked for."""
    gone = [score.reason for score, value in zip(method.metrics, values, strict=True) if value is None]
    return [*values, "; ".join(dict.fromkeys(gone))] if values else []


def fed_audit_csv(report: FedAuditReport) -> str:
    """One row per client: data set, then the fields of `ClientAudit`. Divergences are nats."""
    from picsc.reports.fed import ClientAudit

    names = [field.name for field in fields(ClientAudit)]
    rows = ([report.data.name, *(getattr(client, name) for name in names)] for client in report.clients)
    return written(["dataset", *names], rows)
