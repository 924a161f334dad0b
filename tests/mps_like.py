"""A simulated device without float64: mps as far as device names, refusals and mixing of devices go.

Tensors really stay on the CPU. Those moved to the device carry a mark, and so does whatever is computed from them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

MPS = torch.device("mps")
ACROSS = (Tensor.copy_, Tensor.__getitem__, Tensor.__setitem__)
"""What torch allows between a tensor on a device and one on the CPU."""


def tensors(values: Any) -> Iterator[Tensor]:
    """All tensors in nested arguments or results."""
    if isinstance(values, Tensor):
        yield values
    elif isinstance(values, (tuple, list)):
        for value in values:
            yield from tensors(value)
    elif isinstance(values, dict):
        yield from tensors(tuple(values.values()))


class MpsLike(TorchFunctionMode):
    """Inside, `torch.device("mps")` exists and refuses float64 as the real one does."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = dict(kwargs or {})
        given = list(tensors((args, kwargs)))
        marked = any(hasattr(one, "on_mps") for one in given)
        if func == Tensor.device.__get__:
            return MPS if marked else torch.device("cpu")
        if marked and func not in ACROSS and not all(hasattr(one, "on_mps") or one.ndim == 0 for one in given):
            raise RuntimeError(f"{func}: expected all tensors to be on the same device")
        to = kwargs.get("device", args[1] if func is Tensor.to and isinstance(args[1], (str, torch.device)) else None)
        if to is None and func is not Tensor.cpu:
            return self.checked(func, func(*args, **kwargs)) if marked else func(*args, **kwargs)
        if "device" in kwargs:
            kwargs["device"] = None if func is torch._C._nn._parse_to else "cpu"
        elif to is not None:
            args = (args[0], "cpu", *args[2:])
        result = func(*args, **kwargs)
        if to is None or torch.device(to).type == "cpu":
            return result.clone() if marked else result
        return self.checked(func, result)

    def checked(self, func: Any, result: Any) -> Any:
        """A result that lives on the device."""
        for one in tensors(result):
            if one.dtype is torch.float64:
                raise TypeError(f"{func}: Cannot convert a MPS Tensor to float64 dtype")
            one.on_mps = True
        return result


def move(model: nn.Module) -> nn.Module:
    """Mark a model's parameters as being on the device."""
    for parameter in model.parameters():
        parameter.on_mps = True
    return model
