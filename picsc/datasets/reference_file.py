"""A second table that the first is compared with: the same settings of columns, and the same target."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from picsc.datasets.columns.names import all_named
from picsc.datasets.files.read import read_frame
from picsc.datasets.files.sources import STDIN
from picsc.datasets.load import from_file
from picsc.datasets.memory import as_array, from_memory

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from picsc.datasets.data import Data
    from picsc.datasets.memory import Frame
    from picsc.datasets.table import Dataset, Target
    from picsc.settings import ReadSettings

LAST = "last column"
"""`Target.chosen` of a target that nothing but its place makes one."""
Opened = tuple["Data", "Dataset | None"]
"""The data, and the table that they are compared with, if there is one."""


def load_reference(path: str | Path, settings: ReadSettings, *, keys: Sequence[str] = ()) -> Dataset:
    """Read the table that others are compared with; it may lack columns that the settings drop or give a kind.

    Args:
        path: path of the file.
        settings: how the data are read.
        keys: columns of groups that are kept aside, as far as the file has them.

    Raises:
        DataError: the file cannot be read, or its columns are not what the settings say.
    """
    table = read_frame(path, settings)
    names = set(all_named([str(column).strip() for column in table.frame.columns]))
    there = tuple(key for key in keys if key in names)
    return from_file(table, path, _of_its_columns(settings, table.frame.columns), keys=there)


def reference_in_memory(
    table: Frame | ArrayLike | tuple[Frame | ArrayLike, ArrayLike], settings: ReadSettings
) -> Dataset:
    """The table of a frame or an array that others are compared with, as `load_reference` makes it of a file.

    Args:
        table: its rows; a tuple of two is data and labels.
        settings: how the data are read.

    Raises:
        SettingsError: labels contradict the settings.
        DataError: the columns are not what the settings say.
    """
    X, y = table if isinstance(table, tuple) and len(table) == 2 else (table, None)
    values = as_array(X)
    names = getattr(X, "column_names", getattr(X, "columns", None)) if values is None else None
    read = settings if names is None else _of_its_columns(settings, names)
    return from_memory(X if values is None else values, y, read, name="reference")


def opened_alike(opened: Callable[[ReadSettings], Opened], read: ReadSettings) -> Opened:
    """The data and the table that they are compared with, under one target and with times in one order.

    Where both take their last column for the target and these differ, a column was added to one of them or lost. Then
    the target is the reference's if the data have it, and else there is none. Where day and month of a column that cuts
    the data are in doubt, and the reference proves an order, that order holds; `picsc.datasets.together` sees to the
    columns that are compared.

    Args:
        opened: opens both; called a second time where the first reading found two targets, or two orders.
        read: how to read both.

    Raises:
        DataError: one cannot be read.
    """
    data, reference = opened(read)
    if reference is None or data.kind != "table" or data.source in ("standard input", STDIN):
        return data, reference
    formats = _proven_by_the_other(data, reference)
    if formats:
        read = read.model_copy(update={"date_format": (*read.date_format, *formats)})
        data, reference = opened(read)
        assert reference is not None and data.kind == "table"  # noqa: S101, PT018 - as before
    target, other = data.target, reference.target
    if target is None or other is None or target.name == other.name or {target.chosen, other.chosen} != {LAST}:
        return data, reference
    if other.name not in {column.name for column in data.columns}:
        return opened(read.model_copy(update={"no_target": True}))
    data, again = opened(read.model_copy(update={"target": other.name}))
    chosen = f"last column of {reference.name}"
    if data.kind == "table" and data.target is not None:
        data = replace(data, target=_chosen(data.target, chosen))
    return data, again


def _proven_by_the_other(data: Dataset, reference: Dataset) -> tuple[str, ...]:
    """Formats of columns that cut the data, whose order of day and month the reference proves and they do not."""
    return tuple(
        f"{name}={reference.date_orders[name][0]}"
        for name, (_, proven) in data.date_orders.items()
        if name in data.keys and not proven and reference.date_orders.get(name, ("", False))[1]
    )


def _chosen(target: Target, chosen: str) -> Target:
    return replace(target, chosen=chosen)


def _of_its_columns(settings: ReadSettings, columns: Iterable[object]) -> ReadSettings:
    """The settings without what they say of columns that this table does not have."""
    return settings.about(set(all_named([str(column).strip() for column in columns])))
