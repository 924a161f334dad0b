"""Algorithm 1's penalty: its gradient in one forward pass and two backward passes whatever the number of fragments.

Rows are sorted by fragment and every fragment has the same number r of them, so that the Fisher informations of all
fragments are batched products. No graph runs through the penalty: with A = d penalty / d Fisher in closed form, its
gradient in theta is that of sum_k <A_k, I_k(theta)> with A held constant. The same gradient for many small networks at
once is in `picsc.training.batched.gradients`; tests/training/batched/test_train.py holds both equal to the objective
spelt out.

Shape letters here: n rows, k fragments, r rows of each, p parameters of one tensor.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from picsc.equations.penalties import Penalty
from picsc.errors import DataError
from picsc.fisher.diagonal import fragment_sizes
from picsc.fisher.row_gradients import RowPlan, differentiable_parameters, likelihood_and_scores


@dataclass(frozen=True, slots=True)
class Shares:
    """The fragments' shares of a step's rows."""

    k: int
    """Number of fragments."""
    sizes: Tensor | int
    """Rows of each fragment, (k, 1); one number where all have the same."""
    rows: Tensor | None = None
    """int64 (k * r,): row numbers that give every fragment as many rows as the largest has; None when all have."""
    weight: Tensor | None = None
    """(k * r,), 1 for rows and 0 for padding; None without padding."""
    times: Tensor | None = None
    """(k, 1), weight of a row of each fragment in the task's loss, of mean 1: where every fragment has equally many
    rows of a step whatever its size, k times its share of the training rows. None is 1 throughout."""


@dataclass(frozen=True, slots=True)
class PenalisedGradient:
    """Loss, penalty and their gradients in one step; none has a graph."""

    loss: Tensor
    """Mean negative log-likelihood per row, nats."""
    task: list[Tensor]
    """Gradient of the loss, one entry per trainable parameter."""
    value: Tensor
    """The penalty, without lambda."""
    penalty: list[Tensor]
    """Gradient of the penalty, one entry per trainable parameter."""


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
    """Fragments that a penalty can compare, and their number.

    Args:
        fragment: int64 (n,), the fragment of each row; None is refused.
        n: rows.
        k: number of fragments; None takes the highest number in `fragment`.

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


def penalised_gradient(plan: RowPlan, x: Tensor, y: Tensor, shares: Shares, penalty: Penalty) -> PenalisedGradient:
    """Gradients of the task's loss and of the penalty between fragments.

    Source: Algorithm 1, differentiated through the Fisher information.
    Reading: as printed, d_ij is a constant that no gradient sees.

    Args:
        plan: from `picsc.fisher.row_gradients.make_plan`, of the model and its likelihood.
        x: inputs (n, ...), sorted by fragment.
        y: targets (n,).
        shares: of the fragments in these rows.
        penalty: the divergence between fragments.

    Returns:
        Both gradients; memory grows with n.
    """
    model = plan.model
    scale, sizes = None, shares.sizes
    if shares.times is not None:
        # scores are multiplied by the weights, which makes the task's gradient; their squares are divided by them again
        times = shares.times.to(next(model.parameters()))
        scale, sizes = (times * times.new_ones(len(x) // shares.k)).flatten(), shares.sizes * times.square()
    parameters = differentiable_parameters(model, create_graph=True, only=plan.only)
    trainable = [parameters[name] for name, parameter in model.named_parameters() if parameter.requires_grad]
    total, scores = likelihood_and_scores(plan, parameters, x, y, create_graph=True, scale=scale)
    sums, fishers, slopes = {}, [], []
    value = total.new_zeros(())
    for (name, parameter), one in zip(parameters.items(), scores, strict=True):
        if plan.only is not None and name not in plan.only:
            continue
        rows = one if shares.rows is None or shares.weight is None else one.spread(shares.rows, shares.weight)
        summed, squares = rows.by_fragment(shares.k)
        sums[name] = summed.detach().div(-len(x)).view_as(parameter)
        held = squares.detach().div_(sizes)  # in place, and the slopes are divided late: fresh memory is slow
        value += penalty.value(held)  # every penalty is a sum over parameters
        if squares.requires_grad:
            slope = penalty.gradient(held)
            fishers.append(squares)
            slopes.append(slope if isinstance(sizes, int) else slope / sizes)
    gradients = torch.autograd.grad(fishers, trainable, slopes, allow_unused=True, materialize_grads=True)
    if isinstance(sizes, int):
        gradients = tuple(gradient / sizes for gradient in gradients)
    task = [sums[name] for name, parameter in model.named_parameters() if parameter.requires_grad]
    return PenalisedGradient(total.detach() / -len(x), task, value, list(gradients))
