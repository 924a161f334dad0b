"""Row gradients of one parameter, kept as factors: sums of squares follow without writing any row's gradient down.

A layer with inputs a and output gradients delta = d log p / d output gives row i the gradient delta_i (x) a_i, so sums
of squares need no gradient of any single row: (delta^2)' (a^2). Where a parameter is used at several positions of a row
(convolution, sequences) a row's gradient is summed over positions first and squared afterwards.

Shape letters here: n rows, o outputs, q inputs of one output, g groups, t positions, v lines of a table, e width of an
embedding, p parameters, k fragments, of which each has the same number of consecutive rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import torch
from torch import Tensor

from picsc.fisher.convolution import Columns, fragment_squares

CACHE_FLOATS = 1 << 18
"""Size of an intermediate result that stays in a core's cache, in floats; larger blocks are cut into smaller ones."""


class RowGradients(Protocol):
    """Gradients (n, p) of n rows with respect to one parameter."""

    def part(self, start: int, stop: int) -> RowGradients:
        """The gradients of rows start to stop."""

    def rows(self) -> Tensor:
        """All of them, (n, p)."""

    def total(self) -> Tensor:
        """Their sum, (p,)."""

    def squares(self) -> Tensor:
        """The sum of their squares, (p,)."""

    def by_fragment(self, k: int) -> tuple[Tensor, Tensor]:
        """Their sum (p,), and the sums of squares of each of k equal pieces, (k, p)."""

    def spread(self, rows: Tensor, weight: Tensor) -> RowGradients:
        """Gradients of `rows` (m,), each times its weight (m,)."""


@dataclass(frozen=True, slots=True)
class Dense:
    """Gradients that are cheap to hold: biases, and whatever came from automatic differentiation row by row."""

    gradients: Tensor
    """(n, p): the gradients themselves."""

    def part(self, start: int, stop: int) -> Dense:
        """Rows start to stop."""
        return Dense(self.gradients[start:stop])

    def rows(self) -> Tensor:
        """All of them, (n, p)."""
        return self.gradients

    def total(self) -> Tensor:
        """Their sum, (p,)."""
        return self.gradients.sum(0)

    def squares(self) -> Tensor:
        """The sum of their squares, (p,)."""
        return self.gradients.square().sum(0)

    def by_fragment(self, k: int) -> tuple[Tensor, Tensor]:
        """Their sum (p,), and the sums of squares of each of k equal pieces, (k, p)."""
        return self.total(), self.gradients.square().reshape(k, -1, self.gradients.shape[1]).sum(1)

    def spread(self, rows: Tensor, weight: Tensor) -> Dense:
        """Gradients of `rows` (m,), each times its weight (m,)."""
        return Dense(self.gradients[rows] * weight[:, None])


