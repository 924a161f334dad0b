"""The target: which column it is, and its values as classes or numbers. Letters: n rows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from picsc.datasets.columns.kinds import numbers
from picsc.datasets.columns.raw import Raw, spelled
from picsc.datasets.table import Target
from picsc.errors import DataError
from picsc.settings import ReadSettings

USUAL_NAMES = ("target", "label", "class", "y")
MOST_INTEGER_CLASSES = 20
"""Whole numbers with more distinct values than this are taken as numbers, not as classes."""


def pick(columns: Sequence[str], settings: ReadSettings, *, keys: Sequence[str], where: str) -> tuple[str, str] | None:
    """The target's name and how it was found; None if the table has no target.

    Without --target it is the column named target, label, class or y (in this order, in upper or lower case), else the
    last column that neither cuts the table nor is dropped.

    Raises:
        DataError: --drop names the target, or no column is left to be one.
    """
    if settings.no_target:
        return None
    if settings.target is not None:
        if settings.target in settings.drop:
            raise DataError(f"{where}: --drop and --target name the same column {settings.target!r}; choose one")
        return settings.target, "--target"
    open_columns = [name for name in columns if name not in settings.drop]
    for usual in USUAL_NAMES:
        for name in open_columns:
            if name.lower() == usual:
                return name, f"named {name!r}"
    uncut = [name for name in open_columns if name not in keys]
    if not uncut:
        way = "drop fewer columns" if settings.drop else "name one with --target"
        raise DataError(f"{where}: no column is left to be the target; {way}, or use --no-target")
    return uncut[-1], "last column"


def read_target(
    name: str, column: Raw, settings: ReadSettings, *, chosen: str, decimal: str = ".", where: str
) -> Target:
    """Class codes in order of first appearance, or numbers.

    Words, booleans and categories are classes; fractions are numbers; whole numbers are classes if there are at most
    20 different ones. --task overrides this, as do --categorical and --numeric if they name the target.

    Raises:
        DataError: there are no labels, only one class or value, or nearly as many classes as rows; or --task
            regression was given and a label is no number.
    """
    labelled = int(np.count_nonzero(~column.missing))
    other = "name another column with --target, or audit the covariates alone (picsc audit --no-target)"
    if labelled == 0:
        since = ", as infinite ones count as missing" if column.infinite else ""
        raise DataError(f"{where}: the target {name!r} has no labels in its {len(column.data)} rows{since}; {other}")
    task = settings.task
    if task == "auto" and name in settings.categorical:
        task = "classification"
    if task == "auto" and name in settings.numeric:
        task = "regression"
    if task == "regression" or (task == "auto" and _holds_numbers(column)):
        found = numbers(name, column, option="--task regression", decimal=decimal, where=where)
        values = found.data.astype(np.float64)
        present = values[~np.isnan(values)]
        ordered = found.ordered
        if not len(present) or np.all(ordered == ordered[0]):
            first = f"{present[0]:g}" if len(present) and found.exact is None else _only(found)
            value = f"one value only: {first}" if len(present) else "no finite values"
            raise DataError(f"{where}: the target {name!r} has {value}; {other}")
        return Target(name, "numbers", values, (), chosen, found.exact, column.absent)
    words = column.as_words()
    classes = len(words.levels)
    if classes == 1:
        raise DataError(f"{where}: the target {name!r} has one class only: {words.levels[0]!r}; {other}")
    if classes > max(MOST_INTEGER_CLASSES, labelled / 2):
        raise DataError(
            f"{where}: the target {name!r} ({chosen}) has {classes} classes in {labelled} rows, which no model can "
            f"learn; {other}" + ("" if column.coded else ", or say --task regression")
        )
    return Target(name, "classes", words.data.astype(np.int64), words.levels, chosen)


def _only(column: Raw) -> str:
    """The one value of a column of exact values, in words."""
    return "" if column.exact is None else spelled(column.exact.distinct[0])


def _holds_numbers(column: Raw) -> bool:
    if column.form == "integers":
        return len(np.unique(column.ordered)) > MOST_INTEGER_CLASSES
    return not column.coded
