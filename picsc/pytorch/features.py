"""Features that a model computes of its rows: what one of its layers is given. Letters: n rows, f features."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from picsc.errors import DataError, SettingsError
from picsc.phrases import listed
from picsc.pytorch.row_model import RowModel


class FeatureReader:
    """Reads the inputs of one layer.

    Args:
        model: that has the layer.
        layer: its name; None is the last `nn.Linear` that is called.

    Raises:
        SettingsError: there is no such layer.
    """

    def __init__(self, model: nn.Module, layer: str | None) -> None:
        """Find the layer."""
        layers = dict(model.named_modules())
        if layer is not None and layer not in layers:
            known = [repr(name) for name in layers if name]
            raise SettingsError(f"features={layer!r}: the model has no layer of this name, but {listed(known)}")
        linear = [each for each in layers.values() if isinstance(each, nn.Linear)]
        self.layers = linear if layer is None else [layers[layer]]
        if not self.layers:
            raise SettingsError(
                f"the model ({type(model).__name__}) has no nn.Linear whose inputs could be the covariates; name "
                "another layer with features="
            )

    def read(self, own: RowModel, rows: Tensor) -> Tensor:
        """The features of some rows, (n, f), positions averaged.

        Raises:
            DataError: the layer is not called with one entry per row.
        """
        seen: list[Any] = []

        def note(_layer: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
            values = [each for each in (*args, *kwargs.values()) if isinstance(each, Tensor)]
            seen[:] = values[:1]

        handles = [layer.register_forward_pre_hook(note, with_kwargs=True) for layer in self.layers]
        try:
            with torch.no_grad():
                own.outputs(rows)
        finally:
            for handle in handles:
                handle.remove()
        if not seen or len(seen[0]) != len(rows):
            shape = tuple(seen[0].shape) if seen else "nothing"
            raise DataError(
                f"the layer of the features is given {shape} for {len(rows)} rows; name one with features= that is "
                "given one entry per row"
            )
        found: Tensor = seen[0]
        if found.ndim == 4:  # channels before positions
            return found.mean((2, 3))
        if found.ndim > 2:
            return found.flatten(1, -2).mean(1)
        return found.reshape(len(rows), -1)
