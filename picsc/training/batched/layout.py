"""The rows of many training problems side by side, in the layout that batched training needs: rows innermost.

Shape letters here: g problems (a fold of a repeat, say), k fragments of a problem's rows, t tiles, m rows of a tile,
f features, o readouts. A tile holds rows of one fragment; large fragments have several, so that padding stays small
however unequal fragments are, and every sum over a fragment's rows is one batched product and a small sum over tiles.
The tiles of a problem follow each other, so that operations without fragments see t m rows in one piece.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from picsc.equations.likelihood import Likelihood
from picsc.errors import DataError

TILE_OVERHEAD = 24
"""Cost of one more tile in rows of padding, which settles the size of tiles."""


class TrainingProblem(NamedTuple):
    """The training rows of one problem."""

    x: NDArray[np.float32]
    """Encoded features, (n, f)."""
    y: NDArray[np.int64] | NDArray[np.float64]
    """Class codes or numbers, (n,)."""
    fragment: NDArray[np.int64]
    """(n,) in 0..k-1, every number at least once."""
    weight: NDArray[np.float64] | None = None
    """(n,) row weights, non-negative, not all 0; None gives all the same weight."""


@dataclass(frozen=True, slots=True)
class Stack:
    """g problems of the same number of fragments and features."""

    x: Tensor
    """(g, f + 1, t m): features and a constant 1, the input of the bias; 0 where padded."""
    y: Tensor
    """(g, 1, o, t m): 0 or 1 for two classes (o = 1), one-hot for more, numbers (o = 1)."""
    mask: Tensor
    """(g, 1, 1, t m): 1 for a row, 0 for padding."""
    weight: Tensor
    """(g, 1, 1, t m): share of each row in its problem's loss; sums to 1 over a problem, 0 where padded."""
    share: Tensor
    """(g, k, t): 1/n_k where tile t belongs to fragment k, else 0; turns sums over tiles into means over fragments."""
    likelihood: Likelihood
    """Likelihood of the targets."""
    outputs: int
    """Classes, or 1 for numbers."""

    @property
    def problems(self) -> int:
        """Number of problems, g."""
        return self.share.shape[0]

    @property
    def tiles(self) -> int:
        """Tiles per problem, t."""
        return self.share.shape[2]

    @property
    def features(self) -> int:
        """Number of features, f, without the constant."""
        return self.x.shape[1] - 1

    @property
    def rows(self) -> int:
        """Rows of a tile, m, padding included."""
        return self.x.shape[2] // self.tiles


