"""Convolutions: each fragment's sum of squared row gradients, with its derivative written out.

Automatic differentiation of the same sums would pay for every cut and every copy of the columns again. Shape letters
here: n rows, k fragments of r consecutive rows each, g groups, o outputs, q inputs of one output in one kernel row,
t positions, p parameters.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable


@dataclass(frozen=True, slots=True)
class Columns:
    """The matrices that a layer's weight is multiplied with, as cuts of its inputs."""

    cut: Callable[[Tensor], list[Tensor]]
    """Maps inputs (n, ...) to columns (n, g, q, t), one entry per kernel row."""
    fold: Callable[[list[Tensor], Tensor], Tensor]
    """The transpose of `cut`: maps gradients of its result, and the inputs, to a gradient of the inputs."""
    kernel_width: int
    """Width of the kernel, the last and fastest factor of q."""

    def arranged(self, products: list[Tensor]) -> Tensor:
        """Kernel rows of (..., g, q, o) to (..., p) in the weight's order: g, o, input channel, kernel row, column."""
        *first, q, o = products[0].shape
        by_column = torch.stack(products, -1).reshape(
            *first, q // self.kernel_width, self.kernel_width, o, len(products)
        )
        return torch.movedim(by_column, (-2, -1), (-4, -2)).flatten(-5)

    def by_kernel_row(self, weights: Tensor, g: int, o: int, high: int) -> list[Tensor]:
        """The transpose of `arranged`: (..., p) to kernel rows of (..., g, q, o)."""
        parts = weights.reshape(*weights.shape[:-1], g, o, -1, high, self.kernel_width)
        return [part.flatten(-3, -2) for part in torch.movedim(parts, (-4, -2), (-2, -1)).unbind(-1)]


class _Squares(torch.autograd.Function):
    """Inputs delta (n, g, o, t) and a (n, ...); results (k, p) and the plain sum (p,), which has no gradient."""

    @staticmethod
    def forward(ctx: Any, delta: Tensor, a: Tensor, columns: Columns, k: int, size: int) -> tuple[Tensor, Tensor]:
        r = len(delta) // k
        squares, total, kept = [], None, []
        for delta_b, a_b in zip(torch.split(delta, size * r), torch.split(a, size * r), strict=True):
            products = [cut @ delta_b.transpose(-1, -2) for cut in columns.cut(a_b)]
            squares.append(columns.arranged([one.square().reshape(-1, r, *one.shape[1:]).sum(1) for one in products]))
            part = columns.arranged([one.sum(0) for one in products])
            total = part if total is None else total + part
            kept.extend(products)
        ctx.save_for_backward(delta, a, *kept)
        ctx.columns, ctx.k, ctx.size = columns, k, size
        assert total is not None  # noqa: S101 - there is at least one block
        ctx.mark_non_differentiable(total)
        return torch.cat(squares), total

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, slopes: Tensor, _total: Tensor) -> tuple[Tensor | None, Tensor | None, None, None, None]:
        delta, a, *kept = ctx.saved_tensors
        columns, r = ctx.columns, len(delta) // ctx.k
        (g, o), rows = delta.shape[1:3], ctx.size * r
        high = len(kept) // -(-len(delta) // rows)
        weights = columns.by_kernel_row(slopes * 2, g, o, high)
        of_delta, of_a = [], []
        for block, (delta_b, a_b) in enumerate(zip(torch.split(delta, rows), torch.split(a, rows), strict=True)):
            held = slice(block * ctx.size, (block + 1) * ctx.size)
            scaled = [
                (product.reshape(-1, r, *product.shape[1:]) * weight[held, None]).flatten(0, 1)
                for product, weight in zip(kept[block * high : (block + 1) * high], weights, strict=True)
            ]
            if ctx.needs_input_grad[0]:
                found = torch.zeros_like(delta_b, memory_format=torch.contiguous_format).flatten(0, 1)
                for one, cut in zip(scaled, columns.cut(a_b), strict=True):
                    found.baddbmm_(one.flatten(0, 1).transpose(1, 2), cut.flatten(0, 1))
                of_delta.append(found.view_as(delta_b))
            if ctx.needs_input_grad[1]:
                of_a.append(columns.fold([one @ delta_b for one in scaled], a_b))
        return torch.cat(of_delta) if of_delta else None, torch.cat(of_a) if of_a else None, None, None, None


def fragment_squares(delta: Tensor, a: Tensor, columns: Columns, k: int, size: int) -> tuple[Tensor, Tensor]:
    """Sums of squares over the rows of every fragment, differentiable once; and the sum over all rows, without graph.

    Args:
        delta: output gradients (n, g, o, t), rows sorted into k fragments of equal size.
        a: the layer's inputs (n, ...).
        columns: the layer's columns.
        k: fragments.
        size: fragments worked on at once.

    Returns:
        (k, p) and (p,).
    """
    squares, total = _Squares.apply(delta, a, columns, k, size)  # type: ignore[no-untyped-call]
    return squares, total
