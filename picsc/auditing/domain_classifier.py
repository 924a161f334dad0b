"""Domain classifier: shifts of the joint distribution that no single column shows, found by telling pieces apart.

Letters: n rows, m rows that the draws permute, f encoded columns, B draws (an axis of B + 1 has the observed value
first), K pieces.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn import config_context
from sklearn.ensemble import RandomForestClassifier
from torch import Tensor

from picsc.auditing.model_tests import label_sums
from picsc.auditing.null_statistics import at_own_size

if TYPE_CHECKING:
    from picsc.auditing.exchangeability import Contrast, Ints
    from picsc.auditing.null_statistics import TestInputs
    from picsc.auditing.permutations import LabelDraws

TREES = 100
ROWS_PER_TREE = 4_000
"""Most rows that a tree is trained on, so that the forest's cost does not grow with the table."""
CANDIDATES, ROWS_RANKED, LEADING = 10, 2_000, 3
"""Columns that are tried as those that a forest relies on, rows that it ranks for that in each half, and columns that
are named at most."""
LARGE_SHARE = 0.5
"""A column is named if the forest loses at least this share, without it, of what it loses without the leading one."""


@dataclass(frozen=True, slots=True)
class Half:
    """A forest, and the rows that it has not seen."""

    forest: RandomForestClassifier
    rows: Ints
    """Row numbers of the half that the forest ranks."""


@dataclass(frozen=True, slots=True)
class DomainDraws:
    """The classifier's statistic in every draw, and the forests behind it."""

    auc: Tensor
    """(K,) held-out AUC."""
    statistic: Tensor
    """(B + 1, K)."""
    effect: Tensor
    """(B + 1, K) 2 AUC - 1, at the piece's own size."""
    halves: tuple[Half, Half]
    """The two halves of the rows that the draws permute, by their numbers among these."""


def held_out_ranks(
    x: NDArray[np.float32], labels: Ints, contrast: Contrast, *, seed: int, jobs: int
) -> tuple[NDArray[np.float32], tuple[Half, Half]]:
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
        (n, K): ranks within a half of "looks like piece k rather than its reference", in (-1/2, 1/2); and the halves.
    """
    rng = np.random.default_rng([seed, 3])
    n = len(labels)
    shuffled = rng.permutation(n)
    shuffled = shuffled[np.argsort(labels[shuffled], kind="stable")]
    half = np.empty(n, np.int8)
    half[shuffled] = np.arange(n) % 2
    ranks = np.zeros((n, len(contrast.pieces)), np.float32)
    halves = []
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
        halves.append(Half(forest, score))
        ranks[score] = _ranked(forest, x[score], contrast)
    return ranks, (halves[0], halves[1])


def _ranked(forest: RandomForestClassifier, x: NDArray[np.float32], contrast: Contrast) -> NDArray[np.float32]:
    """Ranks of m rows by how much they look like each piece rather than its reference, (m, K)."""
    probability = np.zeros((len(x), contrast.labels))
    with config_context(assume_finite=True, skip_parameter_validation=True):
        probability[:, forest.classes_] = forest.predict_proba(x)
    ranks = np.zeros((len(x), len(contrast.pieces)), np.float32)
    for k, piece in enumerate(contrast.pieces):
        ours = probability[:, piece]
        theirs = 1 - ours if contrast.reference == "rest" else probability[:, contrast.reference[k]]
        ranks[:, k] = _ranks(ours / np.maximum(ours + theirs, 1e-12))
    return ranks


def _ranks(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Mean ranks in (-1/2, 1/2), ties shared. SciPy's would cost a second of import."""
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    ranks: NDArray[np.float64] = ((last - 0.5 * counts) / len(values) - 0.5)[place.reshape(-1)]
    return ranks


