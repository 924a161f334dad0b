"""Joint distribution: shifts of several columns together that no single column shows.

The mean features of a piece's rows, see `contrast_forest`, are compared with those of its reference: a maximum mean
discrepancy whose kernel is fixed before labels are permuted. The squared difference along a feature is divided by that
feature's variance plus a share of the largest one (Eric, Bach and Harchaoui, 2007): a shift need not lie along the few
directions in which rows differ most.

Letters: n rows, m rows that the draws permute, f encoded columns, r features, B draws (an axis of B + 1 has the
observed value first), K pieces.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.metrics import roc_auc_score
from torch import Tensor

from picsc.auditing.contrast_forest import ContrastForest, contrast_forest
from picsc.auditing.model_tests import label_sums
from picsc.auditing.null_statistics import beyond_chance

if TYPE_CHECKING:
    from picsc.auditing.exchangeability import Contrast, Ints
    from picsc.auditing.model_tests import Labels
    from picsc.auditing.null_statistics import TestInputs
    from picsc.auditing.permutations import LabelDraws

CANDIDATES, ROWS_RANKED, LEADING = 10, 4_000, 3
"""Columns that are tried as those that set a piece apart, rows that are looked at for that, and columns that are named
at most."""
RIDGE = 0.3
"""Share of the largest variance of a feature that is added to the variance of each."""
LARGE_SHARE = 0.5
"""A column is named if without it at least this share of the distance is lost that is lost without the leading one."""


@dataclass(frozen=True, slots=True)
class JointDraws:
    """The statistic of the joint distribution in every draw, and the forest behind it."""

    auc: Tensor
    """(K,) share of pairs of a row of the piece and one of its reference that the kernel ranks in this order, each row
    left out of the means that it is compared with; 0.5 where nothing can be told apart."""
    statistic: Tensor
    """(B + 1, K) n_eff times the squared distance of mean features, each divided by its variance and the ridge."""
    effect: Tensor
    """(B + 1, K) half the root of the chi-squared distance between shares of leaves in excess of its mean under the
    null, at the piece's own size: an upper bound of the total variation distance between these shares."""
    forest: ContrastForest | None
    """None for a single column, whose own test says all."""


def joint_of(inputs: TestInputs, null: LabelDraws, *, seed: int, jobs: int) -> JointDraws:
    """Compare mean features of every piece and its reference in every draw.

    Args:
        inputs: n rows.
        null: labels of m of these rows.
        seed: of the forest.
        jobs: cores; never changes a number.
    """
    rows = null.rows[: null.sampled]
    x = inputs.encoded[rows]
    forest = contrast_forest(x, _column_of(inputs), seed=seed, jobs=jobs)
    if forest is None:
        nothing = torch.zeros(null.effective.shape, dtype=torch.float64)
        return JointDraws(torch.full((nothing.shape[1],), 0.5, dtype=torch.float64), nothing, nothing, None)
    features = forest.features(x)
    features -= features.mean(0)
    variance = torch.from_numpy(np.square(features).mean(0, dtype=np.float64))
    weight = 1 / (variance + RIDGE * variance.amax()).clamp(min=1e-12)
    matrix = torch.from_numpy(features)

    def reduce(labels: Labels, sizes: Tensor) -> Tensor:
        piece, reference = (side.double() for side in null.contrast.split(label_sums(matrix, labels, null.contrast)))
        size, other = null.contrast.split(sizes)
        squared = (piece / size[..., None] - reference / other[..., None]).square().nan_to_num(0.0)
        return torch.stack([squared @ weight, squared.sum(-1), null.contrast.effective(sizes)], 1)

    width = null.contrast.labels * max(matrix.shape)
    drawn, done = [], 0
    for chunk in null.chunks(width, null.sampled):
        drawn.append(reduce(chunk, null.sizes[done : done + len(chunk)]))
        done += len(chunk)
    weighted, distance, size = torch.cat(drawn).unbind(1)
    effect = (0.5 * beyond_chance(size * distance, size[0])).clamp(max=1)
    return JointDraws(_auc(features, null.observed[rows], null.contrast), size * weighted, effect, forest)


