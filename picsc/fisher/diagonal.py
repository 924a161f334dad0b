"""Diagonal Fisher information of any model: estimates from rows, differentiable in theta, and row scores (Eq. 1).

Shape letters here: n rows, d parameters, k fragments. Log-likelihoods are in nats, so Fisher information is in nats per
squared parameter unit. Parameters are in `parameters_to_vector` order; frozen ones count too. Sums are kept in float64,
on the CPU where the model's device has none.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import accumulate

import torch
from torch import Tensor, nn

from picsc.equations.likelihood import Likelihood, check_labels
from picsc.errors import DataError, NumericsError
from picsc.fisher.factors import RowGradients
from picsc.fisher.row_gradients import RowPlan, differentiable_parameters, make_plan, row_gradients
from picsc.runtime.devices import as_sums


def empirical_fisher(
    model: nn.Module,
    x: Tensor,
    y: Tensor,
    *,
    likelihood: Likelihood = "classes",
    chunk: int | None = None,
    create_graph: bool = False,
) -> Tensor:
    """Mean over rows of the squared gradient of log p(y | x; theta).

    Source: Eq. 1 with the diagonal empirical estimator of "FIM estimator and cost".
    Reading: the paper's "squaring gradients already computed" would square the mean gradient, which vanishes at any
        optimum. We square per row and then average.

    Args:
        model: gives logits (n, c) or means (n,) or (n, 1); its mode is respected and nothing of it is changed.
        x: inputs (n, ...), rows first.
        y: int64 (n,) observed classes, or floats (n,); observed is what makes the estimate empirical.
        likelihood: `classes` or `numbers` (Gaussian, variance 1).
        chunk: rows per pass; None keeps activations near the cache. The result does not depend on it.
        create_graph: the result can be differentiated in the parameters (Algorithm 1); memory then grows with n.

    Returns:
        float64 (d,), non-negative; 0 for a parameter that no output depends on.

    Raises:
        DataError: there are no rows, or x, y and the model's output do not fit together.
        NumericsError: a layer mixes rows (batch normalisation in training mode) or is random; a result is not finite.
    """
    plan = _checked(model, x, y, likelihood)
    return _fragment_means(plan, x, y, [len(x)], chunk, create_graph)[0]


def fragment_fishers(
    model: nn.Module,
    x: Tensor,
    y: Tensor,
    fragment: Tensor,
    k: int,
    *,
    likelihood: Likelihood = "classes",
    chunk: int | None = None,
    create_graph: bool = False,
) -> Tensor:
    """The empirical Fisher of every fragment at one theta, in one pass over the rows.

    Source: Eq. 1 on each F_i.

    Args:
        model: as in `empirical_fisher`.
        x: inputs (n, ...).
        y: targets (n,).
        fragment: int64 (n,), the fragment of each row, in 0..k-1.
        k: fragments.
        likelihood: as in `empirical_fisher`.
        chunk: as in `empirical_fisher`.
        create_graph: as in `empirical_fisher`.

    Returns:
        float64 (k, d); line j equals `empirical_fisher` of fragment j's rows.

    Raises:
        DataError: a fragment is empty, or as in `empirical_fisher`.
        NumericsError: as in `empirical_fisher`.
    """
    plan = _checked(model, x, y, likelihood)
    sizes = fragment_sizes(fragment, len(x), k)
    order = fragment.argsort(stable=True)
    return _fragment_means(plan, x[order], y[order], sizes, chunk, create_graph)


@torch.no_grad()
def row_scores(
    model: nn.Module, x: Tensor, y: Tensor, *, likelihood: Likelihood = "classes", chunk: int | None = None
) -> Tensor:
    """The gradient of log p(y_i | x_i; theta) of every row; the mean of its squares is `empirical_fisher`.

    Args:
        model: as in `empirical_fisher`.
        x: inputs (n, ...).
        y: targets (n,).
        likelihood: as in `empirical_fisher`.
        chunk: as in `empirical_fisher`; the result itself takes n * d floats, so a caller with many rows cuts them.

    Returns:
        (n, d) in the parameters' precision, nats per parameter unit.

    Raises:
        DataError: as in `empirical_fisher`.
        NumericsError: as in `empirical_fisher`.
    """
    plan = _checked(model, x, y, likelihood)
    parameters = differentiable_parameters(model)
    first = next(iter(parameters.values()))
    scores = first.new_empty(len(x), sum(parameter.numel() for parameter in parameters.values()), requires_grad=False)
    for rows, gradients in _chunks(plan, parameters, x, y, chunk):
        torch.cat([one.rows() for one in gradients], dim=1, out=scores[rows])
    return _finite(scores, "scores", model)


@torch.no_grad()
def expected_fisher(
    model: nn.Module, x: Tensor, *, likelihood: Likelihood = "classes", chunk: int | None = None
) -> Tensor:
    """Mean over rows of the expectation, over y drawn from the model itself, of the squared score.

    Source: Eq. 1 with the expectation over p(y | x; theta); serves rows without labels. Costs a pass per class.

    Args:
        model: as in `empirical_fisher`.
        x: inputs (n, ...).
        likelihood: as in `empirical_fisher`; for `numbers` the expected squared residual is the variance, 1.
        chunk: as in `empirical_fisher`.

    Returns:
        float64 (d,), non-negative: the diagonal of the curvature of KL(theta || theta + h) in h, at h = 0.

    Raises:
        DataError: as in `empirical_fisher`.
        NumericsError: as in `empirical_fisher`.
    """
    plan = _checked(model, x, torch.zeros(len(x), dtype=torch.int64, device=x.device), likelihood)
    parameters = differentiable_parameters(model)
    total: Tensor | float = 0.0
    for x_c in torch.split(x, chunk or plan.chunk):
        output = model(x_c)
        for y, scale in _draws(output, len(x_c), likelihood):
            gradients = row_gradients(plan, parameters, x_c, y, scale=scale)
            total = total + as_sums(torch.cat([one.squares() for one in gradients]))
    return _finite(torch.as_tensor(total) / len(x), "expected Fisher information", model)


def _draws(output: Tensor, n: int, likelihood: Likelihood) -> Iterator[tuple[Tensor, Tensor | None]]:
    """Targets to sum squared scores over, and the root of their probability, which scales the scores."""
    if likelihood == "numbers":
        yield output.reshape(n) + 1, None
        return
    for j, root in enumerate(output.reshape(n, -1).softmax(1).sqrt().T):
        yield torch.full((n,), j, device=output.device), root


def _fragment_means(
    plan: RowPlan, x: Tensor, y: Tensor, sizes: list[int], chunk: int | None, create_graph: bool
) -> Tensor:
    """Means over each fragment's rows of squared scores; rows come sorted by fragment, `sizes` of each."""
    parameters = differentiable_parameters(plan.model, create_graph=create_graph)
    ends = list(accumulate(sizes))
    totals: list[Tensor | None] = [None] * len(sizes)
    j = 0
    with torch.set_grad_enabled(create_graph):
        for rows, gradients in _chunks(plan, parameters, x, y, chunk, create_graph):
            start = rows.start
            while start < rows.stop:
                stop = min(ends[j], rows.stop)
                part = [one.part(start - rows.start, stop - rows.start) for one in gradients]
                so_far, more = totals[j], as_sums(torch.cat([one.squares() for one in part]))
                totals[j] = more if so_far is None else so_far + more
                j, start = j + (stop == ends[j]), stop
        means = torch.stack([total / size for total, size in zip(totals, sizes, strict=True) if total is not None])
    return means if create_graph else _finite(means, "Fisher information", plan.model)


