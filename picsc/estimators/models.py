"""`PicscClassifier` and `PicscRegressor`: the paper's corrected training as estimators of scikit-learn.

They train by the code of `picsc cv`: with the rows, fragments and settings of one of its folds they give its numbers.
Letters: n rows, f columns, c classes.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from picsc.datasets.columns.names import names_as_text
from picsc.datasets.files.npz import frame_of_arrays
from picsc.datasets.new_rows import new_rows
from picsc.datasets.table import Dataset
from picsc.errors import NumericsError
from picsc.estimators.arranging import arranged, repetitions, same_rows
from picsc.estimators.batches import Stream, learned, settled
from picsc.estimators.inputs import (
    Floats,
    Ints,
    Labels,
    UnusableParameterError,
    as_value_errors,
    classes_of,
    fragments_of,
    numbers_of,
    rows_of,
    table_of,
    usable_rows,
    weights_of,
    with_target,
)
from picsc.estimators.parameters import Parameters
from picsc.estimators.saving import saved
from picsc.estimators.scikit_learn import check_columns, is_frame
from picsc.estimators.training import made_fragments, trained
from picsc.runtime.threads import one_thread
from picsc.saved_models.model import TableModel, model_of
from picsc.settings import CvSettings
from picsc.settings.in_python import in_keywords
from picsc.training.jobs import TableNetwork


class _Picsc(Parameters):
    """What the classifier and the regressor share."""

    model_: TableModel
    _stream: Stream | None
    _names: list[str]
    _sha256: str
    _rows: int
    _order: Ints

    @abstractmethod
    def _labels(self, y: ArrayLike, n: int, *, by_name: bool) -> Labels:
        """The labels of n rows."""

    def fit(
        self,
        X: Any,
        y: ArrayLike,
        fragments: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Train by Algorithm 1: with a penalty on the divergence between the Fisher informations of fragments.

        Args:
            X: n rows, a frame with columns of any kind, or an array (n, f); values may be missing.
            y: labels, (n,).
            fragments: the fragment of each row, (n,), of any type: the fold, batch or hospital that it comes from. None
                makes `folds` fragments, stratified and shuffled, and sets `made_fragments_`. One fragment alone is
                plain training.
            sample_weight: weights of the rows in the loss, (n,); a row of weight 2 is the row twice.

        Raises:
            ValueError: the rows, labels or parameters cannot be used.
        """
        with as_value_errors(), in_keywords(CvSettings, "cv"), one_thread():
            x = usable_rows(X)
            check_columns(self, x, reset=True)
            settings, n = self._settings(algorithm=1), len(x)
            weight = weights_of(sample_weight, n)
            fragment = None if fragments is None else fragments_of(fragments, n)
            self._check_labels(y, n)
            if weight is not None and weight.min() == 0:
                kept = np.flatnonzero(weight)
                x, y, weight = rows_of(x, kept), rows_of(y, kept), weights_of(weight[kept], len(kept))
                fragment = None if fragment is None else fragments_of(fragment[kept], len(kept))
            table, labels, fragment, weight = self._arranged(table_of(x, settings.read), y, fragment, weight)
            self.made_fragments_ = fragment is None
            fragment = made_fragments(table, settings) if fragment is None else fragment
            found = trained(table, fragment, weight, settings, self.hidden)
            self._names = _names(x)
            self._take(labels, settings, table, found.network)
            self.n_fragments_ = int(fragment.max()) + 1
            self.strength_ = float(found.strength) if self.n_fragments_ > 1 else 0.0
            self.penalty_share_ = found.penalty_share
            assert found.network is not None  # noqa: S101 - a table's trainer keeps it
            training = self._batch_training(settings, table.n)
            self._stream = learned(None, settled(table), training, network=found.network)
            self.batches_seen_, self.shifted_ = 1, False
        return self

    def save(self, folder: str | Path) -> Path:
        """Write the model into a folder of plain files, which `picsc.load_model` and `picsc predict` read.

        Args:
            folder: a folder that does not exist, or is empty.

        Returns:
            The folder.

        Raises:
            ValueError: the folder cannot be written.
        """
        check_is_fitted(self, "model_")
        with as_value_errors():
            return saved(self, self._sha256, self._rows, folder)

    def predict(self, X: Any) -> NDArray[Any]:
        """The class or the number of each row, (n,).

        Args:
            X: a frame with the columns that were learned from, in the same order, or an array (n, f).

        Raises:
            ValueError: its columns are others, or hold values of another kind.
        """
        return self._predicted(self._outputs(X))

    def _predicted(self, outputs: Floats) -> NDArray[Any]:
        return outputs

    def _outputs(self, X: Any) -> Floats:
        check_is_fitted(self, "model_")
        with as_value_errors(), one_thread():
            x = usable_rows(X)
            check_columns(self, x, reset=False)
            return self.model_.outputs(self.model_.read(self._named(x), "X")[0])

    def _partly_fitted(
        self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None, classes: NDArray[Any] | None
    ) -> Self:
        with as_value_errors(), in_keywords(CvSettings, "cv"), one_thread():
            x = usable_rows(X)
            first = getattr(self, "_stream", None) is None
            check_columns(self, x, reset=first)
            settings, n = self._settings(algorithm=2), len(x)
            weight = weights_of(sample_weight, n)
            labels = numbers_of(y, n) if classes is None else classes_of(y, n, classes)
            stream = None if first else self._stream
            if stream is None:
                batch = settled(table_of(x, settings.read))
                self._names = _names(x)
            else:
                batch = new_rows(self._named(x), stream.known, where="X")[0]
                labels = replace(labels, target=self._codes_of_model(labels, classes))
            batch = with_target(batch, labels)
            training = self._batch_training(settings, n)
            self._stream = learned(stream, batch, training, weight=weight)
            network = self._stream.network(training)
            if not np.isfinite(network.theta).all():
                raise NumericsError(f"training left the finite numbers at batch {self._stream.t}: lower lr")
            if stream is None:
                self._take(labels, settings, batch, network)
            else:
                target = replace(self.model_.target, units=network.scaling.units)
                encoder = network.scaling.encoder
                self.model_ = replace(self.model_, encoder=encoder, target=target, training_rows=None)
                self.model_ = self.model_.with_theta(network.theta)
                self._rows += batch.n
            self.batches_seen_, self.shifted_ = self._stream.t, self._stream.flagged
        return self

    def _codes_of_model(self, labels: Labels, classes: NDArray[Any] | None) -> Any:
        """The target of a later batch, with the codes that the model's outputs have."""
        if classes is None:
            return labels.target
        code = self._order[np.asarray(labels.target.values, np.int64)]
        return replace(labels.target, values=code, levels=self.model_.target.classes)

    def _take(self, labels: Labels, settings: CvSettings, table: Dataset, network: TableNetwork | None) -> None:
        """Store a model."""
        assert network is not None  # noqa: S101 - a table's trainer keeps it
        numbered = labels.classes.dtype.kind in "iu"
        self.model_ = model_of(network, table, settings.read, hidden=self.hidden, numbered=numbered)
        self._order = labels.order
        self._sha256, self._rows = table.sha256, table.n
        if len(labels.classes):
            self.classes_ = labels.classes

    def _arranged(
        self, table: Dataset, y: ArrayLike, fragment: Ints | None, weight: Floats | None
    ) -> tuple[Dataset, Labels, Ints | None, Floats | None]:
        """Rows with labels; weighted and repeated ones in an order of their own, see `picsc.estimators.arranging`."""
        labels = self._labels(y, table.n, by_name=True)
        found = with_target(table, labels)
        same = same_rows(found, fragment)
        if weight is None and len(np.unique(same)) == table.n:
            labels = self._labels(y, table.n, by_name=False)
            return with_target(table, labels), labels, fragment, None
        times = repetitions(weight)
        if times is not None:
            weight = None
        rows = np.arange(table.n) if times is None else np.repeat(np.arange(table.n), times)
        keys = (same,) if weight is None else (weight, same)
        order = rows[np.lexsort([key[rows] for key in keys])]
        return (
            arranged(found, order),
            labels,
            None if fragment is None else fragment[order],
            None if weight is None else weight[order],
        )

    def _check_labels(self, y: ArrayLike, n: int) -> None:
        """Refuse labels that cannot be used, before rows are read."""
        self._labels(y, n, by_name=True)

    def _named(self, x: Any) -> Any:
        """Rows under the names of the columns that were learned from."""
        return x if is_frame(x) else frame_of_arrays(x, None, "X").set_axis(self._names, axis=1)


