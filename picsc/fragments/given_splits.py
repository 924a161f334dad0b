"""The pieces of splits that somebody else made: a splitter of scikit-learn, or pairs of training and test rows.

Letters: n rows, k splits.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from picsc.errors import DataError, SettingsError
from picsc.fragments.pieces import Cut, Fragment
from picsc.fragments.split_column import class_codes, dealt_by_class
from picsc.phrases import counted
from picsc.settings import CutSettings

if TYPE_CHECKING:
    from picsc.datasets.table import Dataset

Rows = NDArray[np.int64]
_NEVER_TESTED = "rows that only train"
"""Name of the piece of rows that no split tests, such as the first rows of splits that go forward in time."""


def cut_by_splits(dataset: Dataset, cv: Any, *, x: Any = None, groups: ArrayLike | None = None) -> Cut:
    """Make a piece of the test rows of each split, and one of the rows that no split tests.

    Args:
        dataset: n rows.
        cv: a splitter of scikit-learn, or any object with its `split`; pairs of training and test rows; a number of
            folds, which scikit-learn makes; what its `cross_validate` returned with `return_indices`; or a fitted
            search such as `GridSearchCV`.
        x: what the splitter is given as X; None for an array of n rows without content, which is all that
            scikit-learn's own splitters look at.
        groups: (n,) group of each row, for splitters that keep groups together; the null then moves whole groups.

    Raises:
        SettingsError: `cv` is no splitter and no pairs of rows.
        DataError: the splitter cannot split these rows, or tests a row twice.
    """
    n = dataset.n
    name = _name(cv)
    cv = _kept_by(cv)
    codes = _classes(dataset)
    owner = np.full(n, -1, np.int64)
    forward = True
    splits = _splits(cv, np.zeros((n, 1)) if x is None else x, _labels(dataset), groups, n)
    for k, (train, test) in enumerate(splits):
        again = owner[test] >= 0
        if again.any():
            first = int(owner[test][again][0])
            raise DataError(
                f"cv: split {k + 1} tests {counted(int(again.sum()), 'row')} that an earlier split tested too, such as "
                f"split {first + 1}; audit splits whose test rows do not overlap, such as one repeat"
            )
        forward = forward and (not len(train) or not len(test) or train.max() < test.min())
        owner[test] = k
    empty = [i for i, (_, test) in enumerate(splits, start=1) if not len(test)]
    if empty:
        raise DataError(f"cv: split {empty[0]} tests no row")
    fragments = [Fragment("fold", f"split {i}", test) for i, (_, test) in enumerate(splits, start=1)]
    rest = np.flatnonzero(owner < 0)
    if len(rest):
        fragments.insert(0, Fragment("fold", _NEVER_TESTED, rest))
    if len(fragments) < 2:
        raise DataError("cv: one split that tests all rows leaves nothing to compare them with")
    units = None if groups is None else np.unique(np.asarray(groups), return_inverse=True)[1].reshape(-1)
    if units is not None and all(len(np.unique(units[fragment.rows])) == 1 for fragment in fragments):
        units = None  # each piece is one group, as with --by, and whole groups could only change names
    return Cut(
        fragments=tuple(fragments),
        words=f"test rows of {counted(len(splits), 'split')} by {name}",
        ordered=forward,
        contiguous=all(np.all(np.diff(fragment.rows) == 1) for fragment in fragments),
        units=units,
        strata=codes if units is None and codes is not None and dealt_by_class(codes, fragments) else None,
        unassigned=np.empty(0, np.int64),
        settings=CutSettings(),
    )


def _kept_by(cv: Any) -> Any:
    """The splits of a finished cross-validation or search; anything else as it is.

    Raises:
        SettingsError: the splits were not kept, and cannot be made again.
    """
    if isinstance(cv, Mapping):
        indices = cv.get("indices")
        if indices is None:
            raise SettingsError(
                "cv is a result of cross_validate without its indices: call cross_validate with return_indices=True"
            )
        return list(zip(indices["train"], indices["test"], strict=True))
    if not hasattr(cv, "cv_results_"):
        return cv
    from sklearn.base import is_classifier
    from sklearn.model_selection import StratifiedKFold

    splitter = cv.cv
    random = not isinstance(getattr(splitter, "random_state", 0), int | np.integer)
    if random and getattr(splitter, "shuffle", True):
        raise SettingsError(
            f"cv: {type(cv).__name__} split rows at random by {splitter!r}, which would split them otherwise now: give "
            "it a random_state, and fit again"
        )
    folds = 5 if splitter is None else splitter
    return StratifiedKFold(folds) if isinstance(folds, int) and is_classifier(cv.estimator) else folds


def _splits(cv: Any, x: Any, y: NDArray[Any] | None, groups: ArrayLike | None, n: int) -> list[tuple[Rows, Rows]]:
    """Training and test rows of each split.

    Raises:
        SettingsError: `cv` is no splitter and no pairs of rows.
        DataError: scikit-learn refuses, or a row number is beyond the table.
    """
    from sklearn.model_selection import check_cv

    if groups is not None and len(np.asarray(groups)) != n:
        raise DataError(f"groups: {counted(len(np.asarray(groups)), 'value')} for {counted(n, 'row')}")
    if isinstance(cv, str) or not (isinstance(cv, int | Iterable) or hasattr(cv, "split")):
        raise SettingsError(f"cv={cv!r} is no splitter, no number of folds and no pairs of training and test rows")
    try:
        splitter = check_cv(cv, y, classifier=y is not None and y.dtype.kind in "iu")
        found = [(_numbers(train, n), _numbers(test, n)) for train, test in splitter.split(x, y, groups)]
    except (TypeError, AttributeError) as error:
        raise SettingsError(f"cv={cv!r} is no splitter and no pairs of training and test rows: {error}") from error
    except ValueError as error:
        raise DataError(f"cv: {_name(cv)} cannot split {counted(n, 'row')}: {error}") from error
    if not found:
        raise DataError(f"cv: {_name(cv)} makes no split")
    return found


def _numbers(rows: Any, n: int) -> Rows:
    """Row numbers, increasing, from numbers or a mask."""
    rows = np.asarray(rows)
    numbers: Rows = np.flatnonzero(rows) if rows.dtype == bool else np.unique(rows.astype(np.int64))
    if len(numbers) and not (numbers[0] >= 0 and numbers[-1] < n):
        raise ValueError(f"row {numbers[0] if numbers[0] < 0 else numbers[-1]} is not among rows 0 to {n - 1}")
    return numbers


def _labels(dataset: Dataset) -> NDArray[Any] | None:
    """What a splitter is given as y: class codes, or numbers; None without a target."""
    if dataset.target is None:
        return None
    codes = _classes(dataset)
    return np.asarray(dataset.target.values, np.float64) if codes is None else codes


def _classes(dataset: Dataset) -> Rows | None:
    """Class of each row; None without classes."""
    target = dataset.target
    return class_codes(target) if target is not None and target.kind == "classes" else None


def _name(cv: Any) -> str:
    """How a report names the splitter."""
    if isinstance(cv, int):
        return f"{cv} folds"
    if isinstance(cv, Mapping):
        return "cross_validate"
    if hasattr(cv, "cv_results_"):
        return type(cv).__name__
    return repr(cv) if hasattr(cv, "split") else "the pairs of rows given"
