"""Data from whatever a verb is given: a value in memory, a path, or the name of a data set."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from picsc.datasets.images import ImageSet, from_images
from picsc.datasets.load import load
from picsc.datasets.memory import as_array, from_memory
from picsc.datasets.texts import TokenSet
from picsc.errors import SettingsError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from picsc.datasets.data import Data
    from picsc.datasets.memory import Frame
    from picsc.settings import ReadSettings


def open_data(
    data: Frame | ImageSet | TokenSet | ArrayLike | str | Path,
    y: ArrayLike | None,
    settings: ReadSettings,
    *,
    keys: Sequence[str] = (),
    name: str = "memory",
) -> Data:
    """The data that a verb is called with from Python.

    Args:
        data: a frame of pandas, or of any library that exports Arrow data or the dataframe interchange protocol; an
            array (n, f); images as an `ImageSet` or an array (n, s, s) or (n, c, s, s); texts as a `TokenSet`; or a
            path as in `open_source`.
        y: labels (n,) of a frame or an array, by position; None for all other data.
        settings: how to read a table.
        keys: columns that cut a table or weight its rows; they are kept aside and are no covariates.
        name: name of what is in memory, for messages and reports.

    Raises:
        SettingsError: y is missing, or does not go with the data.
        DataError: the data cannot be read.
    """
    if isinstance(data, str | Path):
        if y is not None:
            raise SettingsError("y goes with a frame or an array; name the target column of a file with --target")
        return _from_path(data, settings, keys)
    if isinstance(data, ImageSet | TokenSet):
        if y is not None:
            raise SettingsError(f"y goes with a frame or an array; a {type(data).__name__} holds its own labels")
        return data
    values = as_array(data)
    if values is not None and values.ndim in (3, 4):
        if y is None:
            raise SettingsError(f"images of shape {values.shape} need their classes; give them as y=")
        return from_images(values, np.asarray(y))
    return from_memory(data if values is None else values, y, settings, keys=keys, name=name)


def open_source(
    source: str, *, named: bool, settings: ReadSettings, keys: Sequence[str] = (), data_dir: Path | None = None
) -> Data:
    """The data that a command or a recipe names.

    Args:
        source: name of a data set, or path of a file with a table, of a file in LEAF's JSON, or of a folder with plays,
            reviews or LEAF's files.
        named: `source` is the name of a data set.
        settings: how to read a table.
        keys: columns that cut a table or weight its rows; they are kept aside and are no covariates.
        data_dir: folder of data sets by name; None takes the folder of `data_directory`.

    Raises:
        DataError: the data cannot be read or found.
    """
    if not named:
        return _from_path(source, settings, keys)
    from picsc.datasets.catalog.lookup import by_name  # loads scikit-learn's data sets, which a file does not need

    return by_name(source, settings, keys=keys, data_dir=data_dir)


def _from_path(source: str | Path, settings: ReadSettings, keys: Sequence[str]) -> Data:
    path = Path(source)
    folder = bool(str(source)) and os.path.isdir(path)  # noqa: PTH112 - no error for a name that no file can have
    if folder or (path.suffix.lower() == ".json" and settings.format is None):
        from picsc.datasets.text_files.detect import holds_text, read_clients  # loads scikit-learn's data sets, too

        if holds_text(path):
            return read_clients(path, path.name)
    return load(source, settings, keys=keys)
