"""Images as the tests see them: a table of the features that a LeNet, trained on all of them, computes from each.

The units of its penultimate layer are numeric columns, so that every test of a table works unchanged; the model
question is about its last layer. Letters: n images, c channels, s pixels a side, u units (84), k classes.
"""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from picsc.auditing.table_view import table_of
from picsc.datasets.encoding import encode
from picsc.datasets.images import pixel_scale, refuse_columns
from picsc.datasets.rows import take
from picsc.datasets.table import Column, Dataset, LeftOut
from picsc.errors import DataError, SettingsError
from picsc.reports.common import Finding
from picsc.runtime.threads import one_thread
from picsc.settings import REFERENCES
from picsc.simulation.feature_noise import noisy_images
from picsc.training.networks import lenet
from picsc.training.single import train
from picsc.training.single_inputs import LabelledRows, OptimizerSettings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from picsc.auditing.null_statistics import TestInputs
    from picsc.datasets.images import ImageSet
    from picsc.fragments import Fragment
    from picsc.settings import AuditSettings

IMAGE_STEPS, IMAGE_LR, IMAGE_BATCH = 300, 0.001, 256
"""Steps, learning rate and batch size of the training: the same work for any number of images."""
IMAGES_AT_ONCE = 256
"""Images per pass through the trained model; changes no number."""


@dataclass(frozen=True, slots=True)
class ImageFeatures:
    """Features of n images, computed by the reference model."""

    dataset: Dataset
    """Units whose value differs between images, as columns `feature 1` to `feature 84`."""
    head: nn.Linear
    """The model's last layer, on those columns."""
    finding: Finding
    """Note on what the columns are."""

    def table(self, dataset: Dataset, covariates: Dataset | None = None) -> TestInputs:
        """Prepare some of the images for the tests.

        Reading: the model is not trained again on fewer images, so a feature means the same for every piece.

        Args:
            dataset: rows of the data set of all features.
            covariates: as in `audit_table`.
        """
        tested = dataset if covariates is None else covariates
        features = np.stack([cast("NDArray[np.float64]", column.values) for column in dataset.columns], axis=1)
        return table_of(tested, encode(tested).matrix, features.astype(np.float32), self.head)


def refuse_table_options(settings: AuditSettings, *, with_table: bool) -> None:
    """Refuse options that only apply to tables.

    Args:
        settings: settings of an audit of images.
        with_table: True when a table was given as reference.

    Raises:
        SettingsError: an option names a column or a file.
    """
    refuse_columns(settings.cut, settings.read)
    if with_table or settings.reference not in (None, *REFERENCES):
        raise SettingsError(
            f"--reference {settings.reference or 'of a table'}: images are compared with one another only; "
            f"use one of {', '.join(REFERENCES)}"
        )


def image_rows(images: ImageSet) -> Dataset:
    """The images as rows to be cut, with a class and no columns yet: all but the official test part.

    Args:
        images: images to be audited.

    Raises:
        DataError: the images have one class only.
    """
    kept = _kept(images)
    found = np.unique(images.labels[kept])
    if len(found) == 1:
        raise DataError(
            f"{images.name}: the images have one class only: {images.classes[found[0]]!r}; "
            "a reference model needs two or more"
        )
    return take(images.as_table(), kept)