def _chunks(
    plan: RowPlan, parameters: dict[str, Tensor], x: Tensor, y: Tensor, chunk: int | None, create_graph: bool = False
) -> Iterator[tuple[slice, list[RowGradients]]]:
    """Row gradients of consecutive rows."""
    step = chunk or plan.chunk
    for start in range(0, len(x), step):
        rows = slice(start, min(start + step, len(x)))
        yield rows, row_gradients(plan, parameters, x[rows], y[rows], create_graph=create_graph)


def _checked(model: nn.Module, x: Tensor, y: Tensor, likelihood: Likelihood) -> RowPlan:
    """The plan for a model on these rows, once they are known to be usable."""
    if len(x) == 0:
        raise DataError(
            "Fisher information of no rows is undefined (n = 0): drop the fragment or merge it with another"
        )
    if y.shape != (len(x),):
        raise DataError(f"x has {len(x)} rows and y has shape {tuple(y.shape)}: need one target per row")
    plan = make_plan(model, x, likelihood)
    if likelihood == "classes":
        check_labels(y, plan.outputs)
    return plan


def fragment_sizes(fragment: Tensor, n: int, k: int) -> list[int]:
    """Rows per fragment, all positive.

    Args:
        fragment: int64 (n,), the fragment of each row, in 0..k-1.
        n: rows.
        k: fragments.

    Raises:
        DataError: a number is out of range or a fragment is empty.
    """
    if fragment.shape != (n,):
        raise DataError(f"x has {n} rows and fragment has shape {tuple(fragment.shape)}: need one number per row")
    low, high = (int(bound) for bound in fragment.aminmax())
    if low < 0 or high >= k:
        raise DataError(f"fragment numbers run from {low} to {high}: need 0 to {k - 1} for {k} fragments")
    sizes = [int(size) for size in fragment.bincount(minlength=k)]
    empty = [j for j, size in enumerate(sizes) if size == 0]
    if empty:
        raise DataError(
            f"Fisher information of an empty fragment is undefined: fragment {empty[0]} of {k} has no rows; "
            "drop it or merge it with another"
        )
    return sizes


def _finite(result: Tensor, what: str, model: nn.Module) -> Tensor:
    """The result, if all of it is finite; its last dimension is over parameters."""
    # the sum is ten times cheaper to check than every entry, and finite only if they all are
    if not bool(result.sum().isfinite()) and not bool(result.isfinite().all()):
        at = int((~result.isfinite()).reshape(-1, result.shape[-1]).any(0).nonzero()[0])
        ends = accumulate(parameter.numel() for parameter in model.parameters())
        names = (name for name, _ in model.named_parameters())
        name = next(name for name, end in zip(names, ends, strict=True) if at < end)
        raise NumericsError(
            f"{what} of parameter {name!r} is not finite: the model's parameters or inputs are too large or not numbers"
        )
    return result
