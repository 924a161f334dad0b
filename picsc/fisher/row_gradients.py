"""Scores of any model, the gradients of log p(y_i | x_i; theta) of single rows, from one forward and backward pass.

A plan is made once per call from runs on one and two rows: it says which parameters the layer rules explain completely,
and which are left to automatic differentiation row by row. Whatever is unusual (a parameter used outside its layer,
rows not in the first dimension, an unknown layer) goes the slow way, so a doubt costs time and never correctness.

Shape letters here: n rows, d parameters, p those of one parameter tensor.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd.graph import GradientEdge, get_gradient_edge
from torch.func import functional_call

from picsc.equations.likelihood import Likelihood, log_likelihood, summed_log_likelihood
from picsc.errors import NumericsError
from picsc.fisher.by_row import Target, scores_by_row
from picsc.fisher.factors import Dense, RowGradients, combined
from picsc.fisher.layers import RULES

CHUNK_FLOATS = 1 << 22
"""Activations, in floats, held at once unless the caller gives another number."""
MOST_ROWS = 1 << 15
"""Rows of the longest chunk unless the caller gives another number."""


@dataclass(frozen=True, slots=True)
class RowPlan:
    """A model, and the way that the scores of each of its parameters are computed."""

    model: nn.Module
    """The model; hooks are hung on it for the time of a pass."""
    likelihood: Likelihood
    """The likelihood of its targets."""
    layers: dict[nn.Module, dict[str, str]]
    """Layers with a rule: their parameters by name in the layer -> name in the model."""
    rest: tuple[str, ...]
    """Parameters that need automatic differentiation row by row."""
    outputs: int
    """Numbers that the model gives per row."""
    chunk: int
    """Rows per pass that keep activations within CHUNK_FLOATS."""
    vectorised: bool = False
    """True if scores that are differentiated once more may be vectorised over rows; `vectorisable` finds out."""
    only: frozenset[str] | None = None
    """Names of the parameters whose scores are wanted; None is all, frozen ones too; others are not to be used."""


@dataclass(frozen=True, slots=True)
class _Call:
    """One call of one layer in a forward pass."""

    layer: nn.Module
    a: Tensor | None
    """Its input; None where the rule does not cover the call."""
    edge: GradientEdge | None
    """The graph's edge that its output's gradient passes, even if the output is changed in place later."""
    rows: int
    """Length of the output's first dimension."""
    floats: int
    """Numbers that its input and output hold."""


def refuse_mixing(model: nn.Module) -> None:
    """Refuse layers under which a row's output depends on other rows or on chance.

    Raises:
        NumericsError: names the layer.
    """
    for name, module in model.named_modules():
        kind, where = type(module).__name__, f"layer {name!r}" if name else "the model"
        if isinstance(module, nn.modules.batchnorm._BatchNorm) and (module.training or module.running_mean is None):
            raise NumericsError(
                f"{where} ({kind}) mixes rows while it uses batch statistics, so no row has a gradient of its own: "
                "call model.eval(), or use GroupNorm or LayerNorm"
            )
        if module.training and isinstance(module, nn.modules.instancenorm._InstanceNorm) and module.track_running_stats:
            raise NumericsError(f"{where} ({kind}) would change its running statistics: call model.eval()")
        rate = module.p if isinstance(module, nn.modules.dropout._DropoutNd) else getattr(module, "dropout", 0.0)
        if module.training and isinstance(rate, float) and rate > 0:
            raise NumericsError(
                f"{where} ({kind}) drops units at random in training mode, so gradients differ from call to call: "
                "call model.eval()"
            )


