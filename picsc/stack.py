"""The rows of many training problems side by side, in the layout that batched training wants: rows innermost.

Shape letters here: g problems (a fold of a repeat, say), k fragments of a problem's rows, t tiles, m rows of a tile,
f features, o readouts. A tile holds rows of one fragment; large fragments have several, so that padding stays small
however unequal fragments are, and every sum over a fragment's rows is one batched product and a small sum over tiles.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from picsc.errors import DataError
from picsc.likelihood import Likelihood

TILE_OVERHEAD = 24
"""Rows that one more tile costs about as much as; weighs padding against the number of tiles."""


class Problem(NamedTuple):
    """The training rows of one problem."""

    x: NDArray[np.float32]
    """Encoded features, (n, f)."""
    y: NDArray[np.int64] | NDArray[np.float64]
    """Class codes or numbers, (n,)."""
    fragment: NDArray[np.int64]
    """(n,) in 0..k-1, every number at least once."""
    weight: NDArray[np.float64] | None = None
    """(n,) row weights, non-negative, not all 0; None weighs all rows alike."""


@dataclass(frozen=True, slots=True)
class Stack:
    """g problems of the same number of fragments and features."""

    x: Tensor
    """(g t, f + 1, m): features and a constant 1, the input of the bias; 0 where padded."""
    y: Tensor
    """(g t, 1, o, m): 0 or 1 for two classes (o = 1), one-hot for more, numbers (o = 1)."""
    mask: Tensor
    """(g t, 1, 1, m): 1 for a row, 0 for padding."""
    weight: Tensor
    """(g t, 1, 1, m): share of each row in its problem's loss; sums to 1 over a problem, 0 where padded."""
    share: Tensor
    """(g, k, t): 1/n_k where tile t belongs to fragment k, else 0; turns sums over tiles into means over fragments."""
    likelihood: Likelihood
    outputs: int
    """Classes, or 1 for numbers."""

    @property
    def problems(self) -> int:
        """The number g."""
        return self.share.shape[0]

    @property
    def tiles(self) -> int:
        """Tiles per problem, t."""
        return self.share.shape[2]

    @property
    def features(self) -> int:
        """The number f, without the constant."""
        return self.x.shape[1] - 1

    @property
    def rows(self) -> int:
        """Rows of a tile, m, padding included."""
        return self.x.shape[2]