def image_features(images: ImageSet, *, seed: int, chunk: int = IMAGES_AT_ONCE) -> ImageFeatures:
    """Train the reference model on the images and compute the features of each.

    Source: Section "Model architectures" for LeNet.
    Reading: the paper leaves the covariates of images open; ours are the units of the penultimate layer, and the
        Fisher information is that of the last layer, 84 k + k parameters: per-row gradients of all 44,426 parameters
        (28 x 28 pixels, ten classes) would take 10 GB for 60,000 images. Weights of a unit that never fires are left
        out; their gradients are 0.

    Args:
        images: images to be audited, without their official test part.
        seed: of the initial weights and minibatches.
        chunk: images per pass; changes no number.

    Raises:
        DataError: the images are too small for LeNet, or all alike.
        NumericsError: training left the finite numbers.
    """
    rows = image_rows(images)
    x, y = _standardised(images), torch.from_numpy(images.labels[_kept(images)])
    channels, side = x.shape[1], x.shape[-1]
    model = lenet(channels, side, len(images.classes), seed=seed)
    with one_thread():
        train(model, LabelledRows(x, y), OptimizerSettings(IMAGE_STEPS, IMAGE_LR, IMAGE_BATCH, seed))
        features = _penultimate(model, x, chunk)
    alive = features.min(0) < features.max(0)
    if not alive.any():
        raise DataError(f"{images.name}: the reference model sees no difference between any two images")
    units = [(f"feature {j}", values) for j, values in enumerate(features.T, start=1)]
    head = on_units(model[-1], alive, features[0])
    dataset = replace(
        rows,
        columns=tuple(
            Column(name, "numeric", values) for (name, values), live in zip(units, alive, strict=True) if live
        ),
        left_out=tuple(
            LeftOut(name, "constant", 0, f"{values[0]:g} for every image")
            for (name, values), live in zip(units, alive, strict=True)
            if not live
        ),
    )
    return ImageFeatures(dataset, head, _finding(images, rows.n, sum(p.numel() for p in model[-1].parameters())))


def with_noise(images: ImageSet, pieces: Sequence[Fragment], noise: NDArray[np.float64], *, seed: int) -> ImageSet:
    """Add the noise of each piece to its images.

    Args:
        images: all images, the official test part included.
        pieces: K sets of the rows that `image_rows` gives.
        noise: (K,) standard deviation, in the range of a pixel.
        seed: of the run; same seed, same noise as in `picsc fed`.
    """
    kept = _kept(images)
    return noisy_images(images, [kept[piece.rows] for piece in pieces], noise, seed=seed)


def _finding(images: ImageSet, n: int, parameters: int) -> Finding:
    channels, side = images.pixels.shape[1], images.pixels.shape[-1]
    test = f"; the {len(images.test)} images of the official test part are in no piece" if len(images.test) else ""
    return Finding(
        "images",
        "note",
        f"{n} images of {channels} x {side} x {side} pixels: columns are the units of the penultimate layer of a LeNet "
        f"trained on all of them, and the model question is about the {parameters} parameters of its last layer{test}",
    )


def _kept(images: ImageSet) -> NDArray[np.int64]:
    return np.setdiff1d(np.arange(images.n), images.test)


def _standardised(images: ImageSet) -> Tensor:
    """Pixels in units of the deviation of all of them, float32 (n, c, s, s)."""
    pixels = images.pixels[_kept(images)]
    mean, deviation = pixel_scale(pixels)
    if deviation == 0:
        raise DataError(f"{images.name}: every pixel of every image is {mean:g}; nothing can be told apart")
    scaled = ((np.arange(256) - mean) / deviation).astype(np.float32)
    x = np.empty(pixels.shape, np.float32)
    for start in range(0, len(x), IMAGES_AT_ONCE):  # an index is eight times as large as the pixels it is made of
        x[start : start + IMAGES_AT_ONCE] = scaled[pixels[start : start + IMAGES_AT_ONCE]]
    return torch.from_numpy(x)


@torch.no_grad()
def _penultimate(model: nn.Sequential, x: Tensor, chunk: int) -> NDArray[np.float64]:
    """Inputs of the last layer, (n, u): computed in float64 and rounded to float32.

    Sums of a matrix product depend on how many rows it has; rounded, equal images have equal features at any position.
    """
    body = deepcopy(model[:-1]).double()
    features = torch.cat([body(part.double()).float() for part in torch.split(x, chunk)])
    return features.double().numpy()


@torch.no_grad()
def on_units(last: nn.Module, alive: NDArray[np.bool_], constant: NDArray[np.float64]) -> nn.Linear:
    """Reduce the last layer to fewer units, and move the constant ones into its bias.

    Args:
        last: a linear layer of u inputs.
        alive: (u,) True for units that are kept.
        constant: (u,) value of each unit that is not.

    Returns:
        A layer of the kept inputs with the same logits.
    """
    head = deepcopy(cast("nn.Linear", last))
    kept = torch.from_numpy(alive)
    resting = torch.from_numpy(constant[~alive]).to(head.weight.dtype)
    head.bias = nn.Parameter(head.bias + head.weight[:, ~kept] @ resting)
    head.weight = nn.Parameter(head.weight[:, kept].clone())
    head.in_features = int(kept.sum())
    return head
