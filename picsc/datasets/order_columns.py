"""Columns of times that order the rows, left out of the tests of shift: such a column moves whatever the data do.

Reading: columns are chosen from the whole table, from values and row numbers, never from the pieces. Where pieces do
    not follow the order of the rows, the choice does not depend on the labels that the null permutes. Where they do,
    as unshuffled folds and batches, rows that are exchangeable stand in order less than once in 1000 times, so that the
    error rate of the other tests stays. The same holds between a table and its reference file, where a column is left
    out if the times of the one come after those of the other: exchangeable rows do so about three times in a million
    (see `picsc.datasets.columns.ordering`).
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from picsc.datasets.columns.date_numbers import says_time
from picsc.datasets.columns.ordering import follows, orders_rows
from picsc.datasets.columns.raw import Raw
from picsc.datasets.table import LeftOut
from picsc.errors import DataError
from picsc.phrases import listed
from picsc.reports.common import Finding

if TYPE_CHECKING:
    from picsc.datasets.table import Column, Dataset


def without_order_columns(dataset: Dataset, keep: Collection[str], *, needed: bool = True) -> Dataset:
    """The table without the columns of times that rise or fall with its rows; the times stay for checks of the pieces.

    A column of times holds dates, or numbers in a column that is named as a time, such as `year` or `time_step`.

    Args:
        dataset: n rows.
        keep: names of columns that stay.
        needed: a table without any column is refused.

    Raises:
        DataError: no other column is left.
    """
    reasons = {}
    for column in dataset.columns:
        if column.name in keep or not _holds_times(column):
            continue
        way = orders_rows(column.values.astype(np.float64, copy=False))
        if way:
            reasons[column.name] = f"it {'rises' if way > 0 else 'falls'} with the rows"
    return _without(dataset, reasons, needed)


def without_order_between(dataset: Dataset, reference: Dataset, keep: Collection[str]) -> tuple[Dataset, Dataset]:
    """The table and its reference without the columns of times by which the one comes after the other.

    Args:
        dataset: the table that is audited.
        reference: the rows that it is compared with, with the same columns.
        keep: names of columns that stay.

    Raises:
        DataError: no other column is left.
    """
    others = {column.name: column for column in reference.columns}
    reasons = {}
    for column in dataset.columns:
        if column.name in keep or not _holds_times(column) or column.name not in others:
            continue
        here = column.values.astype(np.float64, copy=False)
        there = others[column.name].values.astype(np.float64, copy=False)
        if follows(here, there):
            reasons[column.name] = f"its times come after those of {reference.name}"
        elif follows(there, here):
            reasons[column.name] = f"its times come before those of {reference.name}"
        elif orders_rows(here) or orders_rows(there):
            where = dataset.name if orders_rows(here) else reference.name
            reasons[column.name] = f"it rises or falls with the rows of {where}"
    left = tuple(column for column in reference.columns if column.name not in reasons)
    times = {column.name: column.values for column in reference.columns if column.name in reasons}
    return _without(dataset, reasons), replace(reference, columns=left, times={**reference.times, **times})


def order_left_out(dataset: Dataset) -> tuple[str, ...]:
    """Names of the columns that were left out because they order the rows, in file order."""
    return tuple(column.name for column in dataset.left_out if column.orders)


def _holds_times(column: Column) -> bool:
    return column.kind == "datetime" or (column.kind == "numeric" and says_time(column.name))


def _without(dataset: Dataset, reasons: dict[str, str], needed: bool = True) -> Dataset:
    if not reasons:
        return dataset
    left = [column for column in dataset.columns if column.name not in reasons]
    gone = [column for column in dataset.columns if column.name in reasons]
    names = listed([repr(name) for name in reasons])
    if needed and not left:
        raise DataError(
            f"{dataset.name}: the only columns that could be tested order the rows: {names}; add columns, or test them "
            f"all the same with --keep {','.join(reasons)}"
        )
    out = [
        LeftOut(
            column.name,
            column.kind,
            int(column.missing.sum()),
            "; ".join(filter(None, (f"{reasons[column.name]}, so it is not tested", column.note))),
            orders=True,
            raw=Raw("dates", column.values.astype(np.float64, copy=False)),
        )
        for column in gone
    ]
    why = listed([f"{name!r} ({reason})" for name, reason in reasons.items()])
    finding = Finding(
        "order-left-out",
        "note",
        f"left out of the tests, as a column of times that orders the rows moves whatever the data do: {why}",
        f"--keep {','.join(reasons)} tests {'it' if len(reasons) == 1 else 'them'} all the same",
    )
    return replace(
        dataset,
        columns=tuple(left),
        left_out=(*dataset.left_out, *out),
        times={**dataset.times, **{column.name: column.values for column in gone}},
        findings=(*dataset.findings, finding),
    )
