"""Deployment on rows of another distribution: a biased sample, and the unbiased rest as the truth."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import torch

from estimates import splits
from estimates.models import MODELS, Sample, cross_validated, sample_of, true_score
from estimates.same import REPEATS, TRUTH
from estimates.scores import NAN, Estimate, Result, within
from estimates.tables import Table
from picsc.errors import NumericsError
from picsc.evaluation.weighted_risk import weighted_score
from picsc.weighting import WEIGHTINGS

TARGET = 1000
"""Rows of the deployment without labels that weightings see."""
FORCES = {"moderate shift": 0.75, "strong shift": 1.5}
"""Slope of the log-probability of a row to be drawn, in the first principal component, standardised."""


def results(name: str, table: Table, n: int, number: int) -> Iterator[Result]:
    rng = np.random.default_rng([number, n, 14])
    first = first_component(table.x)
    for scenario, force in FORCES.items():
        log_p = force * first
        p = np.exp(log_p - log_p.max())
        rows = rng.choice(len(p), n, replace=False, p=p / p.sum())
        other = rng.permutation(np.setdiff1d(np.arange(len(p)), rows))[:TRUTH]
        sample = sample_of(table.x[rows], table.y[rows], table.x[other], table.y[other])
        if len(np.unique(sample.y)) < 2:
            continue
        seed = int(rng.integers(1 << 30))
        weights = _weights(sample, np.exp(-log_p[rows]), rng, seed)
        folds = [splits.stratified(sample.y, seed + r) for r in range(REPEATS)]
        for model in MODELS:
            truth = true_score(model, sample)
            right = np.stack([cross_validated(model, sample, fold) for fold in folds])
            for weighting, values in weights.items():
                found, share = Estimate(NAN), NAN
                if values is not None:
                    of = weighted_score(right, values, splits.K)
                    found, share = within(of.score), of.effective_rows / n
                yield Result(scenario, name, n, number, model, f"IWCV, {weighting}", *found, truth, share)


def first_component(x: np.ndarray) -> np.ndarray:
    """First principal component, standardised and within 2.5 standard deviations."""
    values, vectors = np.linalg.eigh(np.cov(x.T.astype(np.float64)))
    del values
    found = x @ vectors[:, -1]
    return np.clip((found - found.mean()) / found.std(), -2.5, 2.5)


def _weights(sample: Sample, ratio: np.ndarray, rng: np.random.Generator, seed: int) -> dict[str, np.ndarray | None]:
    spread = sample.x.std(0)
    kept = spread > 1e-6
    x = (sample.x[:, kept] - sample.x[:, kept].mean(0)) / spread[kept]
    z = sample.test_x[rng.permutation(len(sample.test_x))[:TARGET]][:, kept]
    z = np.clip((z - sample.x[:, kept].mean(0)) / spread[kept], -8, 8)
    found: dict[str, np.ndarray | None] = {"no weights": np.ones(len(x)), "true ratio": ratio}
    for name, function in WEIGHTINGS.items():
        try:
            found[name] = function(torch.from_numpy(x), torch.from_numpy(z), seed=seed).double().numpy()
        except NumericsError:
            found[name] = None
    return found
