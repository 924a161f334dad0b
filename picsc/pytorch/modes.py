"""The state of a model while its Fisher information is computed; all of it is as before afterwards.

- Evaluation mode: batch normalisation uses its running statistics and does not change them, and dropout drops nothing,
  so that every row has a gradient of its own.
- Full precision: no autocast, because squares of rounded gradients are off by twice as much.
- Plain kernels where second derivatives are needed: fused attention and cudnn's recurrent layers have none.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress

import torch
from torch import nn
from torch.nn.modules.batchnorm import _BatchNorm

from picsc.errors import NumericsError


@contextmanager
def row_by_row(model: nn.Module, *, second: bool = False) -> Iterator[None]:
    """Put a model into the state in which each row has a gradient of its own.

    Args:
        model: the model.
        second: True if gradients are differentiated once more inside.

    Raises:
        NumericsError: a layer of batch normalisation has no running statistics; named.
    """
    for name, module in model.named_modules():
        if isinstance(module, _BatchNorm) and module.running_mean is None:
            where = f"layer {name!r}" if name else "the model"
            raise NumericsError(
                f"{where} ({type(module).__name__}) keeps no running statistics and so mixes the rows of a batch, "
                "which leaves no row a gradient of its own; make it with track_running_stats=True, or use GroupNorm"
            )
    modes = {module: module.training for module in model.modules()}
    device = next(model.parameters()).device.type
    try:
        for module in modes:
            module.training = False
        with ExitStack() as stack:
            stack.enter_context(torch.inference_mode(False))
            with suppress(RuntimeError):  # a device without autocast
                stack.enter_context(torch.autocast(device, enabled=False))
            if any(isinstance(module, nn.RNNBase) for module in modes):
                stack.enter_context(torch.backends.cudnn.flags(enabled=False))
            if second:
                from torch.nn.attention import SDPBackend, sdpa_kernel

                stack.enter_context(sdpa_kernel(SDPBackend.MATH))
            yield
    finally:
        for module, mode in modes.items():
            module.training = mode
