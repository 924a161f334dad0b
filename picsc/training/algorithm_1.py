"""The gradient of Algorithm 1's penalty, in one forward pass and two backward passes whatever the number of fragments.

Rows are sorted by fragment and every fragment has the same number r of them, so that the Fisher informations of all
fragments are batched products. No graph runs through the penalty: with A = d penalty / d Fisher in closed form, its
gradient in theta is that of sum_k <A_k, I_k(theta)> with A held constant.

Shape letters here: n rows, k fragments, r rows of each, p parameters of one tensor.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from picsc.equations.likelihood import Likelihood
from picsc.equations.penalties import Penalty
from picsc.errors import DataError
from picsc.fisher.diagonal import fragment_sizes
from picsc.fisher.row_gradients import RowPlan, differentiable_parameters, likelihood_and_scores


@dataclass(frozen=True, slots=True)
class Shares:
    """How a step's rows belong to k fragments."""

    k: int
    sizes: Tensor | int
    """Rows of each fragment, (k, 1), or of all of them."""
    rows: Tensor | None = None
    """int64 (k * r,): row numbers that give every fragment as many rows as the largest has; None when they have."""
    weight: Tensor | None = None
    """(k * r,), 0 for the rows that only fill up."""


@dataclass(frozen=True, slots=True)
class PenalisedGradient:
    """What one step needs; nothing of it carries a graph."""

    loss: Tensor
    """Mean negative log-likelihood per row, nats."""
    task: list[Tensor]
    """Its gradient, one entry per trainable parameter."""
    value: Tensor
    """The penalty, without lambda."""
    penalty: list[Tensor]
    """Its gradient."""


def all_rows(fragment: Tensor, k: int) -> tuple[Tensor, Shares]:
    """The order that sorts rows by fragment, and their shares in a step that sees all rows.

    Args:
        fragment: int64 (n,), the fragment of each row, in 0..k-1.
        k: fragments, at least 2.

    Returns:
        int64 (n,), and the shares of rows in that order.

    Raises:
        DataError: a fragment is empty.
    """
    sizes = fragment_sizes(fragment, len(fragment), k)
    order = fragment.argsort(stable=True)
    r = max(sizes)
    if min(sizes) == r:
        return order, Shares(k, r)
    size = torch.tensor(sizes, device=fragment.device)[:, None]
    place = torch.arange(r, device=fragment.device)
    rows = (size.cumsum(0) - size + place.minimum(size - 1)).flatten()
    return order, Shares(k, size, rows, (place < size).flatten())


def checked_fragments(fragment: Tensor | None, n: int, k: int | None) -> tuple[Tensor, int]:
    """Fragments that a penalty can compare, and how many there are; None takes the highest number.

    Raises:
        DataError: a fragment is empty or a row has none, or there are fewer than two.
    """
    if fragment is None or len(fragment) == 0:
        raise DataError("a penalty between fragments needs the fragment of each row: got none")
    k = int(fragment.max()) + 1 if k is None else k
    if k < 2:
        raise DataError(f"a penalty between fragments compares at least 2 of them: got {k}")
    fragment_sizes(fragment, n, k)
    return fragment, k


def penalised_gradient(
    model: nn.Module,
    plan: RowPlan,
    x: Tensor,
    y: Tensor,
    shares: Shares,
    penalty: Penalty,
    *,
    likelihood: Likelihood,
) -> PenalisedGradient:
    """Gradients of the task's loss and of the penalty between fragments.

    Source: Algorithm 1, differentiated through the Fisher information.
    Reading: as printed, d_ij is a constant that no gradient sees.

    Args:
        model: as in `picsc.fisher.diagonal.empirical_fisher`.
        plan: from `picsc.fisher.row_gradients.make_plan` on the same model.
        x: inputs (n, ...), sorted by fragment.
        y: targets (n,).
        shares: of the fragments in these rows.
        penalty: which divergence.
        likelihood: of y.

    Returns:
        Both gradients; memory grows with n.
    """
    parameters = differentiable_parameters(model, create_graph=True)
    trainable = [parameters[name] for name, parameter in model.named_parameters() if parameter.requires_grad]
    total, scores = likelihood_and_scores(model, plan, parameters, x, y, likelihood=likelihood, create_graph=True)
    sums, fishers, slopes = {}, [], []
    value = total.new_zeros(())
    for (name, parameter), one in zip(parameters.items(), scores, strict=True):
        rows = one if shares.rows is None or shares.weight is None else one.spread(shares.rows, shares.weight)
        summed, squares = rows.by_fragment(shares.k)
        sums[name] = summed.detach().div(-len(x)).view_as(parameter)
        held = squares.detach().div_(shares.sizes)  # in place, and the slopes are divided late: fresh memory is slow
        value += penalty.value(held)  # every penalty is a sum over parameters
        if squares.requires_grad:
            slope = penalty.gradient(held)
            fishers.append(squares)
            slopes.append(slope if isinstance(shares.sizes, int) else slope / shares.sizes)
    gradients = torch.autograd.grad(fishers, trainable, slopes, allow_unused=True, materialize_grads=True)
    if isinstance(shares.sizes, int):
        gradients = tuple(gradient / shares.sizes for gradient in gradients)
    task = [sums[name] for name, parameter in model.named_parameters() if parameter.requires_grad]
    return PenalisedGradient(total.detach() / -len(x), task, value, list(gradients))