def _column_of(inputs: TestInputs) -> Ints:
    """Position of the column that each encoded one belongs to, (f,)."""
    width = [(1 if column.test == "ks" else column.t - 1) + column.has_missing for column in inputs.encoded_columns]
    if sum(width) != inputs.encoded.shape[1]:  # features of images are no encoded table
        return np.arange(inputs.encoded.shape[1])
    return np.repeat(np.arange(len(width)), width)


def _auc(features: NDArray[np.float32], labels: Ints, contrast: Contrast) -> Tensor:
    """Share of pairs in which a row of the piece is more like the piece than a row of the reference is, (K,).

    A row is like the piece by its mean kernel with the piece's other rows minus that with the reference's other rows.
    """
    own = np.square(features).sum(1, dtype=np.float64)
    out = torch.full((len(contrast.pieces),), 0.5, dtype=torch.float64)
    for k in range(len(contrast.pieces)):
        ours, theirs = contrast.rows(labels, k)
        n, m = int(ours.sum()), int(theirs.sum())
        if n < 2 or m < 2:
            continue
        to_ours, to_theirs = (features @ features[side].sum(0) for side in (ours, theirs))
        alike = (to_ours - own * ours) / (n - ours) - (to_theirs - own * theirs) / (m - theirs)
        out[k] = float(roc_auc_score(np.repeat([1, 0], [n, m]), np.concatenate([alike[ours], alike[theirs]])))
    return out


def leading_columns(
    found: JointDraws, inputs: TestInputs, null: LabelDraws, pieces: Sequence[int], *, seed: int
) -> dict[int, tuple[str, ...]]:
    """Name the columns whose relation to the others sets some pieces apart from their references.

    A column's values are dealt out anew among rows, which leaves the column as it is and breaks its relation to all
    others; the column matters by how much less the pieces' mean features differ then, along the direction in which they
    do.

    Args:
        found: the draws.
        inputs: n rows.
        null: labels of these rows.
        pieces: positions of the pieces, among K, that are asked about.
        seed: of the rows that are looked at, and of the dealing.

    Returns:
        For each of these pieces at most `LEADING` names, the most important first; () where no column matters alone.
    """
    if not pieces or found.forest is None:
        return dict.fromkeys(pieces, ())
    column_of, names = _column_of(inputs), [column.name for column in inputs.encoded_columns]
    rng = np.random.default_rng([seed, 6])
    rows = null.rows[: null.sampled]
    rows = rows[np.sort(rng.permutation(len(rows))[:ROWS_RANKED])]
    x, labels = inputs.encoded[rows], null.observed[rows]
    importance = np.bincount(column_of, weights=found.forest.forest.feature_importances_)
    candidates = np.argsort(-importance, kind="stable")[:CANDIDATES]
    features = found.forest.features(x)
    apart = {k: _apart(features, labels, null.contrast, k) for k in pieces}
    lost = {k: np.zeros(len(candidates)) for k in pieces}
    for i, candidate in enumerate(candidates):
        dealt, inside = x.copy(), np.flatnonzero(column_of == candidate)
        dealt[:, inside] = x[rng.permutation(len(x))][:, inside]
        without = found.forest.features(dealt)
        for k in pieces:
            lost[k][i] = apart[k] @ (apart[k] - _apart(without, labels, null.contrast, k))
    return {k: _named([names[candidate] for candidate in candidates], lost[k]) for k in pieces}


def _apart(features: NDArray[np.float32], labels: Ints, contrast: Contrast, k: int) -> NDArray[np.float64]:
    """Mean features of a piece minus those of its reference, (r,); 0 where a side has no row."""
    ours, theirs = contrast.rows(labels, k)
    if not (ours.any() and theirs.any()):
        return np.zeros(features.shape[1])
    apart: NDArray[np.float64] = features[ours].mean(0, dtype=np.float64) - features[theirs].mean(0, dtype=np.float64)
    return apart


def _named(names: Sequence[str], lost: NDArray[np.float64]) -> tuple[str, ...]:
    """The names without which the most is lost, in this order."""
    order = np.argsort(-lost, kind="stable")
    large = [i for i in order.tolist() if lost[i] > 0 and lost[i] >= LARGE_SHARE * lost[order[0]]]
    return tuple(names[i] for i in large[:LEADING])
