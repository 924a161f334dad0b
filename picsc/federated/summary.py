"""From the rounds of every method and seed to one report. Letters: r repeats, K clients, t rounds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from picsc.datasets.description import data_info
from picsc.datasets.images import ImageSet
from picsc.datasets.table import Dataset
from picsc.datasets.texts import TokenSet, label_rows
from picsc.evaluation import paired_tests as paired
from picsc.federated.algorithms.by_name import WORDS
from picsc.federated.build_clients import model_kind
from picsc.federated.client_shift import client_shifts
from picsc.federated.holdings import FederatedSplit, participants
from picsc.reports.common import Finding, Interval
from picsc.reports.fed import ClientShift, Failure, FedDifference, FedMethodReport, FedReport, Point
from picsc.settings import FedMethod, FedSettings

Floats = NDArray[np.float64]
_OURS: FedMethod = "picsc"


@dataclass(frozen=True, slots=True)
class Run:
    """All rounds of one method with one seed."""

    seed: int
    clients: tuple[str, ...]
    rate: float
    natural: bool
    """Trained in natural coordinates."""
    parameters: int
    features: int
    memory: int
    """Floats kept between rounds."""
    course: dict[str, NDArray[np.float64]]
    """Of `picsc.federated.rounds.Course.records`."""

    @property
    def failed(self) -> bool:
        """Whether the run was given up."""
        return int(self.course["failed_round"]) > 0

    @property
    def accuracy(self) -> Floats:
        """Mean over clients after every round, (t,)."""
        return over_clients(self.course["accuracy"])


def assemble(
    data: Dataset | ImageSet | TokenSet,
    held: FederatedSplit,
    settings: FedSettings,
    repeats: int,
    played: Mapping[FedMethod, Sequence[Run]],
    findings: Sequence[Finding],
    manifest: dict[str, object],
) -> FedReport:
    """Summarise all runs.

    Args:
        data: as given.
        held: who holds what in the first repeat.
        settings: as given.
        repeats: r.
        played: all runs of every method.
        findings: so far.
        manifest: of the run.
    """
    first = next(iter(played.values()))[0]
    k = len(first.clients)
    target = settings.target_accuracy
    if target is None and "fedavg" in played:
        ends = [run.accuracy[-1] for run in played["fedavg"]]
        target = None if np.isnan(ends).any() else float(np.mean(ends))
    taking_part = participants(settings, k)
    resampled = isinstance(data, Dataset) or not len(data.test)
    methods = tuple(
        _method(method, runs, played, target, taking_part, settings, resampled=resampled)
        for method, runs in played.items()
    )
    shifts = _shifts(data, held, settings)
    notes = [*findings, *_notes(shifts, held, methods, first)]
    kind = model_kind(data, settings)
    test = (
        "over seeds: corrected resampled t-test, 95 % t-interval, not corrected for several methods"
        if resampled
        else "over seeds: paired t-test, 95 % t-interval, not corrected for several methods"
    )
    return FedReport(
        data=data_info(data),
        clients=shifts,
        partition=held.words,
        model=f"{kind} of {first.parameters:,} parameters",
        rounds=settings.rounds,
        repeats=repeats,
        participants=taking_part,
        target=target,
        judged=_judged(data, held, settings),
        methods=methods,
        findings=tuple(notes),
        test=test,
        summary=_three_lines(methods, shifts),
        settings=settings.model_dump(mode="json", exclude={"jobs"}),
        manifest=manifest,
    )


def _judged(data: Dataset | ImageSet | TokenSet, held: FederatedSplit, settings: FedSettings) -> str:
    """Which rows judge, in words."""
    if len(held.official):
        return f"the official test part, {len(held.official)} rows, weighted to each client's classes"
    if not isinstance(data, Dataset) and len(data.test):
        return "every client's rows of the official test part"
    return f"{100 * settings.validation:g} % of every client's rows"


def _method(
    method: FedMethod,
    runs: Sequence[Run],
    played: Mapping[FedMethod, Sequence[Run]],
    target: float | None,
    taking_part: int,
    settings: FedSettings,
    *,
    resampled: bool,
) -> FedMethodReport:
    curves = np.stack([run.accuracy for run in runs])  # (r, t)
    last = np.stack([run.course["accuracy"][-1] for run in runs])  # (r, K) of clients that may differ by seed
    means = curves[:, -1]
    spread = paired.repeats_t(means)
    mean_curve = curves.mean(0)
    best = None if np.isnan(mean_curve).all() else int(np.nanargmax(mean_curve))
    per_client = _column_means(last)
    worst = None if all(value is None for value in per_client) else _worst(last)
    reached = [_rounds_to(curve, target) for curve in curves]
    rounds_to = None if None in reached or target is None else float(np.mean([r for r in reached if r is not None]))
    sent = float(np.mean([float(run.course["bytes_up"] + run.course["bytes_down"]) for run in runs])) * taking_part
    once = _once(runs[0])
    looked = not np.isnan(runs[0].course["tau"]).all()
    against = [name for name in played if name != method]
    return FedMethodReport(
        method=method,
        words=WORDS[method] + _coordinates(method, runs),
        lr=tuple(run.rate for run in runs),
        accuracy=_plain(means.mean()),
        interval=None if spread is None else _possible(spread.interval),
        seeds=tuple(_plain(value) for value in means),
        best=None if best is None else _plain(mean_curve[best]),
        best_round=None if best is None else best + 1,
        log_loss=_plain(np.mean([over_clients(run.course["log_loss"])[-1] for run in runs])),
        std_clients=_plain(np.mean([_deviation(row) for row in last])),
        std_seeds=_plain(means.std(ddof=1)) if len(means) > 1 else None,
        clients=per_client,
        worst=worst,
        worst_client=_worst_name(per_client, runs[0].clients),
        whole=_plain(np.mean([float(run.course["whole"][-1]) for run in runs])),
        rounds_to_target=rounds_to,
        bytes_to_target=None if rounds_to is None else rounds_to * sent + once * len(runs[0].clients),
        bytes_up=round(float(np.mean([float(run.course["bytes_up"]) for run in runs]))),
        bytes_down=round(float(np.mean([float(run.course["bytes_down"]) for run in runs]))),
        memory=runs[0].memory,
        curve=tuple(_points(runs, mean_curve, sent, once, looked=looked)),
        tau=_column_means(np.stack([_last_look(run.course["tau"]) for run in runs])) if looked else (),
        flagged=tuple(_shares(runs)) if looked else (),
        differences=tuple(
            difference
            for other in against
            if (difference := _difference(runs, played[other], other, settings, resampled=resampled)) is not None
        ),
        failures=tuple(_failures(runs)),
    )


def _possible(interval: Interval) -> Interval:
    """The part of an interval of accuracies (or of R², which is rarely below 0) that can be."""
    return Interval(max(interval.low, 0.0), min(interval.high, 1.0))


def _once(run: Run) -> int:
    """Bytes that natural coordinates cost one client before the first round: second moments up, their map down."""
    f = run.features
    return 4 * (f * (f + 1) // 2 + f * f) if run.natural else 0


def _coordinates(method: FedMethod, runs: Sequence[Run]) -> str:
    if method not in (_OURS, "scaffold-natural") or not runs[0].features:
        return ""
    return f"; natural coordinates chosen in {sum(run.natural for run in runs)} of {len(runs)} runs"


def _points(runs: Sequence[Run], mean_curve: Floats, sent: float, once: int, *, looked: bool) -> list[Point]:
    losses = np.stack([over_clients(run.course["log_loss"]) for run in runs]).mean(0)
    flagged = np.stack([np.nansum(run.course["flagged"], 1) for run in runs]).mean(0) if looked else None
    return [
        Point(
            round=t + 1,
            accuracy=_plain(mean_curve[t]),
            log_loss=_plain(losses[t]),
            bytes=(t + 1) * sent + once * len(runs[0].clients),
            flagged=None if flagged is None else float(flagged[t]),
        )
        for t in range(len(mean_curve))
    ]


def _difference(
    runs: Sequence[Run], others: Sequence[Run], name: str, settings: FedSettings, *, resampled: bool
) -> FedDifference | None:
    """The method minus another, paired over seeds; None where one of them failed with every seed."""
    ours, theirs = (np.array([run.accuracy[-1] for run in each]) for each in (runs, others))
    differences = ours - theirs
    if np.isnan(differences).all():
        return None
    share = settings.validation
    test = paired.resampled_t(differences[:, None], share, 1 - share) if resampled else paired.repeats_t(differences)
    mean = float(np.nanmean(differences))
    return FedDifference(name, mean, None if test is None else test.interval, None if test is None else test.p)


def _failures(runs: Sequence[Run]) -> list[Failure]:
    found = []
    for run in runs:
        if run.failed:
            found.append(
                _failure(run, int(run.course["failed_round"]), int(run.course["failed_client"]), "the run is given up")
            )
        rounds, clients = np.nonzero(run.course["left_out"])
        if not run.failed:
            found += [_failure(run, int(t) + 1, int(i), "left out") for t, i in zip(rounds, clients, strict=True)]
    return found


def _failure(run: Run, round_number: int, client: int, then: str) -> Failure:
    return Failure(
        run.seed, round_number, run.clients[client], f"the model left the finite numbers at lr {run.rate:g}; {then}"
    )


def _shifts(
    data: Dataset | ImageSet | TokenSet, held: FederatedSplit, settings: FedSettings
) -> tuple[ClientShift, ...]:
    """How clients differ, by the audit; of texts the labels alone."""
    rows = label_rows(data) if isinstance(data, TokenSet) else data
    return client_shifts(rows, held.clients, noise=held.noise, seed=settings.seed, jobs=settings.jobs)


def _notes(
    shifts: Sequence[ClientShift], held: FederatedSplit, methods: Sequence[FedMethodReport], first: Run
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
    silent = [name for name, rows in zip(first.clients, held.test, strict=True) if not len(rows)] if held.test else []
    if silent:
        notes.append(
            Finding(
                "clients-without-test",
                "warning",
                f"{len(silent)} clients have no row that judges: {', '.join(silent[:5])}",
            )
        )
    floats = ", ".join(f"{method.method} {method.memory:,}" for method in methods)
    notes.append(Finding("memory", "note", f"floats kept between rounds: {floats}"))
    return notes


def _three_lines(methods: Sequence[FedMethodReport], shifts: Sequence[ClientShift]) -> tuple[str, str, str]:
    """What to know first."""
    ranked = sorted((m for m in methods if m.accuracy is not None), key=lambda m: -(m.accuracy or 0))
    if not ranked:
        first = "no method ended with finite numbers"
    else:
        scores = ", ".join(f"{m.method} {100 * (m.accuracy or 0):.1f} %" for m in ranked[:4])
        first = f"mean accuracy over {len(shifts)} clients: {scores}"
    ours = next((m for m in methods if m.method == _OURS), None)
    second = "picsc was not run" if ours is None else _verdict(ours, methods)
    labels = sum(shift.labels_shifted for shift in shifts)
    moved = sum(shift.covariates == "shift" for shift in shifts)
    third = f"labels shifted in {labels} and covariates beyond that in {moved} of {len(shifts)} clients"
    return first, second, third


def _verdict(ours: FedMethodReport, methods: Sequence[FedMethodReport]) -> str:
    """PIcsC against the best method that is no control of it."""
    rivals = [m for m in methods if m.method in ("fedavg", "fedprox", "scaffold") and m.accuracy is not None]
    if ours.accuracy is None:
        return "picsc did not end with finite numbers"
    if not rivals:
        return "picsc ran beside no baseline"
    rival = max(rivals, key=lambda m: m.accuracy or 0)
    difference = ours.against(rival.method)
    if difference is None:
        return f"picsc and {rival.method} share no seed"
    points = f"{100 * difference.accuracy:+.1f} points"
    span = (
        ""
        if difference.interval is None
        else f" [{100 * difference.interval.low:.1f}, {100 * difference.interval.high:.1f}]"
    )
    if difference.p is None:
        return f"picsc against {rival.method}, the best baseline: {points}, one seed only, so no test"
    beyond = difference.p < 0.05
    word = ("better" if difference.accuracy > 0 else "worse") if beyond else "not beyond chance"
    return f"picsc against {rival.method}, the best baseline: {points}{span}, p = {difference.p:.2g}, {word}"


def _rounds_to(curve: Floats, target: float | None) -> int | None:
    there = np.flatnonzero(curve >= target) if target is not None else np.empty(0)
    return int(there[0]) + 1 if len(there) else None


def over_clients(values: Floats) -> Floats:
    """Mean over clients that have test rows, (t, K) to (t,); NaN where none has a number."""
    there = ~np.isnan(values)
    count = there.sum(1)
    return np.where(count > 0, np.nansum(values, 1) / np.maximum(count, 1), np.nan)


def _column_means(values: Floats) -> tuple[float | None, ...]:
    return tuple(_plain(value) for value in over_clients(values.T))


def _last_look(tau: Floats) -> Floats:
    """The last value of each client, (t, K) to (K,); NaN if nobody ever looked."""
    known = ~np.isnan(tau)
    last = len(tau) - 1 - known[::-1].argmax(0)
    return np.where(known.any(0), tau[last, np.arange(tau.shape[1])], np.nan)


def _shares(runs: Sequence[Run]) -> list[float]:
    """Share of the rounds that looked at a client in which it was flagged."""
    flagged = np.concatenate([run.course["flagged"] for run in runs])
    return [0.0 if value is None else value for value in _column_means(flagged)]


def _deviation(row: Floats) -> float:
    there = row[~np.isnan(row)]
    return float(there.std(ddof=1)) if len(there) > 1 else float("nan")


def _worst(last: Floats) -> float | None:
    """Mean over seeds of the worst client's accuracy."""
    lows = [float(np.nanmin(row)) for row in last if not np.isnan(row).all()]
    return float(np.mean(lows)) if lows else None


def _worst_name(clients: Sequence[float | None], names: Sequence[str]) -> str:
    there = [(value, name) for value, name in zip(clients, names, strict=True) if value is not None]
    return min(there)[1] if there else ""


def _plain(value: float | np.floating) -> float | None:
    return None if np.isnan(value) else float(value)
