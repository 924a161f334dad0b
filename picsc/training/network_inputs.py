"""Rows of images and texts, by number, as tensors for their networks. Letters: n rows, L codes of a row."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from picsc.datasets.images import ImageSet, pixel_counts, scale_of_counts
from picsc.datasets.rows import Rows
from picsc.datasets.texts import TokenSet
from picsc.settings.choices import ImageModel
from picsc.training.networks import bag_of_embeddings, character_lstm, lenet, mlp

Read = Callable[[Rows], Tensor]
"""Maps row numbers (n,) to a network's inputs, (n, ...), on its device."""
Scale = tuple[float, float]
"""Mean and standard deviation of a network's inputs; a deviation of 0 counts as 1."""
IMAGE_HIDDEN = 64
"""Hidden units of images' networks with one hidden layer."""
NO_SCALE: Scale = (0.0, 1.0)
"""Scale of inputs that stay as they are."""


class Inputs(Protocol):
    """The interface of one kind of data: labels, reading of rows, and an untrained network."""

    @property
    def labels(self) -> NDArray[np.int64]:
        """Class codes of all rows."""
        ...

    def scales_after(self, pieces: Sequence[Rows], parts: Sequence[tuple[int, Rows]]) -> list[Scale]:
        """Mean and deviation of all inputs over the first pieces of a sequence and some more rows.

        Args:
            pieces: row numbers of each piece, in the order of the sequence.
            parts: the number of pieces that come first, in increasing order, and the rows that follow them.
        """
        ...

    def reader(self, scale: Scale, device: torch.device) -> Read:
        """A function that reads rows for a network.

        Args:
            scale: of the inputs.
            device: of the network.
        """
        ...

    def model(self, seed: int, device: torch.device) -> nn.Sequential:
        """An untrained network, whose last layer makes logits of its hidden units.

        Args:
            seed: of the initial weights.
            device: of the parameters.
        """
        ...


@dataclass(frozen=True, slots=True)
class ImageInputs:
    """Standardised pixels, (n, c, s, s), for LeNets or networks with one hidden layer."""

    images: ImageSet
    network: ImageModel = "auto"
    """`mlp`, or else LeNet."""

    @property
    def labels(self) -> NDArray[np.int64]:
        """Class codes of all images."""
        return self.images.labels

    def scales_after(self, pieces: Sequence[Rows], parts: Sequence[tuple[int, Rows]]) -> list[Scale]:
        """Mean and population standard deviation of all pixels; see `Inputs`."""
        counts, joined, found = np.zeros(256, np.int64), 0, []
        for place, rows in parts:
            for piece in pieces[joined:place]:
                counts = counts + pixel_counts(self.images.pixels[piece])
            joined = place
            found.append(scale_of_counts(counts + pixel_counts(self.images.pixels[rows])))
        return found

    def reader(self, scale: Scale, device: torch.device) -> Read:
        """Standardised pixels; see `Inputs`."""
        mean, deviation = scale

        def read(rows: Rows) -> Tensor:
            pixels = torch.from_numpy(self.images.pixels[rows]).to(device)
            return pixels.float().sub_(mean).div_(deviation or 1.0)

        return read

    def model(self, seed: int, device: torch.device) -> nn.Sequential:
        """An untrained network; see `Inputs`."""
        _, channels, side, _ = self.images.pixels.shape
        if self.network == "mlp":
            return nn.Sequential(
                nn.Flatten(),
                *mlp(self.images.width, len(self.images.classes), IMAGE_HIDDEN, seed=seed, device=device),
            )
        return lenet(channels, side, len(self.images.classes), seed=seed, device=device)


@dataclass(frozen=True, slots=True)
class TextInputs:
    """Token codes, (n, L), for bags of embeddings (words) or long short-term memory (characters)."""

    texts: TokenSet

    @property
    def labels(self) -> NDArray[np.int64]:
        """Class codes of all texts."""
        return self.texts.labels

    def scales_after(self, pieces: Sequence[Rows], parts: Sequence[tuple[int, Rows]]) -> list[Scale]:
        """Codes have no scale; see `Inputs`."""
        del pieces
        return [NO_SCALE] * len(parts)

    def reader(self, scale: Scale, device: torch.device) -> Read:
        """Codes as they are; see `Inputs`."""
        del scale
        return lambda rows: torch.from_numpy(self.texts.take(rows)).to(device)

    def model(self, seed: int, device: torch.device) -> nn.Sequential:
        """An untrained network; see `Inputs`."""
        make = bag_of_embeddings if self.texts.unit == "words" else character_lstm
        return make(len(self.texts.vocabulary), len(self.texts.classes), seed=seed, device=device)


def inputs_of(data: ImageSet | TokenSet, network: ImageModel = "auto") -> Inputs:
    """The inputs of a set of images or of texts.

    Args:
        data: images or texts.
        network: that images are for.
    """
    return ImageInputs(data, network) if data.kind == "images" else TextInputs(data)
