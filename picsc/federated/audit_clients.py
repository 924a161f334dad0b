"""The federated audit: tests for shifted clients from summaries alone (paper, Eq. 1, 8 and 14)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import torch

from picsc.auditing.attribution.findings import set_aside_finding
from picsc.auditing.attribution.largest_effects import set_shifted_aside
from picsc.datasets.data import Data
from picsc.datasets.description import data_info
from picsc.errors import NumericsError
from picsc.federated.algorithms.fedavg import FedAvg
from picsc.federated.build_clients import build, model_kind
from picsc.federated.client_findings import client_findings
from picsc.federated.client_summary import Summary
from picsc.federated.clients.mlps import ClientMlps
from picsc.federated.clients.networks import ClientModules
from picsc.federated.holdings import (
    federated_split,
    labelled,
    refuse_small_clients,
    small_clients_finding,
)
from picsc.federated.rounds import RoundSettings, run_round
from picsc.federated.run_state import Contender, initial_run
from picsc.federated.summary_tests import ClientVerdict, run_client_tests
from picsc.phrases import counted
from picsc.reports.common import Finding
from picsc.reports.fed import ClientAudit, FedAuditReport
from picsc.runtime.devices import pick_device
from picsc.runtime.threads import one_thread
from picsc.runtime.versions import versions
from picsc.settings import FedSettings
from picsc.settings.fields import HOW_IT_RUNS

ROUNDS, RATE = 5, 0.05
"""Rounds and learning rate of FedAvg for the model at which clients are compared; the settings may give fewer rounds,
and another rate."""
LEVEL = 0.05
"""Family-wise error rate over clients and both questions: did the data move, and does that matter to the model?"""


def audit_clients(
    data: Data, settings: FedSettings, *, progress: Callable[[str], None] | None = None
) -> FedAuditReport:
    """Compare every client with all others by the summaries that each sends, of O(d) numbers.

    Source: Eq. 14's Fisher gap and covariate KL, with nulls from random halves of each client's own rows.
    Reading: the model is FedAvg's after a few rounds, so that gradients mean something; it has learned from all
        clients.

    Args:
        data: the table, the images or the texts.
        settings: clients and model; settings of methods, and whitening, are not used.
        progress: called with one line about each step.

    Raises:
        SettingsError: an option does not fit the data.
        DataError: the data cannot be used.

    Example:
        >>> import numpy as np
        >>> from picsc import FedSettings, audit_clients
        >>> from picsc.datasets.open import open_data
        >>> settings = FedSettings.model_validate({"clients": {"clients": 3}, "lr": 0.05})
        >>> rows = np.random.default_rng(0).normal(size=(600, 2))
        >>> report = audit_clients(open_data(rows, rows[:, 0] > 0, settings.read), settings)
        >>> [client.name for client in report.clients]
        ['client 1', 'client 2', 'client 3']
    """
    report_progress = progress or (lambda _: None)
    settings = settings.model_copy(update={"whiten": False, "inputs": None})
    findings: list[Finding] = []
    data = labelled(data, findings, settings)
    device = pick_device(settings.device)
    with one_thread():
        split = federated_split(data, settings, seed=settings.seed)
        refuse_small_clients(split, settings)
        findings += small_clients_finding(split, settings)
        findings += client_findings(data, split, settings)
        split = replace(split, train=tuple(client.rows for client in split.clients))  # no test rows are needed
        clients = build(split, settings, device=device.device, workers=settings.jobs)
        theta = _common_model(clients, settings, report_progress)
        report_progress("summarising the clients' rows")
        k = len(split.clients)
        summaries = [_summary(clients, i, theta, settings.seed * k + i) for i in range(k)]

        def audits(kept: tuple[int, ...]) -> tuple[ClientAudit, ...]:
            verdicts = run_client_tests([summaries[i] for i in kept], clients.covariates)
            return tuple(
                _client_audit(split.clients[i].name, verdict) for i, verdict in zip(kept, verdicts, strict=True)
            )

        found, aside = set_shifted_aside(audits(tuple(range(k))), audits, _effects)
    classes = data.kind != "table" or (data.target is not None and data.target.kind == "classes")
    findings += _withheld(summaries, classes=classes)
    findings += set_aside_finding([found[i].name for i in aside], "clients")
    shifted = [each.name for each in found if each.verdict == "shift"]
    labels = sum(each.label_p is not None and each.label_p <= LEVEL for each in found)
    bytes_up = round(sum(each.bytes for each in summaries) / k)
    return FedAuditReport(
        data=data_info(data),
        clients=found,
        partition=split.description,
        model=f"{model_kind(data, settings)} of {theta.numel():,} parameters, {_rounds(settings)} rounds of fedavg",
        level=LEVEL,
        bytes_up=bytes_up,
        findings=tuple(findings),
        test=(
            "Fisher gap and covariate KL of each client against all others, scaled from random halves of its own rows; "
            f"family-wise {LEVEL:g} over clients and both"
        ),
        summary=(
            f"{len(shifted)} of {k} clients are shifted{': ' + ', '.join(shifted[:5]) if shifted else ''}",
            f"labels shifted in {labels} of {k} clients",
            f"each client sent one summary of {bytes_up:,} bytes in place of its rows",
        ),
        settings=settings.model_dump(mode="json", exclude=HOW_IT_RUNS),
        manifest={
            "versions": versions(),
            "device": device.name,
            "seed": settings.seed,
            "data_sha256": data.sha256,
        },
    )


def _summary(clients: ClientMlps | ClientModules, client: int, theta: torch.Tensor, seed: int) -> Summary:
    (summary,) = clients.summaries(client, theta[None], seed=seed)
    if summary is None:
        raise NumericsError(f"the model that clients are compared at has diverged in {ROUNDS} rounds; lower --lr")
    return summary


def _withheld(summaries: Sequence[Summary], *, classes: bool) -> list[Finding]:
    """A note on statistics that clients do not send because so few rows decide them."""
    columns = sum(not bool(each.sent.all()) for each in summaries)
    labels = sum(each.label_counts is None for each in summaries) if classes else 0
    parts = [f"means of columns in {columns}"] * bool(columns) + [f"label counts in {labels}"] * bool(labels)
    if not parts:
        return []
    message = f"cells of few rows are not sent: {' and '.join(parts)} of {counted(len(summaries), 'client')}"
    return [Finding("cells-not-sent", "note", f"{message}; tests of these clients leave them out")]


def _effects(found: Sequence[ClientAudit], shifted: Sequence[int]) -> tuple[Mapping[int, float], ...]:
    """Effects by which shifted clients are ranked: covariate KL, and relative Fisher gap."""
    return (
        {i: found[i].covariate_kl or 0.0 for i in shifted if _small(found[i].p_data)},
        {i: found[i].relative_gap or 0.0 for i in shifted if _small(found[i].p_model)},
    )


def _small(p: float | None) -> bool:
    return p is not None and p <= LEVEL


def _rounds(settings: FedSettings) -> int:
    return min(ROUNDS, settings.rounds)


def _common_model(
    clients: ClientMlps | ClientModules, settings: FedSettings, report_progress: Callable[[str], None]
) -> torch.Tensor:
    """Parameters at which clients are compared, (d,)."""
    rate = RATE if settings.lr == "auto" else settings.lr
    contender = Contender("fedavg", FedAvg(settings.mean), clients, (rate,))
    run = initial_run(contender, settings.seed)
    round_settings = RoundSettings(_rounds(settings), settings.seed, len(clients.rows))
    for round_number in range(round_settings.rounds):
        run_round([contender], [run], round_settings, round_number)
        report_progress(
            f"round {round_number + 1} of {round_settings.rounds} of the model that clients are compared at"
        )
    return run.state["theta"][0]


def _client_audit(name: str, verdict: ClientVerdict) -> ClientAudit:
    p_model, p_data = (None if p is None else min(1.0, 2 * p) for p in (verdict.p_gap, verdict.p_kl))
    tested = [p for p in (p_model, p_data) if p is not None]
    p = min(tested) if tested else None
    return ClientAudit(
        name=name,
        rows=verdict.n,
        tau=verdict.tau,
        gamma=verdict.gamma if tested else None,
        p=p,
        fisher_gap=verdict.fisher_gap,
        relative_gap=verdict.fisher_gap_relative,
        covariate_kl=verdict.kl,
        label_kl=verdict.label_kl,
        label_p=verdict.label_p_adjusted,
        verdict="inconclusive" if p is None else "shift" if p <= LEVEL else "ok",
        reason=verdict.reason,
        p_data=p_data,
        p_model=p_model,
    )
