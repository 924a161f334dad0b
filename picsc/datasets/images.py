"""Images of one size with one class each. Letters: n images, c channels, s pixels a side."""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from picsc.datasets.table import Dataset, Target
from picsc.errors import DataError, SettingsError
from picsc.settings import CutSettings, ReadSettings


@dataclass(frozen=True, slots=True)
class ImageSet:
    """A set of labelled images."""

    name: str
    source: str
    """A path, `scikit-learn`, `OpenML 554`, or `memory`."""
    pixels: NDArray[np.uint8]
    """(n, c, s, s), from 0 to 255."""
    labels: NDArray[np.int64]
    """(n,) codes into `classes`."""
    classes: tuple[str, ...]
    test: NDArray[np.int64]
    """Row numbers of the official test part, increasing; empty where the authors defined none."""
    sha256: str
    """SHA-256 of the bytes that were read."""
    owners: NDArray[np.int64] | None = None
    """(n,) codes into `clients`; None where the images have no owners."""
    clients: tuple[str, ...] = ()
    """Names of the owners; () where the images have none."""

    kind: ClassVar[Literal["images"]] = "images"

    @property
    def n(self) -> int:
        """Number of images, the test part included."""
        return len(self.labels)

    @property
    def width(self) -> int:
        """Pixel values of one image, c x s x s."""
        return math.prod(self.pixels.shape[1:])

    @property
    def shape(self) -> tuple[int, ...]:
        """Number of images, then channels, height and width: (n, c, s, s)."""
        return self.pixels.shape

    def as_table(self) -> Dataset:
        """All images as rows with a class and no columns."""
        target = Target("class", "classes", self.labels, self.classes, "classes of the images")
        return Dataset(self.name, self.source, self.n, (), (), target, sha256=self.sha256)

    def with_labels(self, labels: NDArray[np.int64]) -> ImageSet:
        """The same images with other labels.

        Args:
            labels: codes into `classes`, (n,).
        """
        return replace(self, labels=labels)


def from_images(pixels: NDArray[Any], labels: NDArray[Any], *, name: str = "memory") -> ImageSet:
    """Images from arrays in memory.

    Args:
        pixels: (n, s, s) or (n, c, s, s); whole numbers from 0 to 255, or fractions from 0 to 1, which are scaled.
        labels: (n,) classes of any type.
        name: name of the set, for messages and reports.

    Raises:
        DataError: the shapes do not fit, a pixel is out of range or a label is missing.
    """
    if pixels.ndim not in (3, 4) or pixels.shape[-1] != pixels.shape[-2]:
        raise DataError(
            f"{name}: images of shape {pixels.shape} cannot be read; need (n, s, s) or (n, c, s, s), square and with "
            "channels before pixels"
        )
    if labels.shape != pixels.shape[:1]:
        raise DataError(f"{name}: {len(pixels)} images and labels of shape {labels.shape}; need one label per image")
    gone = np.flatnonzero(pd.isna(labels))
    if len(gone):
        raise DataError(f"{name}: image {gone[0] + 1} has no label; leave out the {len(gone)} such images")
    codes, values = pd.factorize(labels)
    kept = _bytes(pixels, name).reshape(len(pixels), -1, *pixels.shape[-2:])
    classes = tuple(str(value) for value in values)
    codes = codes.astype(np.int64)
    digest = hashlib.sha256("\0".join([*map(str, kept.shape), *classes]).encode())
    for part in (codes, kept):
        digest.update(part.tobytes())
    return ImageSet(name, "memory", kept, codes, classes, np.empty(0, np.int64), digest.hexdigest())


def pixel_scale(pixels: NDArray[np.uint8]) -> tuple[float, float]:
    """Mean and population standard deviation of all pixels; the deviation is 0 where they are equal.

    Args:
        pixels: (n, c, s, s).
    """
    return scale_of_counts(pixel_counts(pixels))


def pixel_counts(pixels: NDArray[np.uint8]) -> NDArray[np.int64]:
    """Number of pixels of each of the 256 values; counts of several parts add up.

    Args:
        pixels: (n, c, s, s).
    """
    return sum((np.bincount(image.reshape(-1), minlength=256) for image in pixels), np.zeros(256, np.int64))


def scale_of_counts(counts: NDArray[np.int64]) -> tuple[float, float]:
    """Mean and population standard deviation of pixels by their counts; the deviation is 0 where they are equal.

    Args:
        counts: (256,), as from `pixel_counts`.
    """
    values = np.arange(256)
    mean = float(np.average(values, weights=counts))
    return mean, float(np.sqrt(np.average((values - mean) ** 2, weights=counts)))


def refuse_columns(
    cut: CutSettings,
    read: ReadSettings,
    *,
    weights: str | None = None,
    sample_weight: str | None = None,
    kind: str = "images",
) -> None:
    """Refuse options that concern columns, which images and texts do not have.

    Args:
        cut: settings of the cut into pieces.
        read: settings of reading.
        weights: column of row weights; None for no weights.
        sample_weight: column of how much each row counts; None for no weights.
        kind: name of the kind of data in messages.

    Raises:
        SettingsError: an option names a column, or says how to read one.
    """
    for option, column in (
        ("--by", cut.by),
        ("--split-column", cut.split_column),
        ("--time", cut.time),
        ("--group", cut.group),
    ):
        if column is not None:
            raise SettingsError(f"{option} {column}: {kind} have no columns to cut by; use --folds or --batches")
    for option, column in (("--weights", weights), ("--sample-weight", sample_weight)):
        if column is not None:
            raise SettingsError(f"{option} {column}: {kind} have no columns; leave it out")
    given = [name for name in ReadSettings.model_fields if getattr(read, name) != getattr(ReadSettings(), name)]
    if given:
        option = "--no-header" if given[0] == "header" else "--" + given[0].replace("_", "-")
        raise SettingsError(f"{option}: {kind} have no columns, and classes are their target; leave it out")


def _bytes(pixels: NDArray[Any], name: str) -> NDArray[np.uint8]:
    """A copy of the pixels as bytes from 0 to 255, in row order."""
    if pixels.dtype.kind not in "buif":
        raise DataError(f"{name}: pixels of type {pixels.dtype} are no numbers; give uint8 or floats")
    lowest, highest = (float(bound) for bound in (pixels.min(initial=0), pixels.max(initial=0)))
    if not (lowest >= 0 and highest <= 255):  # so that NaN is refused, too
        raise DataError(
            f"{name}: pixels run from {lowest:g} to {highest:g}; scale them to 0..255, or to fractions from 0 to 1"
        )
    fractions = pixels.dtype.kind == "b" or (pixels.dtype.kind == "f" and highest <= 1)
    scaled = np.rint(pixels * np.float32(255)) if fractions else np.rint(pixels) if pixels.dtype.kind == "f" else pixels
    return np.array(scaled, dtype=np.uint8, order="C")
