"""Downloads from OpenML: tables as they are, and images from tables of pixels.

Letters: n rows or images, c channels, s pixels a side.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isqrt
from typing import cast
from xml.parsers.expat import ExpatError

import arff  # type: ignore[import-untyped]  # comes with openml, which lets its errors through
import numpy as np
import pandas as pd
import urllib3
from numpy.typing import NDArray

from picsc.datasets.catalog.registry import NamedImages
from picsc.datasets.columns.raw import digest, raw
from picsc.datasets.images import ImageSet
from picsc.errors import DataError

_ROWS = 5000
"""Rows of pixels that are converted at once."""


@dataclass(frozen=True, slots=True)
class Fetched:
    """A data set as it comes from OpenML."""

    frame: pd.DataFrame
    """All columns, including those that only number the rows."""
    title: str
    """Name of the set on OpenML."""
    number: int
    """Number of the set on OpenML."""
    target: str | None
    """Column of the default target; None where the set has none."""
    unwanted: frozenset[str | None]
    """Columns that are no covariates: identifiers of rows, and those that OpenML ignores."""

    @property
    def source(self) -> str:
        """The source in reports, such as `OpenML 31`."""
        return f"OpenML {self.number}"

    def without(self, wanted: set[str | None]) -> pd.DataFrame:
        """The frame without the unwanted columns, except for those in `wanted`."""
        gone = self.unwanted - wanted
        return self.frame.drop(columns=[name for name in self.frame.columns if name in gone])


def fetch(name: str, *, title: str = "", shown: str = "", instead: str = "", unknown: str = "") -> Fetched:
    """Get a data set from OpenML, or from the cache folder of its client.

    Args:
        name: a number, or a name (its oldest active version).
        title: name that the set of this number must have, in upper or lower case; empty accepts any.
        shown: name of the set in messages; empty takes `name`.
        instead: advice for the message when OpenML cannot be reached.
        unknown: other places that were searched, for the message when OpenML has no such name.

    Raises:
        DataError: there is no such data set, the number belongs to another one, or OpenML cannot be reached.
    """
    import openml  # creates folders in the home directory, so it is imported only when needed

    shown = shown or repr(name)
    try:
        found = openml.datasets.get_dataset(int(name) if name.isdecimal() else name, download_data=True)
        data, *_ = found.get_data(include_row_id=True, include_ignore_attribute=True, dataset_format="dataframe")
    except openml.exceptions.OpenMLServerNoResult:
        raise _unknown(name, unknown) from None
    except (
        OSError,  # the base class of the errors of requests
        urllib3.exceptions.HTTPError,
        openml.exceptions.PyOpenMLError,
        ExpatError,
        arff.ArffException,
    ) as error:
        unreachable = any(word in type(error).__name__ for word in ("Connection", "Timeout", "Retry"))
        why = "it cannot be reached" if unreachable else " ".join(str(error).split())[:200]
        raise DataError(
            f"data set {shown} cannot be fetched from OpenML ({openml.config.server}) and is not in its cache folder "
            f"{openml.config.get_cache_directory()} ({why}); {instead}"
        ) from None
    except RuntimeError as error:
        if "No active datasets" in str(error):  # openml's error for an empty answer
            raise _unknown(name, unknown) from None
        raise
    if title and str(found.name).lower() != title.lower():
        raise DataError(f"OpenML {name} is {str(found.name)!r} where {title!r} was expected; {instead}")
    frame = cast("pd.DataFrame", data)  # because of dataset_format
    return Fetched(
        frame,
        str(found.name),
        int(cast("int", found.dataset_id)),
        _default_target(found.default_target_attribute, list(frame.columns)),
        frozenset(_listed(found.row_id_attribute) | _listed(found.ignore_attribute)),
    )


def as_images(fetched: Fetched, entry: NamedImages, *, name: str) -> ImageSet:
    """Images from a table of pixels; s x s columns are grey images, 3 x s x s are coloured ones, red first.

    Args:
        fetched: the table.
        entry: the set in the registry: the rows of its official test part, the order of colours and names of classes.
        name: name of the set.

    Raises:
        DataError: there is no target, the columns are not the pixels of square images, or a value is no whole number
            from 0 to 255.
    """
    source = fetched.source
    if fetched.target is None:
        raise DataError(f"{source} has no default target, so its images have no labels; choose another set")
    frame = fetched.without({fetched.target})
    words = raw(frame[fetched.target]).as_words()
    if words.missing.any():
        raise DataError(f"{source}: {int(words.missing.sum())} images have no label; choose another set")
    pixels = _pixels(frame.drop(columns=[fetched.target]), source, channels_last=entry.channels_last)
    levels = tuple(entry.renamed.get(level, level) for level in words.levels)
    test = entry.test
    order = _class_order(levels)
    codes = np.argsort(order)[words.data]
    return ImageSet(
        name=name,
        source=source,
        pixels=pixels,
        labels=codes.astype(np.int64),
        classes=tuple(levels[i] for i in order),
        test=np.arange(len(codes) - test, len(codes), dtype=np.int64)
        if 0 < test < len(codes)
        else np.empty(0, np.int64),
        sha256=digest([str(column) for column in frame.columns], [raw(frame[column]) for column in frame.columns]),
    )


def _pixels(frame: pd.DataFrame, source: str, *, channels_last: bool) -> NDArray[np.uint8]:
    """The pixels as bytes, (n, c, s, s), converted block by block."""
    n, width = frame.shape
    channels = next((c for c in (1, 3) if width and width % c == 0 and isqrt(width // c) ** 2 * c == width), None)
    if channels is None:
        raise DataError(f"{source}: {width} columns are the pixels of no square image; choose an image set")
    side = isqrt(width // channels)
    pixels = np.empty((n, width), dtype=np.uint8)
    for start in range(0, n, _ROWS):
        try:
            block = frame.iloc[start : start + _ROWS].to_numpy(dtype=np.float64, na_value=np.nan)
        except (ValueError, TypeError):
            raise DataError(f"{source}: a column is no number, so it holds no pixels; choose an image set") from None
        if not np.all((block >= 0) & (block <= 255) & (block == np.floor(block))):
            raise DataError(
                f"{source}: rows {start + 1} to {start + len(block)} hold values that are no whole numbers from 0 to "
                "255, so they are no pixels; choose an image set"
            )
        pixels[start : start + _ROWS] = block
    if channels_last:
        return np.ascontiguousarray(np.moveaxis(pixels.reshape(n, side, side, channels), 3, 1))
    return pixels.reshape(n, channels, side, side)


def _class_order(levels: tuple[str, ...]) -> list[int]:
    """Positions of the classes in order: numbers by size, words by name."""
    numbers = all(level.isdecimal() for level in levels)
    return sorted(range(len(levels)), key=lambda i: (int(levels[i]) if numbers else 0, levels[i]))


def _unknown(name: str, others: str) -> DataError:
    return DataError(
        f"there is no data set {name!r} on OpenML{others}; give another name, or a file (picsc audit FILE)"
    )


def _default_target(attribute: str | None, columns: list[str]) -> str | None:
    """The default target; the first one if there are several."""
    if attribute is None or attribute in columns:
        return attribute
    first = attribute.split(",")[0]
    return first if first in columns else None


def _listed(attribute: str | list[str] | None) -> set[str | None]:
    """Names in an attribute of OpenML, which is one name, a list, or several names separated by commas."""
    entries = [attribute] if isinstance(attribute, str) else attribute or []
    return {name.strip() for entry in entries for name in (entry, *entry.split(","))}
