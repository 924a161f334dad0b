"""Checks of scikit-learn whose names differ between its versions 1.5 and 1.9. Letters: n rows, f columns."""

from __future__ import annotations

from inspect import signature
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_array
from sklearn.utils import validation as checks

_FINITE = "ensure_all_finite" if "ensure_all_finite" in signature(check_array).parameters else "force_all_finite"


def is_frame(x: object) -> bool:
    """True for what has columns with names; False for an array, a list, or a sparse matrix."""
    return hasattr(x, "columns") or hasattr(x, "__dataframe__") or hasattr(x, "__arrow_c_stream__")


def checked_array(x: object) -> NDArray[Any]:
    """An array (n, f) of numbers or objects, of which some may be missing.

    Raises:
        ValueError: it has another shape, no row or no column, or complex numbers.
        TypeError: it is sparse.
    """
    array = np.asarray(check_array(x, dtype=None, **{_FINITE: False}))
    return array.astype(object) if array.dtype.kind in "US" else array


def check_columns(estimator: Any, x: object, *, reset: bool) -> None:
    """Store the number and the names of the columns, or compare them with those that are stored.

    Args:
        estimator: gets `n_features_in_`, and `feature_names_in_` where all names are words.
        x: a frame or an array.
        reset: store them.

    Raises:
        ValueError: they are not those that the estimator has learned from.
    """
    if hasattr(checks, "validate_data"):
        checks.validate_data(estimator, x, reset=reset, skip_check_array=True)
    else:
        estimator._check_feature_names(x, reset=reset)
        estimator._check_n_features(x, reset=reset)


def checked_numbers(y: object) -> NDArray[np.float64]:
    """Labels as finite numbers, (n,).

    Raises:
        ValueError: they are none.
    """
    column = checks.column_or_1d(np.asarray(y, dtype=object) if isinstance(y, list | tuple) else y, warn=True)
    given = check_array(column, dtype=np.float64, ensure_2d=False, input_name="y")
    return np.asarray(given, np.float64)
