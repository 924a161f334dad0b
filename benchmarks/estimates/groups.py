"""Deployment on new groups, and on further rows of the groups of the sample."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from estimates import splits
from estimates.models import MODELS, cross_validated, sample_of, true_score
from estimates.same import REPEATS, TRUTH
from estimates.scores import Result, resampled, within
from estimates.tables import Table
from picsc.evaluation.grouped_rows import grouped_t


def results(name: str, table: Table, n: int, number: int) -> Iterator[Result]:
    if table.group is None:
        return
    rng = np.random.default_rng([number, n, 12])
    labels = np.arange(int(table.group.max()) + 1)
    drawn = rng.permutation(labels)[: min(len(labels) // 2, 20 if n < 1000 else 50)]
    candidates = np.flatnonzero(np.isin(table.group, drawn))
    share = int(np.ceil(n / len(drawn)))
    candidates = rng.permutation(candidates)
    place = np.zeros(len(candidates), np.int64)
    for group in drawn:
        mine = table.group[candidates] == group
        place[mine] = np.arange(mine.sum())
    rows = candidates[place < share][:n]
    group = table.group[rows]
    truths = {
        "new groups": np.flatnonzero(~np.isin(table.group, drawn)),
        "same groups": np.setdiff1d(candidates, rows),
    }
    seed = int(rng.integers(1 << 30))
    y = table.y[rows]
    random = [splits.stratified(y, seed + r) for r in range(REPEATS)]
    whole = [splits.whole_groups(y, group, seed + r) for r in range(REPEATS)]
    for truth, other in truths.items():
        other = rng.permutation(other)[:TRUTH]
        sample = sample_of(table.x[rows], y, table.x[other], table.y[other])
        for model in MODELS:
            score = true_score(model, sample)
            for kind, folds in (("st-CV, stratified, 5 repeats", random), ("st-CV by groups, 5 repeats", whole)):
                right = [cross_validated(model, sample, fold) for fold in folds]
                for estimate, found in (
                    (kind, resampled(right, folds)),
                    (
                        f"{kind}, interval over groups",
                        within(grouped_t(np.stack(right), group, int(folds[0].max()) + 1)),
                    ),
                ):
                    yield Result(truth, name, n, number, model, estimate, *found, score)
