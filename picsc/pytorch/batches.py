"""Batches of somebody's own loader, and outputs of their model: tensors, tuples and dictionaries. Letters: n rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from picsc.errors import DataError
from picsc.phrases import listed


@dataclass(frozen=True, slots=True)
class Keys:
    """Names in dictionaries."""

    labels: str = "labels"
    """Key of the labels in a batch that is a dictionary; everything else goes to the model by name."""
    logits: str = "logits"
    """Key of the outputs in a dictionary that the model returns."""


@dataclass(frozen=True, slots=True)
class Batch:
    """One batch: what the model is called with, and the labels."""

    args: tuple[Any, ...]
    """Inputs by position; tensors inside whose first dimension is n are cut by rows, others are passed whole."""
    kwargs: dict[str, Any]
    """Inputs by name, likewise."""
    labels: Tensor | None
    """(n, ...); None where the batch has none."""
    n: int
    """Rows."""

    def rows(self, which: Tensor) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The inputs of some rows."""

        def cut(tensor: Tensor) -> Tensor:
            return tensor[which] if tensor.ndim and len(tensor) == self.n else tensor

        return _mapped(self.args, cut), _mapped(self.kwargs, cut)


def read_batch(batch: Any, keys: Keys, device: torch.device, *, labelled: bool = True) -> Batch:
    """A batch as a loader gives it, on the model's device.

    Args:
        batch: a tuple or list whose last entry is the labels, or a dictionary with the labels under `keys.labels`;
            without labels also a single tensor.
        keys: names in dictionaries.
        device: of the model.
        labelled: True if labels are needed.

    Raises:
        DataError: the batch has another form, no rows or no labels.
    """

    def placed(tensor: Tensor) -> Tensor:
        return tensor.to(device, non_blocking=True)

    batch = _mapped(batch, placed)
    labels: Any = None
    args: tuple[Any, ...] = ()
    kwargs: dict[str, Any] = {}
    if isinstance(batch, Mapping):
        kwargs = {str(name): value for name, value in batch.items() if name != keys.labels}
        labels = batch.get(keys.labels)
        if labels is None and labelled:
            raise DataError(
                f"a batch has no key {keys.labels!r} for its labels, but {listed(sorted(map(repr, kwargs)))}; name it "
                "with labels="
            )
    elif isinstance(batch, tuple | list) and len(batch) > 1:
        *inputs, labels = batch
        args = tuple(inputs)
    elif isinstance(batch, Tensor) or (isinstance(batch, tuple | list) and len(batch) == 1):
        args = (batch,) if isinstance(batch, Tensor) else tuple(batch)
        if labelled:
            raise DataError("a batch is inputs alone where labels are needed; give (inputs, labels) or kind='expected'")
    else:
        raise DataError(
            f"a batch is of type {type(batch).__qualname__}; give (inputs, labels), or a dictionary with "
            f"the key {keys.labels!r}"
        )
    if labels is not None and not isinstance(labels, Tensor):
        raise DataError(f"labels of a batch are of type {type(labels).__qualname__}; give a tensor, one entry per row")
    first = labels if labels is not None else next(_tensors((args, kwargs)), None)
    if first is None or first.ndim == 0 or len(first) == 0:
        raise DataError("a batch has no rows; leave it out, or have the loader drop it")
    if not any(tensor.ndim and len(tensor) == len(first) for tensor in _tensors((args, kwargs))):
        shapes = listed([str(tuple(tensor.shape)) for tensor in _tensors((args, kwargs))]) or "no tensor"
        raise DataError(
            f"a batch has {len(first)} labels, but inputs of shape {shapes}; give one row of inputs per label"
        )
    return Batch(args, kwargs, labels, len(first))


def output_of(result: Any, keys: Keys) -> Tensor:
    """The outputs in what a model returned.

    Args:
        result: a tensor; a dictionary or an object (such as `ModelOutput`) with `keys.logits`; a tuple that begins with
            the outputs.
        keys: names in dictionaries.

    Raises:
        DataError: it is none of these.
    """
    found = result
    if isinstance(result, Mapping):
        found = result.get(keys.logits)
        if found is None:
            raise DataError(
                f"the model returns a dictionary without the key {keys.logits!r}, but with "
                f"{listed(sorted(repr(key) for key in result))}; name the outputs' key with logits="
            )
    elif not isinstance(result, Tensor):
        found = getattr(result, keys.logits, None)
        if found is None and isinstance(result, tuple | list) and result:
            found = result[0]
    if not isinstance(found, Tensor):
        raise DataError(
            f"the model returns {type(result).__qualname__}, in which no outputs are found; return a tensor, or a "
            f"dictionary with the key {keys.logits!r}"
        )
    return found


def repeatable(loader: Iterable[Any]) -> Iterable[Any]:
    """A loader that can be read more than once.

    Raises:
        DataError: it is an iterator, which is empty after one pass.
    """
    if isinstance(loader, Iterator):
        raise DataError(
            f"a loader of type {type(loader).__qualname__} can be read once only, and a fragment is read again when "
            "the next one is compared with it; give a DataLoader, or a list of batches"
        )
    return loader


def _mapped(value: Any, change: Callable[[Tensor], Tensor]) -> Any:
    """A nest of tensors with every tensor changed."""
    if isinstance(value, Tensor):
        return change(value)
    if isinstance(value, Mapping):
        return {key: _mapped(each, change) for key, each in value.items()}
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(_mapped(each, change) for each in value))
    if isinstance(value, tuple | list):
        return type(value)(_mapped(each, change) for each in value)
    return value


def _tensors(value: Any) -> Iterator[Tensor]:
    """All tensors in a nest."""
    if isinstance(value, Tensor):
        yield value
    elif isinstance(value, Mapping):
        for each in value.values():
            yield from _tensors(each)
    elif isinstance(value, tuple | list):
        for each in value:
            yield from _tensors(each)