def make_plan(model: nn.Module, x: Tensor, likelihood: Likelihood, only: frozenset[str] | None = None) -> RowPlan:
    """Try the model on its first rows and decide how each parameter's scores are computed.

    Args:
        model: as in `picsc.fisher.diagonal.empirical_fisher`.
        x: inputs (n, ...).
        likelihood: of the targets.
        only: names of the parameters whose scores are wanted; None is all, frozen ones too.

    Raises:
        NumericsError: a layer mixes rows or is random; named.
        DataError: the model's output does not fit the likelihood.
    """
    refuse_mixing(model)
    leaves = differentiable_parameters(model, only=only)
    names = {id(parameter): name for name, parameter in model.named_parameters()}
    layers = {
        module: {role: names[id(parameter)] for role, parameter in module._parameters.items() if parameter is not None}
        for module in model.modules()
        if type(module) in RULES and set(module._parameters) <= {"weight", "bias"}
    }
    n = min(2, len(x))
    output, calls = _run(model, leaves, x[:n], tuple(layers))
    unclear = _unclear(calls, n)
    if n > 1 and not all(type(call.layer) is nn.Linear and call.a is not None and call.a.ndim == 2 for call in calls):
        # two rows could be two positions, one row could not; a matrix into a Linear leaves no such doubt
        unclear |= _unclear(_run(model, leaves, x[:1], tuple(layers))[1], 1)
    layers = {layer: roles for layer, roles in layers.items() if layer not in unclear}
    explained = Counter(name for call in calls for name in layers.get(call.layer, {}).values())
    anything = torch.zeros(n, dtype=torch.int64, device=output.device)
    with torch.enable_grad():
        used = _uses(summed_log_likelihood(output, anything, likelihood), leaves)
    rest = tuple(name for name in leaves if used[name] != explained[name] and (only is None or name in only))
    floats = (output.numel() + sum(call.floats for call in calls)) // n + sum(leaves[name].numel() for name in rest)
    chunk = max(1, min(CHUNK_FLOATS // max(1, floats), MOST_ROWS))
    return RowPlan(model, likelihood, layers, rest, output.numel() // n, chunk, only=only)


def _unclear(calls: list[_Call], n: int) -> set[nn.Module]:
    """Layers with a call that its rule does not cover, or that does not see one entry per row."""
    return {call.layer for call in calls if call.a is None or not (len(call.a) == call.rows == n)}


def differentiable_parameters(
    model: nn.Module, *, create_graph: bool = False, only: frozenset[str] | None = None
) -> dict[str, Tensor]:
    """The parameters by name, in order, ready to be differentiated; frozen ones as copies that share their memory.

    Args:
        model: whose parameters.
        create_graph: parameters that are themselves results stay connected to what they were computed from.
        only: names of those that are to be differentiated; None is all.
    """
    return {
        name: parameter.detach()
        if only is not None and name not in only
        else parameter
        if parameter.requires_grad and (create_graph or parameter.is_leaf)
        else parameter.detach().requires_grad_()
        for name, parameter in model.named_parameters()
    }


def row_gradients(
    plan: RowPlan,
    parameters: dict[str, Tensor],
    x: Tensor,
    y: Tensor,
    *,
    create_graph: bool = False,
    scale: Tensor | None = None,
) -> list[RowGradients]:
    """Scores of n rows, one entry per parameter tensor in `parameters_to_vector` order.

    Args:
        plan: as in `likelihood_and_scores`.
        parameters: as in `likelihood_and_scores`.
        x: inputs (n, ...).
        y: targets (n,).
        create_graph: as in `likelihood_and_scores`.
        scale: as in `likelihood_and_scores`.

    Raises:
        NumericsError: a layer does not see one entry per row.
    """
    return likelihood_and_scores(plan, parameters, x, y, create_graph=create_graph, scale=scale)[1]


def likelihood_and_scores(
    plan: RowPlan,
    parameters: dict[str, Tensor],
    x: Tensor,
    y: Tensor,
    *,
    create_graph: bool = False,
    scale: Tensor | None = None,
) -> tuple[Tensor, list[RowGradients]]:
    """The summed log-likelihood of n rows, and each row's scores, from the same pass.

    Args:
        plan: from `make_plan`, of the model and its likelihood.
        parameters: `differentiable_parameters` of the model.
        x: inputs (n, ...).
        y: targets (n,).
        create_graph: the result can be differentiated in the parameters.
        scale: (n,), multiplies each row's log-likelihood, and so its score.

    Returns:
        The sum over rows, in nats; scores, one entry per parameter tensor in `parameters_to_vector` order.

    Raises:
        NumericsError: a layer does not see one entry per row.
    """
    n = len(x)
    with torch.enable_grad():
        output, calls = _run(plan.model, parameters, x, tuple(plan.layers))
        total = summed_log_likelihood(output, y, plan.likelihood)
        deltas: tuple[Tensor | None, ...] = ()
        if calls:
            edges = [_edge(call, n) for call in calls]
            deltas = torch.autograd.grad(total, edges, create_graph=create_graph, allow_unused=True)
        with torch.set_grad_enabled(create_graph):
            parts: dict[str, list[RowGradients]] = {name: [] for name in parameters}
            for call, delta in zip(calls, deltas, strict=True):
                if delta is None or call.a is None:
                    continue
                if scale is not None:
                    delta = delta * scale.reshape(-1, *[1] * (delta.ndim - 1))
                a = call.a if create_graph else call.a.detach()
                found = RULES[type(call.layer)].gradients(call.layer, a, delta)
                for role, name in plan.layers[call.layer].items():
                    if name not in plan.rest:
                        parts[name].append(found[role])
        if plan.rest:
            target = Target(plan.model, plan.likelihood, plan.vectorised)
            scores = scores_by_row(target, plan.rest, parameters, x, y, create_graph=create_graph)
            for name, rows in zip(plan.rest, scores, strict=True):
                parts[name].append(Dense(rows if scale is None else rows * scale[:, None]))
        if scale is not None:
            total = (log_likelihood(output.detach(), y, plan.likelihood) * scale).sum()
    return total, [_joined(parts[name], n, parameter) for name, parameter in parameters.items()]


def _joined(parts: list[RowGradients], n: int, parameter: Tensor) -> RowGradients:
    if not parts:  # a parameter that no output depends on
        return Dense(parameter.new_zeros(1).expand(n, parameter.numel()))
    return combined(parts, n, parameter.numel())


def _edge(call: _Call, n: int) -> GradientEdge:
    if call.a is None or call.edge is None or not (len(call.a) == call.rows == n):
        raise NumericsError(
            f"a {type(call.layer).__name__} layer does not see one entry per row in a batch of {n}: "
            "the model mixes rows or treats batches of different sizes differently"
        )
    return call.edge


def _run(
    model: nn.Module, parameters: dict[str, Tensor], x: Tensor, layers: tuple[nn.Module, ...]
) -> tuple[Tensor, list[_Call]]:
    """One forward pass, and the calls of `layers` in it."""
    calls: list[_Call] = []

    def note(layer: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any], output: Tensor) -> None:
        plain = len(args) == 1 and not kwargs and output.requires_grad and RULES[type(layer)].covers(layer, args[0])
        edge = get_gradient_edge(output) if plain else None
        a = args[0] if plain else None
        calls.append(_Call(layer, a, edge, len(output), output.numel() + (0 if a is None else a.numel())))

    with torch.enable_grad(), _hooked(layers, note):
        own = all(parameters[name] is parameter for name, parameter in model.named_parameters())
        output = model(x) if own else functional_call(model, parameters, (x,))
    return output, calls


@contextmanager
def _hooked(layers: tuple[nn.Module, ...], note: Any) -> Iterator[None]:
    # first in line, so that other hooks cannot change the output before it is noted
    handles = [layer.register_forward_hook(note, prepend=True, with_kwargs=True) for layer in layers]
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()


def _uses(total: Tensor, leaves: dict[str, Tensor]) -> Counter[str]:
    """The number of times that each parameter enters the computation of `total`."""
    names = {id(leaf): name for name, leaf in leaves.items()}
    used, seen, waiting = Counter[str](), set(), [total.grad_fn]
    while waiting:
        node = waiting.pop()
        for source, _ in node.next_functions if node is not None else ():
            leaf = getattr(source, "variable", None)
            if leaf is not None:
                used[names.get(id(leaf), "")] += 1
            elif source is not None and source not in seen:
                seen.add(source)
                waiting.append(source)
    return used
