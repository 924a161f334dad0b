"""Summary of one method: all its runs as one part of the report. Letters: r repeats, K clients, t rounds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from picsc.evaluation import paired_tests as paired
from picsc.evaluation.holm import with_holm_over_seeds
from picsc.evaluation.means import finite_mean
from picsc.federated.algorithms.by_name import CONSTANTS, DESCRIPTIONS
from picsc.federated.client_history import client_history
from picsc.federated.client_metrics import metrics_of_method
from picsc.federated.method_run import Floats, Run, over_clients
from picsc.phrases import counted
from picsc.reports.common import Metric
from picsc.reports.fed import Failure, FedDifference, FedMethodReport, Point
from picsc.settings import FedMethod


@dataclass(frozen=True, slots=True)
class Comparison:
    """The common terms on which methods are compared."""

    target: float | None
    """Accuracy that rounds and bytes are counted to; None for none."""
    participants: int
    """Number of clients in a round."""
    test_share: float
    """Share of every client's rows that are test rows, in (0, 1)."""
    resampled: bool
    """True where every seed draws its own test rows, so that runs overlap and the test is corrected for it."""
    metric: Metric
    """The score that methods are compared by."""
    chosen_inputs: bool = False
    """True where every method chose natural or whitened columns."""


def method_report(
    method: FedMethod, runs_by_method: Mapping[FedMethod, Sequence[Run]], comparison: Comparison
) -> FedMethodReport:
    """Summarise the runs of one method, and compare it with all others.

    Args:
        method: to summarise.
        runs_by_method: all runs of every method, r each.
        comparison: common terms of all methods.
    """
    runs, target = runs_by_method[method], comparison.target
    curves = np.stack([run.accuracy for run in runs])  # (r, t)
    last = np.stack([run.records["accuracy"][-1] for run in runs])  # (r, K) of clients that may differ by seed
    means = curves[:, -1]
    spread = _test(means, comparison)
    mean_curve = curves.mean(0)
    best = None if np.isnan(mean_curve).all() else int(np.nanargmax(mean_curve))
    per_client = _column_means(last)
    worst = None if all(value is None for value in per_client) else _worst(last)
    reached = [_rounds_to(curve, target) for curve in curves]
    rounds_to = None if None in reached or target is None else float(np.mean([r for r in reached if r is not None]))
    sizes = [float(run.records["bytes_up"] + run.records["bytes_down"]) for run in runs]
    per_round = float(np.mean(sizes)) * comparison.participants
    at_start = round(float(np.mean([_whitening_bytes(run) for run in runs]))) * len(runs[0].clients)
    has_trigger = not np.isnan(runs[0].records["tau"]).all()
    others = [name for name in runs_by_method if name != method]
    return FedMethodReport(
        method=method,
        words=DESCRIPTIONS[method] + _constants(method, runs) + _columns(runs, comparison),
        lr=tuple(run.rate for run in runs),
        accuracy=_or_none(means.mean()),
        interval=None if np.isnan(means).any() else paired.score_interval(spread, comparison.metric),
        seeds=tuple(_or_none(value) for value in means),
        best=None if best is None else _or_none(mean_curve[best]),
        best_round=None if best is None else best + 1,
        log_loss=_or_none(np.mean([run.log_loss[-1] for run in runs])),
        std_clients=_or_none(np.mean([_deviation(row) for row in last])),
        std_seeds=_or_none(means.std(ddof=1)) if len(means) > 1 else None,
        clients=per_client,
        worst=worst,
        worst_client=_worst_name(per_client, runs[0].clients),
        whole=_or_none(np.mean([run.last("whole") for run in runs])),
        rounds_to_target=rounds_to,
        bytes_to_target=None if rounds_to is None else rounds_to * per_round + at_start,
        bytes_up=round(float(np.mean([float(run.records["bytes_up"]) for run in runs]))),
        bytes_down=round(float(np.mean([float(run.records["bytes_down"]) for run in runs]))),
        memory=runs[0].memory,
        curve=tuple(_points(runs, mean_curve, per_round, at_start, has_trigger=has_trigger)),
        tau=_column_means(np.stack([_last_known(run.records["tau"]) for run in runs])) if has_trigger else (),
        flagged=tuple(_flagged_shares(runs)) if has_trigger else (),
        differences=with_holm_over_seeds(
            difference
            for other in others
            if (difference := _difference(runs, runs_by_method[other], other, comparison)) is not None
        ),
        failures=tuple(_failures(runs)),
        balanced_accuracy=_or_none(np.mean([run.last("balanced") for run in runs])),
        auc=_or_none(np.mean([run.last("auc") for run in runs])),
        history=client_history(runs),
        constants=tuple(run.constant for run in runs if run.constant is not None),
        whitened=tuple(run.whitened for run in runs),
        metrics=metrics_of_method(
            runs, {name: runs_by_method[name] for name in others}, lambda values: _test(values, comparison)
        ),
    )


