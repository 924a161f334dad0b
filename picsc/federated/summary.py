"""Summary: the runs of all methods and seeds as one report. Letters: r repeats, K clients."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from picsc.datasets.data import Data
from picsc.datasets.description import data_info
from picsc.datasets.order_columns import without_order_columns
from picsc.evaluation.majority import majority_code
from picsc.federated.build_clients import model_kind
from picsc.federated.client_shift import client_shifts
from picsc.federated.holdings import FederatedSplit, participants
from picsc.federated.method_run import Run
from picsc.federated.method_summary import Comparison, method_report
from picsc.federated.three_lines import three_lines
from picsc.reports.common import Finding, MajorityClass
from picsc.reports.fed import ClientShift, FedMethodReport, FedReport
from picsc.settings import FedMethod, FedSettings
from picsc.settings.fields import HOW_IT_RUNS

COLUMNS = {(False,): "", (True,): ", whitened columns", (False, True): ", columns natural or whitened by method"}
"""Words on the columns that methods train on."""


def assemble(
    data: Data,
    split: FederatedSplit,
    settings: FedSettings,
    repeats: int,
    runs: Mapping[FedMethod, Sequence[Run]],
    findings: Sequence[Finding],
    manifest: dict[str, object],
) -> FedReport:
    """Summarise all runs.

    Args:
        data: as given.
        split: the clients of the first repeat and their rows.
        settings: as given.
        repeats: r.
        runs: all runs of every method.
        findings: so far.
        manifest: of the run.
    """
    first, info = next(iter(runs.values()))[0], data_info(data)
    resampled = data.kind == "table" or not len(data.test)
    comparison = Comparison(
        target=_target(runs, settings),
        participants=participants(settings, len(first.clients)),
        test_share=settings.validation,
        resampled=resampled,
        metric=info.metric,
        chosen_inputs=len(settings.whitenings) > 1,
    )
    methods = tuple(method_report(method, runs, comparison) for method in runs)
    shifts, on_columns = _shifts(data, split, settings)
    notes = [*findings, *on_columns, *_notes(shifts, split, methods, first)]
    kind, majority = model_kind(data, settings), _majority(data, split)
    test = (
        "over seeds: corrected resampled t-test, 95 % t-interval"
        if resampled
        else "over seeds: paired t-test, 95 % t-interval, given the test rows, which are the same with every seed"
    )
    return FedReport(
        data=info,
        clients=shifts,
        partition=split.description,
        model=f"{kind} of {first.parameters:,} parameters{COLUMNS[settings.whitenings]}",
        rounds=settings.rounds,
        repeats=repeats,
        participants=comparison.participants,
        target=comparison.target,
        judged=_test_rows(data, split, settings),
        methods=methods,
        findings=tuple(notes),
        test=test,
        summary=three_lines(methods, shifts, info.metric, majority),
        settings=settings.model_dump(mode="json", exclude=HOW_IT_RUNS),
        manifest=manifest,
        majority=majority,
    )


def _target(runs: Mapping[FedMethod, Sequence[Run]], settings: FedSettings) -> float | None:
    """Accuracy that rounds and bytes are counted to; without a setting, that of fedavg after the last round."""
    if settings.target_accuracy is not None or "fedavg" not in runs:
        return settings.target_accuracy
    ends = [run.accuracy[-1] for run in runs["fedavg"]]
    return None if np.isnan(ends).any() else float(np.mean(ends))


def _majority(data: Data, split: FederatedSplit) -> MajorityClass | None:
    """The most frequent class and its share of each client's test rows, mean over clients; None for numbers."""
    if data.kind != "table":
        codes, names = data.labels, data.classes
    elif data.target is not None and data.target.kind == "classes":
        codes, names = data.target.values.astype(np.int64), data.target.levels
    else:
        return None
    most = majority_code(codes)
    held = split.test if not len(split.official_test) else split.train  # weighted to each client's training classes
    shares = [float((codes[rows] == most).mean()) for rows in held if len(rows)]
    return MajorityClass(names[most], float(np.mean(shares))) if shares else None


def _test_rows(data: Data, split: FederatedSplit, settings: FedSettings) -> str:
    """The test rows, in words."""
    if len(split.official_test):
        return f"the official test part, {len(split.official_test)} rows, weighted to each client's classes"
    if data.kind != "table" and len(data.test):
        return "every client's rows of the official test part"
    return f"{100 * settings.validation:g} % of every client's rows"


def _shifts(
    data: Data, split: FederatedSplit, settings: FedSettings
) -> tuple[tuple[ClientShift, ...], tuple[Finding, ...]]:
    """Differences between clients by the audit, of texts in the labels alone; findings on columns left out of it."""
    rows = data.as_table() if data.kind == "texts" else data
    found: tuple[Finding, ...] = ()
    if rows.kind == "table":
        before = len(rows.findings)
        rows = without_order_columns(rows, settings.read.keep, needed=False)
        found = rows.findings[before:]
    return client_shifts(rows, split.clients, noise=split.noise, seed=settings.seed, jobs=settings.jobs), found


def _notes(
    shifts: Sequence[ClientShift], split: FederatedSplit, methods: Sequence[FedMethodReport], first: Run
) -> list[Finding]:
    notes = []
    labels = sum(shift.labels_shifted for shift in shifts)
    moved = sum(shift.covariates == "shift" for shift in shifts)
    if labels and not moved:
        notes.append(
            Finding(
                "label-shift-only",
                "note",
                f"{labels} of {len(shifts)} clients differ in their labels and none in its covariates beyond that: "
                "what this comparison shows is about label shift",
                "add clients that differ in their covariates: --partition noise, or --by a site, person or batch",
            )
        )
    untested = (
        [name for name, rows in zip(first.clients, split.test, strict=True) if not len(rows)] if split.test else []
    )
    if untested:
        notes.append(
            Finding(
                "clients-without-test",
                "warning",
                f"{len(untested)} clients have no test row: {', '.join(untested[:5])}",
            )
        )
    floats = ", ".join(f"{method.method} {method.memory:,}" for method in methods)
    notes.append(Finding("memory", "note", f"floats kept between rounds: {floats}"))
    return notes
