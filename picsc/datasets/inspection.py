"""A report on how a file is read and what it holds, without any test. Letters: n rows."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from picsc.datasets.description import data_info
from picsc.datasets.files.read import read_frame
from picsc.datasets.files.table import FileTable
from picsc.datasets.load import from_file
from picsc.datasets.order_columns import without_order_columns
from picsc.datasets.table import Dataset
from picsc.errors import DataError
from picsc.reports.data import ClassRows, DataReport
from picsc.settings import ReadSettings


def inspect_file(source: str | Path, settings: ReadSettings) -> DataReport:
    """Read one file as an audit would, and report how it was understood.

    A target that no model could learn (one class, or as many classes as rows) is no error here: the report says so.

    Args:
        source: path of the file; `-` is standard input.
        settings: how to read it.

    Raises:
        DataError: the file cannot be read, holds no table, or lacks a column that the settings name.
    """
    table = read_frame(source, settings)
    no_target = ""
    try:
        dataset = from_file(table, source, settings)
    except DataError as error:
        if settings.no_target or settings.target is not None:
            raise  # the user asked for this target, or for none, so there is nothing to fall back on
        try:
            dataset = from_file(table, source, settings.model_copy(update={"no_target": True}))
        except DataError:
            raise error from None
        no_target = str(error)
    dataset = without_order_columns(dataset, settings.keep, needed=False)
    info = data_info(dataset)
    place = {str(name): i for i, name in enumerate(table.frame.columns)}
    return DataReport(
        data=replace(info, columns=tuple(sorted(info.columns, key=lambda column: place[column.name]))),
        classes=_classes(dataset),
        unlabelled=None if dataset.target is None else int(np.count_nonzero(dataset.target.missing)),
        duplicated=_duplicated(table, dataset),
        no_target=no_target,
    )


def _classes(dataset: Dataset) -> tuple[ClassRows, ...]:
    target = dataset.target
    if target is None or target.kind != "classes":
        return ()
    counts = np.bincount(target.values[~target.missing].astype(np.int64), minlength=len(target.levels))
    return tuple(ClassRows(name, int(count)) for name, count in zip(target.levels, counts, strict=True))


def _duplicated(table: FileTable, dataset: Dataset) -> int:
    used = (
        {column.name for column in dataset.columns}
        | {*dataset.times}
        | ({dataset.target.name} if dataset.target else set())
    )
    frame = table.frame[[name for name in table.frame.columns if name in used]]
    return int(frame.duplicated(keep=False).sum())
