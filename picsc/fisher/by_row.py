"""Scores of parameters that no layer's rule explains, by automatic differentiation row by row.

Vectorised over rows where that is possible and right. Shape letters here: n rows, p parameters of one tensor.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor, nn
from torch.func import functional_call, grad, vmap
from torch.nn.functional import layer_norm
from torch.overrides import TorchFunctionMode

from picsc.equations.likelihood import Likelihood, summed_log_likelihood

OfRow = Callable[[dict[str, Tensor], Tensor, Tensor], Tensor]
"""Maps parameters, one row's inputs and its target to its log-likelihood."""
AGREEMENT = {torch.float32: 1e-3, torch.float64: 1e-9}
"""Relative difference within which vectorised derivatives are those of the loop over rows."""


@dataclass(frozen=True, slots=True)
class Target:
    """A log-likelihood whose scores are wanted."""

    model: nn.Module
    """The model."""
    likelihood: Likelihood
    """The likelihood of its targets."""
    vectorised: bool
    """True if scores that are differentiated once more may be vectorised."""


def scores_by_row(
    target: Target, names: Sequence[str], parameters: dict[str, Tensor], x: Tensor, y: Tensor, *, create_graph: bool
) -> list[Tensor]:
    """Scores (n, p) of some parameters.

    Args:
        target: the log-likelihood.
        names: of the parameters whose scores are wanted.
        parameters: all of the model's.
        x: inputs (n, ...).
        y: targets (n,).
        create_graph: the result can be differentiated in the parameters.
    """
    held = parameters if create_graph else {name: parameter.detach() for name, parameter in parameters.items()}
    part = {name: held[name] for name in names}

    def of_row(part: dict[str, Tensor], x_i: Tensor, y_i: Tensor) -> Tensor:
        output = functional_call(target.model, {**held, **part}, (x_i[None],))
        return summed_log_likelihood(output, y_i[None], target.likelihood)

    if not create_graph or target.vectorised:
        scores = _vectorised(of_row, part, x, y, create_graph)
        if scores is not None:
            return [scores[name].flatten(1) for name in names]
    part = {name: parameters[name] for name in names}
    rows = [_of_one(of_row(part, x_i, y_i), part, create_graph) for x_i, y_i in zip(x, y, strict=True)]
    return [torch.stack(column) for column in zip(*rows, strict=True)]


def vectorisable(target: Target, names: Sequence[str], parameters: dict[str, Tensor], x: Tensor, y: Tensor) -> bool:
    """True if derivatives of vectorised scores agree with those of the loop over rows, on these few rows.

    Some layers cannot be vectorised, and vectorised second derivatives of others may be wrong.

    Args:
        target: the log-likelihood.
        names: of the parameters whose scores are wanted.
        parameters: all of the model's, ready to be differentiated.
        x: inputs of a few rows.
        y: their targets.
    """
    found = []
    leaves = [parameter for parameter in parameters.values() if parameter.requires_grad]
    for way in (False, True):
        with torch.enable_grad():
            scores = scores_by_row(replace(target, vectorised=way), names, parameters, x, y, create_graph=True)
            squares = torch.stack([score.square().sum() for score in scores]).sum()
        if not squares.requires_grad:
            return False
        slopes = torch.autograd.grad(squares, leaves, allow_unused=True, materialize_grads=True)
        found.append(torch.cat([slope.flatten() for slope in slopes]))
    scale = found[0].abs().max()
    return bool((found[0] - found[1]).abs().max() <= AGREEMENT.get(scale.dtype, 1e-2) * scale)


def _vectorised(
    of_row: OfRow, part: dict[str, Tensor], x: Tensor, y: Tensor, create_graph: bool
) -> dict[str, Tensor] | None:
    """Gradients (n, ...) of every row at once; None for models that cannot be vectorised (RNN, GRU write in place)."""
    try:
        with warnings.catch_warnings(), _plain_layer_norm(create_graph):
            warnings.filterwarnings("ignore", "There is a performance drop")
            scores: dict[str, Tensor] = vmap(grad(of_row), in_dims=(None, 0, 0))(part, x, y)
            return scores
    except RuntimeError:
        return None


def _of_one(log_p: Tensor, part: dict[str, Tensor], create_graph: bool) -> list[Tensor]:
    """The gradient of one row's log-likelihood."""
    scores = torch.autograd.grad(log_p, list(part.values()), create_graph=create_graph, materialize_grads=True)
    return [score.flatten() for score in scores]


class _Spelt(TorchFunctionMode):
    """Layer normalisation in single operations, because vectorised second derivatives of the fused one are wrong."""

    def __torch_function__(
        self, func: Callable[..., Any], types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        called = _layer_norm if func is layer_norm else func
        return called(*args, **(kwargs or {}))


@contextmanager
def _plain_layer_norm(wanted: bool) -> Iterator[None]:
    if not wanted:
        yield
        return
    with _Spelt():
        yield


def _layer_norm(
    input: Tensor,  # noqa: A002 - as torch calls it
    normalized_shape: Sequence[int],
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
) -> Tensor:
    dims = tuple(range(-len(normalized_shape), 0))
    centred = input - input.mean(dims, keepdim=True)
    output = centred / (centred.square().mean(dims, keepdim=True) + eps).sqrt()
    output = output if weight is None else output * weight
    return output if bias is None else output + bias
