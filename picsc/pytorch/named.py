"""The parameters that training changes, by name, and refusals of those whose Fisher information cannot be computed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import torch
from torch import Tensor, nn
from torch.nn.parameter import is_lazy

from picsc.errors import DataError, NumericsError
from picsc.phrases import listed


def unwrapped(model: nn.Module) -> nn.Module:
    """The model inside `torch.compile` and DistributedDataParallel, whose parameters have their author's names."""
    while True:
        inner = getattr(model, "_orig_mod", None)
        if inner is None and isinstance(model, nn.parallel.DistributedDataParallel | nn.DataParallel):
            inner = model.module
        if not isinstance(inner, nn.Module):
            return model
        model = inner


def trainable(model: nn.Module) -> dict[str, nn.Parameter]:
    """The parameters that training changes; a shared one once, under its first name, and frozen ones not at all.

    Args:
        model: whose parameters, unwrapped.

    Raises:
        DataError: there are none.
        NumericsError: one is not initialised yet, complex, or in float16, whose squares are 0.
    """
    found = {name: parameter for name, parameter in model.named_parameters() if parameter.requires_grad}
    if not found:
        frozen = sum(1 for _ in model.parameters())
        raise DataError(
            f"the model ({type(model).__name__}) has no parameter that requires a gradient ({frozen} frozen); "
            "unfreeze some with requires_grad_()"
        )
    for name, parameter in found.items():
        if is_lazy(parameter):
            raise NumericsError(f"parameter {name!r} is not initialised yet; run the model once on a batch before")
        if parameter.is_complex() or parameter.dtype is torch.float16:
            raise NumericsError(
                f"parameter {name!r} is of type {parameter.dtype}, in which squared gradients cannot be held; keep "
                "parameters in float32 and use torch.autocast"
            )
    return found


def same_names(given: Mapping[str, Tensor], parameters: Mapping[str, Tensor], what: str) -> None:
    """Refuse values by name that do not belong to these parameters.

    Raises:
        DataError: names or shapes differ.
    """
    missing = [name for name in parameters if name not in given]
    if missing:
        raise DataError(
            f"{what} has no entry for {listed([repr(name) for name in missing])}, which the model now trains; "
            "compute it again, or freeze these parameters as before"
        )
    for name, parameter in parameters.items():
        if given[name].shape != parameter.shape:
            raise DataError(
                f"{what} of parameter {name!r} has shape {tuple(given[name].shape)}: the parameter has "
                f"{tuple(parameter.shape)}"
            )


@torch.no_grad()
def copies(model: nn.Module) -> dict[str, Tensor]:
    """Copies of all parameters and buffers, by name."""
    state = [*model.named_parameters(), *model.named_buffers()]
    return {name: tensor.detach().clone() for name, tensor in state}


@contextmanager
def holding(model: nn.Module, values: Mapping[str, Tensor]) -> Iterator[None]:
    """Give parameters and buffers other values inside, and their own again afterwards.

    Args:
        model: the model.
        values: by name; what has no entry stays as it is.
    """
    named = dict([*model.named_parameters(), *model.named_buffers()])
    own = {name: named[name].detach().clone() for name in values if name in named}
    _set(named, values)
    try:
        yield
    finally:
        _set(named, own)


@torch.no_grad()
def _set(named: Mapping[str, Tensor], values: Mapping[str, Tensor]) -> None:
    for name, value in values.items():
        if name in named:
            named[name].copy_(value)
