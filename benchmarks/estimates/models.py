"""Models that are cheap to train on many parts of the same rows.

Each is a function of the times that every training row counts, (m, n), and of the rows that each of the m models is
asked about; it tells which of these it predicts rightly. Letters: m models, n rows, p columns.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.tree import DecisionTreeClassifier

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]
RIDGE, NEAREST, DEPTH, FIRST = 1.0, 5, 4, 40
CHUNK = 10_000_000


class Sample(NamedTuple):
    """Rows to learn from, and rows of the truth; `near` are the other rows of the sample, the nearest first."""

    x: NDArray[np.float32]
    y: NDArray[np.int64]
    test_x: NDArray[np.float32]
    test_y: NDArray[np.int64]
    near: NDArray[np.int32]

    @property
    def classes(self) -> int:
        return int(max(self.y.max(), self.test_y.max())) + 1


def sample_of(
    x: NDArray[np.float32], y: NDArray[np.int64], test_x: NDArray[np.float32], test_y: NDArray[np.int64]
) -> Sample:
    distance = ((x[:, None] - x[None]) ** 2).sum(2) if x.size < 20_000 else _squared(x, x)
    np.fill_diagonal(distance, -1)
    return Sample(x, y, test_x, test_y, np.argsort(distance, axis=1, kind="stable")[:, 1:].astype(np.int32))


def _squared(a: NDArray[np.float32], b: NDArray[np.float32]) -> NDArray[np.float32]:
    found: NDArray[np.float32] = np.maximum((a**2).sum(1)[:, None] - 2 * a @ b.T + (b**2).sum(1), 0)
    return found


def ridge(sample: Sample, counts: Floats, asked: Sequence[Rows] | None) -> list[Floats]:
    """Least squares on one column per class with a ridge of 1, the constant free."""
    x = np.column_stack([np.ones(len(sample.y)), sample.x]).astype(np.float64)
    classes = np.eye(sample.classes)[sample.y]
    p = x.shape[1]
    square = (counts @ (x[:, :, None] * x[:, None, :]).reshape(len(x), -1)).reshape(-1, p, p)
    square[:, np.arange(1, p), np.arange(1, p)] += RIDGE
    square[:, 0, 0] += 1e-9
    cross = (counts @ (x[:, :, None] * classes[:, None, :]).reshape(len(x), -1)).reshape(len(counts), p, -1)
    found = np.linalg.solve(square, cross)
    if asked is None:
        test = np.column_stack([np.ones(len(sample.test_y)), sample.test_x])
        return [((test @ each).argmax(1) == sample.test_y).astype(np.float64) for each in found]
    return [
        ((x[rows] @ each).argmax(1) == sample.y[rows]).astype(np.float64)
        for each, rows in zip(found, asked, strict=True)
    ]


def nearest(sample: Sample, counts: Floats, asked: Sequence[Rows] | None) -> list[Floats]:
    """Vote of the five nearest training rows, never the row itself; ties go to the first class."""
    if asked is None:
        return [_nearest_of_all(sample)]
    found = []
    for times, rows in zip(counts, asked, strict=True):
        right, enough = _voted(sample, times, rows, FIRST)
        if not enough.all():
            right[~enough] = _voted(sample, times, rows[~enough], len(sample.y))[0]
        found.append(right)
    return found


def _voted(sample: Sample, times: Floats, rows: Rows, most: int) -> tuple[Floats, NDArray[np.bool_]]:
    near = sample.near[rows, :most]
    past = np.minimum(np.cumsum(times[near], 1), NEAREST)
    taken = np.diff(past, axis=1, prepend=0)
    labels = sample.y[near]
    votes = np.stack([(taken * (labels == c)).sum(1) for c in range(sample.classes)], 1)
    return (votes.argmax(1) == sample.y[rows]).astype(np.float64), past[:, -1] >= NEAREST


def _nearest_of_all(sample: Sample) -> Floats:
    right, step = [], max(1, CHUNK // len(sample.y))
    for start in range(0, len(sample.test_y), step):
        part = slice(start, start + step)
        near = np.argpartition(_squared(sample.test_x[part], sample.x), NEAREST - 1, axis=1)[:, :NEAREST]
        votes = np.eye(sample.classes)[sample.y[near]].sum(1)
        right.append(votes.argmax(1) == sample.test_y[part])
    return np.concatenate(right).astype(np.float64)


def tree(sample: Sample, counts: Floats, asked: Sequence[Rows] | None) -> list[Floats]:
    """A tree of depth four."""
    right = []
    for i, times in enumerate(counts):
        model = DecisionTreeClassifier(max_depth=DEPTH, random_state=0)
        kept = times > 0
        model.fit(sample.x[kept], sample.y[kept], sample_weight=times[kept])
        x, y = (sample.test_x, sample.test_y) if asked is None else (sample.x[asked[i]], sample.y[asked[i]])
        right.append((model.predict(x) == y).astype(np.float64))
    return right


MODELS: dict[str, Callable[[Sample, Floats, Sequence[Rows] | None], list[Floats]]] = {
    "ridge": ridge,
    "neighbours": nearest,
    "tree": tree,
}
CLOSED = ("ridge", "neighbours")
"""Models that are cheap enough for hundreds of fits in each draw."""


def true_score(model: str, sample: Sample) -> float:
    """Accuracy of the model of the whole sample on the rows of the truth."""
    return float(MODELS[model](sample, np.ones((1, len(sample.y))), None)[0].mean())


def fitted_error(model: str, sample: Sample) -> float:
    """Error of the model of the whole sample on its own rows; of neighbours, each row is its own nearest."""
    own = sample._replace(test_x=sample.x, test_y=sample.y)
    return 1 - true_score(model, own)


def cross_validated(model: str, sample: Sample, fold: NDArray[np.int64]) -> Floats:
    """(n,) 1 where a row is predicted rightly by the model of all other folds."""
    k = int(fold.max()) + 1
    asked = [np.flatnonzero(fold == j) for j in range(k)]
    counts = (fold != np.arange(k)[:, None]).astype(np.float64)
    right = np.empty(len(fold))
    right[np.concatenate(asked)] = np.concatenate(MODELS[model](sample, counts, asked))
    return right
