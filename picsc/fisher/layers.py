"""Rules by layer type: the row gradients of a layer's parameters from its inputs and output gradients.

Shape letters here: n rows, o outputs, q inputs of one output, t positions.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import group_norm, layer_norm, pad

from picsc.fisher.convolution import Columns
from picsc.fisher.factors import Contracted, Dense, Lookup, Outer, RowGradients, over_positions


def _covers_linear(_layer: nn.Linear, a: Tensor) -> bool:
    return a.ndim >= 2


def _linear(_layer: nn.Linear, a: Tensor, delta: Tensor) -> dict[str, RowGradients]:
    if a.ndim == 2:
        return {"weight": Outer(delta, a), "bias": Dense(delta)}
    a, delta = a.flatten(1, -2), delta.flatten(1, -2)
    return {"weight": over_positions(delta, a), "bias": Dense(delta.sum(1))}


def _covers_conv2d(layer: nn.Conv2d, a: Tensor) -> bool:
    return a.ndim == 4 and layer.padding_mode == "zeros" and not isinstance(layer.padding, str)


def _conv2d(layer: nn.Conv2d, a: Tensor, delta: Tensor) -> dict[str, RowGradients]:
    assert not isinstance(layer.padding, str)  # noqa: S101 - _covers_conv2d has checked it
    (high, wide), (down, right) = layer.kernel_size, layer.stride
    (apart, aside), (above, left) = layer.dilation, layer.padding
    height, width = delta.shape[2:]
    starts = range(0, high * apart, apart)

    def cut(a: Tensor) -> list[Tensor]:
        """Windows are cut out along the width only; along the height they are views of consecutive lines.

        This copies a fifth of what im2col copies for a 5 x 5 kernel.
        """
        lines = pad(a, (left, left, above, above)).unfold(3, (wide - 1) * aside + 1, right)[..., ::aside]
        lines = lines.permute(0, 1, 4, 2, 3).reshape(len(a), layer.groups, -1, lines.shape[2], width)
        return [lines[..., top : top + (height - 1) * down + 1 : down, :].flatten(-2) for top in starts]

    def fold(pieces: list[Tensor], a: Tensor) -> Tensor:
        """The transpose of `cut`."""
        n, channels, tall, broad = a.shape
        lines = a.new_zeros(n, channels, wide, tall + 2 * above, width)
        for top, piece in zip(starts, pieces, strict=True):
            part = lines[..., top : top + (height - 1) * down + 1 : down, :]
            part += piece.reshape(n, channels, wide, height, width)
        found = a.new_zeros(n, channels, tall + 2 * above, broad + 2 * left)
        for j in range(wide):
            found[..., j * aside : j * aside + (width - 1) * right + 1 : right] += lines[:, :, j]
        return found[:, :, above : above + tall, left : left + broad]

    delta = delta.reshape(len(delta), layer.groups, -1, height * width)
    floats = a[0].numel() * wide + layer.weight.numel()
    weight = Contracted(delta, a, Columns(cut, fold, wide), floats)
    return {"weight": weight, "bias": Dense(delta.sum(-1).flatten(1))}


def _covers_embedding(layer: nn.Embedding, _tokens: Tensor) -> bool:
    return layer.max_norm is None and not layer.scale_grad_by_freq


def _embedding(layer: nn.Embedding, tokens: Tensor, delta: Tensor) -> dict[str, RowGradients]:
    tokens, delta = tokens.reshape(len(tokens), -1).long(), delta.reshape(len(tokens), -1, delta.shape[-1])
    if layer.padding_idx is not None:
        delta = delta * (tokens != layer.padding_idx)[..., None]
    return {"weight": Lookup(tokens, delta, layer.num_embeddings)}


def _covers_embedding_bag(layer: nn.EmbeddingBag, tokens: Tensor) -> bool:
    return tokens.ndim == 2 and layer.mode != "max" and layer.max_norm is None and not layer.scale_grad_by_freq


def _embedding_bag(layer: nn.EmbeddingBag, tokens: Tensor, delta: Tensor) -> dict[str, RowGradients]:
    counted = torch.ones_like(tokens, dtype=delta.dtype)
    if layer.padding_idx is not None:
        counted = (tokens != layer.padding_idx).to(delta.dtype)
    if layer.mode == "mean":
        counted = counted / counted.sum(1, keepdim=True).clamp(min=1)
    return {"weight": Lookup(tokens.long(), counted[..., None] * delta[:, None, :], layer.num_embeddings)}


def _covers_batch_norm(layer: nn.modules.batchnorm._BatchNorm, a: Tensor) -> bool:
    return not layer.training and layer.running_mean is not None and a.ndim >= 2


def _batch_norm(layer: nn.modules.batchnorm._BatchNorm, a: Tensor, delta: Tensor) -> dict[str, RowGradients]:
    assert layer.running_mean is not None  # noqa: S101 - _covers_batch_norm has checked it
    assert layer.running_var is not None  # noqa: S101 - as it has this
    shape = (1, -1, *[1] * (a.ndim - 2))
    root = (layer.running_var + layer.eps).sqrt()
    normalised = (a - layer.running_mean.view(shape)) / root.view(shape)
    return _scaled(normalised, delta, range(2, a.ndim))


def _covers_group_norm(_layer: nn.GroupNorm, a: Tensor) -> bool:
    return a.ndim >= 2


def _group_norm(layer: nn.GroupNorm, a: Tensor, delta: Tensor) -> dict[str, RowGradients]:
    normalised = group_norm(a, layer.num_groups, eps=layer.eps)
    return _scaled(normalised, delta, range(2, a.ndim))


def _covers_layer_norm(layer: nn.LayerNorm, a: Tensor) -> bool:
    return a.ndim > len(layer.normalized_shape)


def _layer_norm(layer: nn.LayerNorm, a: Tensor, delta: Tensor) -> dict[str, RowGradients]:
    normalised = layer_norm(a, list(layer.normalized_shape), eps=layer.eps)
    return _scaled(normalised, delta, range(1, a.ndim - len(layer.normalized_shape)))


def _scaled(normalised: Tensor, delta: Tensor, positions: range) -> dict[str, RowGradients]:
    """A scale and a shift of normalised values, both used at every one of some positions."""
    scale, shift = delta * normalised, delta
    if positions:
        scale, shift = scale.sum(tuple(positions)), shift.sum(tuple(positions))
    return {"weight": Dense(scale.flatten(1)), "bias": Dense(shift.flatten(1))}


@dataclass(frozen=True, slots=True)
class Rule:
    """Gradients of rows from the inputs and output gradients of one layer type."""

    covers: Callable[[Any, Tensor], bool]
    """True if the rule holds for this layer with these inputs; else it is differentiated row by row."""
    gradients: Callable[[Any, Tensor, Tensor], dict[str, RowGradients]]
    """Maps the layer, its inputs and its output gradients, rows first, to gradients by parameter name."""


RULES: dict[type[nn.Module], Rule] = {
    nn.Linear: Rule(_covers_linear, _linear),
    nn.Conv2d: Rule(_covers_conv2d, _conv2d),
    nn.Embedding: Rule(_covers_embedding, _embedding),
    nn.EmbeddingBag: Rule(_covers_embedding_bag, _embedding_bag),
    nn.BatchNorm1d: Rule(_covers_batch_norm, _batch_norm),
    nn.BatchNorm2d: Rule(_covers_batch_norm, _batch_norm),
    nn.BatchNorm3d: Rule(_covers_batch_norm, _batch_norm),
    nn.SyncBatchNorm: Rule(_covers_batch_norm, _batch_norm),
    nn.GroupNorm: Rule(_covers_group_norm, _group_norm),
    nn.LayerNorm: Rule(_covers_layer_norm, _layer_norm),
}
"""By exact type: a subclass may do something else in its forward."""
