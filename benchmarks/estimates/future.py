"""Deployment in the future: a stretch of the file, and the rows that follow as the truth."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from estimates import splits
from estimates.models import MODELS, cross_validated, sample_of, true_score
from estimates.same import REPEATS
from estimates.scores import Result, resampled, rows_only, within
from estimates.tables import Table
from picsc.evaluation.paired_tests import future_t, rows_t

AHEAD = 1000
"""Rows of the truth."""
PIECES = 6
"""Pieces of time, of which all but the first are tested by a model of those before."""


def results(name: str, table: Table, n: int, number: int) -> Iterator[Result]:
    rng = np.random.default_rng([number, n, 13])
    start = int(rng.integers(len(table.y) - n - AHEAD))
    past, ahead = slice(start, start + n), slice(start + n, start + n + AHEAD)
    sample = sample_of(table.x[past], table.y[past], table.x[ahead], table.y[ahead])
    seed = int(rng.integers(1 << 30))
    random = [splits.stratified(sample.y, seed + r) for r in range(REPEATS)]
    piece = np.arange(n) * PIECES // n
    counts = (piece < np.arange(1, PIECES)[:, None]).astype(np.float64)
    for model in MODELS:
        if len(np.unique(sample.y[piece == 0])) < 2:
            continue
        truth = true_score(model, sample)
        forward = MODELS[model](sample, counts, [np.flatnonzero(piece == t) for t in range(1, PIECES)])
        means = np.array([each.mean() for each in forward])
        for estimate, found in (
            (
                "st-CV, stratified, 5 repeats",
                resampled([cross_validated(model, sample, fold) for fold in random], random),
            ),
            ("forward splits", within(rows_t(means, np.zeros_like(means)))),
            ("forward splits, independent rows", rows_only(np.concatenate(forward))),
            ("last forward split, independent rows", rows_only(forward[-1])),
            ("forward splits, interval of as long a future", within(future_t(means))),
        ):
            yield Result("future", name, n, number, model, estimate, *found, truth)
