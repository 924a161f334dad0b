"""Deployment on rows like those of the sample: a random sample, and all other rows as the truth."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from estimates import splits
from estimates.bootstrap import bootstrap_632_plus
from estimates.models import CLOSED, MODELS, Sample, cross_validated, fitted_error, sample_of, true_score
from estimates.scores import Estimate, Result, resampled, rows_only, within
from estimates.tables import Table
from picsc.evaluation.nested_cv import NestedScores, nested_cv

REPEATS, NESTED, BOOTSTRAPS, TRUTH = 5, 10, 200, 10_000
Floats = NDArray[np.float64]


def draw(table: Table, n: int, rng: np.random.Generator) -> Sample:
    rows = rng.choice(len(table.y), min(len(table.y), n + TRUTH), replace=False)
    return sample_of(table.x[rows[:n]], table.y[rows[:n]], table.x[rows[n:]], table.y[rows[n:]])


def results(name: str, table: Table, n: int, number: int) -> Iterator[Result]:
    rng = np.random.default_rng([number, n, 11])
    sample = draw(table, n, rng)
    folds = _folds(sample, rng)
    for model in MODELS:
        truth = true_score(model, sample)
        for estimate, found in _estimates(model, sample, folds, rng):
            yield Result("same", name, n, number, model, estimate, *found, truth)


def _folds(sample: Sample, rng: np.random.Generator) -> dict[str, list[NDArray[np.int64]]]:
    n, y = len(sample.y), sample.y
    seed = int(rng.integers(1 << 30))
    column = int(np.argmax([abs(np.corrcoef(c, y)[0, 1]) if np.ptp(c) > 0 else 0 for c in sample.x.T]))
    order = np.argsort(sample.x[:, column], kind="stable")
    return {
        "st-CV, shuffled": [splits.shuffled(n, seed)],
        "st-CV, stratified": [splits.stratified(y, seed)],
        "st-CV, stratified, 5 repeats": [splits.stratified(y, seed + r) for r in range(REPEATS)],
        "DOB-SCV": [splits.dob(sample.x, y, seed)],
        "st-CV, file sorted by a column": [splits.contiguous(order)],
        "st-CV, stratified, file sorted by a column": [splits.contiguous(order, y)],
        "st-CV, file sorted by class": [splits.contiguous(np.argsort(y, kind="stable"))],
    }


def _estimates(
    model: str, sample: Sample, folds: dict[str, list[NDArray[np.int64]]], rng: np.random.Generator
) -> Iterator[tuple[str, Estimate]]:
    for name, several in folds.items():
        right = [cross_validated(model, sample, fold) for fold in several]
        yield name, resampled(right, several)
        if name == "st-CV, stratified":
            yield f"{name}, independent rows", rows_only(right[0])
    if model not in CLOSED:
        return
    nested = nested_scores(model, sample, NESTED, rng)
    yield "nested CV, 10 repeats", within(nested_cv(nested))
    few = NestedScores(nested.fold[:REPEATS], nested.outer[:REPEATS], nested.inner[:REPEATS])
    yield "nested CV, 5 repeats", within(nested_cv(few))
    n = len(sample.y)
    counts = rng.multinomial(n, np.full(n, 1 / n), size=BOOTSTRAPS).astype(np.float64)
    asked = [np.flatnonzero(times == 0) for times in counts]
    wrong = np.zeros(counts.shape)
    for line, rows, right in zip(wrong, asked, MODELS[model](sample, counts, asked), strict=True):
        line[rows] = 1 - right
    shares = np.bincount(sample.y) / n  # those of predictions are close to them
    by_chance = 1 - float((shares**2).sum())
    yield ".632+ bootstrap", within(bootstrap_632_plus(wrong, counts, fitted_error(model, sample), by_chance))


def nested_scores(model: str, sample: Sample, repeats: int, rng: np.random.Generator) -> NestedScores:
    """Scores of nested cross-validation with stratified folds."""
    n = len(sample.y)
    fold = np.stack([splits.stratified(sample.y, int(rng.integers(1 << 30))) for _ in range(repeats)])
    outer, inner = np.empty((repeats, n)), np.full((repeats, n, splits.K), np.nan)
    for r in range(repeats):
        outer[r] = cross_validated(model, sample, fold[r])
        counts, pairs = splits.without_two(fold[r])
        asked = [np.flatnonzero((fold[r] == a) | (fold[r] == b)) for a, b in pairs]
        for rows, right, (a, b) in zip(asked, MODELS[model](sample, counts, asked), pairs, strict=True):
            inner[r, rows, np.where(fold[r, rows] == a, b, a)] = right
    return NestedScores(fold, outer, inner)
