"""Rows of images and texts, by number, as tensors for their networks. Letters: n rows, L codes of a row."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from picsc.datasets.images import ImageSet, pixel_scale
from picsc.datasets.rows import Rows
from picsc.datasets.texts import TokenSet
from picsc.training.networks import bag_of_embeddings, character_lstm, lenet

Read = Callable[[Rows], Tensor]
"""Maps row numbers (n,) to a network's inputs, (n, ...), on its device."""


class Inputs(Protocol):
    """The interface of one kind of data: labels, reading of rows, and an untrained network."""

    @property
    def labels(self) -> NDArray[np.int64]:
        """Class codes of all rows."""
        ...

    def reader(self, fitted_on: Rows, device: torch.device) -> Read:
        """A function that reads rows for networks that are trained on some of them.

        Args:
            fitted_on: the training rows, whose scale is applied to all rows.
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
    """Standardised pixels, (n, c, s, s), for LeNets."""

    images: ImageSet

    @property
    def labels(self) -> NDArray[np.int64]:
        """Class codes of all images."""
        return self.images.labels

    def reader(self, fitted_on: Rows, device: torch.device) -> Read:
        """Pixels standardised by the mean and standard deviation of the training rows; see `Inputs`."""
        mean, deviation = pixel_scale(self.images.pixels[fitted_on])

        def read(rows: Rows) -> Tensor:
            pixels = torch.from_numpy(self.images.pixels[rows]).to(device)
            return pixels.float().sub_(mean).div_(deviation or 1.0)

        return read

    def model(self, seed: int, device: torch.device) -> nn.Sequential:
        """An untrained LeNet; see `Inputs`."""
        _, channels, side, _ = self.images.pixels.shape
        return lenet(channels, side, len(self.images.classes), seed=seed, device=device)


@dataclass(frozen=True, slots=True)
class TextInputs:
    """Token codes, (n, L), for bags of embeddings (words) or long short-term memory (characters)."""

    texts: TokenSet

    @property
    def labels(self) -> NDArray[np.int64]:
        """Class codes of all texts."""
        return self.texts.labels

    def reader(self, fitted_on: Rows, device: torch.device) -> Read:
        """Codes have no scale; see `Inputs`."""
        del fitted_on
        return lambda rows: torch.from_numpy(self.texts.take(rows)).to(device)

    def model(self, seed: int, device: torch.device) -> nn.Sequential:
        """An untrained network; see `Inputs`."""
        make = bag_of_embeddings if self.texts.unit == "words" else character_lstm
        return make(len(self.texts.vocabulary), len(self.texts.classes), seed=seed, device=device)


def inputs_of(data: ImageSet | TokenSet) -> Inputs:
    """The inputs of a set of images or of texts."""
    return ImageInputs(data) if data.kind == "images" else TextInputs(data)