def stack_problems(
    problems: Sequence[TrainingProblem],
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
        shuffle: seed of the order of rows within a tile and of the even spread of its padding, for `minibatches`; None
            keeps the order of rows.
        dtype: of the features and weights.
        device: where the stack goes.

    Raises:
        DataError: there is no problem, a fragment has no rows, or shapes differ.
    """
    _check_shapes(problems)
    k = 1 + max(int(problem.fragment.max()) for problem in problems)
    f = problems[0].x.shape[1]
    sizes = np.stack([np.bincount(problem.fragment, minlength=k) for problem in problems])
    if (sizes == 0).any():
        g, j = (int(i) for i in np.argwhere(sizes == 0)[0])
        raise DataError(f"problem {g}: fragment {j} of {k} has no rows; merge it with another")
    m = tile_rows(sizes)
    tiles_of = -(-sizes // m)
    t = int(tiles_of.sum(1).max())
    o = readouts_of(likelihood, outputs)
    g = len(problems)
    x = np.zeros((g, f + 1, t, m), np.float32)
    y = np.zeros((g, o, t, m))
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
                x[i, :f, tile, :n], x[i, f, tile, :n] = problem.x[rows].T, 1
                y[i, :, tile, :n] = _readout_targets(problem.y[rows], o)
                mask[i, tile, :n], weight[i, tile, :n] = 1, rows_weight[rows]
                share[i, j, tile] = 1 / sizes[i, j]
                tile += 1
            start = stop

    if shuffle is not None:
        generator = np.random.default_rng(shuffle)
        for i in range(g):
            for tile in range(t):
                source = _spread(int(mask[i, tile].sum()), m, generator)
                for values in (x, y, mask, weight):
                    values[i, ..., tile, :] = values[i, ..., tile, :][..., source]

    def placed(values: NDArray[np.float32] | NDArray[np.float64]) -> Tensor:
        return torch.from_numpy(values).to(device=device, dtype=dtype)

    return Stack(
        x=placed(x.reshape(g, f + 1, t * m)),
        y=placed(y.reshape(g, 1, o, t * m)),
        mask=placed(mask.reshape(g, 1, 1, t * m)),
        weight=placed(weight.reshape(g, 1, 1, t * m)),
        share=placed(share),
        likelihood=likelihood,
        outputs=outputs,
    )


def readouts_of(likelihood: Likelihood, outputs: int) -> int:
    """Number of readouts, o: two classes are read out as the difference of their logits.

    Args:
        likelihood: of the targets.
        outputs: classes, or 1 for numbers.
    """
    return 1 if likelihood == "numbers" or outputs == 2 else outputs


def minibatches(stack: Stack, batch_size: int) -> list[Stack]:
    """The stack cut along its tiles: every part holds the same share of every fragment.

    Args:
        stack: stacked with `shuffle`.
        batch_size: rows of a problem per part, about; at least one of every tile.

    Returns:
        Parts that cover all rows; each part's weights and shares are its own.
    """
    g, _, t = stack.share.shape
    b = max(1, batch_size // t)
    parts = []
    for start in range(0, stack.rows, b):
        x, y, mask, weight = (
            values.view(*values.shape[:-1], t, -1)[..., start : start + b].flatten(-2)
            for values in (stack.x, stack.y, stack.mask, stack.weight)
        )
        total = weight.sum(-1, keepdim=True).clamp_(min=torch.finfo(weight.dtype).tiny)
        in_tile = mask.view(g, 1, t, -1).sum(-1) * (stack.share > 0)
        share = (stack.share > 0) / in_tile.sum(2, keepdim=True).clamp_(min=1)
        parts.append(
            replace(stack, x=x, y=y, mask=mask, weight=weight / total, share=share.to(stack.share.dtype)),
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


def _check_shapes(problems: Sequence[TrainingProblem]) -> None:
    """Refuse problems that do not fit together."""
    if not problems:
        raise DataError("cannot stack no problems: need at least one")
    f = problems[0].x.shape[1]
    for g, (x, y, fragment, weight) in enumerate(problems):
        rows = {len(y), len(fragment), len(x) if weight is None else len(weight)}
        if rows != {len(x)} or len(x) == 0:
            raise DataError(
                f"problem {g} has {len(x)} rows of x, {len(y)} of y and {len(fragment)} of fragments"
                f"{'' if weight is None else f', {len(weight)} weights'}: need equally many, at least one"
            )
        if x.shape[1] != f:
            raise DataError(f"problem {g} has {x.shape[1]} features and problem 0 has {f}: encode them alike")


def _normalised(weight: NDArray[np.float64] | None, n: int) -> NDArray[np.float64]:
    """Weights that sum to 1."""
    if weight is None:
        return np.full(n, 1 / n)
    total = float(weight.sum())
    if not total > 0:
        raise DataError(f"the weights of {n} training rows sum to {total:g}: need a positive sum")
    normalised: NDArray[np.float64] = weight / total
    return normalised


def _spread(n: int, m: int, generator: np.random.Generator) -> NDArray[np.int64]:
    """Source of each of m places: the first n in random order and evenly spread, so that every part has its share.

    Random places would leave a small fragment out of some minibatches, whose Fisher information then would be 0.
    """
    source = np.empty(m, np.int64)
    filled = np.zeros(m, bool)
    filled[(np.arange(n) * m + generator.integers(m)) // max(n, 1)] = True
    source[filled] = generator.permutation(n)
    source[~filled] = np.arange(n, m)
    return source


def _readout_targets(y: NDArray[np.int64] | NDArray[np.float64], o: int) -> NDArray[np.float64]:
    """(o, n): the target itself, or one-hot."""
    if o == 1:
        return y[None].astype(np.float64)
    one_hot: NDArray[np.float64] = (y[None] == np.arange(o)[:, None]).astype(np.float64)
    return one_hot
