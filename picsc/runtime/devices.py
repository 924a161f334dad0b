"""The choice of the device that trains, its precision, and the precision of sums.

A device without float64 (mps) computes in float32; its sums end in float64 on the CPU.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from picsc.errors import SettingsError
from picsc.reports.common import Finding
from picsc.settings import DeviceName, Precision

WITHOUT_FLOAT64 = frozenset({"mps"})
"""Device types on which a float64 tensor cannot exist."""


@dataclass(frozen=True, slots=True)
class Device:
    """The device that models are trained on."""

    device: torch.device
    sums: torch.dtype
    """Precision of sums on it: float64, or float32 where float64 does not exist."""
    note: str
    """A remark on the choice for the user; empty for none."""

    @property
    def name(self) -> str:
        """Kind of the device, and of a GPU its model: what `auto` stands for in a manifest."""
        kind = self.device.type
        return f"{kind}, {torch.cuda.get_device_name(self.device)}" if kind == "cuda" else kind


def pick_device(name: DeviceName) -> Device:
    """The device of a name; `auto` takes cuda if it is available, then mps, then the CPU.

    Args:
        name: value of `--device`.

    Returns:
        The device, with a note if `auto` had to fall back.

    Raises:
        SettingsError: the named device is not available.
    """
    there = {"cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available(), "cpu": True}
    if name == "auto":
        found = next(kind for kind in there if there[kind])
        note = "no cuda or mps device is there: training on the cpu" if found == "cpu" else ""
    elif there[name]:
        found, note = name, ""
    else:
        others = " or ".join(kind for kind in there if there[kind])
        raise SettingsError(
            f"--device {name}: torch {torch.__version__} finds no {name} device here; use {others}, or auto"
        )
    device = torch.device(found)
    sums = sum_dtype(device)
    if sums is not torch.float64:
        note = f"{found} has no float64: float32 on the device, float64 sums on the cpu"
    return Device(device, sums, note)


def device_findings(device: Device) -> list[Finding]:
    """The note on a device, for a report; that a machine has nothing faster than its CPU is no finding about data."""
    return [Finding("device", "note", device.note)] if device.note and device.device.type != "cpu" else []


def sum_dtype(device: torch.device) -> torch.dtype:
    """Precision of sums that are kept on a device."""
    return torch.float32 if device.type in WITHOUT_FLOAT64 else torch.float64


def as_sums(values: Tensor) -> Tensor:
    """Values in float64, on the CPU if their device has no float64; differentiable."""
    return values.cpu().double() if values.device.type in WITHOUT_FLOAT64 else values.double()


def placed(values: NDArray[np.generic] | Tensor, device: torch.device) -> Tensor:
    """Values on a device, with floats converted to float32 before the transfer.

    Args:
        values: numbers of any precision; integers keep their type.
        device: the device.

    Returns:
        The same numbers; they share memory with `values` if nothing has to change.
    """
    tensor = torch.as_tensor(values)
    return (tensor.float() if tensor.is_floating_point() else tensor).to(device)


@contextmanager
def precision(name: Precision) -> Iterator[None]:
    """Allow cuda to round the inputs of products to TF32 inside, but only if requested, unlike torch's default.

    Args:
        name: value of `--precision`; bfloat16 concerns `forward_pass` only.
    """
    matmul, cudnn = torch.backends.cuda.matmul, torch.backends.cudnn
    before = matmul.allow_tf32, cudnn.allow_tf32
    matmul.allow_tf32 = cudnn.allow_tf32 = name == "tf32"
    try:
        yield
    finally:
        matmul.allow_tf32, cudnn.allow_tf32 = before


def forward_pass(name: Precision, device: torch.device) -> AbstractContextManager[None]:
    """A context for the forward pass: products in bfloat16 if that precision is chosen, else no change."""
    if name != "bfloat16":
        return nullcontext()
    return torch.autocast(device.type, torch.bfloat16)
