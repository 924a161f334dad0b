"""Model tests: Fisher gap, Fisher KL and score of each piece, and the covariate KL from moments.

All of them are functions of means over rows, so a draw of the null is a product of a label indicator with a matrix of
per-row quantities that is computed once.

Letters: n rows, C draws, L labels, K pieces, d parameters, f columns, p per-row quantities.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import torch
from torch import Tensor

from picsc.equations.divergence import PRIOR_PRECISION, fisher_gap, fisher_kl, gaussian_kl, smoothed_variance

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from picsc.auditing.exchangeability import Contrast, Ints

    Labels = Ints | NDArray[np.int16]

MOST_DENSE = 64
"""Most labels for which a product with their indicator, mostly zeros, is faster than adding row by row."""


class ModelShift(NamedTuple):
    """Fisher quantities per (draw, piece), all (C, K) float64."""

    gap: Tensor
    """||I_i - I_ref||_F."""
    reference_norm: Tensor
    """||I_ref||_F."""
    kl: Tensor
    """Fisher KL, nats."""
    score: Tensor
    """g' (I + delta)^-1 g, g the difference of mean gradients, I the pooled Fisher."""
    effective: Tensor
    """n_eff = 1 / (1/n_piece + 1/n_reference); gap^2, kl and score times it have a null that is about free of size."""


def label_sums(rows: Tensor, labels: Labels, contrast: Contrast) -> Tensor:
    """Sum per-row quantities by label.

    Args:
        rows: (n, p).
        labels: (C, n).
        contrast: number of labels.

    Returns:
        (C, L, p), in the type of `rows`.
    """
    draws, n = labels.shape
    if contrast.labels > MOST_DENSE:
        sums = rows.new_zeros((draws, contrast.labels, rows.shape[1]))
        for total, label in zip(sums, labels, strict=True):
            total.index_add_(0, torch.from_numpy(label.astype(np.int64)), rows)
        return sums
    of_label = np.arange(contrast.labels, dtype=labels.dtype)[:, None]
    indicator = rows.new_empty((draws, contrast.labels, n))
    for own, label in zip(indicator.numpy(), labels, strict=True):  # comparing is several times as fast as scattering
        own[:] = label == of_label
    return (indicator.reshape(-1, n) @ rows).reshape(draws, contrast.labels, -1)


def label_sizes(labels: Labels, contrast: Contrast) -> Tensor:
    """Rows per label, (C, L) float64."""
    draws = len(labels)
    flat = (np.arange(draws)[:, None] * contrast.labels + labels).reshape(-1)
    counts = np.bincount(flat, minlength=draws * contrast.labels)
    return torch.from_numpy(counts.reshape(draws, contrast.labels).astype(np.float64))


def model_shift(scores: Tensor, squares: Tensor, sizes: Tensor, pooled: Tensor, contrast: Contrast) -> ModelShift:
    """Fisher gap, Fisher KL and score from sums per label.

    Source: Eq. 1, 5 and 14, at one theta.
    Reading: the paper has no score; its metric is the Fisher of all rows, which no permutation changes.

    Args:
        scores: (C, L, d) sums of per-row gradients of log p(y | x; theta).
        squares: (C, L, d) sums of their squares.
        sizes: (C, L) labelled rows per label.
        pooled: (d,) Fisher information of all rows, the metric of the score.
        contrast: label of each piece and of its reference.
    """
    n_piece, n_reference = contrast.split(sizes)
    square_piece, square_reference = contrast.split(squares)
    score_piece, score_reference = contrast.split(scores)
    fisher, reference = square_piece / n_piece[..., None], square_reference / n_reference[..., None]
    gradient = score_piece / n_piece[..., None] - score_reference / n_reference[..., None]
    return ModelShift(
        gap=fisher_gap(fisher, reference).double(),
        reference_norm=torch.linalg.vector_norm(reference, dim=-1).double(),
        kl=fisher_kl(fisher, reference).double().clamp(min=0),
        score=(gradient.square() / (pooled + PRIOR_PRECISION)).sum(-1).double(),
        effective=contrast.effective(sizes),
    )


def moment_kl(sums: Tensor, squares: Tensor, sizes: Tensor, contrast: Contrast) -> Tensor:
    """Gaussian KL of each standardised column, from its sums per label.

    Source: Eq. 8. Each piece's variance is smoothed by one pseudo-value of the pooled variance 1, see `divergence`.

    Args:
        sums: (C, L, f) of the values, 0 where missing, standardised over all rows.
        squares: (C, L, f) of their squares.
        sizes: (C, L, f) values present.
        contrast: label of each piece and of its reference.

    Returns:
        (C, K, f) nats; 0 when either side has no value.
    """
    sides = []
    fewer = torch.minimum(*contrast.split(sizes))
    for total, square, n in zip(*(contrast.split(each) for each in (sums, squares, sizes)), strict=True):
        mean = total / n
        variance = (square / n - mean.square()).clamp(min=0)
        sides.append((mean, smoothed_variance(variance, fewer, torch.ones((), dtype=variance.dtype))))
    return gaussian_kl(*sides[0], *sides[1]).nan_to_num(0.0, posinf=0.0).clamp(min=0)