def domain_of(inputs: TestInputs, null: LabelDraws, *, seed: int, jobs: int) -> DomainDraws:
    """The classifier's held-out AUC, and its statistic and effect in every draw.

    A draw permutes the labels of both halves at once, as if the halves' AUCs were independent. They are not: a chance
    difference that both halves share is learned from one and confirmed in the other. With correlation at most 1, the
    observed mean of two AUCs varies at most like one of them, so its square is halved against the draws: valid whatever
    the correlation is.
    """
    rows = null.rows[: null.sampled]
    ranks, halves = held_out_ranks(inputs.encoded[rows], null.observed[rows], null.contrast, seed=seed, jobs=jobs)

    def reduce(sums: Tensor) -> Tensor:
        piece, reference = (side.double() for side in null.contrast.split(sums))
        size_p, size_r = piece[..., -1], reference[..., -1]
        own = torch.diagonal(piece[..., :-1], dim1=1, dim2=2) / size_p
        other = torch.diagonal(reference[..., :-1], dim1=1, dim2=2) / size_r
        return torch.stack([(own - other).nan_to_num(0.0), 1 / (1 / size_p + 1 / size_r)], 1)

    matrix = torch.cat([torch.from_numpy(ranks), torch.ones(len(ranks), 1)], 1)
    width = null.contrast.labels * max(matrix.shape)
    drawn = torch.cat([reduce(label_sums(matrix, chunk, null.contrast)) for chunk in null.chunks(width, null.sampled)])
    difference, size = drawn.unbind(1)
    statistic = size * difference.clamp(min=0).square()
    statistic[0] /= 2
    # halved against the draws, like the statistic
    effect = at_own_size(2 * math.sqrt(2) * difference.clamp(min=0), size)
    effect[0] = (2 * (0.5 + difference[0]) - 1).clamp(min=0)
    return DomainDraws(0.5 + difference[0], statistic, effect, halves)


def leading_columns(
    found: DomainDraws, inputs: TestInputs, null: LabelDraws, pieces: Sequence[int], *, seed: int
) -> dict[int, tuple[str, ...]]:
    """Name the columns that the forests rely on to tell some pieces from their references.

    A column's values are dealt out anew among rows that the forest has not seen, which leaves the column as it is and
    breaks its relation to all others; the column matters by how much worse the pieces are told apart then.

    Args:
        found: the classifier's draws.
        inputs: the n rows that it was trained on.
        null: labels of these rows.
        pieces: positions of the pieces, among K, that are asked about.
        seed: of the rows that are ranked, and of the dealing.

    Returns:
        For each of these pieces at most `LEADING` names, the most important first; () where no column matters alone.
    """
    if not pieces or not inputs.columns:
        return dict.fromkeys(pieces, ())
    rng = np.random.default_rng([seed, 6])
    rows = null.rows[: null.sampled]
    width = [(1 if column.test == "ks" else column.t - 1) + column.has_missing for column in inputs.columns]
    column_of = np.repeat(np.arange(len(width)), width)
    importance = np.bincount(
        column_of, weights=sum(half.forest.feature_importances_ for half in found.halves), minlength=len(width)
    )
    candidates = np.argsort(-importance, kind="stable")[:CANDIDATES]
    lost = np.zeros((len(candidates), len(null.contrast.pieces)))
    for half in found.halves:
        ranked = np.sort(rng.permutation(half.rows)[:ROWS_RANKED])
        x, labels = inputs.encoded[rows[ranked]], null.observed[rows[ranked]]
        whole = _separation(_ranked(half.forest, x, null.contrast), labels, null.contrast)
        for i, candidate in enumerate(candidates):
            dealt, inside = x.copy(), np.flatnonzero(column_of == candidate)
            dealt[:, inside] = x[rng.permutation(len(x))][:, inside]
            lost[i] += whole - _separation(_ranked(half.forest, dealt, null.contrast), labels, null.contrast)
    names = [inputs.columns[candidate].name for candidate in candidates]
    return {k: _named(names, lost[:, k]) for k in pieces}


def _separation(ranks: NDArray[np.float32], labels: Ints, contrast: Contrast) -> NDArray[np.float64]:
    """Mean rank of each piece's rows minus that of its reference's, (K,); 0 where a side has no row."""
    out = np.zeros(len(contrast.pieces))
    for k, piece in enumerate(contrast.pieces):
        ours = labels == piece
        theirs = ~ours if contrast.reference == "rest" else labels == contrast.reference[k]
        if ours.any() and theirs.any():
            out[k] = ranks[ours, k].mean() - ranks[theirs, k].mean()
    return out


def _named(names: Sequence[str], lost: NDArray[np.float64]) -> tuple[str, ...]:
    """The names without which the most is lost, in this order."""
    order = np.argsort(-lost, kind="stable")
    large = [i for i in order.tolist() if lost[i] > 0 and lost[i] >= LARGE_SHARE * lost[order[0]]]
    return tuple(names[i] for i in large[:LEADING])
