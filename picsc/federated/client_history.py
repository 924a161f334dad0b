"""Accuracy of a method on every client over the rounds, and what it forgets.

Letters: r repeats, K clients, t rounds.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from picsc.federated.method_run import Floats, Run
from picsc.reports.common import finite
from picsc.reports.fed import MOST_ROUNDS, ClientHistory


def client_history(runs: Sequence[Run]) -> ClientHistory | None:
    """The history of all runs of one method, mean over seeds; None where no run has a number.

    Reading: a client takes part again in later rounds, so its best round may be any, and every round's accuracy is that
        of the joint model, whoever took part.
    """
    accuracy = np.stack([run.records["accuracy"] for run in runs])  # (r, t, K)
    if np.isnan(accuracy).all():
        return None
    t = accuracy.shape[1]
    rounds = np.unique(np.linspace(1, t, min(t, MOST_ROUNDS)).round().astype(int))
    means = _mean_over_seeds(accuracy[:, rounds - 1])
    return ClientHistory(
        rounds=tuple(int(each) for each in rounds),
        accuracy=tuple(tuple(finite(float(value)) for value in row) for row in means),
        forgetting=finite(float(np.mean([_forgotten(run) for run in accuracy]))),
    )


def _mean_over_seeds(accuracy: Floats) -> Floats:
    """(r, t, K) to (t, K); a seed in which a client has no test rows counts for the others only."""
    there = ~np.isnan(accuracy)
    count = there.sum(0)
    return np.where(count > 0, np.nansum(accuracy, 0) / np.maximum(count, 1), np.nan)


def _forgotten(accuracy: Floats) -> float:
    """Best minus last, mean over clients with test rows, of one run (t, K); NaN where the last round has no number."""
    known = ~np.isnan(accuracy[-1])
    if not known.any():
        return float("nan")
    return float((np.nanmax(accuracy[:, known], 0) - accuracy[-1, known]).mean())
