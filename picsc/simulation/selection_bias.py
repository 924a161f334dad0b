"""Training rows selected with a probability that depends on a covariate, so that the density ratio is known.

Letters: n rows, f encoded features.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, ndtri
from scipy.stats import rankdata

from picsc.datasets.encoding import encode
from picsc.datasets.rows import Rows
from picsc.datasets.table import Dataset
from picsc.errors import DataError, SettingsError

AUTO = "auto"
"""Name for a selection by the first principal component of the encoded columns instead of one column."""


@dataclass(frozen=True, slots=True)
class Selection:
    """A random selection of training rows."""

    probability: NDArray[np.float64]
    """(n,) probability that a row is selected, in (0, 1)."""
    words: str
    """A description of the selection."""

    def selected(self, rows: Rows, *, seed: int) -> Rows:
        """The selected ones of some rows; each row is drawn independently.

        Args:
            rows: row numbers to select from.
            seed: seed of the draw.

        Raises:
            DataError: fewer than two rows are selected.
        """
        kept = rows[np.random.default_rng([seed, 7]).random(len(rows)) < self.probability[rows]]
        if len(kept) < 2:
            raise DataError(f"selection leaves {len(kept)} of {len(rows)} rows to learn from; lower --bias-strength")
        return kept

    def ratio(self, rows: Rows) -> NDArray[np.float64]:
        """True importance weights of selected rows, p(x) / p(x | selected), scaled to mean 1.

        Reading: p(x) / p(x | selected) is proportional to 1 / P(selected | x), whatever p is.
        """
        weight = 1 / self.probability[rows]
        ratio: NDArray[np.float64] = weight / weight.mean()
        return ratio


def selection(dataset: Dataset, column: str, strength: float) -> Selection:
    """A selection whose probability decreases along one covariate.

    P(selected | x) = 1 / (1 + exp(strength z)) with z the normal score of the row's rank, so that the selection is as
    strong whatever the column's distribution. It depends on covariates alone: a covariate shift.

    Args:
        dataset: n rows.
        column: a numeric column, or `auto` for the first principal component of all encoded columns.
        strength: slope of the logistic function; at 0 every row is selected with probability 1/2.

    Raises:
        SettingsError: there is no such column, or it holds no numbers.
        DataError: all its values are equal.
    """
    values, named = _values(dataset, column)
    ranks = rankdata(np.nan_to_num(values, nan=float(np.nanmedian(values))))
    if np.ptp(ranks) == 0:
        raise DataError(f"{dataset.name}: all values of {named} are equal, so nothing can be selected by it")
    z = ndtri((ranks - 0.5) / dataset.n)
    return Selection(np.asarray(expit(-strength * z), np.float64), f"{named}, slope {strength:g}")


def _values(dataset: Dataset, column: str) -> tuple[NDArray[np.float64], str]:
    if column == AUTO:
        matrix = encode(dataset).matrix.astype(np.float64)
        if matrix.shape[1] == 0:
            raise SettingsError(f"--bias {AUTO}: {dataset.name} has no columns to select by")
        centred = matrix - matrix.mean(0)
        _, vectors = np.linalg.eigh(centred.T @ centred)
        direction = vectors[:, -1]
        direction = direction * (
            np.sign(direction[np.abs(direction).argmax()]) or 1.0
        )  # the sign of an eigenvector is arbitrary
        # rounded, so that the selection does not depend on the last digit of a matrix product
        return np.round(centred @ direction, 6), "the first principal component"
    found = next((each for each in dataset.columns if each.name == column), None)
    if found is None:
        there = ", ".join(each.name for each in dataset.columns if not each.coded)
        raise SettingsError(f"--bias {column!r}: no such column; numeric ones are {there or 'none'}, or give auto")
    if found.coded:
        raise SettingsError(f"--bias {column!r} is {found.kind}; give a numeric column, or auto")
    return found.values.astype(np.float64), column
