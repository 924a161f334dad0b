"""The diagonal Fisher information of somebody's own model on the rows of a loader, by parameter name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import torch
from torch import Tensor, nn

from picsc.errors import DataError, NumericsError, SettingsError
from picsc.fisher.row_gradients import differentiable_parameters, row_gradients
from picsc.pytorch.batches import Keys
from picsc.pytorch.likelihoods import FisherKind, LikelihoodName, OfRows, expected_terms
from picsc.pytorch.modes import row_by_row
from picsc.pytorch.row_model import PREFIX, RowModel
from picsc.runtime.devices import as_sums


def diagonal_fisher(
    model: nn.Module,
    loader: Iterable[Any],
    likelihood: LikelihoodName | OfRows = "categorical",
    *,
    kind: FisherKind = "empirical",
    labels: str = "labels",
    logits: str = "logits",
) -> dict[str, Tensor]:
    """Mean over all rows of the squared gradient of log p(y | x; theta), of every trainable parameter.

    The model computes as in evaluation mode (running statistics of batch normalisation, no dropout), in the precision
    of its parameters also under `torch.autocast`; neither its mode nor anything else of it is changed. The result does
    not depend on batch sizes or on the order of rows.

    Source: Eq. 1 with the diagonal estimator of "FIM estimator and cost".
    Reading: squared per row and then averaged; the square of a batch's mean gradient vanishes at any optimum.

    Args:
        model: any module; a row's outputs must depend on that row alone. Frozen parameters are left out; shared ones
            count once, under their first name, with the sum of their gradients.
        loader: batches: (inputs, labels), (several, inputs, labels), or dictionaries, whose entries other than the
            labels are given to the model by name. Each is moved to the model's device.
        likelihood: `categorical` (logits (n, c), labels (n,); or logits (n, t, c), labels (n, t) with -100 for no
            label, where a row is a whole sequence), `bernoulli` (a logit per yes-or-no label), `gaussian` (means,
            variance 1), or a function of outputs and labels that returns the log-likelihood of each row, (n,).
        kind: `empirical` takes the labels of the rows; `expected` the mean over labels that the model itself would
            draw, which costs a pass per output and needs no labels.
        labels: key of the labels in batches that are dictionaries.
        logits: key of the outputs in what the model returns, if that is a dictionary or an object like `ModelOutput`.

    Returns:
        A tensor per trainable parameter, by name and of its shape, on its device, in float32 or the parameter's own
        precision if that is higher; 0 for a parameter that no output depends on.

    Raises:
        DataError: there are no rows, or batches, labels and outputs do not fit together.
        NumericsError: rows are mixed, or a result is not finite; the message names the layer or the parameter.
        SettingsError: an unknown likelihood or kind.

    Examples:
        >>> import torch
        >>> import picsc
        >>> from torch.utils.data import DataLoader, TensorDataset
        >>> model = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.BatchNorm1d(3), torch.nn.Linear(3, 2))
        >>> rows = TensorDataset(torch.randn(50, 2), torch.randint(2, (50,)))
        >>> fisher = picsc.diagonal_fisher(model, DataLoader(rows, batch_size=16))
        >>> {name: tuple(values.shape) for name, values in fisher.items()}["0.weight"]
        (3, 2)
        >>> model.training
        True
    """
    if kind not in ("empirical", "expected"):
        raise SettingsError(f"kind={kind!r}: must be 'empirical' or 'expected'")
    own = RowModel(model, likelihood, Keys(labels, logits))
    parameters: dict[str, Tensor] | None = None
    totals: dict[str, Tensor] = {}
    n = 0
    with row_by_row(own.model), torch.no_grad():
        for batch in loader:
            rows = own.take(batch, labelled=kind == "empirical")
            n += len(rows)
            for scale in _terms(own, rows, kind):
                plan = own.plan(rows)
                parameters = parameters or differentiable_parameters(own, only=plan.only)
                for part in torch.split(rows, plan.chunk):
                    weight = None if scale is None else scale[part]
                    found = row_gradients(plan, parameters, part, part, scale=weight)
                    for name, one in zip(parameters, found, strict=True):
                        if plan.only is None or name in plan.only:
                            squares = as_sums(one.squares())
                            totals[name] = squares if name not in totals else totals[name] + squares
    if n == 0:
        raise DataError("the loader has no batches, and Fisher information of no rows is undefined")
    return {name: _mean(totals[PREFIX + name], n, name, parameter) for name, parameter in own.wanted.items()}


def _terms(own: RowModel, rows: Tensor, kind: FisherKind) -> Iterator[Tensor | None]:
    """Set the function that is differentiated, once per term of the Fisher information; factors of its rows."""
    if kind == "empirical":
        yield None
        return
    usual = own.of
    output = torch.cat([own.outputs(part) for part in torch.split(rows, 4096)])
    try:
        for term, scale in expected_terms(own.likelihood, output):
            own.of = term
            yield scale
    finally:
        own.of = usual


def _mean(total: Tensor, n: int, name: str, parameter: Tensor) -> Tensor:
    mean = (total / n).to(parameter.device, torch.promote_types(parameter.dtype, torch.float32))
    if not bool(mean.isfinite().all()):
        raise NumericsError(
            f"Fisher information of parameter {name!r} is not finite: the model's parameters or inputs are too large "
            "or not numbers"
        )
    return mean.view_as(parameter)
