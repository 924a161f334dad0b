"""The federated audit: which clients are shifted, told from summaries alone (paper, Eq. 1, 8 and 14)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import torch

from picsc.auditing.attribution import set_aside_finding, set_shifted_aside
from picsc.datasets.description import data_info
from picsc.datasets.images import ImageSet
from picsc.datasets.table import Dataset
from picsc.datasets.texts import TokenSet
from picsc.federated.algorithms.fedavg import FedAvg
from picsc.federated.build_clients import build, model_kind
from picsc.federated.clients.mlps import ClientMlps
from picsc.federated.clients.networks import ClientModules
from picsc.federated.holdings import federated_split, labelled
from picsc.federated.rounds import Contender, RoundSettings, begin, run_round
from picsc.federated.summary_tests import ClientVerdict, run_client_tests
from picsc.reports.common import Finding
from picsc.reports.fed import ClientAudit, FedAuditReport
from picsc.runtime.devices import pick_device
from picsc.runtime.threads import one_thread
from picsc.runtime.versions import versions
from picsc.settings import FedSettings

ROUNDS, RATE = 5, 0.05
"""Of FedAvg, for the model at which clients are compared; fewer rounds if the settings say so."""
LEVEL = 0.05
"""Family-wise over clients and both questions: whether the data moved, and whether the model cares."""


def audit_clients(
    data: Dataset | ImageSet | TokenSet, settings: FedSettings, *, progress: Callable[[str], None] | None = None
) -> FedAuditReport:
    """Compare every client with all others by O(d) summaries: no row leaves a client.

    Source: Eq. 14's Fisher gap and covariate KL, with nulls from random halves of each client's own rows.
    Reading: the model is FedAvg's after a few rounds, so that gradients mean something; it has learned from all
        clients.

    Args:
        data: read already.
        settings: clients and model; what concerns methods is not used.
        progress: told what is being done.

    Raises:
        SettingsError: an option does not fit the data.
        DataError: the data cannot be used.
    """
    tell = progress or (lambda _: None)
    findings: list[Finding] = []
    data = labelled(data, findings)
    device = pick_device(settings.device)
    with one_thread():
        held = federated_split(data, settings, seed=settings.seed)
        held = replace(held, train=tuple(client.rows for client in held.clients))  # nothing has to be set aside
        clients = build(held, settings, device=device.device, workers=settings.jobs)
        theta = _model(clients, settings, tell)
        tell("summing up the clients' rows")
        k = len(held.clients)
        summaries = [clients.summary(i, theta, seed=settings.seed * k + i) for i in range(k)]

        def compared(kept: tuple[int, ...]) -> tuple[ClientAudit, ...]:
            verdicts = run_client_tests([summaries[i] for i in kept], clients.covariates)
            return tuple(_audited(held.clients[i].name, verdict) for i, verdict in zip(kept, verdicts, strict=True))

        found, aside = set_shifted_aside(compared(tuple(range(k))), compared, _effects)
    findings += set_aside_finding([found[i].name for i in aside], "clients")
    shifted = [each.name for each in found if each.verdict == "shift"]
    labels = sum(each.label_p is not None and each.label_p <= LEVEL for each in found)
    bytes_up = round(sum(each.bytes for each in summaries) / k)
    return FedAuditReport(
        data=data_info(data),
        clients=found,
        partition=held.words,
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
            f"each client sent one summary of {bytes_up:,} bytes, and no row",
        ),
        settings=settings.model_dump(mode="json", exclude={"jobs"}),
        manifest={"versions": versions(), "seed": settings.seed, "data_sha256": data.sha256},
    )


def _effects(found: Sequence[ClientAudit], called: Sequence[int]) -> tuple[Mapping[int, float], ...]:
    """How far the covariates of called clients moved, and how much the model cares."""
    return (
        {i: found[i].covariate_kl or 0.0 for i in called if _small(found[i].p_data)},
        {i: found[i].relative_gap or 0.0 for i in called if _small(found[i].p_model)},
    )


def _small(p: float | None) -> bool:
    return p is not None and p <= LEVEL


def _rounds(settings: FedSettings) -> int:
    return min(ROUNDS, settings.rounds)


def _model(clients: ClientMlps | ClientModules, settings: FedSettings, tell: Callable[[str], None]) -> torch.Tensor:
    """Where clients are compared, (d,)."""
    rate = RATE if settings.lr == "auto" else settings.lr
    entry = Contender("fedavg", FedAvg(settings.mean), clients, (rate,))
    course = begin(entry, settings.seed)
    rules = RoundSettings(_rounds(settings), settings.seed, len(clients.rows), look=False)
    for round_number in range(rules.rounds):
        run_round([entry], [course], rules, round_number)
        tell(f"round {round_number + 1} of {rules.rounds} of the model that clients are compared at")
    return course.state["theta"][0]


def _audited(name: str, verdict: ClientVerdict) -> ClientAudit:
    p_model, p_data = (None if p is None else min(1.0, 2 * p) for p in (verdict.p_gap, verdict.p_kl))
    judged = [p for p in (p_model, p_data) if p is not None]
    p = min(judged) if judged else None
    return ClientAudit(
        name=name,
        rows=verdict.n,
        tau=verdict.tau,
        gamma=verdict.gamma if judged else None,
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
