"""Contrast forest: features of a row that say how its columns go together, learned without knowing the pieces.

A random forest learns to tell the rows from rows whose columns were permuted one by one, which have the same columns
and no dependence between them. Two rows are alike if they share leaves of its trees, so the leaves are fine where
columns depend on each other. As no label of a piece is seen, labels may be permuted against the features as they are.

Letters: n rows, f encoded columns, T trees, l leaves of all trees together, r features.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from sklearn import config_context
from sklearn.ensemble import RandomForestClassifier

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

    from picsc.auditing.exchangeability import Ints

TREES = 50
ROWS_LEARNED = 4_000
"""Most rows that the forest learns from, so that its cost does not grow with the table."""
LEAF_SHARE = 0.01
"""Fewest rows of a leaf, as a share of the rows that a tree learns from."""
FEWEST_IN_LEAF = 3
FEATURES = 256
"""Most features: those along which rows differ most."""
EXACT_ROWS = 1_500
"""Most rows whose features are computed from the exact kernel between all rows."""

POWER_ITERATIONS = 3
"""Steps towards the leading directions of rows too many for the exact kernel, from random directions."""

Floats = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class ContrastForest:
    """A forest, and the map from its leaves to features."""

    forest: RandomForestClassifier
    leaf_position: tuple[Ints, ...]
    """Position of each node of a tree among all l leaves, (nodes,) for each tree; l for a leaf that no row reached."""
    scale: NDArray[np.float64]
    """(l + 1,) weight of a leaf: sqrt(n / (T rows in the leaf)); 0 for one that no row reached."""
    basis: NDArray[np.float64]
    """(l + 1, r) directions of the features among the weighted leaves."""

    def features(self, x: NDArray[np.float32]) -> Floats:
        """Features of any rows, (n, r)."""
        return np.asarray(_weighted(_leaves(self.forest, x), self.leaf_position, self.scale) @ self.basis, np.float32)


def contrast_forest(x: NDArray[np.float32], column_of: Ints, *, seed: int, jobs: int) -> ContrastForest | None:
    """Learn how the columns of n rows go together.

    With all features, the squared distance between the means of two sets of rows is the chi-squared distance
    between the sets' shares of the leaves, sum over leaves of (p - q)^2 / s with s the share of all rows, averaged
    over trees.

    Args:
        x: (n, f) encoded columns.
        column_of: (f,) column that each encoded one belongs to; those of one column are permuted together.
        seed: of the permuted rows and the trees.
        jobs: cores; never changes a number.

    Returns:
        None where there is nothing to learn: fewer than two columns, or fewer than two rows.
    """
    columns = np.unique(column_of)
    if len(columns) < 2 or len(x) < 2:
        return None
    rng = np.random.default_rng([seed, 3])
    learned = np.sort(rng.permutation(len(x))[:ROWS_LEARNED])
    real = x[learned]
    permuted = np.empty_like(real)
    for column in columns:
        inside = np.flatnonzero(column_of == column)
        permuted[:, inside] = real[rng.permutation(len(real))][:, inside]
    forest = RandomForestClassifier(
        TREES,
        min_samples_leaf=max(FEWEST_IN_LEAF, round(LEAF_SHARE * len(real))),
        max_samples=min(2 * len(real), ROWS_LEARNED),
        n_jobs=jobs,
        random_state=int(rng.integers(2**31)),
    )
    with config_context(assume_finite=True, skip_parameter_validation=True):  # per tree
        forest.fit(np.concatenate([real, permuted]), np.repeat([1, 0], len(real)))
    forest.n_jobs = 1
    leaves = _leaves(forest, x)
    position, scale = _leaf_scales(forest, leaves)
    return ContrastForest(forest, position, scale, _basis(_weighted(leaves[learned], position, scale), rng))


def _leaves(forest: RandomForestClassifier, x: NDArray[np.float32]) -> Ints:
    """Leaf of each row in each tree, (n, T)."""
    with config_context(assume_finite=True, skip_parameter_validation=True):
        return np.stack([tree.tree_.apply(np.asarray(x, np.float32)) for tree in forest.estimators_], 1)


def _leaf_scales(forest: RandomForestClassifier, leaves: Ints) -> tuple[tuple[Ints, ...], NDArray[np.float64]]:
    """Positions of all trees' leaves, and the weight of each leaf, see `ContrastForest`."""
    counts = [np.bincount(leaves[:, t], minlength=tree.tree_.node_count) for t, tree in enumerate(forest.estimators_)]
    total = sum(int((count > 0).sum()) for count in counts)
    positions, scales, start = [], [], 0
    for count in counts:
        reached = np.flatnonzero(count)
        position = np.full(len(count), total, np.int64)
        position[reached] = start + np.arange(len(reached))
        start += len(reached)
        positions.append(position)
        scales.append(np.sqrt(len(leaves) / (len(counts) * count[reached])))
    return tuple(positions), np.concatenate([*scales, [0.0]])


def _weighted(leaves: Ints, position: Sequence[Ints], scale: NDArray[np.float64]) -> csr_matrix:
    """The weighted leaves of n rows, (n, l + 1) with T entries a row."""
    from scipy.sparse import csr_matrix

    n, trees = leaves.shape
    places = np.stack([position[t][leaves[:, t]] for t in range(trees)], 1).reshape(-1)
    return csr_matrix((scale[places], places, np.arange(0, n * trees + 1, trees)), shape=(n, len(scale)))


def _basis(weighted: csr_matrix, rng: np.random.Generator) -> NDArray[np.float64]:
    """Directions along which n rows differ most, (l + 1, r): the leading right singular vectors of their leaves."""
    n = weighted.shape[0]
    if n <= EXACT_ROWS:
        values, vectors = np.linalg.eigh((weighted @ weighted.T).toarray())
        kept = np.flatnonzero(values > 1e-9 * max(values[-1], 1e-300))[-FEATURES:]
        return np.asarray(weighted.T @ (vectors[:, kept] / np.sqrt(values[kept])))
    by_rows = n < weighted.shape[1]
    alike = (weighted @ weighted.T if by_rows else weighted.T @ weighted).toarray()
    found: NDArray[np.float64] = rng.standard_normal((len(alike), FEATURES))
    for _ in range(POWER_ITERATIONS):
        found = np.linalg.qr(alike @ found)[0]
    found = found @ np.linalg.eigh(found.T @ alike @ found)[1]
    if by_rows:
        found = weighted.T @ found
        found /= np.linalg.norm(found, axis=0)
    return found
