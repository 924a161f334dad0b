"""Typed columns of a table from raw ones: numbers and dates among words, kinds, and the target.

Letters: n rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from picsc.datasets.columns.date_columns import with_dates
from picsc.datasets.columns.kept import kept
from picsc.datasets.columns.kinds import infer
from picsc.datasets.columns.missing_words import missing_words, without_missing_words
from picsc.datasets.columns.raw import Raw, with_truth
from picsc.datasets.columns.reading import with_numbers
from picsc.datasets.columns.targets import read_target
from picsc.datasets.table import Column, LeftOut, Target
from picsc.errors import DataError
from picsc.reports.common import Finding
from picsc.settings import ReadSettings


@dataclass(frozen=True, slots=True)
class RawTable:
    """A table before the kinds of its columns are decided."""

    columns: Mapping[str, Raw]
    """Every column, as it was stored."""
    n: int
    """Number of rows."""
    target: tuple[str, str] | None
    """Name of the target, and how it was found, see `Target.chosen`; None without a target."""
    decimal: str
    """Decimal mark in words that are numbers, point or comma."""
    where: str
    """The file or table, for messages."""
    keys: tuple[str, ...] = ()
    """Columns that cut the table."""


@dataclass(frozen=True, slots=True)
class TypedTable:
    """A table after the kinds of its columns are decided; the fields that a `Dataset` has are the same there."""

    columns: tuple[Column, ...]
    left_out: tuple[LeftOut, ...]
    target: Target | None
    raws: dict[str, Raw]
    """Every column with its numbers and dates as such."""
    times: dict[str, NDArray[np.float64]]
    """(n,) seconds since 1970 of each column that cuts the table and holds dates, NaN where missing."""
    date_orders: dict[str, tuple[str, bool]]
    findings: tuple[Finding, ...]


def typed(table: RawTable, settings: ReadSettings) -> TypedTable:
    """Decide what every column of a table holds.

    Args:
        table: its columns.
        settings: columns that the user declares, words for missing values, formats of dates, the task.

    Raises:
        DataError: no usable column, an unusable target, or a column that is not what the settings say.
    """
    name, chosen = table.target or (None, "")
    keys, where, decimal = table.keys, table.where, table.decimal
    words = missing_words(settings)
    numeric = {*settings.numeric, *([name] if settings.task == "regression" else [])}
    raws = {
        column: without_missing_words(values, words, numeric=column in numeric, decimal=decimal)
        for column, values in table.columns.items()
    }
    # pieces keep the names that they have in the file, unless one of them has several
    raws = {column: with_truth(values, several=column in keys) for column, values in raws.items()}
    mark = "," if decimal == "," else None if settings.decimal is None else "."
    raws, findings = with_numbers(raws, settings, words.in_numbers, target=name, keys=keys, decimal=mark)
    dated = with_dates(raws, settings, keys=keys, target=name, missing=words.in_numbers, where=where)
    raws = dated.raws
    target = None
    if name is not None:
        target = read_target(name, raws[name], settings, chosen=chosen, decimal=decimal, where=where)
    apart = {*keys, *(() if target is None else (target.name,))}
    columns, left_out = _covariates({c: r for c, r in raws.items() if c not in apart}, settings, decimal, where)
    return TypedTable(columns, left_out, target, raws, dated.times, dated.orders, (*findings, *dated.findings))


def needed_raws(stored: Mapping[str, Raw], found: TypedTable) -> dict[str, Raw]:
    """The raw columns that cannot be had from the typed ones: words, dates, the target, and columns left out."""
    aside = {column.name for column in found.left_out} | (set() if found.target is None else {found.target.name})
    return {name: raw for name, raw in stored.items() if raw.coded or raw.form == "dates" or name in aside}


def _covariates(
    raws: dict[str, Raw], settings: ReadSettings, decimal: str, where: str
) -> tuple[tuple[Column, ...], tuple[LeftOut, ...]]:
    """The columns that take part, and the columns that are left out."""
    columns: list[Column] = []
    left_out: list[LeftOut] = []
    for name, column in raws.items():
        dropped = name in settings.drop
        found = infer(
            name,
            column,
            categorical=name in settings.categorical,
            numeric=name in settings.numeric and not dropped,
            decimal=decimal,
            where=where,
        )
        if name in settings.keep and isinstance(found, LeftOut):
            found = kept(found, column)
        if dropped:
            missing = int(np.count_nonzero(column.missing))
            left_out.append(LeftOut(name, found.kind, missing, "dropped by --drop"))
        elif isinstance(found, Column):
            columns.append(found)
        else:
            left_out.append(replace(found, raw=None if found.kind == "empty" else column))
    if not columns:
        why = "; ".join(f"{column.name!r}: {column.reason}" for column in left_out[:5]) or "there is none"
        more = f"; and {len(left_out) - 5} more" if len(left_out) > 5 else ""
        raise DataError(
            f"{where}: no column besides the target and the cutting columns can be tested ({why}{more}); "
            "add columns, or use --no-target, --categorical or --numeric"
        )
    return tuple(columns), tuple(left_out)