def _test(values: Floats, comparison: Comparison) -> paired.Paired | None:
    """Test of a number of each seed, (r,), corrected where seeds share rows; None for fewer than two."""
    if not comparison.resampled:
        return paired.repeats_t(values)
    share = comparison.test_share
    return paired.resampled_t(values[:, None], share, 1 - share)


def _whitening_bytes(run: Run) -> int:
    """Bytes that whitening costs one client before the first round: second moments up, the matrix down."""
    f = run.features
    return 4 * (f * (f + 1) // 2 + f * f) if run.whitened else 0


def _constants(method: FedMethod, runs: Sequence[Run]) -> str:
    """The method's own constant, once or by seed; empty for a method that has none."""
    if method not in CONSTANTS:
        return ""
    values = [f"{run.constant:g}" for run in runs if run.constant is not None]
    return f"; {CONSTANTS[method].symbol} {values[0] if len(set(values)) == 1 else ', '.join(values) + ' by seed'}"


def _columns(runs: Sequence[Run], comparison: Comparison) -> str:
    """In how many runs the method chose whitened columns; empty where nothing was chosen."""
    if not comparison.chosen_inputs:
        return ""
    return f"; whitened columns in {sum(run.whitened for run in runs)} of {counted(len(runs), 'run')}"


def _points(
    runs: Sequence[Run], mean_curve: Floats, per_round: float, at_start: int, *, has_trigger: bool
) -> list[Point]:
    """The mean of all runs after each round.

    Args:
        runs: of one method.
        mean_curve: their mean accuracy, (t,).
        per_round: bytes of all clients in one round.
        at_start: bytes of all clients before the first round.
        has_trigger: True if the method uses the trigger.
    """
    losses = np.stack([run.log_loss for run in runs]).mean(0)
    flagged = np.stack([np.nansum(run.records["flagged"], 1) for run in runs]).mean(0) if has_trigger else None
    return [
        Point(
            round=t + 1,
            accuracy=_or_none(mean_curve[t]),
            log_loss=_or_none(losses[t]),
            bytes=(t + 1) * per_round + at_start,
            flagged=None if flagged is None else float(flagged[t]),
        )
        for t in range(len(mean_curve))
    ]


def _difference(
    runs: Sequence[Run], other_runs: Sequence[Run], name: str, comparison: Comparison
) -> FedDifference | None:
    """The method minus another, paired over seeds; None where one of them failed with every seed."""
    ours, theirs = (np.array([run.accuracy[-1] for run in each]) for each in (runs, other_runs))
    differences = ours - theirs
    if np.isnan(differences).all():
        return None
    losses = np.array([run.log_loss[-1] - other.log_loss[-1] for run, other in zip(runs, other_runs, strict=True)])
    test, loss_test = _test(differences, comparison), _test(losses, comparison)
    return FedDifference(
        against=name,
        accuracy=float(np.nanmean(differences)),
        interval=paired.difference_interval(test, comparison.metric),
        p=None if test is None else test.p,
        log_loss=finite_mean(losses),
        log_loss_p=None if loss_test is None else loss_test.p,
    )


def _failures(runs: Sequence[Run]) -> list[Failure]:
    found = []
    for run in runs:
        if run.failed:
            round_number, client = int(run.records["failed_round"]), int(run.records["failed_client"])
            found.append(_failure(run, round_number, client, "the run is given up"))
        rounds, clients = np.nonzero(run.records["left_out"])
        if not run.failed:
            found += [_failure(run, int(t) + 1, int(i), "left out") for t, i in zip(rounds, clients, strict=True)]
    return found


def _failure(run: Run, round_number: int, client: int, then: str) -> Failure:
    name = run.clients[client] if client >= 0 else ""
    model = "the model" if name else "the joint model"
    return Failure(run.seed, round_number, name, f"{model} diverged with learning rate {run.rate:g}; {then}")


def _rounds_to(curve: Floats, target: float | None) -> int | None:
    there = np.flatnonzero(curve >= target) if target is not None else np.empty(0)
    return int(there[0]) + 1 if len(there) else None


def _column_means(values: Floats) -> tuple[float | None, ...]:
    return tuple(_or_none(value) for value in over_clients(values.T))


def _last_known(tau: Floats) -> Floats:
    """The last value of each client, (t, K) to (K,); NaN for a client that was never tested."""
    known = ~np.isnan(tau)
    last = len(tau) - 1 - known[::-1].argmax(0)
    return np.where(known.any(0), tau[last, np.arange(tau.shape[1])], np.nan)


def _flagged_shares(runs: Sequence[Run]) -> list[float]:
    """Share of the rounds in which a client was flagged, among those in which it was tested."""
    flagged = np.concatenate([run.records["flagged"] for run in runs])
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


def _or_none(value: float | np.floating) -> float | None:
    """The value as a plain float; None for NaN."""
    return None if np.isnan(value) else float(value)
