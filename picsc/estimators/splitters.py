"""Splitters for scikit-learn's `cv=`: DOB-SCV, MS-SCV, batches in order, pieces of time.

They give the very pieces that `picsc audit` and `picsc cv` make with the same options and seed. Letters: n rows, k
pieces.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from sklearn.model_selection import BaseCrossValidator

from picsc.datasets.frames import read_series
from picsc.datasets.memory import Frame
from picsc.datasets.open import open_data
from picsc.datasets.table import Dataset
from picsc.errors import DataError, SettingsError
from picsc.fragments.cutting import cut
from picsc.phrases import counted
from picsc.settings import AuditSettings, CutSettings, ReadSettings
from picsc.settings.in_python import in_keywords

Rows = NDArray[np.int64]


class _Splitter(BaseCrossValidator):  # type: ignore[misc]  # scikit-learn has no types
    """Splits whose pieces are those of a cut."""

    n_splits: int | None

    @abstractmethod
    def _cut_settings(self) -> CutSettings:
        """The settings of `picsc audit` that make these pieces."""

    @abstractmethod
    def _pairs(self, pieces: list[Rows]) -> Iterator[tuple[Rows, Rows]]:
        """Training and test rows of each split, from the rows of each piece."""

    def _seed(self) -> int:
        """Seed of the cut; 0 where nothing is drawn."""
        return 0

    def _pieces(self, x: object, y: ArrayLike | None) -> list[Rows]:
        """Row numbers of each piece.

        Raises:
            PicscError: the rows cannot be cut this way; the message says what would work.
        """
        settings = self._cut_settings()
        with in_keywords(AuditSettings, "audit"):
            table = _table(x, y, settings)
            return [fragment.rows for fragment in cut(table, settings, seed=self._seed()).fragments]

    def split(
        self,
        X: Frame | ArrayLike,
        y: ArrayLike | None = None,
        groups: object = None,  # noqa: ARG002
    ) -> Iterator[tuple[Rows, Rows]]:
        """Yield the row numbers of training and test rows of each split.

        Args:
            X: n rows, a frame or an array (n, f): the columns that folds measure distances on, or the column of times;
                batches take anything that has a length.
            y: (n,) classes, by which folds are stratified; not used by batches and times.
            groups: not used; here for scikit-learn.

        Raises:
            PicscError: the rows cannot be cut this way; the message says what would work.
        """
        yield from self._pairs(self._pieces(X, y))

    def get_n_splits(self, X: Any = None, y: object = None, groups: object = None) -> int:  # noqa: ARG002
        """Number of splits, whatever the data."""
        assert self.n_splits is not None  # noqa: S101 - only times may be cut without a number
        return self.n_splits


class _Folds(_Splitter):
    """Folds: each is tested once, and all others train."""

    n_splits: int

    def __init__(self, n_splits: int = 10, *, random_state: int = 0) -> None:
        """Store the settings; they are checked when rows are split.

        Args:
            n_splits: number of folds, k, at least 2.
            random_state: seed of the rows that are drawn.
        """
        self.n_splits = n_splits
        self.random_state = random_state

    def _pairs(self, pieces: list[Rows]) -> Iterator[tuple[Rows, Rows]]:
        rows = np.arange(sum(len(piece) for piece in pieces))
        for piece in pieces:
            yield np.setdiff1d(rows, piece), piece

    def _seed(self) -> int:
        return self.random_state


class DOBSCVSplit(_Folds):
    """Distribution-optimally balanced stratified folds (DOB-SCV): folds as alike in their columns as can be.

    Source: Moreno-Torres, Saez and Herrera (2012); the folds of `picsc audit --splitter dob-scv --seed S`.

    Examples:
        >>> from sklearn.datasets import load_iris
        >>> from sklearn.linear_model import LogisticRegression
        >>> from sklearn.model_selection import cross_val_score
        >>> from picsc import DOBSCVSplit
        >>> x, y = load_iris(return_X_y=True)
        >>> len(cross_val_score(LogisticRegression(max_iter=500), x, y, cv=DOBSCVSplit(5)))
        5
    """

    def _cut_settings(self) -> CutSettings:
        return CutSettings(folds=self.n_splits, splitter="dob-scv")


class MSSCVSplit(_Folds):
    """Maximally shifted stratified folds (MS-SCV): folds as different in their columns as can be, to see the worst.

    Source: Moreno-Torres, Saez and Herrera (2012); the folds of `picsc audit --splitter ms-scv --seed S`.

    Examples:
        >>> from sklearn.datasets import load_iris
        >>> from picsc import MSSCVSplit
        >>> x, y = load_iris(return_X_y=True)
        >>> [len(test) for _, test in MSSCVSplit(3).split(x, y)]
        [50, 50, 50]
    """

    def _cut_settings(self) -> CutSettings:
        return CutSettings(folds=self.n_splits, splitter="ms-scv")


class _Forward(_Splitter):
    """Pieces in order: each but the first is tested once, and all before it train."""

    def _pairs(self, pieces: list[Rows]) -> Iterator[tuple[Rows, Rows]]:
        for i in range(1, len(pieces)):
            yield np.sort(np.concatenate(pieces[:i])), pieces[i]


class BatchSplit(_Forward):
    """Batches in the order of rows: test on each but the first, train on all before it.

    The batches of `picsc audit --batches K`, with one batch more than splits, as in scikit-learn's `TimeSeriesSplit`.

    Examples:
        >>> import numpy as np
        >>> from picsc import BatchSplit
        >>> [(len(train), len(test)) for train, test in BatchSplit(3).split(np.zeros((8, 1)))]
        [(2, 2), (4, 2), (6, 2)]
    """

    n_splits: int

    def __init__(self, n_splits: int = 9) -> None:
        """Store the number of splits, at least 1."""
        self.n_splits = n_splits

    def _cut_settings(self) -> CutSettings:
        if self.n_splits < 1:
            raise SettingsError(f"n_splits={self.n_splits}: need at least 1 split, which has 2 batches")
        return CutSettings(batches=self.n_splits + 1)


class TimeSplit(_Forward):
    """Pieces of time: test on each but the first, train on all before it.

    Rows of one time stay together, whatever the order of rows. The pieces of `picsc audit --time COL`.

    Examples:
        >>> import pandas as pd
        >>> from picsc import TimeSplit
        >>> frame = pd.DataFrame({"when": pd.date_range("2024-01-01", periods=90), "x": range(90)})
        >>> [len(test) for _, test in TimeSplit("when", every="30d").split(frame)]
        [30, 30]
    """

    def __init__(
        self, time: str, n_splits: int | None = None, *, every: str | None = None, gap: str | None = None
    ) -> None:
        """Store the settings; they are checked when rows are split.

        Args:
            time: column of times or numbers, by which rows are ordered.
            n_splits: number of splits, one less than the pieces, which have about equal numbers of rows; 9 if neither
                this nor `every` is given.
            every: length of a piece instead, such as 30d, 1 month, or for numbers a plain number.
            gap: length of time between a piece and the next that is left out, such as 7d.
        """
        self.time = time
        self.n_splits = n_splits
        self.every = every
        self.gap = gap

    def get_n_splits(self, X: Frame | None = None, y: object = None, groups: object = None) -> int:  # noqa: ARG002
        """Number of splits; with `every` that of these rows.

        Raises:
            SettingsError: `every` is set and no rows are given.
        """
        if self.every is None:
            return 9 if self.n_splits is None else self.n_splits
        if X is None:
            raise SettingsError(f"TimeSplit(every={self.every!r}): the number of splits depends on the rows; pass X")
        return len(self._pieces(X, None)) - 1

    def _cut_settings(self) -> CutSettings:
        if self.n_splits is not None and self.n_splits < 1:
            raise SettingsError(f"n_splits={self.n_splits}: need at least 1 split, which has 2 pieces of time")
        if self.n_splits is not None and self.every is not None:
            raise SettingsError("TimeSplit: n_splits and every exclude each other; choose one")
        return CutSettings(
            time=self.time, cuts=None if self.n_splits is None else self.n_splits + 1, every=self.every, gap=self.gap
        )


def _table(x: Any, y: ArrayLike | None, settings: CutSettings) -> Dataset:
    """The rows as `picsc audit` sees them; where order alone decides, their numbers and times only.

    Raises:
        DataError: the column of times is missing, or the rows are no table.
    """
    if settings.folds is None:
        if len(x) < 2:
            raise DataError(f"cannot split {counted(len(x), 'row')}: need at least 2")
        order: dict[str, Any] = {
            "half": np.arange(len(x)) % 2
        }  # a table has a column, and those of `x` may be anything
        if settings.time is not None:
            if settings.time not in getattr(x, "column_names", getattr(x, "columns", ())):
                raise DataError(f"TimeSplit: X has no column {settings.time!r}; pass a frame that has it")
            order["time"] = read_series(x[settings.time], settings.time, "X").array
        x, y = pd.DataFrame(order).rename(columns={"time": settings.time}), None
    found = open_data(x, y, ReadSettings(no_target=y is None), keys=settings.keys)
    if found.kind != "table":
        raise DataError(f"cannot split {found.kind} by their columns; use BatchSplit")
    return found