@dataclass(frozen=True, slots=True)
class Outer:
    """A matrix used once per row: delta_i (x) a_i."""

    delta: Tensor
    """(n, o): output gradients."""
    a: Tensor
    """(n, q): inputs."""

    def part(self, start: int, stop: int) -> Outer:
        """Rows start to stop."""
        return Outer(self.delta[start:stop], self.a[start:stop])

    def rows(self) -> Tensor:
        """All of them, (n, p)."""
        return (self.delta[:, :, None] * self.a[:, None, :]).flatten(1)

    def total(self) -> Tensor:
        """Their sum, (p,)."""
        return (self.delta.T @ self.a).flatten()

    def squares(self) -> Tensor:
        """The sum of their squares, (p,)."""
        size = max(1, CACHE_FLOATS // (self.delta.shape[1] + self.a.shape[1]))
        blocks = zip(torch.split(self.delta, size), torch.split(self.a, size), strict=True)
        return torch.stack([delta.square().T @ a.square() for delta, a in blocks]).sum(0).flatten()

    def by_fragment(self, k: int) -> tuple[Tensor, Tensor]:
        """Their sum (p,), and the sums of squares of each of k equal pieces, (k, p)."""
        delta, a = (one.square().reshape(k, -1, one.shape[1]) for one in (self.delta, self.a))
        return self.total(), (delta.transpose(1, 2) @ a).flatten(1)

    def spread(self, rows: Tensor, weight: Tensor) -> Outer:
        """Gradients of `rows` (m,), each times its weight (m,)."""
        return Outer(self.delta[rows] * weight[:, None], self.a[rows])


@dataclass(frozen=True, slots=True)
class Contracted:
    """A matrix used at t positions of a row: sum over positions of delta_it (x) a_it."""

    delta: Tensor
    """(n, g, o, t): output gradients."""
    a: Tensor
    """(n, ...): the layer's inputs."""
    columns: Columns
    """Cut block by block, because a convolution multiplies the size of its inputs."""
    floats: int
    """Size of one row's columns, in floats."""

    def part(self, start: int, stop: int) -> Contracted:
        """Rows start to stop."""
        return replace(self, delta=self.delta[start:stop], a=self.a[start:stop])

    def rows(self) -> Tensor:
        """All of them, (n, p)."""
        return torch.cat([self.columns.arranged(products) for products in self._blocks()])

    def total(self) -> Tensor:
        """Their sum, (p,)."""
        return self._added([[one.sum(0) for one in products] for products in self._blocks()])

    def squares(self) -> Tensor:
        """The sum of their squares, (p,)."""
        return self._added([[one.square().sum(0) for one in products] for products in self._blocks()])

    def by_fragment(self, k: int) -> tuple[Tensor, Tensor]:
        """Their sum (p,), and the sums of squares of each of k equal pieces, (k, p)."""
        size = max(1, CACHE_FLOATS // (self.floats * (len(self.delta) // k)))
        squares, total = fragment_squares(self.delta, self.a, self.columns, k, size)
        return total, squares

    def spread(self, rows: Tensor, weight: Tensor) -> Contracted:
        """Gradients of `rows` (m,), each times its weight (m,)."""
        return replace(self, delta=self.delta[rows] * weight[:, None, None, None], a=self.a[rows])

    def _blocks(self) -> Iterator[list[Tensor]]:
        """Gradients of some rows after others, (rows, g, q', o) per kernel row."""
        size = max(1, CACHE_FLOATS // self.floats)
        for delta, a in zip(torch.split(self.delta, size), torch.split(self.a, size), strict=True):
            yield [columns @ delta.transpose(-1, -2) for columns in self.columns.cut(a)]

    def _added(self, blocks: list[list[Tensor]]) -> Tensor:
        return self.columns.arranged([torch.stack(same).sum(0) for same in zip(*blocks, strict=True)])


@dataclass(frozen=True, slots=True)
class Lookup:
    """A table of which row i reads the lines `tokens[i]`: delta_it is added to line tokens[i, t]."""

    tokens: Tensor
    """int64 (n, t): line numbers, in 0..v-1."""
    delta: Tensor
    """(n, t, e): output gradient at each position."""
    lines: int
    """Lines of the table, v."""

    def part(self, start: int, stop: int) -> Lookup:
        """Rows start to stop."""
        return Lookup(self.tokens[start:stop], self.delta[start:stop], self.lines)

    def rows(self) -> Tensor:
        """All of them, (n, p)."""
        n, e = len(self.tokens), self.delta.shape[-1]
        return self._scatter(n * self.lines, self._keys(), self.delta.reshape(-1, e)).reshape(n, self.lines * e)

    def total(self) -> Tensor:
        """Their sum, (p,)."""
        return self._scatter(self.lines, self.tokens.flatten(), self.delta.flatten(0, 1)).flatten()

    def squares(self) -> Tensor:
        """The sum of their squares, (p,)."""
        _, lines, gradients = self.by_line()
        return self._scatter(self.lines, lines, gradients.square()).flatten()

    def by_line(self) -> tuple[Tensor, Tensor, Tensor]:
        """Row (u,), line (u,) and gradient (u, e) of each line that a row reads; u of them."""
        # the same token twice in a row adds up before it is squared
        keys, place = torch.unique(self._keys(), return_inverse=True)
        return keys // self.lines, keys % self.lines, self._scatter(len(keys), place, self.delta.flatten(0, 1))

    def by_fragment(self, k: int) -> tuple[Tensor, Tensor]:
        """Their sum (p,), and the sums of squares of each of k equal pieces, (k, p)."""
        return self.total(), _piecewise(self, len(self.tokens) // k, k)

    def spread(self, rows: Tensor, weight: Tensor) -> Lookup:
        """Gradients of `rows` (m,), each times its weight (m,)."""
        return Lookup(self.tokens[rows], self.delta[rows] * weight[:, None, None], self.lines)

    def _keys(self) -> Tensor:
        row = torch.arange(len(self.tokens), device=self.tokens.device)[:, None]
        return (row * self.lines + self.tokens).flatten()

    def _scatter(self, size: int, place: Tensor, values: Tensor) -> Tensor:
        return values.new_zeros(size, values.shape[-1]).index_add(0, place, values)


@dataclass(frozen=True, slots=True)
class Summed:
    """A parameter used by several calls (weight sharing): a row's gradients are added before anything is squared."""

    parts: tuple[RowGradients, ...]
    """Gradients from each call."""
    n: int
    """Rows."""
    p: int
    """Parameters."""

    def part(self, start: int, stop: int) -> Summed:
        """Rows start to stop."""
        return Summed(tuple(one.part(start, stop) for one in self.parts), stop - start, self.p)

    def rows(self) -> Tensor:
        """All of them, (n, p)."""
        return torch.stack([one.rows() for one in self.parts]).sum(0)

    def total(self) -> Tensor:
        """Their sum, (p,)."""
        return torch.stack([one.total() for one in self.parts]).sum(0)

    def squares(self) -> Tensor:
        """The sum of their squares, (p,)."""
        size = max(1, CACHE_FLOATS // self.p)
        blocks = [self.part(start, min(start + size, self.n)).rows() for start in range(0, self.n, size)]
        return torch.stack([rows.square().sum(0) for rows in blocks]).sum(0)

    def by_fragment(self, k: int) -> tuple[Tensor, Tensor]:
        """Their sum (p,), and the sums of squares of each of k equal pieces, (k, p)."""
        return self.total(), _piecewise(self, self.n // k, k)

    def spread(self, rows: Tensor, weight: Tensor) -> Summed:
        """Gradients of `rows` (m,), each times its weight (m,)."""
        return Summed(tuple(one.spread(rows, weight) for one in self.parts), len(rows), self.p)


def _piecewise(gradients: RowGradients, r: int, k: int) -> Tensor:
    return torch.stack([gradients.part(j * r, (j + 1) * r).squares() for j in range(k)])


def combined(parts: Sequence[RowGradients], n: int, p: int) -> RowGradients:
    """Gradients of a parameter used by several calls, as one.

    Args:
        parts: of every call, at least one.
        n: rows.
        p: parameters.
    """
    if len(parts) == 1:
        return parts[0]
    outer = [part for part in parts if isinstance(part, Outer)]
    if len(outer) < len(parts):
        return Summed(tuple(parts), n, p)
    # the same matrix at every step of a recurrent layer: as if it had been used on one sequence
    return over_positions(torch.stack([one.delta for one in outer], 1), torch.stack([one.a for one in outer], 1))


def over_positions(delta: Tensor, a: Tensor) -> Contracted:
    """A matrix used at t positions of every row.

    Args:
        delta: output gradients, (n, t, o).
        a: inputs, (n, t, q).
    """

    def cut(a: Tensor) -> list[Tensor]:
        return [a.transpose(1, 2)[:, None]]

    def fold(pieces: list[Tensor], _a: Tensor) -> Tensor:
        return pieces[0][:, 0].transpose(1, 2)

    floats = a[0].numel() + delta.shape[-1] * a.shape[-1]
    return Contracted(delta.transpose(1, 2)[:, None], a, Columns(cut, fold, 1), floats)
