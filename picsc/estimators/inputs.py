"""Rows, labels, fragments and weights as scikit-learn hands them over, as picsc's tables.

Letters: n rows, c classes.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import _safe_indexing, check_consistent_length
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from picsc.datasets.load import FEWEST_ROWS
from picsc.datasets.memory import from_memory
from picsc.datasets.table import Dataset, Target
from picsc.errors import DataError, NumericsError, PicscError, SettingsError
from picsc.estimators.scikit_learn import checked_array, checked_numbers, is_frame
from picsc.settings import ReadSettings

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class UnusableInputError(DataError, ValueError):
    """Rows or labels that an estimator cannot use; a ValueError, as scikit-learn expects it."""


class UnusableParameterError(SettingsError, ValueError):
    """A parameter of an estimator that cannot be used; a ValueError, as scikit-learn expects it."""


class FailedTrainingError(NumericsError, ValueError):
    """Training that gave no finite model; a ValueError, so that a search over parameters goes on."""


@contextmanager
def as_value_errors() -> Iterator[None]:
    """Raise picsc's errors as ones that are also a ValueError."""
    try:
        yield
    except (UnusableInputError, UnusableParameterError, FailedTrainingError):
        raise
    except SettingsError as error:
        raise UnusableParameterError(str(error)) from None
    except NumericsError as error:
        raise FailedTrainingError(str(error)) from None
    except PicscError as error:
        raise UnusableInputError(str(error)) from None


@dataclass(frozen=True, slots=True)
class Labels:
    """Labels of n rows."""

    target: Target
    classes: NDArray[Any]
    """The classes in scikit-learn's order, (c,); empty for numbers."""
    order: Ints
    """For each of `classes` its code in the target, (c,)."""


def rows_of(x: Any, rows: Ints) -> Any:
    """Some rows of a frame or an array."""
    return _safe_indexing(x if is_frame(x) else np.asarray(x), rows)


def usable_rows(x: Any) -> Any:
    """What was given as X: a frame as it is, anything else as an array (n, f).

    Raises:
        ValueError: it is no table, or has no row or no column.
    """
    if not is_frame(x):
        return checked_array(x)
    if isinstance(x, pd.DataFrame) and not len(x.columns):
        raise UnusableInputError(f"X has 0 feature(s) (shape={x.shape}) while a minimum of 1 is required.")
    return x


def table_of(x: Any, read: ReadSettings) -> Dataset:
    """Features as a table without a target.

    Args:
        x: from `usable_rows`.
        read: how to read them.

    Raises:
        UnusableInputError: they cannot be read, or are fewer than four rows.
    """
    n = len(x) if hasattr(x, "__len__") else FEWEST_ROWS
    if n < FEWEST_ROWS:
        raise UnusableInputError(
            f"X has {n} row{'' if n == 1 else 's'} (n_samples={n}), which are too few to learn from: need at least "
            f"{FEWEST_ROWS}"
        )
    return from_memory(x, None, read.model_copy(update={"no_target": True}), name="X")


def classes_of(y: ArrayLike, n: int, given: NDArray[Any] | None = None, *, by_name: bool = False) -> Labels:
    """Classes of n rows.

    Args:
        y: (n,), of any type.
        n: rows of X.
        given: all classes, of labels that come in parts; None takes those of y.
        by_name: codes follow the order of the classes' names, and not of their first appearance, which is that of
            `picsc.cross_validate`.

    Raises:
        ValueError: they are numbers of a continuous kind, of another number of rows, or of one class.
    """
    if y is None:
        raise UnusableInputError("requires y to be passed, but the target y is None")
    column = column_or_1d(y, warn=True)
    check_classification_targets(column)
    _check_length(column, n)
    if pd.isna(pd.Series(column)).any():
        raise UnusableInputError("Input y contains NaN: every row needs a label; leave rows without one out")
    classes, place = np.unique(column, return_inverse=True)
    place = place.reshape(-1)
    if given is not None:
        everywhere = np.unique(given)
        new = classes[~np.isin(classes, everywhere)]
        if len(new):
            raise UnusableInputError(
                f"y has labels that are not in classes, such as {_shown(new[0])}; name all classes in the first call"
            )
        place, classes, by_name = np.searchsorted(everywhere, classes)[place], everywhere, True
    if len(classes) < 2:
        raise UnusableInputError(f"y has one class only, {_shown(classes[0])}: a classifier needs at least 2 classes")
    code = np.arange(len(classes))
    if not by_name:
        first = np.unique(place, return_index=True)[1]
        code[np.argsort(first, kind="stable")] = np.arange(len(classes))
    names = tuple(str(classes[i]) for i in np.argsort(code))
    target = Target("target", "classes", code[place].astype(np.int64), names, "given as y")
    return Labels(target, classes, code.astype(np.int64))


def numbers_of(y: ArrayLike, n: int) -> Labels:
    """Numbers of n rows.

    Raises:
        ValueError: they are no finite numbers, or of another number of rows.
    """
    if y is None:
        raise UnusableInputError("requires y to be passed, but the target y is None")
    values = checked_numbers(y)
    _check_length(values, n)
    return Labels(Target("target", "numbers", values, (), "given as y"), np.empty(0), np.empty(0, np.int64))


def with_target(table: Dataset, labels: Labels) -> Dataset:
    """The table with these labels."""
    taken = {column.name for column in table.columns} | {each.name for each in table.left_out}
    name = "target"
    while name in taken:
        name += "_"
    return replace(table, target=replace(labels.target, name=name))


def fragments_of(fragments: ArrayLike, n: int) -> Ints:
    """Codes of the fragment of each row, in 0..k-1 by the order of their names.

    Raises:
        ValueError: they are of another number of rows, or some are missing.
    """
    column = pd.Series(np.asarray(fragments).reshape(-1))
    _check_length(column, n)
    if column.isna().any():
        raise UnusableInputError("fragments has rows without a fragment; name one for every row")
    return np.unique(column.to_numpy(), return_inverse=True)[1].reshape(-1).astype(np.int64)


def weights_of(sample_weight: ArrayLike | None, n: int) -> Floats | None:
    """Weights of the rows, (n,); None where all are equal.

    Raises:
        ValueError: they are of another number of rows, negative, not finite, or all zero.
    """
    if sample_weight is None:
        return None
    values = np.asarray(sample_weight, np.float64)
    if values.ndim == 0:
        return None
    if values.ndim != 1:
        raise UnusableInputError(f"Sample weights must be 1D array or scalar: got {values.ndim} dimensions")
    _check_length(values, n)
    bad = np.flatnonzero(~(np.isfinite(values) & (values >= 0)))
    if len(bad):
        raise UnusableInputError(
            f"sample_weight is {values[bad[0]]:g} in row {bad[0] + 1}: weights must be finite and at least 0"
        )
    if not values.any():
        raise UnusableInputError("sample_weight: every weight is zero, so that no row is left to learn from")
    return None if values.min() == values.max() else values


def _shown(label: Any) -> str:
    return repr(label.item() if isinstance(label, np.generic) else label)


def _check_length(values: Any, n: int) -> None:
    check_consistent_length(values, np.empty(n))
