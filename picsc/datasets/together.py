"""A table and its reference, with the kind of every column decided on the rows of both.

What is decided on one table alone may differ in the other without any difference of the data: a column that is constant
in one, levels that are rare in one, a date whose day and month only the other proves, 0 and 1 against true and false.

Letters: n rows of the table, m of the reference.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

import numpy as np

from picsc.datasets.columns.joining import followed_by
from picsc.datasets.columns.raw import Raw
from picsc.datasets.rows import left_out_of_rows, of_rows
from picsc.datasets.table import Column, Dataset
from picsc.datasets.typed import RawTable, TypedTable, typed
from picsc.settings import ReadSettings

Pair = tuple[Dataset, Dataset]
OF_BOTH = frozenset(("numbers-as-words", "decimal-in-doubt", "day-or-month"))
"""Findings on how a column was read that hold for both tables; all others name rows of one."""


def read_together(data: Dataset, reference: Dataset, settings: ReadSettings, keys: Collection[str] = ()) -> Pair:
    """Decide the kinds of the columns that two tables share on the rows of both.

    Reading: a function of the pooled rows alone, so rows of the two stay exchangeable; levels that are rare in both
        together are pooled, whatever they are in one.

    Args:
        data: n rows.
        reference: m rows.
        settings: how both were read.
        keys: columns that cut the data, and stay as they are.

    Returns:
        The two tables; columns that only one has are as they were. Both as they are where one has other kinds of
        values than columns of a table, such as a part of a table, or where their targets are not the same column.

    Raises:
        DataError: a column of both is not what the settings say.
    """
    stored, others = _stored(data), _stored(reference)
    target, other = data.target, reference.target
    if (None if target is None else target.name) != (None if other is None else other.name):
        return data, reference
    names = [name for name in stored if name in others and name not in keys and not _dropped(data, name)]
    if target is not None and target.name not in names:
        return data, reference
    if not any(target is None or name != target.name for name in names):
        return data, reference
    decimal = "," if "," in (_decimal(data), _decimal(reference)) else "."
    both = {name: followed_by(stored[name], others[name], decimal=decimal) for name in names}
    chosen = None if target is None else (target.name, target.chosen)
    where = f"{data.name} and {reference.name}"
    table, settings = RawTable(both, data.n + reference.n, chosen, decimal, where), settings.about(names)
    found = typed(table, settings)
    formats = _proven_alone(found, data, reference)
    if formats:
        found = typed(table, settings.model_copy(update={"date_format": (*settings.date_format, *formats)}))
    first, second = np.arange(data.n), np.arange(data.n, data.n + reference.n)
    return _with(data, found, first, first=True), _with(reference, found, second, first=False)


def _with(table: Dataset, found: TypedTable, rows: np.typing.NDArray[np.int64], *, first: bool) -> Dataset:
    """The table with the columns that were decided together, in its own order."""
    columns = {column.name: of_rows(column, rows) for column in found.columns}
    left_out = {each.name: each for each in left_out_of_rows(found.left_out, rows)}
    settled = columns.keys() | left_out.keys()
    names = [name for name in _names(table) if name in settled]
    of_both = tuple(each for each in found.findings if each.code in OF_BOTH) if first else ()
    return replace(
        table,
        columns=(
            *(columns[name] for name in names if name in columns),
            *(column for column in table.columns if column.name not in settled),
        ),
        left_out=(
            *(left_out[name] for name in names if name in left_out),
            *(each for each in table.left_out if each.name not in settled),
        ),
        target=None if found.target is None else of_rows(found.target, rows),
        findings=(*(each for each in table.findings if each.code not in OF_BOTH), *of_both),
        date_orders=found.date_orders,
        raws={},
    )


def _stored(table: Dataset) -> dict[str, Raw]:
    """Every column of a table as it was stored, as far as that matters."""
    plain = {column.name: _raw_of(column) for column in table.columns if column.name not in table.raws}
    empty = {each.name: Raw("numbers", np.full(table.n, np.nan)) for each in table.left_out if each.kind == "empty"}
    known = {**empty, **plain, **table.raws}
    every = [*_names(table), *([] if table.target is None else [table.target.name])]
    return {name: known[name] for name in every if name in known}


def _names(table: Dataset) -> list[str]:
    return [each.name for part in (table.columns, table.left_out) for each in part]


def _raw_of(column: Column) -> Raw:
    """The raw column of numbers that were stored as such."""
    values = column.values.astype(np.float64, copy=False)
    whole = bool(np.all(np.isnan(values) | (values == np.floor(values))))
    return Raw("integers" if whole else "numbers", values, exact=column.exact, absent=column.absent)


def _dropped(table: Dataset, name: str) -> bool:
    return any(each.name == name and each.reason == "dropped by --drop" for each in table.left_out)


def _decimal(table: Dataset) -> str:
    choices = () if table.reading is None else table.reading.choices
    return "," if any(each.name == "decimal" and each.value == "comma" for each in choices) else "."


def _proven_alone(found: TypedTable, *tables: Dataset) -> tuple[str, ...]:
    """Formats of columns whose order of day and month is in doubt in both together, and proven in one alone.

    The order of the rows of one table may prove it, which both together do not have.
    """
    formats = []
    for name, (_, proven) in found.date_orders.items():
        alone = [table.date_orders[name] for table in tables if name in table.date_orders]
        forms = {form for form, known in alone if known}
        if not proven and len(forms) == 1:
            formats.append(f"{name}={forms.pop()}")
    return tuple(formats)