def stack_problems(
    problems: Sequence[Problem],
    *,
    likelihood: Likelihood,
    outputs: int,
    shuffle: int | None = None,
    dtype: torch.dtype = torch.float32,
    device: torch.device | str = "cpu",
) -> Stack:
    """Lay problems side by side.

    Args:
        problems: g of them, with equally many features and fragments.
        likelihood: of the targets.
        outputs: classes, or 1 for numbers.
        shuffle: seed of the order of rows and padding within a tile, for `minibatches`; None keeps the order of rows.
        dtype: of the features and weights.
        device: where the stack goes.

    Raises:
        DataError: there is no problem, a fragment has no rows, or shapes differ.
    """
    if not problems:
        raise DataError("cannot stack no problems: need at least one")
    k = 1 + max(int(problem.fragment.max(initial=-1)) for problem in problems)
    f = problems[0].x.shape[1]
    sizes = np.stack([np.bincount(problem.fragment, minlength=k) for problem in problems])
    if (sizes == 0).any():
        g, j = (int(i) for i in np.argwhere(sizes == 0)[0])
        raise DataError(f"problem {g}: fragment {j} of {k} has no rows; merge it with another")
    m = tile_rows(sizes)
    tiles_of = -(-sizes // m)
    t = int(tiles_of.sum(1).max())
    o = 1 if likelihood == "numbers" or outputs == 2 else outputs
    g = len(problems)
    x = np.zeros((g, t, f + 1, m), np.float32)
    y = np.zeros((g, t, 1, o, m))
    mask = np.zeros((g, t, m), np.float32)
    weight = np.zeros((g, t, m), np.float64)
    share = np.zeros((g, k, t))
    for i, problem in enumerate(problems):
        order = np.argsort(problem.fragment, kind="stable")
        rows_weight = _normalised(problem.weight, len(order))
        start = tile = 0
        for j in range(k):
            stop = start + int(sizes[i, j])
            for at in range(start, stop, m):
                rows = order[at : min(at + m, stop)]
                n = len(rows)
                x[i, tile, :f, :n], x[i, tile, f, :n] = problem.x[rows].T, 1
                y[i, tile, 0, :, :n] = _readout_targets(problem.y[rows], o)
                mask[i, tile, :n], weight[i, tile, :n] = 1, rows_weight[rows]
                share[i, j, tile] = 1 / sizes[i, j]
                tile += 1
            start = stop

    if shuffle is not None:
        generator = np.random.default_rng(shuffle)
        for i in range(g):
            for tile in range(t):
                place = generator.permutation(m)
                for values in (x, y, mask, weight):
                    values[i, tile] = values[i, tile][..., place]

    def placed(values: NDArray[np.float32] | NDArray[np.float64]) -> Tensor:
        return torch.from_numpy(values).to(device=device, dtype=dtype)

    return Stack(
        x=placed(x.reshape(g * t, f + 1, m)),
        y=placed(y.reshape(g * t, 1, o, m)),
        mask=placed(mask.reshape(g * t, 1, 1, m)),
        weight=placed(weight.reshape(g * t, 1, 1, m)),
        share=placed(share),
        likelihood=likelihood,
        outputs=outputs,
    )


def minibatches(stack: Stack, batch_size: int) -> list[Stack]:
    """The stack cut along its tiles: every part holds the same share of every fragment.

    Args:
        stack: stacked with `shuffle`.
        batch_size: rows of a problem per part, about; at least one of every tile.

    Returns:
        Parts that cover all rows, views where possible; each part's weights and shares are its own.
    """
    g, k, t = stack.share.shape
    b = max(1, batch_size // t)
    parts = []
    for start in range(0, stack.rows, b):
        x, y, mask, weight = (part[..., start : start + b] for part in (stack.x, stack.y, stack.mask, stack.weight))
        total = weight.reshape(g, -1).sum(1).repeat_interleave(t)[:, None, None, None]
        in_tile = mask.sum(-1).view(g, 1, t) * (stack.share > 0)
        share = (stack.share > 0) / in_tile.sum(2, keepdim=True).clamp_(min=1)
        parts.append(
            replace(
                stack, x=x, y=y, mask=mask, weight=weight / total.clamp(min=1e-30), share=share.to(stack.share.dtype)
            )
        )
    return parts


def tile_rows(sizes: NDArray[np.int64]) -> int:
    """Rows per tile that cost the least in padding and in the number of tiles.

    Args:
        sizes: rows per fragment, (g, k), all positive.
    """
    largest = int(sizes.max())
    candidates = sorted({-(-largest // parts) for parts in range(1, 65)} | {int(sizes.min())})

    def cost(m: int) -> int:
        return int((-(-sizes // m)).sum(1).max()) * (m + TILE_OVERHEAD)

    return min(candidates, key=lambda m: (cost(m), -m))


def _normalised(weight: NDArray[np.float64] | None, n: int) -> NDArray[np.float64]:
    """Weights that sum to 1."""
    if weight is None:
        return np.full(n, 1 / n)
    total = float(weight.sum())
    if not total > 0:
        raise DataError(f"the weights of {n} training rows sum to {total:g}: need a positive sum")
    return weight / total


def _readout_targets(y: NDArray[np.int64] | NDArray[np.float64], o: int) -> NDArray[np.float64]:
    """(o, n): the target itself, or one-hot."""
    if o == 1:
        return y[None].astype(np.float64)
    return (y[None] == np.arange(o)[:, None]).astype(np.float64)
