"""Domain classifier: shifts of the joint distribution that no single column shows, found by telling pieces apart.

Letters: n rows, f encoded columns, K pieces.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from sklearn import config_context
from sklearn.ensemble import RandomForestClassifier

if TYPE_CHECKING:
    from picsc.auditing.exchangeability import Contrast, Ints

TREES = 100
ROWS_PER_TREE = 4_000
"""Most rows that a tree is trained on, so that the forest's cost does not grow with the table."""


def held_out_ranks(
    x: NDArray[np.float32], labels: Ints, contrast: Contrast, *, seed: int, jobs: int
) -> NDArray[np.float32]:
    """Rank each row by a classifier that was not trained on it, once per piece.

    The rows are halved within each label; a random forest is trained on the labels of one half and scores the other,
    and the other way round. Given one half, the scores of the other are fixed, so its labels may be permuted.

    Args:
        x: (n, f) encoded covariates.
        labels: (n,) label of each row.
        contrast: label of each piece and of its reference.
        seed: of halves and forests.
        jobs: cores; never changes a number.

    Returns:
        (n, K): ranks within a half of "looks like piece k rather than its reference", in (-1/2, 1/2).
    """
    rng = np.random.default_rng([seed, 3])
    n = len(labels)
    shuffled = rng.permutation(n)
    shuffled = shuffled[np.argsort(labels[shuffled], kind="stable")]
    half = np.empty(n, np.int8)
    half[shuffled] = np.arange(n) % 2
    ranks = np.zeros((n, len(contrast.pieces)), np.float32)
    for side in (0, 1):
        learn, score = np.flatnonzero(half != side), np.flatnonzero(half == side)
        forest = RandomForestClassifier(
            TREES,
            min_samples_leaf=3,
            max_samples=min(len(learn), ROWS_PER_TREE),
            n_jobs=jobs,
            random_state=int(rng.integers(2**31)),
        )
        with warnings.catch_warnings(), config_context(assume_finite=True, skip_parameter_validation=True):  # per tree
            few = "The number of unique classes is greater than"  # rows for so many pieces: the verdict reports it
            warnings.filterwarnings("ignore", message=few, category=UserWarning)
            forest.fit(x[learn], labels[learn])
        forest.n_jobs = 1  # threads would add up the trees in another order each time
        probability = np.zeros((len(score), contrast.labels))
        probability[:, forest.classes_] = forest.predict_proba(x[score])
        for k, piece in enumerate(contrast.pieces):
            ours = probability[:, piece]
            theirs = 1 - ours if contrast.reference == "rest" else probability[:, contrast.reference[k]]
            looks = ours / np.maximum(ours + theirs, 1e-12)
            ranks[score, k] = _ranks(looks)
    return ranks


def _ranks(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Mean ranks in (-1/2, 1/2), ties shared. SciPy's would cost a second of import."""
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    ranks: NDArray[np.float64] = ((last - 0.5 * counts) / len(values) - 0.5)[place.reshape(-1)]
    return ranks
