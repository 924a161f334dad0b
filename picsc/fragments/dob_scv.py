"""DOB-SCV and MS-SCV, which make folds with similar or with different covariate distributions.

Both are stratified: every fold's count of a class is within one of every other's, and so are the folds' sizes. Source:
Moreno-Torres, Saez and Herrera (2012), "Study on the impact of partition-induced dataset shift on k-fold
cross-validation". Letters: n rows, f encoded features, k folds.

Distances are squared Euclidean, summed column by column in float64 without BLAS, and of equal distances the row that
comes first is taken, so that the same seed gives the same folds on every machine.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

_STREAM = 3
"""Separates the random draws here from those elsewhere with the same seed."""


def balanced_folds(codes: NDArray[np.int64], matrix: NDArray[np.floating], k: int, *, seed: int) -> NDArray[np.int64]:
    """Folds by DOB-SCV: a row drawn at random and its k - 1 nearest rows of the same class go to k different folds.

    Source: Moreno-Torres et al. (2012), DOB-SCV.
    Reading: there the drawn row always goes to the first fold, and the remaining rows of each class fill the folds from
        the first on. Here the first fold advances by one from group to group, so that no fold gets all drawn rows, and
        the remaining rows of a class continue where those of the class before ended, so that sizes stay balanced.

    One row of distances per group: O(n^2 f / k) time and O(n f) memory for a class of n rows.

    Args:
        codes: (n,) class of each row.
        matrix: (n, f) encoded, standardised columns, finite.
        k: number of folds, at least 2.
        seed: seed of the drawn rows.

    Returns:
        (n,) fold of each row, 0..k-1.
    """
    rng = np.random.default_rng([seed, _STREAM])
    folds = np.empty(len(codes), np.int64)
    turn = leftover = 0
    for rows, columns in _classes(codes, matrix):
        left = np.arange(len(rows))
        while len(left):
            drawn = int(rng.integers(len(left)))
            near = _nearest(_distances(columns, int(left[drawn]))[left], drawn, k - 1)
            group = np.append(drawn, near)
            full = len(group) == k
            folds[rows[left[group]]] = ((turn if full else leftover) + np.arange(len(group))) % k
            turn, leftover = (turn + 1, leftover) if full else (turn, leftover + len(group))
            left = np.delete(left, group)
    return folds


def shifted_folds(codes: NDArray[np.int64], matrix: NDArray[np.floating], k: int, *, seed: int) -> NDArray[np.int64]:
    """Folds by MS-SCV: a walk from row to nearest unvisited row of the same class fills one fold after the other.

    The folds differ about as much as stratified folds can, so a test of shift must detect them.

    Source: Moreno-Torres et al. (2012), MS-SCV.
    Reading: the folds that get one row more of a class continue after those of the class before. DOB-SCV with the k - 1
        farthest rows instead of the nearest would not do: it makes folds more similar than random ones.

    One row of distances per row: O(n^2 f) time and O(n f) memory for a class of n rows.

    Args:
        codes: (n,) class of each row.
        matrix: (n, f) encoded, standardised columns, finite.
        k: number of folds, at least 2.
        seed: seed of the rows from which the walks start.

    Returns:
        (n,) fold of each row, 0..k-1.
    """
    rng = np.random.default_rng([seed, _STREAM])
    folds = np.empty(len(codes), np.int64)
    leftover = 0
    for rows, columns in _classes(codes, matrix):
        sizes = np.full(k, len(rows) // k)
        more = len(rows) % k
        sizes[(leftover + np.arange(more)) % k] += 1
        leftover += more
        at = int(rng.integers(len(rows)))
        for fold, size in enumerate(sizes):
            visited = np.zeros(len(rows), np.bool_)
            for _ in range(size):
                folds[rows[at]] = fold
                visited[at] = True
                distances = _distances(columns, at)
                distances[visited] = np.inf
                at = int(distances.argmin())
            at -= int(visited[:at].sum())
            rows, columns = rows[~visited], np.compress(~visited, columns, axis=1)
    return folds


def _classes(
    codes: NDArray[np.int64], matrix: NDArray[np.floating]
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.float64]]]:
    """Rows of each class, increasing, and their features, (f, rows), so that each feature is contiguous."""
    for code in np.unique(codes):
        rows = np.flatnonzero(codes == code)
        yield rows, np.ascontiguousarray(matrix[rows].T, dtype=np.float64)


def _distances(columns: NDArray[np.float64], row: int) -> NDArray[np.float64]:
    """Squared distance of every row to one row, (rows,), with an order of summation that no library changes."""
    total = np.zeros(columns.shape[1])
    apart = np.empty_like(total)
    for column in columns:
        np.subtract(column, column[row], out=apart)
        np.multiply(apart, apart, out=apart)
        np.add(total, apart, out=total)
    return total


def _nearest(distances: NDArray[np.float64], drawn: int, count: int) -> NDArray[np.int64]:
    """Positions of the `count` smallest distances except that of the drawn row, nearest first, ties in order."""
    distances[drawn] = np.inf
    count = min(count, len(distances) - 1)
    if count == 0:
        return np.empty(0, np.int64)
    bound = np.partition(distances, count - 1)[count - 1]
    near = np.flatnonzero(distances <= bound)
    return near[np.argsort(distances[near], kind="stable")][:count]
