"""Sums of squared scores over many subsets of rows, without the dense scores that embeddings would take.

A row reads few lines of a table of embeddings, so that sums over rows are products over the rows that read each line.
Letters: n rows, b subsets, d parameters, v lines of a table, e numbers of a line, u pairs of a row and a line it reads.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from picsc.equations.likelihood import Likelihood
from picsc.fisher.factors import Lookup
from picsc.fisher.row_gradients import differentiable_parameters, make_plan, row_gradients

ROWS = 1024
"""Rows per pass unless the caller gives another number."""


@torch.no_grad()
def part_squares(
    model: nn.Module, x: Tensor, y: Tensor, parts: Tensor, *, likelihood: Likelihood = "classes", chunk: int = ROWS
) -> Tensor:
    """The sum of squared scores over the rows of each subset.

    Source: Eq. 1, times the number of rows.

    Args:
        model: as in `picsc.fisher.diagonal.empirical_fisher`.
        x: inputs (n, ...).
        y: targets (n,).
        parts: 1 where a row belongs to the subset, else 0, (b, n), in the model's precision.
        likelihood: of y.
        chunk: rows per pass; the result does not depend on it, up to rounding.

    Returns:
        (b, d), in `parameters_to_vector` order.

    Raises:
        NumericsError: a layer mixes rows or is random.
        DataError: the model's output does not fit y.
    """
    plan, parameters = make_plan(model, x, likelihood), differentiable_parameters(model)
    sums = [parts.new_zeros(len(parts), parameter.numel()) for parameter in parameters.values()]
    for start in range(0, len(x), chunk):
        rows = slice(start, start + chunk)
        found = row_gradients(plan, parameters, x[rows], y[rows])
        for total, gradients in zip(sums, found, strict=True):
            if isinstance(gradients, Lookup):
                _add_lines(total, gradients, parts[:, rows])
            else:
                total += parts[:, rows] @ gradients.rows().square()
    return torch.cat(sums, 1)


def _add_lines(total: Tensor, lookup: Lookup, parts: Tensor) -> None:
    """Add the squares of a table's scores, line by line."""
    rows, lines, gradients = lookup.by_line()
    order = lines.argsort(stable=True)
    sizes = lines.bincount(minlength=lookup.lines).tolist()
    weights, squares = torch.split(parts[:, rows[order]], sizes, 1), torch.split(gradients[order].square(), sizes)
    by_line = total.view(len(total), lookup.lines, -1)
    for line in (i for i, size in enumerate(sizes) if size):
        by_line[:, line] += weights[line] @ squares[line]
