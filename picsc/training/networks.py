"""The small networks of the paper's "Model architectures", for tables and images, and two networks for texts.

Weights and biases are uniform in +-1/sqrt(fan in), torch's own default, but drawn from a local generator on the CPU:
the global random state is neither read nor moved, and a seed gives the same weights on every device. Embeddings are
within 1/sqrt(width), not torch's standard normal, under which words that occur once drown the others.
"""

from __future__ import annotations

import math
from contextlib import AbstractContextManager

import torch
from torch import Tensor, nn

from picsc.errors import DataError
from picsc.training.lstm import Lstm

LENET_SMALLEST_SIDE = 16
"""Least side in pixels; below it nothing is left after two convolutions and two poolings."""
CHARACTER_WIDTH = 8
"""Numbers in a character's vector."""


def mlp(
    f: int,
    outputs: int,
    hidden: int = 4,
    *,
    seed: int,
    dtype: torch.dtype = torch.float32,
    device: torch.device | str = "cpu",
) -> nn.Sequential:
    """One hidden layer of ReLU units: the paper's model for tables.

    Source: "Model architectures", four hidden units.

    Args:
        f: encoded features.
        outputs: classes, or 1 for a regression target.
        hidden: hidden units.
        seed: of the initial weights.
        dtype: of the parameters.
        device: of the parameters.

    Returns:
        Maps (n, f) to logits (n, outputs), or to means (n, 1); hidden (f + 1) + outputs (hidden + 1) parameters.
    """
    with _global_generator_unmoved():
        layers = (nn.Linear(f, hidden), nn.ReLU(), nn.Linear(hidden, outputs))
    return _initialised(nn.Sequential(*layers), seed, dtype, device)


def lenet(
    channels: int,
    side: int,
    classes: int,
    *,
    seed: int,
    dtype: torch.dtype = torch.float32,
    device: torch.device | str = "cpu",
) -> nn.Sequential:
    """Two convolutions with pooling and three dense layers: the paper's model for images, in LeNet-5's sizes.

    Source: "Model architectures". 62,006 parameters on 3 x 32 x 32 and 44,426 on 1 x 28 x 28 with ten classes.
    Reading: the paper gives the layers and not their widths; ours are LeNet-5's 6, 16, 120 and 84 with 5 x 5 kernels,
        ReLU and max pooling, as federated benchmarks use it.

    Args:
        channels: of an image.
        side: pixels, at least 16.
        classes: outputs.
        seed: of the initial weights.
        dtype: of the parameters.
        device: of the parameters.

    Returns:
        Maps (n, channels, side, side) to logits (n, classes).

    Raises:
        DataError: the images are too small for two convolutions.
    """
    if side < LENET_SMALLEST_SIDE:
        raise DataError(
            f"images of {side} x {side} pixels are too small for LeNet: need a side of at least {LENET_SMALLEST_SIDE}; "
            "enlarge or pad them"
        )
    left = ((side - 4) // 2 - 4) // 2
    with _global_generator_unmoved():
        layers = (
            nn.Conv2d(channels, 6, 5),
            nn.MaxPool2d(2),  # before ReLU: the same numbers, and four times fewer of them
            nn.ReLU(),
            nn.Conv2d(6, 16, 5),
            nn.MaxPool2d(2),
            nn.ReLU(),
            nn.Flatten(),
            nn.Linear(16 * left * left, 120),
            nn.ReLU(),
            nn.Linear(120, 84),
            nn.ReLU(),
            nn.Linear(84, classes),
        )
    return _initialised(nn.Sequential(*layers), seed, dtype, device)


def bag_of_embeddings(
    vocabulary: int,
    outputs: int,
    width: int = 32,
    *,
    seed: int,
    dtype: torch.dtype = torch.float32,
    device: torch.device | str = "cpu",
) -> nn.Sequential:
    """The mean of a text's word vectors, and a linear classifier of it.

    Args:
        vocabulary: words; code 0 fills a text up and counts for nothing.
        outputs: classes.
        width: of a word's vector.
        seed: of the initial weights.
        dtype: of the parameters.
        device: of the parameters.

    Returns:
        Maps codes (n, L) to logits (n, outputs); width (vocabulary + 1) + outputs (width + 1) parameters.
    """
    with _global_generator_unmoved():
        layers = (
            nn.EmbeddingBag(vocabulary + 1, width, mode="mean", padding_idx=0),
            nn.Linear(width, outputs),
        )
    return _initialised(nn.Sequential(*layers), seed, dtype, device)


def character_lstm(
    vocabulary: int,
    outputs: int,
    hidden: int = 256,
    *,
    seed: int,
    dtype: torch.dtype = torch.float32,
    device: torch.device | str = "cpu",
) -> nn.Sequential:
    """Vectors of 8 numbers, two layers of long short-term memory, and a linear classifier of the last state.

    Reading: LEAF's model for Shakespeare, with 8 more parameters, those of the code 0 that fills a text up.

    Args:
        vocabulary: characters.
        outputs: classes.
        hidden: units of each layer.
        seed: of the initial weights.
        dtype: of the parameters.
        device: of the parameters.

    Returns:
        Maps codes (n, L) to logits (n, outputs); 817,880 parameters for LEAF's 80 characters.
    """
    with _global_generator_unmoved():
        layers = (
            nn.Embedding(vocabulary + 1, CHARACTER_WIDTH, padding_idx=0),
            Lstm(CHARACTER_WIDTH, hidden),
            Lstm(hidden, hidden),
            _Last(),
            nn.Linear(hidden, outputs),
        )
    return _initialised(nn.Sequential(*layers), seed, dtype, device)


class _Last(nn.Module):
    """The last position of (n, t, h), (n, h)."""

    def forward(self, x: Tensor) -> Tensor:
        return x[:, -1]


def _global_generator_unmoved() -> AbstractContextManager[None]:
    """Torch's layers draw their own first values; skipping that imports a computer algebra system, so it is undone."""
    return torch.random.fork_rng(devices=[])


@torch.no_grad()
def _initialised(model: nn.Sequential, seed: int, dtype: torch.dtype, device: torch.device | str) -> nn.Sequential:
    """Draw all parameters in order, then move them."""
    generator = torch.Generator().manual_seed(seed)
    for layer in model:
        if isinstance(layer, (nn.Linear, nn.Conv2d, nn.Embedding, nn.EmbeddingBag)):
            bound = 1 / math.sqrt(layer.weight[0].numel())
        elif isinstance(layer, Lstm):
            bound = 1 / math.sqrt(layer.recurrent.in_features)
        else:
            continue
        for parameter in layer.parameters():
            _fill(parameter, bound, generator)
        if isinstance(layer, (nn.Embedding, nn.EmbeddingBag)):
            layer.weight[0] = 0
    return model.to(device=device, dtype=dtype)


def _fill(parameter: Tensor, bound: float, generator: torch.Generator) -> None:
    parameter.uniform_(-bound, bound, generator=generator)
