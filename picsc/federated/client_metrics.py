"""Metrics by name of one run's global model, on the test rows of each client. Letters: K clients, r repeats, T rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from picsc.datasets.data import Data
from picsc.datasets.judged import judging_of
from picsc.evaluation.judging import Judging, column_of
from picsc.evaluation.means import finite_mean
from picsc.evaluation.method_metrics import method_metrics
from picsc.evaluation.paired_tests import Paired
from picsc.evaluation.target_units import TargetUnits
from picsc.federated.clients.evaluation import TestRows
from picsc.federated.clients.mlps import ClientMlps
from picsc.federated.clients.networks import ClientModules
from picsc.federated.holdings import FederatedSplit
from picsc.federated.method_run import Floats, Run, over_clients
from picsc.reports.metrics import MetricScore
from picsc.settings import FedSettings

ClientMetrics = tuple[dict[str, Floats], dict[str, str]]
"""By column of a metric its values for each client, and by metric the reason why some client has none."""


def check_client_metrics(data: Data, settings: FedSettings) -> None:
    """Refuse metrics of the other kind of target, before any training.

    Args:
        data: with a target.
        settings: name the metrics.

    Raises:
        SettingsError: a metric does not fit.
    """
    table = data.as_table()
    if table.target is not None:
        judging_of(table, settings.metrics)


def client_metrics(
    split: FederatedSplit, settings: FedSettings, clients: ClientMlps | ClientModules, theta: Tensor
) -> ClientMetrics:
    """Every metric of one global model on each client's test rows.

    Reading: where one test part serves all clients, its rows are weighted to each client's mix of classes, as in the
        accuracy.

    Args:
        split: the clients and their rows.
        settings: name the metrics.
        clients: as they were trained.
        theta: the model, (d,).

    Returns:
        By column of a metric its values, (K,), NaN where there is none; and by metric the reason why some client has
        none, whatever the model.
    """
    table = split.data.as_table()
    target = table.target
    if not settings.metrics or target is None:
        return {}, {}
    judging, labels, classes = judging_of(table, settings.metrics), target.values, len(target.levels)
    if target.kind == "numbers":
        units = TargetUnits.of(labels[np.concatenate(split.train)])
        judging, labels = replace(judging, units=units), units.scaled(labels)
    test, k = clients.test, len(clients.rows)
    outputs = clients.test_outputs(theta[None])[0].double().cpu().numpy()
    found: dict[str, Floats] = {column: np.full(k, np.nan) for column in judging.columns}
    reasons: dict[str, str] = {}
    for i in range(k):
        own, of_client = _rows_of(test, i, judging, len(labels))
        rows = test.rows.cpu().numpy()[own]
        reasons |= of_client.reasons(labels[rows], classes, rows)
        if not len(rows) or not np.isfinite(outputs[own]).all():
            continue
        for column, value in of_client.values(outputs[own], labels[rows], rows).items():
            found[column][i] = value
    return found, reasons


def _rows_of(test: TestRows, client: int, judging: Judging, n: int) -> tuple[NDArray[np.bool_], Judging]:
    """The test rows of one client, bool (T,), and the judging with their weights."""
    group = test.group.cpu().numpy()
    if test.group_weights is None:
        return group == client, judging
    shares = test.group_weights[client].double().cpu().numpy()
    weights = np.zeros(n)
    weights[test.rows.cpu().numpy()] = (shares / np.maximum(1, np.bincount(group, minlength=len(shares))))[group]
    return np.ones(len(group), bool), replace(judging, weights=weights)


def metrics_of_method(
    runs: Sequence[Run], others: Mapping[str, Sequence[Run]], test: Callable[[Floats], Paired | None]
) -> tuple[MetricScore, ...]:
    """The metrics of one method: means over clients, then over repeats.

    Args:
        runs: of the method, r.
        others: runs of the methods that it is compared with, r each.
        test: the test of a number of each repeat, (r,).
    """
    names = runs[0].metric_names
    if not names:
        return ()
    ours = _columns(runs)
    theirs = {name: _columns(each) for name, each in others.items()}

    def paired(other: str | None, column: str) -> Paired | None:
        return test(over_clients(ours[column] - (0.0 if other is None else theirs[other][column])))

    reasons = {name: reason for run in runs for name, reason in run.metric_reasons.items()}
    alone = "no test: there is one repeat only, and repeats are tested over" if len(runs) == 1 else ""
    return method_metrics(names, ours, theirs, paired, reasons, mean=_mean, no_test=alone)


def _columns(runs: Sequence[Run]) -> dict[str, Floats]:
    """Values of every metric, (r, K) each."""
    return {column_of(name): np.stack([run.metrics[column_of(name)] for run in runs]) for name in runs[0].metric_names}


def _mean(values: Floats) -> float | None:
    return finite_mean(over_clients(values))