class PicscClassifier(ClassifierMixin, _Picsc):  # type: ignore[misc]  # scikit-learn has no types
    """A small network, trained with the paper's correction for pieces of data that differ.

    Attributes:
        classes_: the classes, (c,), sorted.
        n_features_in_: columns of X; `feature_names_in_` their names, of a frame.
        n_fragments_: fragments of the last `fit`.
        made_fragments_: True if `fit` was given no fragments and made them.
        strength_: lambda that was given or chosen.
        penalty_share_: the penalty's share of the gradient, in [0, 1].
        batches_seen_, shifted_: batches of `partial_fit`, and True if the last one was shifted against the one before.
        model_: the trained `picsc.saved_models.model.TableModel`.

    Example:
        >>> from sklearn.datasets import load_iris
        >>> from picsc import PicscClassifier
        >>> x, y = load_iris(return_X_y=True)
        >>> model = PicscClassifier(strength=0.1).fit(x, y)
        >>> (model.made_fragments_, model.n_fragments_, bool(model.score(x, y) > 0.9))
        (True, 5, True)
    """

    def _labels(self, y: ArrayLike, n: int, *, by_name: bool) -> Labels:
        return classes_of(y, n, by_name=by_name)

    def _predicted(self, outputs: Floats) -> NDArray[Any]:
        return np.asarray(self.classes_[outputs[:, self._order].argmax(1)])

    def predict_proba(self, X: Any) -> Floats:
        """The probability of each class, (n, c), in the order of `classes_`.

        Args:
            X: as for `predict`.

        Raises:
            ValueError: as for `predict`.
        """
        return np.exp(self._outputs(X)[:, self._order])

    def partial_fit(
        self,
        X: Any,
        y: ArrayLike,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Learn one more batch by Algorithm 2: held to what was learned before where the batch is shifted.

        Columns, levels and indicators of missing values are those of the first batch, and the scales of numbers grow
        with the batches. Besides a few numbers for each parameter and column, the last batch is kept, with which the
        trigger compares the next one. After `fit`, its rows count as the first batch, of which no row is kept.

        Args:
            X: n rows, as for `fit`.
            y: classes, (n,).
            classes: all classes, in the first call.
            sample_weight: weights of the rows in the loss, (n,).

        Raises:
            ValueError: the rows, labels or parameters cannot be used.
        """
        if classes is None:
            known = getattr(self, "classes_", None)
            if known is None:
                raise UnusableParameterError("classes must be passed on the first call to partial_fit")
        else:
            known = np.unique(np.asarray(classes))
            if not np.array_equal(known, getattr(self, "classes_", known)):
                raise UnusableParameterError(
                    f"classes={known.tolist()} is not the same as on the last call to partial_fit, "
                    f"{self.classes_.tolist()}"
                )
        return self._partly_fitted(X, y, sample_weight, known)


class PicscRegressor(RegressorMixin, _Picsc):  # type: ignore[misc]  # scikit-learn has no types
    """A small network for numbers, trained with the paper's correction for pieces of data that differ.

    Attributes are those of `PicscClassifier`, without `classes_`.

    Example:
        >>> from sklearn.datasets import load_diabetes
        >>> from picsc import PicscRegressor
        >>> x, y = load_diabetes(return_X_y=True)
        >>> bool(PicscRegressor(strength=0.1).fit(x, y).score(x, y) > 0.4)
        True
    """

    def _labels(self, y: ArrayLike, n: int, *, by_name: bool) -> Labels:  # noqa: ARG002 - numbers have no names
        return numbers_of(y, n)

    def partial_fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learn one more batch by Algorithm 2; see `PicscClassifier.partial_fit`.

        Args:
            X: n rows, as for `fit`.
            y: numbers, (n,).
            sample_weight: weights of the rows in the loss, (n,).

        Raises:
            ValueError: the rows, labels or parameters cannot be used.
        """
        return self._partly_fitted(X, y, sample_weight, None)


def _names(x: Any) -> list[str]:
    """Names of the columns of a frame, or those that an array's columns get."""
    if is_frame(x):
        columns = getattr(x, "column_names", getattr(x, "columns", ()))
        return names_as_text(columns, rename=False, where="X")
    return [f"x{i + 1}" for i in range(x.shape[1])]
